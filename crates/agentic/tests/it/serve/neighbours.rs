//! Two servers for programs and a page on one repository: each sees what the others write.

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{ChildStdin, ChildStdout};

use serde_json::json;

use super::*;

/// A program that speaks to a server of its own.
struct Neighbour {
    process: Child,
    input: Option<ChildStdin>,
    answers: Lines<BufReader<ChildStdout>>,
    n_asked: u64,
}

impl Neighbour {
    fn begin(served: &Served, agent: &str) -> Neighbour {
        let mut command = served.sandbox.command("agentic", served.sandbox.start());
        command.args(["mcp", "--agent", agent]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.stderr(Stdio::null()).spawn().expect("it starts");
        let input = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        let mut neighbour = Neighbour { process, input, answers, n_asked: 0 };
        let client = json!({ "name": "test", "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        neighbour.ask("initialize", &params);
        neighbour.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        neighbour
    }

    fn say(&mut self, message: &Json) {
        let input = self.input.as_mut().expect("it is not closed");
        writeln!(input, "{message}").expect("it reads");
    }

    fn ask(&mut self, method: &str, params: &Json) -> Json {
        self.n_asked += 1;
        let id = self.n_asked;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let line = self.answers.next().expect("it answers").expect("text");
            let answer: Json = serde_json::from_str(&line).expect("JSON");
            if answer["id"] == id {
                return answer["result"].clone();
            }
        }
    }

    fn call(&mut self, name: &str, arguments: Json) -> Json {
        let result = self.ask("tools/call", &json!({ "name": name, "arguments": arguments }));
        assert_ne!(result["isError"], true, "{name}: {result}");
        result["structuredContent"].clone()
    }

    fn has_commit(&mut self, agent: &str, commit: &str) -> bool {
        let log = self.call("log", json!({ "agent": agent }));
        log["items"].as_array().expect("commits").iter().any(|one| one["commit"] == commit)
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        // Nobody asks any more: it ends.
        self.input = None;
        let _ = self.process.wait();
    }
}

#[test]
fn two_servers_for_programs_and_a_page_see_what_the_others_write() {
    let served = Served::new();
    for agent in ["alice", "bob"] {
        served.ok(&["spawn", agent, "-m", "look"]);
    }
    let cookie = served.log_in();
    let mut neighbours = [Neighbour::begin(&served, "alice"), Neighbour::begin(&served, "bob")];
    for round in 0..3 {
        for (number, agent) in ["alice", "bob"].iter().enumerate() {
            let text = format!("entry {round} of {agent}");
            neighbours[number].call("trace_add", json!({ "text": text }));
            let message = format!("Round {round} of {agent}");
            let files = json!({ (format!("{agent}.txt")): text });
            let commit = json!({ "message": message, "files": files, "trace": true });
            let made = neighbours[number].call("commit", commit);
            let commit = made["commit"].as_str().expect("a commit").to_owned();
            for neighbour in &mut neighbours {
                assert!(neighbour.has_commit(agent, &commit), "{agent} {round}");
            }
            assert!(served.page(&cookie, &format!("/agents/{agent}")).contains(&message));
            assert!(served.page(&cookie, &format!("/commits/{commit}")).contains(&text));
        }
    }
    // What a program asks people, the other one and the inbox have; what is decided on the page, both.
    let asked = neighbours[0].call("ask_human", json!({ "question": "Deploy?" }));
    let request = asked["request"].as_str().expect("a request").to_owned();
    let is_pending = |neighbour: &mut Neighbour| {
        neighbour.call("pending", json!({})).to_string().contains(&request)
    };
    assert!(neighbours.iter_mut().all(is_pending));
    assert!(served.page(&cookie, "/").contains("Deploy?"));
    let mut form = fields(&served.page(&cookie, &format!("/holds/{request}")));
    form.insert("action".to_owned(), "approve".to_owned());
    assert_eq!(served.send_form(&cookie, &request, &form).status, 303);
    assert!(!neighbours.iter_mut().any(is_pending));
    let decision = served.decisions("alice")[0]["commit"].as_str().expect("one").to_owned();
    assert!(neighbours[1].has_commit("alice", &decision));
}
