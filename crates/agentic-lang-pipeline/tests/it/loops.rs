//! The loops: converge, tool_agent and supervisor.

use agentic_model::{Value, json};
use agentic_replay::{End, Program as _, RunFinish, run_to_end};

use crate::kit::{Script, World, durable_with_kills, outcome, program, run, start};

/// Runs one durable call; returns its result as JSON, or the failure.
fn result(call: &str, script: Script) -> (String, World) {
    let (end, world) = run(&format!("temporal static ( {call} )"), script);
    match outcome(&end) {
        Ok(values) => (json::to_text(&values[0]), world),
        Err(message) => (message, world),
    }
}

fn field(text: &str, key: &str) -> String {
    let value = json::from_text(text).unwrap_or_else(|_| panic!("{text}"));
    json::to_text(value.get(key).unwrap_or(&Value::Null))
}

fn no(feedback: &str) -> String {
    format!(r#"{{"approved":false,"confidence":0.2,"feedback":"{feedback}"}}"#)
}

const YES: &str = r#"{"approved":true,"confidence":7,"feedback":""}"#;

#[test]
fn converge_stops_when_the_critic_approves() {
    let script = Script::default()
        .json("sibyl/research", r#""one""#)
        .json("sibyl/research", r#"{"text":"two"}"#)
        .json("sibyl/critique", &no("more"))
        .json("sibyl/critique", &json::to_text(&Value::text(YES)));
    let (text, world) = result("converge ( question: \"q\" )", script);
    assert_eq!(
        text,
        concat!(
            r#"{"converged":true,"history":["#,
            r#"{"number":1,"research":"one","verdict":{"approved":false,"confidence":0.2,"feedback":"more"}},"#,
            r#"{"number":2,"research":"two","verdict":{"approved":true,"confidence":1.0,"feedback":""}}],"#,
            r#""rounds":2,"text":"two"}"#
        )
    );
    let asked: Vec<String> =
        world.asked.iter().map(|(path, kind)| format!("{path} {kind}")).collect();
    assert_eq!(asked, ["b0/n0/0 model", "b0/n0/1 model", "b0/n0/2 model", "b0/n0/3 model"]);
}

/// Runs a durable call as this version of the language means it; returns the end.
fn end_as(semantics: u32, call: &str, script: Script) -> End {
    let mut program = program(&format!("temporal static ( {call} )"));
    program.mean_as(semantics);
    let mut world = World::new(script);
    let finished = run_to_end(program, &start(Value::Null), |request| world.perform(request));
    let RunFinish { end, .. } = finished;
    end
}

#[test]
fn a_verdict_may_stand_in_a_fenced_block_except_in_runs_that_began_before() {
    let fenced = Value::Text(format!("Sure:\n```json\n{YES}\n```"));
    let script = Script::default().json("sibyl/research", r#""one""#);
    let script = script.json("sibyl/critique", &json::to_text(&fenced));
    let call = "converge ( question: \"q\" )";
    let now = outcome(&end_as(3, call, script.clone())).expect("the critic approves");
    assert_eq!(now[0].get("converged"), Some(&Value::Bool(true)));
    let before = outcome(&end_as(2, call, script)).expect_err("it was not read");
    assert!(before.contains("it is not one JSON object"), "{before}");
}

#[test]
fn a_result_tells_what_models_cost_except_in_runs_that_began_before() {
    let said = |text: &str, input: i64, output: i64| {
        let usage = [("input_tokens", Value::Int(input)), ("output_tokens", Value::Int(output))];
        let text = ("text", Value::text(text));
        let finish = ("finish", Value::text("stop"));
        json::to_text(&Value::map([text, finish, ("usage", Value::map(usage))]))
    };
    let script = Script::default()
        .json("sibyl/research", &said("one", 100, 10))
        .json("sibyl/critique", &said(YES, 5, 1));
    let call = "converge ( question: \"q\" )";
    let End::Done(now) = end_as(3, call, script.clone()) else { panic!("the critic approves") };
    let usage = json::to_text(now.get("usage").expect("it was told"));
    assert_eq!(usage, r#"{"calls":2,"input_tokens":105,"output_tokens":11}"#);
    let block = &now.get("blocks").and_then(Value::as_list).expect("a block")[0];
    let attempts =
        json::to_text(block.get("usage").and_then(|it| it.get("attempts")).expect("two"));
    let wanted = r#"[{"input_tokens":100,"output_tokens":10,"path":"b0/n0/0"},{"input_tokens":5,"output_tokens":1,"path":"b0/n0/1"}]"#;
    assert_eq!(attempts, wanted);
    let End::Done(before) = end_as(2, call, script) else { panic!("the critic approves") };
    assert_eq!(before.get("usage"), None);
}

#[test]
fn converge_keeps_the_last_candidate_at_the_cap() {
    let script = Script::default().json("team/researcher", r#""x""#).json("team/critic", &no("no"));
    let call =
        "converge ( question: \"q\" researcher: my_researcher critic: my_critic max_rounds: 2 )";
    let (text, world) = result(call, script);
    assert_eq!((field(&text, "converged"), field(&text, "rounds")), ("false".into(), "2".into()));
    assert_eq!(field(&text, "text"), r#""x""#);
    assert!(world.asked.iter().all(|(_, kind)| kind == "agent"));
}

#[test]
fn converge_takes_its_input_for_the_question() {
    let script = Script::default().json("sibyl/research", r#""a""#).json("sibyl/critique", YES);
    let (text, _) = result("echo \"why?\" >=> converge", script.clone());
    assert_eq!(field(&text, "converged"), "true");
    let (text, world) = result("converge", script);
    assert!(text.contains("there is no question"), "{text}");
    assert!(world.asked.is_empty());
}

#[test]
fn a_critic_that_does_not_reply_with_an_object_fails_the_loop_at_once() {
    for reply in [r#""fine by me""#, "[]", r#"{"approved":"yes"}"#, r#""{} {}""#, "null"] {
        let script =
            Script::default().json("sibyl/research", r#""a""#).json("sibyl/critique", reply);
        let (text, world) = result("converge ( question: \"q\" )", script);
        assert!(text.contains("not usable"), "{reply}: {text}");
        assert_eq!(world.asked.len(), 2, "{reply}");
    }
}

#[test]
fn calls_of_loops_are_tried_five_times() {
    let script = Script::default().fail("sibyl/research", "Transport");
    let (_, world) = result("converge ( question: \"q\" )", script);
    assert_eq!(world.asked.len(), 5);
}

fn step(tool: &str, args: &str) -> String {
    format!(r#"{{"action":"tool","reasoning":"r","tool":"{tool}","args":{args}}}"#)
}

const FINAL: &str = r#"{"action":"final","reasoning":"done","answer":"42"}"#;

#[test]
fn a_tool_agent_uses_tools_and_answers() {
    let script = Script::default()
        .json("sibyl/tool_step", &step("logs", r#"{"query":"x"}"#))
        .json("sibyl/tool_step", FINAL)
        .json("agentscript/logs", r#""lines""#);
    let (text, world) = result("tool_agent ( task: \"t\" tools: [logs, github] )", script);
    assert_eq!(field(&text, "text"), r#""42""#);
    assert_eq!(field(&text, "converged"), "true");
    assert_eq!(
        field(&text, "steps"),
        concat!(
            r#"[{"args":{"query":"x"},"final":false,"is_error":false,"reasoning":"r","result":"lines","tool":"logs"},"#,
            r#"{"args":{},"final":true,"is_error":false,"reasoning":"done","result":"42","tool":""}]"#
        )
    );
    let kinds: Vec<&str> = world.asked.iter().map(|(_, kind)| kind.as_str()).collect();
    assert_eq!(kinds, ["model", "agent", "model"]);
}

#[test]
fn refused_and_failed_tools_are_steps_and_the_loop_goes_on() {
    let script = Script::default()
        .json("sibyl/tool_step", &step("nobody", "{}"))
        .json("sibyl/tool_step", &step("logs", r#"{"query":7}"#))
        .json("sibyl/tool_step", &step("logs", "{}"))
        .json("sibyl/tool_step", FINAL)
        .fail("agentscript/logs", "InvalidInput");
    let (text, _) = result("tool_agent ( task: \"t\" tools: [logs, github] )", script);
    let steps = field(&text, "steps");
    for part in [
        "there is no tool `nobody`; there are: github, logs",
        "the parameter `query` wants string",
        "as the case has it",
    ] {
        assert!(steps.contains(part), "{part:?} in {steps}");
    }
    assert_eq!(steps.matches(r#""is_error":true"#).count(), 3);
}

#[test]
fn refused_steps_count_against_the_cap() {
    let script = Script::default().json("sibyl/tool_step", &step("nobody", "{}"));
    let (text, world) = result("tool_agent ( task: \"t\" max_steps: 3 )", script);
    assert_eq!((field(&text, "text"), field(&text, "converged")), (r#""""#.into(), "false".into()));
    assert_eq!(world.asked.len(), 3);
}

#[test]
fn replies_that_are_no_action_fail_the_run() {
    for reply in
        [r#""hello""#, r#"{"action":"sing"}"#, r#"{"action":"tool"}"#, r#"{"action":"final"}"#]
    {
        let script = Script::default().json("sibyl/tool_step", reply);
        let (text, world) = result("tool_agent ( task: \"t\" )", script);
        assert!(text.contains("not usable"), "{reply}: {text}");
        assert_eq!(world.asked.len(), 1, "{reply}");
    }
}

#[test]
fn a_supervisor_works_on_the_parts_at_once() {
    let script = Script::default().json("sibyl/research", r#""a""#).json("sibyl/critique", YES);
    let (text, world) = result("supervisor ( question: \"tea versus coffee\" )", script);
    assert_eq!(
        (field(&text, "success_count"), field(&text, "failure_count")),
        ("2".into(), "0".into())
    );
    assert_eq!(
        field(&text, "text"),
        r###""# tea versus coffee\n\n## tea\n\na\n\n## coffee\n\na\n""###
    );
    let paths: Vec<String> = world.asked.iter().map(|(path, _)| path.to_string()).collect();
    assert_eq!(paths, ["b0/n0/sub0/n0/0", "b0/n0/sub0/n0/1", "b0/n0/sub1/n0/0", "b0/n0/sub1/n0/1"]);
}

#[test]
fn a_supervisor_lives_with_failed_parts_unless_all_fail() {
    let script = Script::default()
        .json("sibyl/research", r#""a""#)
        .fail("sibyl/research", "ConfigurationError")
        .json("sibyl/critique", YES);
    let (text, _) = result("supervisor ( question: \"tea versus coffee\" )", script);
    assert_eq!(
        (field(&text, "success_count"), field(&text, "failure_count")),
        ("1".into(), "1".into())
    );
    assert!(field(&text, "text").contains("## Without an answer"), "{text}");
    assert!(
        field(&text, "sub_answers").contains(r#"at 1:19 failed: as the case has it""#),
        "{text}"
    );
    let script = Script::default().fail("sibyl/research", "ConfigurationError");
    let (text, _) = result("supervisor ( question: \"tea versus coffee\" )", script);
    assert!(text.contains("no part of the question"), "{text}");
}

#[test]
fn a_supervisor_cuts_its_parts_to_the_cap() {
    let script = Script::default().json("sibyl/research", r#""a""#).json("sibyl/critique", YES);
    let (text, _) = result("supervisor ( question: \"a; b; c; d\" max_subquestions: 2 )", script);
    assert_eq!(field(&text, "success_count"), "2");
}

#[test]
fn loops_survive_every_kill() {
    let source = "temporal static ( supervisor ( question: \"tea versus coffee\" ) >=> tool_agent ( tools: [logs] max_steps: 2 ) )";
    let answer = |request: &agentic_replay::Request| {
        let call = agentic_lang_pipeline::run::AgentCall::of(request).expect("a call");
        let text = match call.agent.as_str() {
            "sibyl/research" => r#""a""#.to_owned(),
            "sibyl/critique" => {
                let round = call.input.get("round").and_then(Value::as_int);
                if round == Some(1) { no("more") } else { YES.to_owned() }
            }
            "sibyl/tool_step" => step("logs", "{}"),
            _ => r#""lines""#.to_owned(),
        };
        agentic_replay::RequestAnswer::Ok(json::from_text(&text).expect("JSON"))
    };
    let durable = durable_with_kills(|| program(source), answer);
    let values = outcome(&durable.end).expect("it ends well");
    assert_eq!(values[0].get("converged"), Some(&Value::Bool(false)));
    assert_eq!(durable.performed.len(), 12);
}
