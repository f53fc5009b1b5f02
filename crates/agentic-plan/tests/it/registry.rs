//! Registries: what is accepted, what is refused, what comes back.

use std::path::Path;

use agentic_model::{Value, json};
use agentic_plan::{Registry, standard_registry};

/// Reads a registry of one builtin with these further fields.
fn one(fields: &str) -> Result<Registry, String> {
    let text = format!(r#"{{"builtins":[{{"name":"x","agent":"a/x"{fields}}}]}}"#);
    Registry::from_json(&text).map_err(|error| error.to_string())
}

fn refuse(fields: &str, part: &str) {
    match one(fields) {
        Ok(_) => panic!("{fields} is accepted"),
        Err(message) => assert!(message.contains(part), "{part:?} in {message:?} for {fields}"),
    }
}

#[test]
fn impossible_schemas_are_refused() {
    let param = |rest: &str| format!(r#","params":[{{"name":"p",{rest}}}]"#);
    refuse(&param(r#""type":"int","min":3,"max":2"#), "nothing fits");
    refuse(&param(r#""type":"int","min":0.2,"max":0.8"#), "no whole number");
    refuse(&param(r#""type":"string","min":1"#), "is no number");
    refuse(&param(r#""type":"int","one_of":["a"]"#), "is no string");
    refuse(&param(r#""type":"string","one_of":[]"#), "no choices");
    refuse(&param(r#""type":"string","one_of":["a"],"default":"b""#), "outside its own range");
    refuse(&param(r#""type":"int","max":2,"default":3"#), "outside its own range");
    refuse(&param(r#""type":"int","default":"3""#), "not of type int");
    refuse(&param(r#""type":"ref","default":"No Agent""#), "not of type ref");
    refuse(&param(r#""type":"date""#), "`list<…>`");
    refuse(&param(&format!(r#""type":"{}int{}""#, "list<".repeat(9), ">".repeat(9))), "`list<…>`");
    refuse(r#","params":[{"name":"with","type":"int"}]"#, "reserved");
    refuse(
        r#","params":[{"name":"p","type":"int","optional":true},{"name":"q","type":"int"}]"#,
        "is required, but `p` before it is not",
    );
    refuse(r#","params":[{"name":"p","type":"int"},{"name":"p","type":"int"}]"#, "is there twice");
}

#[test]
fn ill_shaped_entries_are_refused() {
    refuse(r#","kind":"task""#, "`builtins[0].kind`");
    refuse(r#","optinal":true"#, "`builtins[0].optinal`");
    refuse(r#","backends":["disk"]"#, "`builtins[0].backends`");
    refuse(r#","kind":"hold""#, "cannot run in memory");
    refuse(r#","auth":{"kind":"oauth"}"#, "`builtins[0].auth.provider`");
    refuse(r#","auth":{"kind":"env","var":"X","path":"y"}"#, "`builtins[0].auth.path`");
    refuse(r#","returns":"tuple(1)""#, "`builtins[0].returns`");
    refuse(r#","run":{"exec":[]}"#, "`builtins[0].run.exec`");
    refuse(r#","run":{"exec":["a"],"http":"http://x"}"#, "one of `native`");
    refuse(r#","run":{"http":"file:///etc/passwd"}"#, "`builtins[0].run.http`");
    refuse(r#","run":{"agent":"../x"}"#, "`builtins[0].run.agent`");
    refuse(r#","effect":"twice""#, "`builtins[0].effect`");
    refuse(r#","timeout_ms":0"#, "`builtins[0].timeout_ms`");
    refuse(r#","verdict":{}"#, "asks a human about its output and cannot run in memory");
    let verdict = |fields: &str| format!(r#","backends":["temporal"],"verdict":{fields}"#);
    refuse(&verdict(r#"{"when":{"field":"x"}}"#), "`builtins[0].verdict.when.below`");
    refuse(&verdict(r#"{"when":{"below":1}}"#), "`builtins[0].verdict.when.field`");
    refuse(&verdict(r#"{"on_timeout":"wait"}"#), "`builtins[0].verdict.on_timeout`");
    refuse(&verdict(r#"{"timeout_s":0}"#), "`builtins[0].verdict.timeout_s`");
    refuse(r#","kind":"workflow","backends":["temporal"],"verdict":{}"#, "absent where the kind");
}

#[test]
fn names_and_agents_are_checked() {
    let refuse = |text: &str, part: &str| {
        let message = Registry::from_json(text).expect_err(text).to_string();
        assert!(message.contains(part), "{part:?} in {message:?}");
    };
    refuse(r#"{"builtins":[{"name":"","agent":"a"}]}"#, "`` cannot name");
    refuse(r#"{"builtins":[{"name":"static","agent":"a"}]}"#, "`static` cannot name");
    refuse(r#"{"builtins":[{"name":"a-b","agent":"a"}]}"#, "`a-b` cannot name");
    refuse(r#"{"builtins":[{"name":"a","agent":""}]}"#, "is not the id of an agent");
    refuse(r#"{"builtins":[{"name":"a","agent":"a//b"}]}"#, "is not the id of an agent");
    refuse(r#"{"builtins":[{"name":"a","agent":"a"},{"name":"a","agent":"b"}]}"#, "two builtins");
    refuse(
        r#"{"builtins":[{"name":"a","agent":"a","run":"x"},{"name":"b","agent":"a","run":"y"}]}"#,
        "in different ways",
    );
    refuse("{", "not JSON");
    refuse("[]", "must be a map");
    refuse("{}", "`builtins`");
}

#[test]
fn registries_come_back_as_they_were() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/pipeline/registry.json");
    let text = std::fs::read_to_string(path).expect("the suite is there");
    let models = r#"{"builtins":[{"name":"a","agent":"a","run":{"model":"m","system":"s"}},
        {"name":"b","agent":"b","run":{"model":"openai://gpt-5"}}]}"#;
    for registry in [
        Registry::from_json(&text).expect("the suite's registry"),
        Registry::from_json(models).expect("models are implementations"),
        standard_registry(),
    ] {
        let again = Registry::from_value(&registry.to_value()).expect("what is written is read");
        assert_eq!(again, registry);
        let names: Vec<&str> = registry.names().collect();
        assert!(names.is_sorted());
    }
}

#[test]
fn arguments_of_tools_pass_the_same_schema() {
    let registry = standard_registry();
    let bind = |name: &str, given: &str| {
        let spec = registry.get(name).expect("a standard builtin");
        let given = json::from_text(given).expect("the case is JSON");
        match registry.bind_named(spec, given.as_map().expect("the case is a map")) {
            Ok(bound) => json::to_text(&Value::Map(bound)),
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(bind("repeat", r#"{"times":2}"#), r#"{"sep":",","times":2}"#);
    assert_eq!(bind("repeat", r#"{"times":9}"#), "the parameter `times` must be from 1 to 8");
    assert_eq!(bind("repeat", r#"{"times":2.0}"#), "the parameter `times` wants int");
    assert_eq!(bind("repeat", "{}"), "the parameter `times` is missing");
    assert_eq!(bind("upper", r#"{"x":1}"#), "there is no parameter `x`");
    let tools = bind("tool_agent", r#"{"tools":["echo"]}"#);
    assert_eq!(tools, r#"{"max_steps":10,"tools":["agentscript/echo"]}"#);
    let unknown = bind("tool_agent", r#"{"tools":["nobody"]}"#);
    assert_eq!(unknown, "the parameter `tools` wants list<ref>");
}

#[test]
fn a_verdict_is_required_where_its_condition_says_so_and_in_doubt() {
    let cases = [
        (r#"{}"#, r#"1"#, true),
        (r#"{"when":{"field":"c","below":0.8}}"#, r#"{"c":0.7}"#, true),
        (r#"{"when":{"field":"c","below":0.8}}"#, r#"{"c":0.8}"#, false),
        (r#"{"when":{"field":"c","below":1}}"#, r#"{"c":0}"#, true),
        (r#"{"when":{"field":"c","below":0.8}}"#, r#"{"c":"high"}"#, true),
        (r#"{"when":{"field":"c","below":0.8}}"#, r#""text""#, true),
        (r#"{"when":{"field":"n","above":3}}"#, r#"{"n":4}"#, true),
        (r#"{"when":{"field":"n","above":3}}"#, r#"{"n":3}"#, false),
        (r#"{"when":{"field":"ok","is":false}}"#, r#"{"ok":true}"#, false),
        (r#"{"when":{"field":"ok","is":false}}"#, r#"{"ok":false}"#, true),
    ];
    for (verdict, output, wanted) in cases {
        let registry = one(&format!(r#","backends":["temporal"],"verdict":{verdict}"#));
        let registry = registry.unwrap_or_else(|error| panic!("{verdict}: {error}"));
        let again = Registry::from_value(&registry.to_value()).expect("it reads what it wrote");
        assert_eq!(again, registry, "{verdict}");
        let verdict = again.get("x").and_then(|spec| spec.verdict.as_ref()).expect("it has one");
        let output = json::from_text(output).expect("the case is JSON");
        assert_eq!(verdict.is_required(&output), wanted, "{verdict:?} {output:?}");
    }
}
