//! A line of many commits: the page of its agent reads those that it shows, and no others.

use super::*;

/// How many commits the agent makes: more than a page shows.
const N_COMMITS: usize = 60;

#[test]
fn the_page_of_an_agent_reads_no_more_of_its_line_than_it_shows() {
    let mut served = SocketServed::new();
    served.ok(&["spawn", "main-bot", "--empty", "-m", "lead"]);
    served.ok(&["spawn", "alice", "--from", "main-bot", "-m", "find the flaky test"]);
    // What plain git has made, no journal can make again.
    let git = |arguments: &[&str]| {
        let said = served.sandbox.git(served.sandbox.start(), arguments).expect("git runs");
        said.trim().to_owned()
    };
    let mut made = vec![git(&["rev-parse", "agents/alice"])];
    for _ in 0..N_COMMITS {
        let head = made.last().expect("it begins with one");
        made.push(git(&["commit-tree", "-p", head, "-m", "step", "agents/alice^{tree}"]));
    }
    let mut events = served.listen();
    git(&["update-ref", "refs/heads/agents/alice", &made[N_COMMITS]]);
    // What is told is in the index.
    let mut told = String::new();
    while !told.contains(&made[N_COMMITS]) {
        let mut part = [0; 1 << 10];
        let n_bytes = events.read(&mut part).expect("it is told soon");
        assert!(n_bytes > 0, "the stream ended: {told}");
        told += &String::from_utf8_lossy(&part[..n_bytes]);
    }
    drop(events);
    // One that no page shows is gone, and no process has read it since.
    let (above, below) = made[2].split_at(2);
    let objects = served.sandbox.start().join(".git/objects");
    fs::remove_file(objects.join(above).join(below)).expect("it is a file of its own");
    served.restart();
    let begun = Instant::now();
    while served.json(&["serve", "status", "--json"])["index"]["main"]["state"] != "ready" {
        assert!(begun.elapsed() < PATIENCE, "the index is never ready");
        std::thread::sleep(Duration::from_millis(20));
    }

    let read = served.run(&["show", "alice"]);
    assert!(!read.status.success(), "a command reads all of them");
    for path in ["/agents/alice", "/agents/alice/sessions"] {
        let page = served.page(path);
        assert!(page.contains("from <a href=\"/agents/main-bot\">"), "{path}: {page}");
        assert!(page.contains("find the flaky test"), "{path}: {page}");
    }
    assert!(served.page("/agents/alice").contains(&made[N_COMMITS][..7]));
    let answer = served.get("/api/v1/agents/alice");
    let view: Json = serde_json::from_slice(&answer.body).expect("JSON");
    assert_eq!(view["commits"], N_COMMITS + 1, "{view}");
    assert_eq!(view["parent"], "main-bot");
}
