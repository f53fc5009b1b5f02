//! Servers of tools, well behaved and not.

use std::fs;
use std::thread;
use std::time::Duration;

use agentic_model::{Value, json};
use agentic_providers::host::CancelFlag;

use crate::tool::{World, request, world};

/// A server of tools in a few lines of shell: it replies to each request by its number.
fn mcp_world(script: &str) -> World {
    let world = world("");
    let path = world.inside().join("agentscript.mcp.json");
    let entry = Value::map([
        ("transport", Value::text("stdio")),
        ("command", Value::text("sh")),
        ("args", Value::List(vec![Value::text("-c"), Value::text(script)])),
        ("env", Value::map([("GREETING", Value::text("hello$USER_THAT_IS_NOT"))])),
    ]);
    let file = Value::map([("mcpServers", Value::map([("s", entry)]))]);
    fs::write(path, json::to_text(&file)).expect("ours");
    world.configured_again()
}

const HELLO: &str = r#"read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}'; read -r line; "#;

#[test]
fn servers_of_tools_are_started_called_and_kept() {
    let script = format!(
        r#"{HELLO} echo noise >&2; echo '{{"jsonrpc":"2.0","method":"notifications/message"}}'
        while read -r line; do
          id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
          echo '{{"jsonrpc":"2.0","id":"q","method":"ping"}}'
          read -r pong; case "$pong" in *'"id":"q"'*) ;; *) exit 4;; esac
          text='{{"type":"text","text":"'$GREETING'"}}'
          echo '{{"jsonrpc":"2.0","id":'$id',"result":{{"content":['$text',{{"type":"image","data":""}}],"structuredContent":{{"z":1,"a":2}}}}}}'
        done"#
    );
    let world = mcp_world(&script);
    let wanted = r#"{"ok":true,"text":"hello","content":[{"type":"text","text":"hello"},{"type":"image","data":""}],"structured":{"z":1,"a":2}}"#;
    world.check("mcp://s", "greet", r#"[{"to":"you\n"}]"#, wanted);
    world.check("mcp://s", "greet", "[]", wanted);
    world.refuses("mcp://s", "greet", "[3]", "expects one json object argument");
    world.refuses("mcp://other", "greet", "[{}]", "no server `other` is configured");
}

#[test]
fn servers_that_misbehave_are_left() {
    let check = |script: &str, part: &str| {
        let world = mcp_world(script);
        world.refuses("mcp://s", "greet", "[{}]", part);
    };
    check("exit 3", "the server `s` ended");
    check("echo out of order >&2; exit 3", "out of order");
    check("read -r line; echo garbage; cat", "something that is no message");
    check(&format!("{HELLO} read -r line; exit 0"), "the server `s` ended");
    let error = r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"no such tool"}}"#;
    check(&format!("{HELLO} read -r line; echo '{error}'; cat"), "refused: no such tool");
    let empty = r#"{"jsonrpc":"2.0","id":2}"#;
    check(&format!("{HELLO} read -r line; echo '{empty}'; cat"), "a reply without a result");
    let odd = r#"{"jsonrpc":"2.0","id":2,"result":[]}"#;
    check(&format!("{HELLO} read -r line; echo '{odd}'; cat"), "makes no sense");
    check(&format!("{HELLO} read -r line; yes | tr -d '\\n'"), "more than 16777216 bytes at once");
    let world = mcp_world("exec no-such-program-at-all");
    world.refuses("mcp://s", "greet", "[{}]", "the server `s` ended");
}

#[test]
fn a_server_that_hangs_is_not_waited_for() {
    let world = mcp_world(&format!("{HELLO} sleep 600"));
    let cancel = CancelFlag::new();
    let stop = cancel.clone();
    let stopping = thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        stop.set();
    });
    let stopped = world.call_until("mcp://s", "greet", "[{}]", &cancel);
    assert_eq!(stopped, "Some(Cancelled(Unknown))");
    stopping.join().expect("it only sets a flag");
    // A large message that nobody reads does not hold us either.
    let large = format!(r#"[{{"x":"{}"}}]"#, "y".repeat(1 << 20));
    let mut request = request("mcp://s", "greet", &large);
    request.timeout_ms = Some(100);
    let late = world.answer(&request, &CancelFlag::new());
    assert_eq!(late, "timed-out: the server `s` took longer than 100 ms");
}
