//! Resources that a client hears of, and clients that hear of nothing.

use std::io::{BufRead as _, BufReader};
use std::os::unix::net::UnixStream;

use serde_json::json;

use crate::line::McpPlace;

#[test]
fn what_changes_right_after_a_client_asked_to_hear_of_it_is_told() {
    let place = McpPlace::new();
    let mut client = place.reading();
    let info = json!({ "name": "lines", "version": "1" });
    let begin = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
    client.send("initialize", &begin);
    client.take();
    client.raw(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let (alice, folder) = (place.head("alice"), place.sandbox.start());
    for agent in ["alice", "bob"] {
        let uri = format!("agent://{agent}");
        client.send("resources/subscribe", &json!({ "uri": uri }));
        assert!(client.take()["result"].is_object(), "{agent}");
        // A commit of another branch that git itself puts there.
        let made = [
            "commit-tree",
            "-m",
            "more",
            "-p",
            alice.trim(),
            &format!("{}^{{tree}}", alice.trim()),
        ];
        let commit = place.sandbox.git(folder, &made).expect("there is a tree");
        let branch = format!("refs/heads/agents/{agent}");
        place.sandbox.git(folder, &["update-ref", &branch, commit.trim()]).expect("it may");
        let told = client.take();
        assert_eq!(told["method"], "notifications/resources/updated", "{told}");
        assert_eq!(told["params"]["uri"], uri, "{told}");
    }
    client.end();
}

#[test]
fn a_server_whose_answers_nobody_reads_ends() {
    let place = McpPlace::new();
    let (output, reader) = UnixStream::pair().expect("there are sockets");
    let (mut input, served) = place.serve_into(output);
    drop(reader);
    std::io::Write::write_all(&mut input, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n")
        .expect("it is read");
    served.join().expect("it ends by itself").expect("nothing was wrong");
}

#[test]
fn a_client_that_asks_and_does_not_read_is_not_read_for_ever() {
    let place = McpPlace::new();
    let (output, reader) = UnixStream::pair().expect("there are sockets");
    let (mut input, served) = place.serve_into(output);
    input.set_nonblocking(true).expect("it may");
    let mut n_sent = 0;
    let ask = |n: usize| format!("{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"tools/list\"}}\n");
    let mut is_stopped = false;
    for n in 1..20_000 {
        let mut tries = 0;
        while std::io::Write::write_all(&mut input, ask(n).as_bytes()).is_err() {
            tries += 1;
            is_stopped = tries > 20;
            if is_stopped {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        if is_stopped {
            break;
        }
        n_sent = n;
    }
    assert!(is_stopped, "{n_sent} requests were taken of a client that read no answer");
    // What was asked is answered when it reads.
    let mut answers = BufReader::new(reader).lines();
    assert!(answers.next().is_some_and(|line| line.is_ok()));
    drop((input, answers));
    served.join().expect("it ends by itself").expect("nothing was wrong");
}
