//! Where people answer: the address of a hold's page stands in what programs and channels are told.

use std::io::{BufRead as _, BufReader};

use serde_json::json;

use super::*;

/// Asks people through a server for programs, and returns what it answers.
fn ask_human(served: &Served) -> Json {
    let mut command = served.sandbox.command("agentic", served.sandbox.start());
    command.args(["mcp", "--agent", "alice"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = command.spawn().expect("it starts");
    let begin = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
    } });
    let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "ask_human", "arguments": { "question": "Deploy?" },
    } });
    let mut input = server.stdin.take().expect("a pipe");
    let lines = [begin, begun, call].map(|line| format!("{line}\n")).concat();
    input.write_all(lines.as_bytes()).expect("it reads");
    let answers = BufReader::new(server.stdout.take().expect("a pipe")).lines();
    let answers = answers.map(|line| serde_json::from_str::<Json>(&line.expect("text")));
    let mut found = answers.map(|answer| answer.expect("JSON")).filter(|answer| answer["id"] == 2);
    let answer = found.next().expect("an answer");
    drop(input);
    server.wait().expect("it ends");
    answer["result"]["structuredContent"].clone()
}

#[test]
fn who_asks_people_is_told_where_they_answer() {
    let mut served = Served::new();
    served.ok(&["spawn", "alice", "-m", "x"]);
    let asked = ask_human(&served);
    let request = asked["request"].as_str().expect("a request");
    assert_eq!(asked["page"], format!("http://{}/holds/{request}", served.host), "{asked}");
    assert_eq!(asked["state"], "held");
    served.ok(&["serve", "stop"]);
    served.process.wait().expect("it is a child");
    let asked = ask_human(&served);
    assert!(asked.get("page").is_none(), "nobody serves it: {asked}");
}

#[test]
fn a_page_where_nobody_may_decide_is_nowhere_to_answer() {
    for only_look in ["--read-only", "--plain-host"] {
        let served = Served::with(&[only_look]);
        served.ok(&["spawn", "alice", "-m", "x"]);
        let asked = ask_human(&served);
        assert!(asked.get("page").is_none(), "{only_look}: {asked}");
        assert_eq!(asked["state"], "held");
    }
}

#[test]
fn people_who_are_told_by_a_channel_are_told_the_address() {
    let served = Served::new();
    let file = "[channels.log]\ncommand = [\"sh\", \"-c\", \"cat >>log\"]\ncan = [\"notify\"]\n\
                [[routes]]\nchannel = \"log\"\n";
    let folder = served.sandbox.start();
    std::fs::write(folder.join("agentic.toml"), file).expect("writable");
    let request = served.hold();
    served.ok(&["flow", "ask"]);
    let told = std::fs::read_to_string(folder.join("log")).expect("somebody was told");
    let told: Json = serde_json::from_str(told.lines().next().expect("a line")).expect("JSON");
    let address = format!("http://{}/holds/{request}", served.host);
    assert_eq!(told["message"]["links"], json!([{ "name": "page", "url": address }]), "{told}");
}
