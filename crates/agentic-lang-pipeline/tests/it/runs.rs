//! How plans run: order, failure, retries, limits, holds, cancelling.

use agentic_lang_pipeline::run::{BlockOrder, PipelineOptions, PipelineProgram};
use agentic_model::{Instant, Value, json};
use agentic_replay::{End, HostStep, ProgramFailure, ProgramRun, RequestAnswer};

use crate::kit::{
    Script, begin, compiled, durable_with_kills, outcome, perform_native, program, run, start,
};

fn opened(step: &HostStep) -> Vec<String> {
    step.opened.iter().map(|request| request.path.to_string()).collect()
}

fn deliver(run: &mut ProgramRun<PipelineProgram>, path: &str, answer: RequestAnswer) -> HostStep {
    let path = agentic_replay::Path::parse(path).expect("a path");
    let now = run.now().plus_millis(10);
    run.deliver(&path, answer, now)
}

fn ok(text: &str) -> RequestAnswer {
    RequestAnswer::Ok(Value::text(text))
}

#[test]
fn a_node_starts_when_what_it_requires_is_there_not_layer_by_layer() {
    let source = "memory static ( ( echo \"slow\" <*> echo \"fast\" >=> upper >=> upper ) >=> concat \",\" )";
    let (mut run, step) = begin(source);
    assert_eq!(opened(&step), ["b0/n0/0", "b0/n1/0"]);
    assert_eq!(opened(&deliver(&mut run, "b0/n1/0", ok("x"))), ["b0/n2/0"]);
    assert_eq!(opened(&deliver(&mut run, "b0/n2/0", ok("x"))), ["b0/n3/0"]);
    assert!(opened(&deliver(&mut run, "b0/n3/0", ok("x"))).is_empty());
    assert_eq!(opened(&deliver(&mut run, "b0/n0/0", ok("y"))), ["b0/n4/0"]);
    let step = deliver(&mut run, "b0/n4/0", ok("end"));
    assert_eq!(outcome(&step.end.expect("it ends")), Ok(vec![Value::text("end")]));
}

