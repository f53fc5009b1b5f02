//! Conversations of models with tools: what is asked next after each answer, and what ends them.

use agentic_lang_agent::{
    AGENT_TASK, AGENT_TOOL, CALLS_MAX, CONVERSATION_BYTES_MAX, ROUNDS_MAX, RunOptions, TRACE,
    TaskAgents, TraceCapture, compile, read, register_kinds,
};
use agentic_model::{Instant, Value, json};
use agentic_replay::{
    EffectClass, End, Handling, HostStep, Kinds, ProgramFailure, ProgramRun, Request,
    RequestAnswer, Seed, Start,
};

const TEXT: &str = "enum Mood { calm, wild };\n\
    tool look(place: String, mood: Mood, deep: Option[Number]) -> Obj{seen: List[String]} {}\n\
    tool fetch_url(url: String) -> Obj{content: String} {}\n\
    tool judge() -> Mood {}\n\
    tool idle() -> Null_ {}\n\
    tool other(x: Number) -> Number {}\n\
    agent scout { tools: [look, fetch_url, judge, idle] }\n\
    task think(topic: String) -> Obj{note: String} by agent {}\n\
    task research(topic: String) -> Obj{notes: String} {}\n\
    pipeline main() -> String { let r = think(\"tea\") by scout timeout 10; return r.note; }\n\
    pipeline again() -> String {\n\
      let r = think(\"tea\") by scout retries 1 on_fail use { note: \"none\" }; return r.note;\n\
    }\n\
    pipeline nobody() -> String { let r = research(\"tea\"); return r.notes; }\n";

/// A run that models take part in, and what it asks now.
struct Talk {
    run: ProgramRun<agentic_lang_agent::ModuleRun>,
    asked: Vec<Request>,
    events: Vec<String>,
    end: Option<End>,
    now: i64,
}

impl Talk {
    fn begin(pipeline: &str) -> Talk {
        let text = TEXT.replace("Null_", "Option[String]");
        let source = read("talk.agent", text.as_bytes()).expect("the text is UTF-8");
        let module = compile(&source).expect("the program is right");
        let tools = ["look", "judge", "other"].map(str::to_owned).into();
        let trace = TraceCapture::On;
        let options =
            RunOptions { agents: TaskAgents::Models, tools, trace, ..RunOptions::default() };
        let at = Instant::from_millis(0);
        let start = Start { input: "{}".into(), seed: Seed([0; 32]), at };
        let (run, step) = ProgramRun::begin(module.run(pipeline, options), &start);
        let mut talk = Talk { run, asked: Vec::new(), events: Vec::new(), end: None, now: 0 };
        talk.take(step);
        talk
    }

    fn take(&mut self, step: HostStep) {
        self.asked = step.opened.iter().map(|request| Request::clone(request)).collect();
        let traced = step.events.iter().filter(|event| event.kind == TRACE);
        self.events.extend(traced.filter_map(|event| event.data.as_text()).map(str::to_owned));
        self.end = step.end;
    }

    /// Answers what is asked now, so many milliseconds later.
    fn answer(&mut self, answer: RequestAnswer, after_ms: i64) -> &mut Talk {
        self.now += after_ms;
        let request = self.asked.first().expect("something is asked").clone();
        let step = self.run.deliver(&request.path, answer, Instant::from_millis(self.now));
        self.take(step);
        // Pauses are over at once.
        if let Some(until) = self.asked.first().and_then(Request::sleeps_until) {
            let after_ms = until.millis() - self.now;
            return self.answer(RequestAnswer::Ok(Value::Null), after_ms);
        }
        self
    }

    /// Shows what is asked now, or how it ended.
    fn shown(&self) -> String {
        match (&self.end, self.asked.as_slice()) {
            (Some(End::Done(value)), _) => format!("done {}", json::to_text(value)),
            (Some(End::Failed(failure)), _) => format!("{}: {}", failure.code, failure.message),
            (None, [request]) => {
                let part = |key: &str| {
                    let text = request.payload.get(key).and_then(Value::as_text);
                    text.map(|text| format!(" {key}={text}")).unwrap_or_default()
                };
                let parts = ["by", "agent", "tool", "args", "turns"].map(part);
                format!("{} {}{}", request.path, request.kind, parts.concat())
            }
            other => panic!("it asks for {other:?}"),
        }
    }
}

