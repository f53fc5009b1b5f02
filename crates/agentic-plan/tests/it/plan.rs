//! Reading, checking, addressing and rendering plans.

use std::path::Path;

use agentic_model::{Value, json};
use agentic_plan::{Plan, PlanError, standard_registry};

/// A plan of calls of one agent: `n0; n1 < n0; j0 + n0 n1 | entry n0 | exit j0`. `<` makes calls,
/// `+` makes joins.
fn plan_of(text: &str) -> Value {
    let mut parts = text.split(" | ");
    let ids =
        |text: &str| -> Value { Value::List(text.split_whitespace().map(Value::text).collect()) };
    let node = |text: &str| {
        let (kind, id, requires) = match (text.split_once(" < "), text.split_once(" + ")) {
            (Some((id, requires)), _) => ("activity", id, requires),
            (_, Some((id, requires))) => ("join", id, requires),
            _ => ("activity", text, ""),
        };
        let mut pairs = vec![
            ("id", Value::text(id.trim())),
            ("kind", Value::text(kind)),
            ("requires", ids(requires)),
        ];
        if kind == "activity" {
            pairs.push(("activity", Value::text("a/b")));
        }
        Value::map(pairs)
    };
    let nodes = parts.next().expect("nodes come first");
    let nodes = nodes.split(';').map(str::trim).filter(|text| !text.is_empty()).map(node);
    let nodes = Value::List(nodes.collect());
    let tail = |part: Option<&str>, word: &str| {
        part.and_then(|text| text.strip_prefix(word)).unwrap_or("").trim().to_owned()
    };
    let entry = tail(parts.next(), "entry");
    let exit = tail(parts.next(), "exit");
    Value::map([
        ("v", Value::Int(1)),
        ("backend", Value::text("memory")),
        ("mode", Value::text("static")),
        ("nodes", nodes),
        ("entry", ids(&entry)),
        ("exit", Value::text(exit)),
    ])
}

fn verdict(value: &Value) -> String {
    match Plan::from_value(value) {
        Ok(_) => "ok".to_owned(),
        Err(error) => error.kind().as_str().to_owned(),
    }
}

fn check(text: &str, expected: &str) {
    assert_eq!(verdict(&plan_of(text)), expected, "{text}");
}

#[test]
fn every_plan_of_the_suite_gets_its_verdict() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/pipeline/plans");
    let mut n_cases = 0;
    for entry in std::fs::read_dir(folder).expect("the suite is there") {
        let path = entry.expect("the folder can be read").path();
        let text = std::fs::read_to_string(&path).expect("the case can be read");
        let case = json::from_text(&text).expect("the case is JSON");
        let expected = case.get("expect").and_then(Value::as_text).expect("the case expects");
        assert_eq!(verdict(case.get("plan").expect("the case has a plan")), expected, "{path:?}");
        n_cases += 1;
    }
    assert_eq!(n_cases, 8);
}

#[test]
fn each_rule_has_its_own_name() {
    check("n0; n1 < n0 | entry n0 | exit n1", "ok");
    check("n0; n1; j0 + n0 n1 | entry n1 n0 | exit j0", "ok");
    check("0n | entry 0n | exit 0n", "PlanNodeId");
    check("n/0 | entry n/0 | exit n/0", "PlanNodeId");
    check("n0; n0 | entry n0 | exit n0", "PlanDuplicateId");
    check("n0; j0 + n0 | entry n0 | exit j0", "PlanJoinArity");
    check("n0; j0 + n0 n0 | entry n0 | exit j0", "PlanDuplicateEdge");
    check("n0; n1; n2 < n0 n1 | entry n0 n1 | exit n2", "PlanFanIn");
    check("n0 < ../x | entry n0 | exit n0", "PlanUnknownNode");
    check("n0 < n0 | entry | exit n0", "PlanCycle");
    check("n0 | entry n0 | exit n1", "PlanExit");
    check("n0 | entry | exit n0", "PlanEntry");
    check("n0 | entry n0 n0 | exit n0", "PlanEntry");
    check("n0; n1 < n0 | entry n0 n1 | exit n1", "PlanEntry");
    check("n0; n1 < n0 | entry n0 | exit n0", "PlanOrphan");
}

#[test]
fn the_first_rule_that_is_broken_is_reported() {
    check("n0; n0; j0 + n9 | entry | exit x", "PlanDuplicateId");
    check("n0; j0 + ../x; n1 < n0 n0 | entry | exit x", "PlanJoinArity");
    check("n0 < n9; n1 < n1 | entry | exit x", "PlanUnknownNode");
    check("n0; n1 < n1 | entry | exit x", "PlanCycle");
}

