//! Plans in other forms, explanations, and plans that came from elsewhere.

use agentic_lang_pipeline::run::{PipelineOptions, PipelineProgram};
use agentic_lang_pipeline::{Needs, explain};
use agentic_model::{Value, json};
use agentic_plan::{Plan, PlanSourceMap};
use agentic_replay::End;

use crate::kit::{Script, World, compiled, outcome, start, suite_registry};

#[test]
fn indenting_a_file_does_not_change_its_plans() {
    let one = compiled("memory static ( echo \"a\" >=> upper )");
    let two = compiled("// moved\nmemory static (\n  echo \"a\"\n  >=> upper\n)");
    assert_eq!(one.blocks[0].plan.cid(), two.blocks[0].plan.cid());
    assert_ne!(one.blocks[0].source_map, two.blocks[0].source_map);
    let (plan, places) = (two.blocks[0].plan.cid(), &two.blocks[0].source_map);
    let kept = places.to_object(plan).expect("two nodes fit an object");
    let text = json::to_text(&Value::Map(kept.map().clone()));
    assert!(text.contains(r#""n1":[4,7,4,12]"#), "{text}");
    assert_eq!(PlanSourceMap::from_object(&kept), Some((plan, places.as_ref().clone())));
    assert_eq!(PlanSourceMap::from_object(two.blocks[0].plan.object()), None);
}

#[test]
fn an_explanation_names_nodes_and_needs() {
    let compiled = compiled(
        "temporal static ( (weather \"SF\" <*> stock \"NVDA\") >=> hold \"ok?\" \
         >=> temporal dynamic ( slack \"#x\" ) )",
    );
    let text = explain(&compiled);
    for part in [
        "Block 0 runs durably",
        "n0: at once, calls `weather` with location \"SF\"",
        "j0: waits for n0, n1 and makes a list",
        "n2: when j0 is done, waits for a human's decision",
        "n3: when n2 is done, runs the temporal dynamic program `slack \"#x\"`",
        "your authorization at `weatherapi` (for `weather`)",
        "your authorization at `slack` (for `slack`)",
        "the environment variable `QUOTES_KEY` (for `stock`)",
    ] {
        assert!(text.contains(part), "{part:?} in\n{text}");
    }
    let needs = Needs::of(&compiled);
    assert_eq!(needs.identities.iter().collect::<Vec<_>>(), ["slack", "weatherapi"]);
    assert_eq!(needs.n_holds, 1);
}

/// Runs a plan from elsewhere, given by its nodes.
fn run_plan(backend: &str, nodes: &str, exit: &str) -> Result<Vec<Value>, String> {
    let text = format!(
        r#"{{"v":1,"backend":"{backend}","mode":"static","entry":["n0"],"exit":"{exit}","nodes":[{nodes}]}}"#
    );
    let plan = Plan::from_value(&json::from_text(&text).expect("JSON")).expect("a valid plan");
    let program = PipelineProgram::of_plan(plan, suite_registry(), PipelineOptions::default());
    let mut world = World::new(Script::default());
    let end: End = agentic_replay::run_to_end(program, &start(Value::text("in")), |request| {
        world.perform(request)
    })
    .end;
    outcome(&end)
}

#[test]
fn plans_from_elsewhere_run_and_are_checked_before_anything_starts() {
    let upper = r#"{"id":"n0","kind":"activity","activity":"agentscript/upper"}"#;
    assert_eq!(run_plan("memory", upper, "n0"), Ok(vec![Value::text("IN")]));
    let refused = |backend: &str, node: &str, part: &str| {
        let nodes = format!(r#"{upper},{{"id":"n1","requires":["n0"],{node}}}"#);
        let message = run_plan(backend, &nodes, "n1").expect_err(part);
        assert!(message.contains(part), "{part:?} in {message:?}");
    };
    refused("memory", r#""kind":"activity","activity":"no/one""#, "AgentNotRegistered");
    refused("memory", r#""kind":"workflow","activity":"no/one""#, "AgentNotRegistered");
    refused("memory", r#""kind":"hold","activity":"sibyl/hold""#, "BackendUnsupported");
    refused("memory", r#""kind":"dynamic","activity":"a/b""#, "only `sibyl/dynamic`");
    let program = |backend: &str, text: &str| {
        format!(
            r#""kind":"dynamic","activity":"sibyl/dynamic","params":{{"backend":"{backend}","mode":"static","program":{}}}"#,
            json::to_text(&Value::text(text))
        )
    };
    refused("memory", &program("temporal", "echo"), "inside one in memory");
    refused("memory", &program("memory", "echo >=>"), "does not compile");
    refused("temporal", &program("temporal", "memory dynamic ( hold \"x\" )"), "does not compile");
    refused("memory", &program("memory", &"(".repeat(200_000)), "does not compile");
}
