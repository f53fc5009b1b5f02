//! Prompts and what their arguments may be: each is asked about what it takes, and about nothing else.

use serde_json::{Value as Json, json};

use crate::line::{LineClient, McpPlace};

fn completed(client: &mut LineClient, of: &Json, argument: &str, begun: &str) -> Json {
    let params = json!({ "ref": of, "argument": { "name": argument, "value": begun } });
    client.ask("completion/complete", params, &json!({}))
}

fn values(answer: &Json) -> Vec<&str> {
    let values = answer["result"]["completion"]["values"].as_array();
    values.expect("values").iter().filter_map(Json::as_str).collect()
}

#[test]
fn an_argument_is_completed_for_what_takes_it() {
    let place = McpPlace::new();
    let mut client = place.reading();
    let prompt = |name: &str| json!({ "type": "ref/prompt", "name": name });
    let resource = |uri: &str| json!({ "type": "ref/resource", "uri": uri });
    for of in [prompt("brief"), prompt("catch_up")] {
        assert_eq!(values(&completed(&mut client, &of, "agent", "al")), ["alice"], "{of}");
    }
    for of in [resource("agent://{name}"), resource("agent://{name}/log")] {
        assert_eq!(values(&completed(&mut client, &of, "name", "al")), ["alice"], "{of}");
    }
    let holds = completed(&mut client, &prompt("explain_hold"), "request", "");
    assert!(values(&holds).is_empty(), "nothing waits: {holds}");
    for (of, argument) in [
        (prompt("no_such"), "agent"),
        (prompt("explain_hold"), "agent"),
        (prompt("brief"), "name"),
        (resource("agent://{other}"), "name"),
        (resource("hold://{request}"), "name"),
        (resource("file:///etc/passwd"), "name"),
    ] {
        let answer = completed(&mut client, &of, argument, "al");
        assert_eq!(answer["error"]["code"], -32602, "{of} {argument}: {answer}");
    }
    client.end();
}

#[test]
fn a_prompt_about_nobody_says_so() {
    let place = McpPlace::new();
    let mut client = place.reading();
    for name in ["brief", "review_agent", "catch_up"] {
        for nobody in ["nobody", "HEAD"] {
            let params = json!({ "name": name, "arguments": { "agent": nobody } });
            let answer = client.ask("prompts/get", params, &json!({}));
            let said = answer["error"]["message"].as_str().expect("a message");
            assert_eq!(answer["error"]["code"], -32602, "{answer}");
            let lower = said.to_lowercase();
            assert!(lower.contains(&nobody.to_lowercase()) && lower.contains("agent"), "{said}");
            assert!(!lower.contains("commit"), "{name}: {said}");
        }
    }
    client.end();
}
