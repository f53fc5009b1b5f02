//! What a peer decided of a hold stands beside it, wherever the hold is shown, and can be accepted there.

use super::decision::with;
use super::event::EventListener;
use super::*;

/// Two people who follow each other; one asks, and the other may answer.
const STORY: &str = r#"
set -eo pipefail
for who in here there; do
    ssh-keygen -q -t ed25519 -N '' -f "$HOME/$who"; git -C ../$who config remote.origin.agentic signed
done
json() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
said=$(agentic --json peer init --key "$HOME/here")
ada=$(echo "$said" | json peer); project=$(echo "$said" | json project)
git -C ../there config user.email bob@example.com
bob=$(agentic -C ../there --json peer init --key "$HOME/there" --project "$project" | json peer)
agentic -C ../there peer add ada "$ada"
agentic peer add bob "$bob" --principal user:bob
agentic grant bob --kind decision --on decide
echo 'hold("Deploy?").action' >ask.rhai
agentic spawn x -m "Do it"
agentic session start x --flow ask.rhai || test $? = 4
agentic push
agentic -C ../there fetch
"#;

fn shell(sandbox: &Sandbox, lines: &str) {
    let ran = sandbox.command("bash", sandbox.start()).args(["-c", lines]).output();
    let ran = ran.expect("bash is installed");
    assert!(ran.status.success(), "{lines}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// Begins the story, and serves the repository where somebody asks.
fn asking() -> Served {
    let sandbox = Sandbox::new(Setup::TwoSpaces).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    shell(&sandbox, STORY);
    let process = begin(&sandbox, sandbox.start(), &[]);
    Served::of(sandbox, process)
}

#[test]
fn what_a_peer_decided_is_shown_and_accepted_on_the_page() {
    let served = asking();
    let cookie = served.log_in();
    let printed =
        || -> Json { serde_json::from_str(&served.ok(&["pending", "--json"])).expect("JSON") };
    let request = printed()[0]["request"].as_str().expect("one hold").to_owned();
    let path = format!("pending/{request}");
    let before = served.get(&cookie, &path).head;
    let tag = before.lines().find_map(|line| line.strip_prefix("etag: ")).expect("a tag");
    assert!(!served.page(&cookie, "/").contains("user:bob"));

    let answers =
        format!("agentic -C ../there decide {request} approve --only && agentic -C ../there push");
    shell(&served.sandbox, &answers);
    let mut listener = EventListener::begin(&served, &cookie);
    served.ok(&["fetch"]);

    listener.hear("hold", &[("request", &request), ("state", "replied")]);
    let reply = printed()[0]["replies"][0].clone();
    let key = reply["key"].as_str().expect("it is signed");
    let said = format!("waiting: approve by user:bob, bob, signed by {key}");
    assert!(served.ok(&["pending", &request]).contains(&said));
    for page in ["/".to_owned(), format!("/holds/{request}")] {
        let shown = served.page(&cookie, &page);
        assert!(shown.contains(&said) && shown.contains("accept…"), "{page}: {shown}");
    }
    assert_eq!(served.list(&cookie, "pending")[0]["replies"][0], reply);
    assert_eq!(served.json(&cookie, &path)["replies"][0], reply);
    let headers = [("Cookie", cookie.as_str()), ("If-None-Match", tag)];
    let again = served.ask("GET", &format!("/api/v1/{path}"), &headers, "");
    assert_eq!(again.status, 200, "it is another answer than before");

    let form = fields(&served.page(&cookie, &format!("/holds/{request}")));
    let commit = reply["commit"].as_str().expect("an id");
    let decided = served.send_form(&cookie, &request, &with(&form, &[("accept", commit)]));
    assert_eq!(decided.status, 303, "{}", decided.body);
    let head = served.sandbox.git(served.sandbox.start(), &["rev-parse", "agents/x~0"]);
    assert_eq!(head.expect("an agent").trim(), commit, "their own commit decides");
    let closed = served.page(&cookie, &format!("/holds/{request}"));
    assert!(closed.contains(&format!("signed by {key}, in force by {commit}")), "{closed}");
}

#[test]
fn what_a_later_fetch_brings_is_told_as_well() {
    let served = asking();
    let cookie = served.log_in();
    let pending: Json = serde_json::from_str(&served.ok(&["pending", "--json"])).expect("JSON");
    let request = pending[0]["request"].as_str().expect("one hold");
    // All folders of refs of a peer are there then.
    shell(&served.sandbox, "agentic -C ../there push && agentic fetch");
    let answers =
        format!("agentic -C ../there decide {request} approve --only && agentic -C ../there push");
    shell(&served.sandbox, &answers);
    let mut listener = EventListener::begin(&served, &cookie);
    served.ok(&["fetch"]);
    listener.hear("hold", &[("request", request), ("state", "replied")]);
}

#[test]
fn what_comes_too_late_is_shown_with_what_was_faster() {
    let served = asking();
    let cookie = served.log_in();
    let pending: Json = serde_json::from_str(&served.ok(&["pending", "--json"])).expect("JSON");
    let request = pending[0]["request"].as_str().expect("one hold");
    served.ok(&["decide", request, "reject"]);
    let answers =
        format!("agentic -C ../there decide {request} approve --only && agentic -C ../there push");
    shell(&served.sandbox, &answers);
    served.ok(&["fetch"]);
    let closed = served.page(&cookie, &format!("/holds/{request}"));
    assert!(closed.contains("Decided: reject"), "{closed}");
    assert!(closed.contains("late: approve by user:bob, bob, signed by ssh-ed25519"), "{closed}");
    assert!(!closed.contains("accept…"), "{closed}");
}
