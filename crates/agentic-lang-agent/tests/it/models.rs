//! Agents that are served by models: what is asked, and what is made of the answers.

use agentic_lang_agent::{
    AGENT_TASK, MOCK, RunOptions, TASK, TaskAgents, compile, read, register_kinds,
};
use agentic_model::{Instant, Value};
use agentic_replay::{
    EffectClass, End, Handling, Kinds, ProgramFailure, ProgramRun, Request, RequestAnswer, Seed,
    Start,
};

const TEXT: &str = "enum Mood { calm, wild };\n\
    tool web_search(query: String) -> List[String] {}\n\
    agent writer { model: \"big\", tools: [web_search] }\n\
    agent plain { tools: [] }\n\
    task think(topic: String) -> Obj{mood: Mood, note: Option[String]} by agent {}\n\
    task research(topic: String) -> Obj{notes: String} {}\n\
    task route(intent: String, urgency: String) -> Obj{queue: String} {}\n\
    pipeline thinks() -> String { let r = think(\"tea\") by writer retries 1; return r.mood; }\n\
    pipeline asks() -> String { let r = research(\"tea\"); return r.notes; }\n\
    pipeline routes() -> String { let r = route(\"a\", \"b\") by plain; return r.queue; }\n";

/// Starts a pipeline and returns what it asks first.
fn first(
    pipeline: &str,
    options: &RunOptions,
) -> (ProgramRun<agentic_lang_agent::ModuleRun>, Request) {
    let source = read("models.agent", TEXT.as_bytes()).expect("the text is UTF-8");
    let module = compile(&source).expect("the program is right");
    let at = Instant::from_millis(0);
    let start = Start { input: "{}".into(), seed: Seed([0; 32]), at };
    let (run, step) = ProgramRun::begin(module.run(pipeline, options.clone()), &start);
    let request = Request::clone(&step.opened[0]);
    (run, request)
}

fn live() -> RunOptions {
    RunOptions { agents: TaskAgents::Models, ..RunOptions::default() }
}

fn check(pipeline: &str, options: &RunOptions, wanted: &str) {
    let (_, request) = first(pipeline, options);
    let payload = agentic_model::json::to_text(&request.payload);
    assert_eq!(format!("{} {payload}", request.kind), wanted);
}

#[test]
fn a_request_says_who_performs_what() {
    let mock = RunOptions::default();
    let schema = r#"{\"type\":\"object\",\"properties\":{\"mood\":{\"type\":\"string\",\"enum\":[\"calm\",\"wild\"]},\"note\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}},\"required\":[\"mood\",\"note\"],\"additionalProperties\":false}"#;
    let tools = r#"[{\"name\":\"web_search\",\"params\":{\"query\":{\"type\":\"string\"}},\"result\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}}]"#;
    let args = r#""args":"{\"topic\":\"tea\"}""#;
    check(
        "thinks",
        &live(),
        &format!(
            r#"{AGENT_TASK} {{"agent":"writer",{args},"model":"big","result":"{schema}","task":"think","tools":"{tools}"}}"#
        ),
    );
    check(
        "thinks",
        &mock,
        &format!(r#"{MOCK} {{"agent":"writer",{args},"result":"{schema}","task":"think"}}"#),
    );
    check("asks", &mock, &format!(r#"{MOCK} {{{args},"task":"research"}}"#));
    let (_, request) = first("asks", &live());
    assert_eq!(request.kind, AGENT_TASK, "a built-in task that stands for a model");
    let (_, request) = first("routes", &live());
    assert_eq!(request.kind, MOCK, "a built-in task that needs no model");
    let handlers = ["think", "research"].map(str::to_owned).into();
    let with_handlers = RunOptions { handlers, ..live() };
    check("asks", &with_handlers, &format!(r#"{TASK} {{{args},"task":"research"}}"#));
    let with_agent = format!(r#"{TASK} {{"agent":"writer",{args},"task":"think"}}"#);
    check("thinks", &with_handlers, &with_agent);
}

/// Answers a run until it ends; pauses are over at once.
fn finish(answers: &[RequestAnswer]) -> End {
    let (mut run, mut request) = first("thinks", &live());
    let mut answers = answers.iter().cloned();
    loop {
        let (answer, at) = match request.sleeps_until() {
            Some(until) => (RequestAnswer::Ok(Value::Null), until),
            None => (answers.next().expect("there is an answer for every attempt"), run.now()),
        };
        let step = run.deliver(&request.path, answer, at);
        if let Some(end) = step.end {
            return end;
        }
        request = Request::clone(&step.opened[0]);
    }
}

#[test]
fn answers_of_models_are_held_to_the_type() {
    let text = |text: &str| RequestAnswer::Ok(Value::text(text));
    let good = || text(r#"{"mood":"wild","note":null}"#);
    let done = End::Done(Value::text("\"wild\""));
    assert_eq!(finish(&[good()]), done);
    // Garbage, plain data, a wrong type and a failure each cost one attempt.
    let garbage = [
        text("I think it is wild"),
        RequestAnswer::Ok(Value::Int(3)),
        text(r#"{"mood":"wild"}"#),
        text("[1e999]"),
        RequestAnswer::Failed(ProgramFailure::new("Overloaded", "try later")),
    ];
    for bad in garbage {
        assert_eq!(finish(&[bad.clone(), good()]), done, "{bad:?}");
        let End::Failed(failure) = finish(&[bad.clone(), bad]) else { panic!("it cannot be done") };
        assert!(["A0602", "A0603"].contains(&failure.code.as_str()), "{failure:?}");
    }
    let End::Failed(failure) = finish(&[text(r#"{"mood":"odd","note":null}"#)]) else {
        panic!("it cannot be done")
    };
    let wanted = "Task 'think' result.mood has value 'odd' which is not a valid variant of enum \
        'Mood'. Valid variants: ['calm', 'wild']";
    assert_eq!(failure.message, wanted);
}

#[test]
fn kinds_say_what_a_crash_may_do() {
    let mut kinds = Kinds::built_in();
    register_kinds(&mut kinds);
    let wanted =
        [(MOCK, EffectClass::Pure), (AGENT_TASK, EffectClass::Read), (TASK, EffectClass::Once)];
    for (kind, class) in wanted {
        let request = Request::new(agentic_replay::Path::root(), kind, Value::Null);
        assert_eq!(kinds.rule(&request).handling, Handling::Effect(class), "{kind}");
    }
}
