use agentic_replay::{EffectClass, RequestId};

use super::*;
use crate::json::{compact, parse};

fn tool(uri: &str, method: &str, args: &str) -> Value {
    Value::map([
        ("tool", Value::text("T")),
        ("uri", Value::text(uri)),
        ("method", Value::text(method)),
        ("args", Value::text(args)),
    ])
}

fn shown(answer: RequestAnswer) -> String {
    match answer {
        RequestAnswer::Ok(value) => compact(&json::from_value(&value).expect("an answer is JSON")),
        RequestAnswer::Failed(failure) => format!("failed: {}", failure.message),
        RequestAnswer::TimedOut | RequestAnswer::Cancelled(_) => "none".to_owned(),
    }
}

fn check_file(method: &str, args: &str, expected: &str) {
    let files = [("a.txt", "one one"), ("d/b.txt", "two"), ("d/e/c.md", "x TODO\ny")];
    let mut workspace = TextTree::new(files.map(|(path, text)| (path.to_owned(), text.to_owned())));
    let (uri, method) = match method.split_once(' ') {
        Some((command, method)) => (format!("sh://{command}"), method),
        None => ("file://workspace".to_owned(), method),
    };
    let answer = shown(workspace.answer(&tool(&uri, method, args)));
    assert!(answer.contains(expected), "{method} {args}: {answer}");
}

#[test]
fn paths_that_leave_the_workspace_are_refused() {
    for path in ["..", "../x", "/etc/passwd", "d/../../x", "a\\\\b"] {
        for method in ["read", "list", "write", "patch"] {
            let args = format!(r#"[{{"path":"{path}","content":"","search":"a","replace":""}}]"#);
            check_file(method, &args, "escapes the workspace");
        }
    }
    check_file("undo", r#"[[{"path":"../x","previous":"y"}]]"#, "escapes the workspace");
    check_file("read", r#"[{"path":"./d/../a.txt"}]"#, r#"{"ok":true,"content":"one one"}"#);
}

#[test]
fn file_tools_read_change_and_list() {
    check_file("patch", r#"[{"path":"a.txt","search":"one","replace":"$&"}]"#, "file-patch:a.txt");
    check_file("patch", r#"[{"path":"a.txt","search":"none","replace":""}]"#, "not found");
    check_file("list", r#"[{"path":"."}]"#, r#""entries":["a.txt","d"]"#);
    check_file("list", r#"[{"path":"d"}]"#, r#""entries":["b.txt","e"]"#);
    check_file("list", r#"[{"path":"nowhere"}]"#, "failed: there is no folder");
    check_file("read", r#"[{"path":""}]"#, "T.read.path is required");
    check_file("read", "[]", "expects one json object");
    check_file("remove", r#"[{"path":"a"}]"#, "no method");
}

#[test]
fn searches_find_by_name_and_text() {
    check_file("find run", r#"[{"path":"d"}]"#, r#"["d","d/b.txt","d/e","d/e/c.md"]"#);
    check_file("find run", r#"[{"path":".","name":"?.txt"}]"#, r#"["a.txt","d/b.txt"]"#);
    check_file("find run", r#"[{"path":".","name":"e/*"}]"#, r#"["d/e/c.md"]"#);
    check_file("grep run", r#"[{"path":".","pattern":"TODO"}]"#, r#""line":1"#);
    check_file("grep run", r#"[{"path":".","pattern":"TODO","include":"*.txt"}]"#, "[]");
    check_file("read-range run", r#"[{"path":"d/e/c.md","start":9}]"#, r#""text":"","start":9"#);
    check_file("bash run", "[{}]", "forbidden");
    check_file("find run", r#"[{"path":".","max":0}]"#, "above 0");
}

#[test]
fn a_memory_adds_once_for_one_request_and_finds_newest_first() {
    let mut memory = LocalMemories::default();
    let payload = |operation: &str, args: &str| {
        Value::map([
            ("uri", Value::text("file://n.jsonl")),
            ("operation", Value::text(operation)),
            ("args", Value::text(args)),
        ])
    };
    let at = Instant::from_millis(0);
    for id in [[1; 32], [2; 32], [2; 32]] {
        let stamp = EffectStamp { request_id: &RequestId::from_bytes(id), at };
        memory.answer(&payload("add", &format!(r#"[{{"text":"T{}"}}]"#, id[0])), stamp);
    }
    let stamp = EffectStamp { request_id: &RequestId::from_bytes([0; 32]), at };
    let found = shown(memory.answer(&payload("query", r#"[{"text":"t"}]"#), stamp));
    let found = parse(&found).expect("JSON");
    assert_eq!(found.as_list().map(<[Json]>::len), Some(2));
    let text = found.as_list().and_then(|items| items[0].get("record")?.get("text"));
    assert_eq!(text, Some(&Json::text("T2")));
    let lines = memory.records("file://n.jsonl").expect("it was used").to_jsonl();
    assert_eq!(
        Records::from_jsonl(&lines).as_ref(),
        Ok(memory.records("file://n.jsonl").expect("it"))
    );
    for (query, expected) in [
        ("[1]", "an object query"),
        (r#"[{"where":1}]"#, "where must be"),
        (r#"[{"limit":0}]"#, "limit must be"),
    ] {
        let answer = shown(memory.answer(&payload("query", query), stamp));
        assert!(answer.contains(expected), "{answer}");
    }
}

#[test]
fn bad_lines_of_a_memory_are_named() {
    let bad_line = Records::from_jsonl("\n{").expect_err("not JSON");
    assert!(matches!(bad_line, LocalMemoryFault::BadLine { line: 2, .. }));
    let bad_envelope = Records::from_jsonl("{\"id\":1}").expect_err("no envelope");
    assert_eq!(bad_envelope, LocalMemoryFault::BadEnvelope { line: 1 });
}

fn check_effect(kind: &str, payload: Value, expected: Option<EffectClass>) {
    let request = agentic_replay::Request::new(agentic_replay::Path::root(), kind, payload);
    assert_eq!(effect_class(&request), expected);
    let performed = dry_run(&request, crate::Version::V0_1_18).is_none();
    let reads = matches!(expected, None | Some(EffectClass::Read)) && kind != "model";
    assert_eq!(performed, reads, "a dry run performs only what reads");
}

#[test]
fn every_request_has_its_class() {
    check_effect("model", Value::Null, Some(EffectClass::Read));
    check_effect("input", Value::Null, Some(EffectClass::Read));
    check_effect("tool", tool("file://w", "read", "[]"), Some(EffectClass::Read));
    check_effect("tool", tool("file://w", "write", "[]"), Some(EffectClass::Idempotent));
    check_effect("tool", tool("https://x", "get", "[]"), Some(EffectClass::Read));
    check_effect("tool", tool("https://x", "post", "[]"), Some(EffectClass::Once));
    check_effect("tool", tool("mcp://x", "anything", "[]"), Some(EffectClass::Once));
    check_effect("tool", tool("npm:x", "anything", "[]"), Some(EffectClass::Once));
    check_effect("exec", Value::Null, None);
}