#[test]
fn the_first_failure_stops_everything_and_keeps_what_is_there() {
    let (mut run, _) = begin("memory static (\n  echo \"a\" <*> echo \"b\"\n  <*> upper\n)");
    deliver(&mut run, "b0/n0/0", ok("a"));
    let failure = ProgramFailure::new("InvalidInput", "too bad");
    let step = deliver(&mut run, "b0/n2/0", RequestAnswer::Failed(failure));
    let withdrawn: Vec<String> = step.withdrawn.iter().map(ToString::to_string).collect();
    assert_eq!(withdrawn, ["b0/n1/0"]);
    let Some(End::Failed(failure)) = step.end else { panic!("{:?}", step.end) };
    assert_eq!(failure.message, "node `n2` (`agentscript/upper`) at 3:7 failed: too bad");
    let block = &failure.details.get("blocks").and_then(Value::as_list).expect("blocks")[0];
    let text = |key: &str| json::to_text(block.get(key).unwrap_or(&Value::Null));
    assert_eq!(text("outputs"), r#"{"n0":"a"}"#);
    assert_eq!(text("node_states"), r#"{"j0":"pending","n0":"done","n1":"stopped","n2":"failed"}"#);
    assert_eq!(
        text("error"),
        concat!(
            r#"{"code":"NodeFailed","details":{"agent":"agentscript/upper","#,
            r#""cause":{"code":"InvalidInput","message":"too bad"},"col":7,"line":3,"node":"n2"},"#,
            r#""message":"node `n2` (`agentscript/upper`) at 3:7 failed: too bad"}"#
        )
    );
}

#[test]
fn transient_failures_are_tried_again_after_growing_pauses() {
    let (mut run, step) = begin("memory static ( summarize )");
    assert_eq!(step.opened[0].timeout_ms, Some(180_000));
    assert_eq!(step.opened[0].kind, "agent");
    let attempt = |step: &HostStep| {
        let call = agentic_lang_pipeline::run::AgentCall::of(&step.opened[0]).expect("a call");
        (call.attempt, call.key)
    };
    assert_eq!(attempt(&step), (1, "b0/n0/0".to_owned()));
    let step = deliver(
        &mut run,
        "b0/n0/0",
        RequestAnswer::Failed(ProgramFailure::new("Transport", "lost")),
    );
    let first = step.opened[0].sleeps_until().expect("a pause").millis() - run.now().millis();
    assert!((1_000..=1_250).contains(&first), "{first}");
    let step = deliver(&mut run, "b0/n0/1", RequestAnswer::Ok(Value::Null));
    assert_eq!(opened(&step), ["b0/n0/2"]);
    assert_eq!(attempt(&step), (2, "b0/n0/0".to_owned()));
    let step = deliver(&mut run, "b0/n0/2", RequestAnswer::TimedOut);
    let second = step.opened[0].sleeps_until().expect("a pause").millis() - run.now().millis();
    assert!((2_000..=2_500).contains(&second), "{second}");
    deliver(&mut run, "b0/n0/3", RequestAnswer::Ok(Value::Null));
    let step = deliver(&mut run, "b0/n0/4", RequestAnswer::TimedOut);
    let end = outcome(&step.end.expect("it ends after three attempts"));
    assert!(end.is_err_and(|message| message.contains("took too long")));
}

#[test]
fn what_no_attempt_can_mend_is_final() {
    for code in ["InvalidInput", "MissingCredential", "MissingIdentity", "panicked", "not-data"] {
        let script = Script::default().fail("agentscript/summarize", code);
        let (end, world) = run("memory static ( summarize )", script);
        assert!(outcome(&end).is_err(), "{code}");
        assert_eq!(world.asked.len(), 1, "{code}");
    }
    let script = Script::default().fail("agentscript/summarize", "Transport");
    let (_, world) = run("memory static ( summarize )", script);
    assert_eq!(world.asked.len(), 3);
}

#[test]
fn outputs_that_are_too_large_or_too_deep_are_refused() {
    let large = RequestAnswer::Ok(Value::Text("x".repeat((1 << 20) + 1)));
    let mut deep = Value::Null;
    for _ in 0..60 {
        deep = Value::List(vec![deep]);
    }
    for answer in [large, RequestAnswer::Ok(deep)] {
        let script = Script::default().on("agentscript/summarize", answer);
        let (end, world) = run("memory static ( summarize >=> upper )", script);
        let message = outcome(&end).expect_err("the output is refused");
        assert!(message.contains("the output"), "{message}");
        assert_eq!(world.asked.len(), 1);
    }
    let linked = agentic_model::Cid::of(b"large");
    let script =
        Script::default().on("agentscript/summarize", RequestAnswer::Ok(Value::Link(linked)));
    let (end, _) = run("memory static ( summarize )", script);
    assert_eq!(outcome(&end), Ok(vec![Value::Link(linked)]));
}

#[test]
fn no_more_nodes_work_at_once_than_allowed() {
    let source =
        "memory static ( echo \"a\" <*> echo \"b\" <*> echo \"c\" >=> upper <*> echo \"d\" )";
    let options = PipelineOptions { max_concurrency: 2, ..PipelineOptions::default() };
    let program = PipelineProgram::new(&compiled(source), options);
    let (mut run, step) = ProgramRun::begin(program, &start(Value::Null));
    assert_eq!(opened(&step), ["b0/n0/0", "b0/n1/0"]);
    assert_eq!(opened(&deliver(&mut run, "b0/n1/0", ok("b"))), ["b0/n2/0"]);
    assert_eq!(opened(&deliver(&mut run, "b0/n2/0", ok("c"))), ["b0/n3/0"]);
    assert_eq!(opened(&deliver(&mut run, "b0/n0/0", ok("a"))), ["b0/n4/0"]);
}

#[test]
fn blocks_run_one_after_the_other_or_all_at_once() {
    let source = "memory static ( echo \"a\" ) memory static ( echo \"b\" )";
    let (mut run, step) = begin(source);
    assert_eq!(opened(&step), ["b0/n0/0"]);
    assert_eq!(opened(&deliver(&mut run, "b0/n0/0", ok("a"))), ["b1/n0/0"]);
    let options = PipelineOptions { blocks: BlockOrder::Parallel, ..PipelineOptions::default() };
    let program = PipelineProgram::new(&compiled(source), options);
    let (mut run, step) = ProgramRun::begin(program, &start(Value::Null));
    assert_eq!(opened(&step), ["b0/n0/0", "b1/n0/0"]);
    deliver(&mut run, "b1/n0/0", ok("b"));
    let step = deliver(&mut run, "b0/n0/0", ok("a"));
    let expected = Ok(vec![Value::text("a"), Value::text("b")]);
    assert_eq!(outcome(&step.end.expect("it ends")), expected);
    let script = Script::default().fail("agentscript/summarize", "InvalidInput");
    let (_, world) = crate::kit::run("memory static ( summarize ) memory static ( echo )", script);
    assert_eq!(world.asked.len(), 1, "the second block does not start");
}

#[test]
fn the_input_of_a_run_reaches_its_entries() {
    let program = program("memory static ( upper <*> echo \"x\" >=> upper )");
    let end = agentic_replay::run_to_end(program, &start(Value::text("in")), perform_native).end;
    assert_eq!(outcome(&end), Ok(vec![Value::List(vec!["IN".into(), "X | IN".into()])]));
}

#[test]
fn cancelling_withdraws_everything() {
    let (mut run, _) = begin("memory static ( echo \"a\" <*> memory dynamic ( echo \"b\" ) )");
    let step = run.cancel("enough", Instant::from_millis(0));
    let withdrawn: Vec<String> = step.withdrawn.iter().map(ToString::to_string).collect();
    assert_eq!(withdrawn, ["b0/n0/0", "b0/n1/n0/0"]);
    assert_eq!(step.end, Some(End::Cancelled));
}

const HELD: &str = "temporal static ( echo \"plan\" >=> hold \"ship?\" ( choices: [\"ship\", \"wait\"] ) >=> echo )";

fn decide(answer: RequestAnswer) -> Result<Vec<Value>, String> {
    outcome(&run(HELD, Script::default().on("hold", answer)).0)
}

#[test]
fn a_decision_lets_the_held_value_pass() {
    let decision = |text: &str| RequestAnswer::Ok(json::from_text(text).expect("JSON"));
    let passed = Ok(vec![Value::text("plan")]);
    assert_eq!(decide(decision(r#"{"choice":"ship","actor":"user:alice"}"#)), passed);
    assert_eq!(decide(decision(r#""wait""#)), passed);
    assert_eq!(decide(decision(r#"{"action":"approve","principal":"user:alice"}"#)), passed);
    assert_eq!(decide(decision(r#"{"action":"respond","value":"ship"}"#)), passed);
    let refused = |answer: RequestAnswer, part: &str| {
        let message = decide(answer).expect_err(part);
        assert!(message.contains(part), "{part:?} in {message:?}");
    };
    refused(decision(r#"{"choice":"reject","actor":"user:bob"}"#), "`user:bob` rejected it");
    refused(decision(r#"{"action":"reject"}"#), "rejected it");
    refused(decision(r#"{"choice":"burn"}"#), "not one of the choices");
    refused(decision("7"), "not a decision");
    refused(RequestAnswer::TimedOut, "nobody decided in time");
}

#[test]
fn a_hold_that_is_overdue_decides_as_it_says() {
    let hold = |on_timeout: &str| {
        let source = format!(
            "temporal static ( hold \"?\" ( timeout_s: 60 on_timeout: \"{on_timeout}\" ) )"
        );
        let (mut run, step) = begin(&source);
        let deadline = step.opened[0].payload.get("deadline").and_then(Value::as_int);
        assert_eq!(deadline, Some(1_000_000 + 60_000));
        let end = deliver(&mut run, "b0/n0/0", RequestAnswer::TimedOut).end.expect("it ends");
        match outcome(&end) {
            Ok(values) => json::to_text(&values[0]),
            Err(message) => message,
        }
    };
    assert!(hold("accept").contains(r#""actor":"system:timeout","choice":"accept""#));
    assert!(hold("reject").contains("`system:timeout` rejected it"));
    assert!(hold("fail").contains("nobody decided in time"));
}

#[test]
fn decisions_stand_in_the_result() {
    let answer =
        RequestAnswer::Ok(json::from_text(r#"{"choice":"ship","actor":"user:a"}"#).expect("JSON"));
    let (end, _) = run(HELD, Script::default().on("hold", answer));
    let End::Done(value) = end else { panic!("{end:?}") };
    let block = &value.get("blocks").and_then(Value::as_list).expect("blocks")[0];
    let text = json::to_text(block.get("decisions").expect("decisions"));
    assert_eq!(text, r#"[{"actor":"user:a","choice":"ship","node":"b0/n1","note":""}]"#);
}

#[test]
fn two_thousand_nodes_are_not_quadratic() {
    let branches = vec!["echo \"x\""; 998].join(" <*> ");
    let uppers = vec!["upper"; 999].join(" <*> ");
    let source = format!("memory static ( ( {branches} ) >=> pick_first >=> ( {uppers} ) )");
    let source = source.replace("pick_first", "concat \"\"");
    assert_eq!(compiled(&source).blocks[0].plan.nodes().len(), 2_000);
    let (end, world) = run(&source, Script::default());
    assert_eq!(outcome(&end).map(|values| values.len()), Ok(1));
    assert_eq!(world.asked.len(), 1_998);
}

#[test]
fn a_durable_run_with_failures_survives_every_kill() {
    let source = "temporal static ( ( summarize <*> echo \"b\" >=> temporal dynamic ( upper <*> echo ) ) >=> concat \"-\" )";
    let make = || program(source);
    let answer = |request: &agentic_replay::Request| {
        let call = agentic_lang_pipeline::run::AgentCall::of(request);
        match call.filter(|call| call.agent == "agentscript/summarize") {
            Some(call) if call.attempt < 3 => {
                RequestAnswer::Failed(ProgramFailure::new("Transport", "lost"))
            }
            Some(call) => ok(&format!("after {}", call.attempt)),
            None => perform_native(request),
        }
    };
    let durable = durable_with_kills(make, answer);
    assert_eq!(outcome(&durable.end), Ok(vec![Value::text("after 3-B b")]));
    assert!(durable.n_records > 16, "{}", durable.n_records);
}

#[test]
fn a_result_stays_recordable_whatever_the_nodes_give() {
    let branches = vec!["echo >=> upper"; 40].join(" <*> ");
    let source = format!("memory static ( summarize >=> ( {branches} ) >=> concat \"\" )");
    let large = Value::Text("x".repeat(900 << 10));
    let script = Script::default()
        .on("agentscript/summarize", RequestAnswer::Ok(large.clone()))
        .on("agentscript/echo", RequestAnswer::Ok(large))
        .on("agentscript/upper", ok("u"));
    let (end, _) = run(&source, script);
    let End::Done(value) = end else { panic!("{end:?}") };
    let block = &value.get("blocks").and_then(Value::as_list).expect("blocks")[0];
    let n_omitted = block.get("omitted").and_then(Value::as_list).map(<[Value]>::len);
    assert_eq!(n_omitted, Some(37));
    assert_eq!(block.get("result").and_then(Value::as_text).map(str::len), Some(40));
}

#[test]
fn a_thousand_plans_go_on_side_by_side_in_one_thread() {
    let mut runs: Vec<_> = (0..1_000)
        .map(|number| {
            let source = format!("memory static ( echo \"x{number}\" >=> upper >=> upper )");
            begin(&source).0
        })
        .collect();
    // Each is given one answer in turn, so all of them are under way until the last round.
    for round in 0..3 {
        for run in &mut runs {
            assert!(!run.has_ended(), "round {round}");
            let request = run.open().values().next().cloned().expect("it waits for one answer");
            let step = run.deliver(&request.path, perform_native(&request), run.now());
            assert_eq!(step.end.is_some(), round == 2);
        }
    }
    assert!(runs.iter().all(|run| run.has_ended()));
}