#[test]
fn fields_are_checked_before_rules() {
    let with = |pairs: &[(&str, &str)]| {
        let Value::Map(mut map) = plan_of("n0 | entry n0 | exit n0") else { unreachable!() };
        for (key, text) in pairs {
            map.insert((*key).to_owned(), json::from_text(text).expect("the case is JSON"));
        }
        verdict(&Value::Map(map))
    };
    assert_eq!(with(&[("v", "2")]), "PlanVersion");
    assert_eq!(with(&[("v", "1.0")]), "PlanVersion");
    assert_eq!(with(&[("colour", "1")]), "PlanShape");
    assert_eq!(with(&[("type", "\"plan\"")]), "ok");
    assert_eq!(with(&[("type", "\"briefing\"")]), "PlanShape");
    assert_eq!(with(&[("backend", "\"disk\"")]), "PlanShape");
    assert_eq!(with(&[("nodes", "[3]")]), "PlanShape");
    let node =
        |extra: &str| format!(r#"[{{"id":"n0","kind":"activity","activity":"a/b"{extra}}}]"#);
    assert_eq!(with(&[("nodes", &node(""))]), "ok");
    for extra in [
        r#","retry":{"max_attempts":0}"#,
        r#","retry":{"backoff":0.5}"#,
        r#","retry":{"max_attempts":1000000000000}"#,
        r#","timeout_ms":-1"#,
        r#","params":[]"#,
        r#","note":"x""#,
    ] {
        assert_eq!(with(&[("nodes", &node(extra))]), "PlanShape", "{extra}");
    }
    let nameless = r#"[{"id":"n0","kind":"activity"}]"#;
    assert_eq!(with(&[("nodes", nameless)]), "PlanNoActivity");
    let unknown = r#"[{"id":"n0","kind":"task","activity":"a/b"}]"#;
    assert_eq!(with(&[("nodes", unknown)]), "PlanKind");
    let join = r#"[{"id":"n0","kind":"join","activity":"a/b"}]"#;
    assert_eq!(with(&[("nodes", join)]), "PlanShape");
}

#[test]
fn a_circle_is_named_from_its_smallest_id_on() {
    let value = plan_of("n0; n9 < n5; n5 < n7; n7 < n9; n1 < n9 | entry n0 | exit n1");
    let expected = ["n5", "n9", "n7"].map(str::to_owned).to_vec();
    assert_eq!(Plan::from_value(&value), Err(PlanError::Cycle { nodes: expected }));
}

#[test]
fn plans_beyond_the_limits_are_refused() {
    let chain = |n: usize| {
        let nodes: Vec<String> = (0..n)
            .map(|at| if at == 0 { "n0".to_owned() } else { format!("n{at} < n{}", at - 1) })
            .collect();
        plan_of(&format!("{} | entry n0 | exit n{}", nodes.join(";"), n - 1))
    };
    assert_eq!(verdict(&chain(2_000)), "ok");
    assert_eq!(verdict(&chain(2_001)), "PlanTooLarge");
    let Value::Map(mut map) = chain(1) else { unreachable!() };
    let node = Value::map([
        ("id", Value::text("n0")),
        ("kind", Value::text("activity")),
        ("activity", Value::text("a/b")),
        ("args", Value::List(vec![Value::Text("x".repeat(1 << 20))])),
    ]);
    map.insert("nodes".to_owned(), Value::List(vec![node]));
    assert_eq!(verdict(&Value::Map(map)), "PlanTooLarge");
}

#[test]
fn a_plan_is_its_object_and_back() {
    let value = plan_of("n0; n1; j0 + n0 n1 | entry n0 n1 | exit j0");
    let plan = Plan::from_value(&value).expect("the plan is valid");
    assert_eq!(plan.object().kind().as_str(), "plan");
    let again = Plan::from_object(plan.object()).expect("the object is a plan");
    assert_eq!(again, plan);
    assert_eq!(again.cid(), plan.cid());
    let read = json::from_text(&plan.to_json()).expect("the form is JSON");
    assert_eq!(Plan::from_value(&read).expect("the form is read back").cid(), plan.cid());
}

#[test]
fn renderings_show_nodes_and_edges() {
    let plan = Plan::from_value(&plan_of("n0; n1; j0 + n0 n1; n2 < j0 | entry n0 n1 | exit n2"));
    let plan = plan.expect("the plan is valid");
    let sibyl = plan.to_sibyl(&standard_registry()).expect("activities and joins have a form");
    assert_eq!(
        json::to_text(&sibyl),
        concat!(
            r#"{"nodes":[{"activity":"a/b","id":"n0"},{"activity":"a/b","id":"n1"},"#,
            r#"{"activity":"sibyl/join","id":"j0","requires":["n0","n1"]},"#,
            r#"{"activity":"a/b","id":"n2","requires":["j0"]}]}"#
        )
    );
    let dot = plan.to_dot();
    for line in ["\"n0\" -> \"j0\";", "\"j0\" -> \"n2\";", "shape=box, peripheries=2"] {
        assert!(dot.contains(line), "{line} in\n{dot}");
    }
}

#[test]
fn exported_arguments_keep_the_order_of_the_registry() {
    let text = r#"{"v":1,"backend":"memory","mode":"static","entry":["n0"],"exit":"n0","nodes":[
        {"id":"n0","kind":"activity","activity":"agentscript/repeat","params":{"sep":";","times":2}}]}"#;
    let plan = Plan::from_value(&json::from_text(text).expect("the case is JSON"));
    let sibyl = plan.expect("the plan is valid").to_sibyl(&standard_registry());
    let text = json::to_text(&sibyl.expect("texts and numbers have a form"));
    assert!(text.contains(r#""args":["2",";"]"#), "{text}");
}