fn text(text: &str) -> RequestAnswer {
    RequestAnswer::Ok(Value::text(text))
}

/// What a model answers that asks for tools: each a name and the arguments as it wrote them.
fn wants(calls: &[(&str, &str)]) -> RequestAnswer {
    let call = |(at, (name, args)): (usize, &(&str, &str))| {
        Value::map([
            ("id", Value::text(format!("c{at}"))),
            ("name", Value::text(*name)),
            ("args", Value::text(*args)),
        ])
    };
    let calls = calls.iter().enumerate().map(call).collect();
    RequestAnswer::Ok(Value::map([("said", Value::text("hm")), ("calls", Value::List(calls))]))
}

const LOOK: (&str, &str) = ("look", r#"{"place":"a\n","mood":"calm","deep":1}"#);
const SEEN: &str = r#"{"seen":["x"]}"#;

#[test]
fn tools_are_called_in_turn_and_their_results_given_back() {
    let mut talk = Talk::begin("main");
    let first = r#"0 agent-task agent=scout args={"topic":"tea"}"#;
    assert_eq!(talk.shown(), first);
    talk.answer(wants(&[LOOK, ("fetch_url", r#"{ "url" : "u" }"#)]), 10);
    let look = r#"agent-tool by=program agent=scout tool=look args={"place":"a\n","mood":"calm","deep":1}"#;
    assert_eq!(talk.shown(), format!("1 {look}"));
    talk.answer(text(SEEN), 10);
    let fetch = r#"2 agent-tool by=web agent=scout tool=fetch_url args={"url":"u"}"#;
    assert_eq!(talk.shown(), fetch);
    talk.answer(text(r#"{"content":"c", "more":1}"#), 10);
    let turn = r#"{"said":"hm","calls":[{"id":"c0","name":"look","args":{"place":"a\n","mood":"calm","deep":1}},{"id":"c1","name":"fetch_url","args":{"url":"u"}}],"results":[{"seen":["x"]},{"content":"c","more":1}]}"#;
    let asked = r#"agent-task agent=scout args={"topic":"tea"}"#;
    assert_eq!(talk.shown(), format!("3 {asked} turns=[{turn}]"));
    // For a tool that takes nothing a model may write nothing.
    talk.answer(wants(&[("judge", " ")]), 10);
    assert_eq!(talk.shown(), "4 agent-tool by=program agent=scout tool=judge args={}");
    talk.answer(text(r#""wild""#), 10);
    let other =
        r#"{"said":"hm","calls":[{"id":"c0","name":"judge","args":{}}],"results":["wild"]}"#;
    assert_eq!(talk.shown(), format!("5 {asked} turns=[{turn},{other}]"));
    talk.answer(text(r#"{"note":"fine"}"#), 10);
    assert_eq!(talk.shown(), r#"done "\"fine\"""#);
    let story: Vec<&str> =
        talk.events.iter().filter(|event| event.contains("\"tool")).map(|it| &**it).collect();
    let wanted = [
        r#"{"type":"tool_call","timestamp":0.01,"tool":"look","args":{"place":"a\n","mood":"calm","deep":1},"id":"task:think:1"}"#,
        r#"{"type":"tool_end","timestamp":0.02,"tool":"look","result":{"seen":["x"]},"duration_s":0.01,"id":"task:think:1"}"#,
        r#"{"type":"tool_call","timestamp":0.02,"tool":"fetch_url","args":{"url":"u"},"id":"task:think:1"}"#,
        r#"{"type":"tool_end","timestamp":0.03,"tool":"fetch_url","result":{"content":"c","more":1},"duration_s":0.01,"id":"task:think:1"}"#,
        r#"{"type":"tool_call","timestamp":0.04,"tool":"judge","args":{},"id":"task:think:1"}"#,
        r#"{"type":"tool_end","timestamp":0.05,"tool":"judge","result":"wild","duration_s":0.01,"id":"task:think:1"}"#,
    ];
    assert_eq!(story, wanted);
}

/// What is asked for, and why the attempt fails before anything is called.
const NONSENSE: [(&str, &str, &str); 15] = [
    ("other", r#"{"x":1}"#, "Agent 'scout' has no tool 'other'."),
    ("nothing", "{}", "Tool 'nothing' is not declared."),
    ("", "{}", "Tool '' is not declared."),
    ("idle", "{}", "No runtime handler registered for tool 'idle'."),
    ("look", "{", "Tool 'look' was called with arguments that are not JSON at byte 1"),
    ("look", "[]", "Tool 'look' was called with arguments that are no JSON object."),
    ("look", "\"{}\"", "Tool 'look' was called with arguments that are no JSON object."),
    ("look", r#"{"deep":1}"#, "Tool 'look' missing arguments: ['mood', 'place']."),
    (
        "look",
        r#"{"place":"","mood":"calm","deep":null,"z":1,"a":2}"#,
        "Tool 'look' got unknown arguments: ['a', 'z'].",
    ),
    (
        "look",
        r#"{"place":7,"mood":"calm","deep":null}"#,
        "Tool 'look' argument 'place' has invalid value 7 for type String.",
    ),
    (
        "look",
        r#"{"place":"","mood":"odd","deep":null}"#,
        "Tool 'look' argument 'mood' has value 'odd' which is not a valid variant of enum 'Mood'.",
    ),
    (
        "look",
        r#"{"place":"","mood":"calm","deep":true}"#,
        "invalid value true for type Option[Number].",
    ),
    ("look", r#"{"place":"","mood":"calm","deep":1e999}"#, "arguments that are"),
    ("fetch_url", "{}", "Tool 'fetch_url' missing arguments: ['url']."),
    ("judge", r#"{"x":1}"#, "Tool 'judge' got unknown arguments: ['x']."),
];

#[test]
fn wishes_that_make_no_sense_fail_the_attempt_before_anything_is_called() {
    for (name, args, wanted) in NONSENSE {
        let mut talk = Talk::begin("main");
        talk.answer(wants(&[LOOK, (name, args)]), 1);
        let shown = talk.shown();
        let begins = "A0602: Task 'think' by agent 'scout' failed after 1 attempts. Last error: ExecutionError: ";
        assert!(shown.starts_with(begins) && shown.contains(wanted), "{name} {args}: {shown}");
    }
    let deep = format!("{{\"place\":{}}}", "[".repeat(100_000));
    let long = "x".repeat(100_000);
    for (name, args) in [("look", &*deep), (&*long, "{}"), ("judge", &format!("{{\"{long}\":1}}"))]
    {
        let mut talk = Talk::begin("main");
        talk.answer(wants(&[(name, args)]), 1);
        let shown = talk.shown();
        assert!(shown.starts_with("A0602") && shown.len() < 1000, "{shown}");
    }
    // Who has no agent has no tools.
    let mut talk = Talk::begin("nobody");
    talk.answer(wants(&[LOOK]), 1);
    assert!(talk.shown().contains("no agent is bound"), "{}", talk.shown());
    // Nothing asked for is no wish.
    let mut talk = Talk::begin("main");
    talk.answer(wants(&[]), 1);
    assert!(talk.shown().contains("InvalidAnswer: the answer is"), "{}", talk.shown());
}

#[test]
fn what_tools_give_is_held_to_their_type() {
    let too_much = format!("{{\"seen\":[\"{}\"]}}", "x".repeat(CONVERSATION_BYTES_MAX));
    let table = [
        (text("{}"), "Tool 'look' returned invalid value {} for type Obj{seen: List[String]}."),
        (text(r#"{"seen":[1]}"#), "Tool 'look' returned invalid value"),
        (text("no"), "Tool 'look' returned what is not JSON at byte 0"),
        (RequestAnswer::Ok(Value::Int(1)), "not JSON text."),
        (
            RequestAnswer::Failed(ProgramFailure::new("Boom", " it broke ")),
            "Tool 'look' failed: Boom: it broke",
        ),
        (RequestAnswer::Failed(ProgramFailure::new("Boom", "")), "Tool 'look' failed: Boom"),
        (text(&too_much), "Tool 'look' said too much: the conversation has"),
        (
            RequestAnswer::TimedOut,
            "Last error: HandlerTimeoutError: Task handler exceeded 10.0s deadline",
        ),
    ];
    for (answer, wanted) in table {
        let mut talk = Talk::begin("main");
        talk.answer(wants(&[LOOK]), 1).answer(answer, 1);
        let shown = talk.shown();
        assert!(shown.starts_with("A0602") && shown.contains(wanted), "{wanted}: {shown:.300}");
        let last = &talk.events[talk.events.len() - 3];
        assert!(last.contains(r#""type":"tool_e"#), "{last:.300}");
    }
    let mut talk = Talk::begin("main");
    talk.answer(wants(&[("judge", "{}")]), 1).answer(text("\"odd\""), 1);
    assert!(talk.shown().contains("Tool 'judge' result has value 'odd'"), "{}", talk.shown());
}

#[test]
fn a_model_that_asks_for_ever_is_stopped() {
    let mut talk = Talk::begin("main");
    for _ in 0..ROUNDS_MAX {
        assert!(talk.shown().contains(AGENT_TASK), "{}", talk.shown());
        talk.answer(wants(&[("judge", "{}")]), 1).answer(text("\"calm\""), 1);
    }
    let mut patient = Talk::begin("main");
    for _ in 0..ROUNDS_MAX {
        patient.answer(wants(&[("judge", "{}")]), 1).answer(text("\"calm\""), 1);
    }
    patient.answer(text(r#"{"note":"at last"}"#), 1);
    assert_eq!(patient.shown(), r#"done "\"at last\"""#);
    talk.answer(wants(&[("judge", "{}")]), 1);
    assert!(talk.shown().contains("asked for tools more than 8 times"), "{}", talk.shown());
    let mut greedy = Talk::begin("main");
    greedy.answer(wants(&vec![("judge", "{}"); CALLS_MAX + 1]), 1);
    assert!(greedy.shown().contains("asked for 65 tools at once"), "{}", greedy.shown());
    let mut chatty = Talk::begin("main");
    let said = Value::text("x".repeat(CONVERSATION_BYTES_MAX));
    let RequestAnswer::Ok(Value::Map(mut wish)) = wants(&[("judge", "{}")]) else {
        panic!("a map")
    };
    wish.insert("said".to_owned(), said);
    chatty.answer(RequestAnswer::Ok(Value::Map(wish)), 1);
    assert!(chatty.shown().contains("The model said too much"), "{:.300}", chatty.shown());
}

#[test]
fn an_attempt_begins_anew_after_a_tool_that_failed() {
    let broken = || RequestAnswer::Failed(ProgramFailure::new("Boom", "it broke"));
    let mut talk = Talk::begin("again");
    talk.answer(wants(&[("judge", "{}")]), 1).answer(broken(), 1);
    assert_eq!(talk.shown(), r#"3 agent-task agent=scout args={"topic":"tea"}"#);
    talk.answer(wants(&[("judge", "{}")]), 1).answer(broken(), 1);
    assert_eq!(talk.shown(), r#"done "\"none\"""#);
}

#[test]
fn all_of_an_attempt_together_has_its_time() {
    let mut talk = Talk::begin("main");
    let left = |talk: &Talk| talk.asked[0].timeout_ms;
    assert_eq!(left(&talk), Some(10_000));
    talk.answer(wants(&[("judge", "{}")]), 4_000);
    assert_eq!(left(&talk), Some(6_000));
    talk.answer(text("\"calm\""), 5_999);
    assert_eq!(left(&talk), Some(1));
    talk.answer(wants(&[("judge", "{}")]), 1);
    assert!(talk.shown().contains("HandlerTimeoutError"), "{}", talk.shown());
}

#[test]
fn a_tool_that_reads_the_web_may_be_called_again_after_a_crash() {
    let mut kinds = Kinds::built_in();
    register_kinds(&mut kinds);
    for (by, class) in [("web", EffectClass::Read), ("program", EffectClass::Once)] {
        let payload = Value::map([("by", Value::text(by))]);
        let request = Request::new(agentic_replay::Path::root(), AGENT_TOOL, payload);
        assert_eq!(kinds.rule(&request).handling, Handling::Effect(class), "{by}");
    }
}
