//! What is damaged of one agent keeps nobody from seeing the others.

use super::*;

/// What is read on pages and lists.
const PATHS: [&str; 6] =
    ["/agents", "/agents?view=tree", "/", "/api/v1/agents", "/api/v1/tree", "/api/v1/pending"];
/// Where sessions are listed, which stand in notes.
const SESSION_PATHS: [&str; 2] = ["/sessions", "/api/v1/sessions"];

/// What of an agent is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Damage {
    Branch,
    Notes,
}

/// Who stands in each of them, and whether it names what it leaves out.
fn check(served: &SocketServed, damage: Option<Damage>) {
    let paths = PATHS.iter().map(|path| (path, damage.is_some()));
    let sessions = SESSION_PATHS.iter().map(|path| (path, damage == Some(Damage::Notes)));
    for (path, is_named) in paths.chain(sessions) {
        let answer = served.get(path);
        let text = answer.text();
        assert_eq!(answer.status, 200, "{path}: {text}");
        assert!(text.contains("alice"), "{path}: {text}");
        assert_eq!(text.contains("left out"), is_named, "{path}: {text}");
        assert_eq!(text.contains("agentic doctor"), is_named, "{path}: {text}");
    }
    for path in ["/agents/alice", "/agents/alice/sessions", "/search?q=work", "/statistics"] {
        let answer = served.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    }
}

fn asking() -> SocketServed {
    let served = SocketServed::new();
    served.write("ask.rhai", b"hold(\"Deploy?\").value");
    for agent in ["alice", "bob"] {
        served.ok(&["spawn", agent, "--empty", "-m", "work"]);
        let asked = served.run(&["session", "start", agent, "--flow", "ask.rhai"]);
        assert_eq!(asked.status.code(), Some(4), "it asks a person");
    }
    check(&served, None);
    served
}

/// Has the ref of an agent name something that nothing has, or nothing at all.
fn check_beside(damage: Damage, content: &str) {
    let mut served = asking();
    let folder = match damage {
        Damage::Branch => ".git/refs/heads/agents",
        Damage::Notes => ".git/refs/notes/agentic",
    };
    let path = served.sandbox.start().join(folder).join("bob");
    let sound = fs::read(&path).expect("a ref in a file of its own");
    fs::write(&path, content).expect("writable");
    check(&served, Some(damage));
    served.restart();
    check(&served, Some(damage));
    fs::write(&path, sound).expect("writable");
    check(&served, None);
}

#[test]
fn a_branch_that_names_nothing_hides_nobody_else() {
    check_beside(Damage::Branch, &format!("{}\n", "12".repeat(20)));
}

#[test]
fn a_branch_that_cannot_be_read_hides_nobody_else() {
    check_beside(Damage::Branch, "nonsense\n");
}

#[test]
fn notes_that_cannot_be_read_hide_nobody_else() {
    check_beside(Damage::Notes, "nonsense\n");
}
