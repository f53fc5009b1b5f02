//! Runs as their hosts see them: concurrency, depth, limits, failures, input.

use std::collections::BTreeMap;

use agentic_diag::SourceText;
use agentic_lang_context::json::{self, Json, compact, parse};
use agentic_lang_context::provider::{EmptyModel, MockMemory, PreparedModel, PreparedReply};
use agentic_lang_context::{
    Calls, CheckOptions, ContextModule, ContextOptions, EntryPoint, LIMIT, PROGRAM_FAILED,
    RunFault, TraceMode, Version, compile, trace,
};
use agentic_model::Instant;
use agentic_replay::{CancelExtent, End, Program as _, ProgramRun, RequestAnswer, Seed, Start};

use crate::host::{Drive, Memories, Model, Order, Providers, Record, Tools};

pub const HEAD: &str = "import llm M from 'mock://m'\n\
    import tool T from 'mcp://t'\n\
    main agent A {\nmodel M\nrole 'R'\ndescription 'D'\nmain func(input) {\n";

pub fn module(text: &str) -> ContextModule {
    let none = &mut |_: &str| Err("no files here".to_owned());
    compile(SourceText::new("main.as", text), &CheckOptions::default(), none)
        .unwrap_or_else(|checked| panic!("{:?}\n{text}", checked.findings))
}

pub fn providers(replies: Option<Vec<PreparedReply>>) -> Providers {
    let model = match replies {
        Some(replies) => Model::Scripted(PreparedModel::new(replies)),
        None => Model::Mock(EmptyModel::new(Version::V0_1_18)),
    };
    let memory = Memories::Mock(MockMemory::default());
    Providers { model, tools: Tools::Mock, memory, inputs: BTreeMap::new() }
}

pub fn drive(module: &ContextModule) -> Drive<'_> {
    Drive {
        module,
        entry: EntryPoint::default(),
        options: ContextOptions::default(),
        input: Json::object([] as [(&str, Json); 0]),
        order: Order::First,
    }
}

pub fn shown(end: &End) -> String {
    match end {
        End::Done(value) => compact(&json::from_value(value).expect("a result is JSON")),
        End::Failed(failure) => format!("{}: {}", failure.code, failure.message),
        End::Cancelled => "cancelled".to_owned(),
    }
}

/// Runs the body of a main function on mocks; also replays it from every cut.
fn run_body(body: &str) -> Record {
    let module = module(&format!("{HEAD}{body}\n}}\n}}"));
    let drive = drive(&module);
    let record = drive.live(providers(None));
    for cut in 0..=record.asked.len() {
        assert_eq!(drive.run(providers(None), &record.asked[..cut], &record), record, "{body}");
    }
    record
}

fn check(body: &str, expected: &str) {
    assert_eq!(shown(&run_body(body).end), expected, "{body}");
}

fn check_failure(body: &str, code: &str, part: &str) {
    let record = run_body(body);
    let End::Failed(failure) = &record.end else { panic!("{:?}", record.end) };
    assert_eq!(failure.code, code, "{}", failure.message);
    assert!(failure.message.contains(part), "{}", failure.message);
    assert!(RunFault::of(failure).is_some());
}

#[test]
fn iterations_run_at_once_and_keep_the_order_of_the_list() {
    let body = "parallel for x in [1, 2, 3, 4, 5, 6] max 6 {\n\
                use x as n\nr = generate({ input: 'a' }) -> { ok: boolean }\n{ x: x, ok: r.ok }\n}";
    let module = module(&format!("{HEAD}{body}\n}}\n}}"));
    let mut drive = drive(&module);
    let first = drive.live(providers(None));
    assert_eq!(first.open[0].len(), 4, "as many as may run at once");
    assert!(first.open.iter().all(|open| open.len() <= 4));
    drive.order = Order::Last;
    let last = drive.live(providers(None));
    assert_eq!(first.end, last.end);
    let requests = |record: &Record| {
        let mut asked: Vec<_> = record.asked.iter().map(|asked| asked.request.clone()).collect();
        asked.sort_by(|left, right| left.path.cmp(&right.path));
        asked
    };
    assert_eq!(requests(&first), requests(&last), "paths do not depend on the order of answers");
    assert_eq!(requests(&first)[4].path.as_str(), "parallel#0/i4/0");
    for cut in 0..=last.asked.len() {
        assert_eq!(drive.run(providers(None), &last.asked[..cut], &last), last);
    }
}

#[test]
fn requests_are_keyed_by_the_calls_that_lead_to_them() {
    let text = format!(
        "{HEAD}T.one({{}})\nB({{}})\nhelper()\nB({{}})\nT.two({{}})\n}}\n\
         func helper() {{ T.help({{}}) }} }}\n\
         agent B {{ main func(x) {{ parallel for i in [1] max 1 {{ C.f(i) }} }} }}\n\
         agent C {{ func f(x) {{ use_tool(x) }} func use_tool(x) {{ T2.get({{ n: x }}) }} }}\n\
         import tool T2 from 'https://x'"
    );
    let module = module(&text);
    let record = drive(&module).live(providers(None));
    let paths: Vec<&str> = record.asked.iter().map(|asked| asked.request.path.as_str()).collect();
    assert_eq!(
        paths,
        ["0", "B.__main#0/parallel#0/i0/C.f#0/0", "1", "B.__main#1/parallel#0/i0/C.f#0/0", "2"]
    );
}

#[test]
fn calls_nest_without_the_stack_of_the_host() {
    let text = "main agent A { main func(i) { down(900) } func down(n) {\n\
                if n == 0 { return 0 }\nreturn 1 + down(n - 1) } }";
    let deep_module = module(text);
    assert_eq!(shown(&drive(&deep_module).live(providers(None)).end), "900");
    let mut deep = drive(&deep_module);
    deep.options.call_depth_max = 500;
    let end = shown(&deep.live(providers(None)).end);
    assert!(end.starts_with("program: calls nest deeper than 500 at 3:12"), "{end}");
    let endless = module("main agent A { main func(i) { A(i) } }");
    let mut endless = drive(&endless);
    endless.options.call_depth_max = 20_000;
    endless.options.steps_max = 10_000_000;
    assert!(shown(&endless.live(providers(None)).end).contains("calls nest deeper"));
}

#[test]
fn traces_of_deep_calls_stay_readable() {
    let text = "main agent A { main func(i) { B.f(200) } }\n\
                agent B { func f(n) { if n > 0 { B.f(n - 1) } } }";
    let module = module(text);
    let record = drive(&module).live(providers(None));
    let trace = trace::collect(&record.events);
    assert_eq!(trace.len(), 1);
    assert_eq!(trace::pretty(&trace).lines().count(), 201, "no call is missing");
}

#[test]
fn runs_without_end_meet_a_limit() {
    let body = "loop until false max 99999999999999999999 { n = 1 }";
    let module = module(&format!("{HEAD}{body}\n}}\n}}"));
    let mut drive = drive(&module);
    drive.options.steps_max = 100_000;
    let end = drive.live(providers(None)).end;
    assert!(matches!(&end, End::Failed(failure) if failure.code == LIMIT), "{end:?}");
}

#[test]
fn work_is_measured_by_what_it_touches() {
    // A text of 8 MiB and a list of 100,000 items.
    let large = "s = 'xxxxxxxx'\nrepeat * 20 { s = s + s }\nl = []\nrepeat * 100000 { l.add(1) }\n";
    let cases = [
        "t = s + 'x'",
        "t = s == s",
        "t = l == l",
        "t = l.summary",
        "for x in [1, 2] max 2 { y = x }",
    ];
    for body in cases {
        // Were an instruction an instruction, these would take hours.
        let module = module(&format!("{HEAD}{large}repeat * 1000000000 {{ {body} }}\n}}\n}}"));
        let mut drive = drive(&module);
        drive.options.steps_max = 20_000_000;
        let end = shown(&drive.live(providers(None)).end);
        assert!(end.starts_with("limit: the work of 20000000 instructions"), "{body}: {end}");
    }
}

#[test]
fn values_without_end_meet_a_limit() {
    check_failure("s = 'xxxxxxxx'\nrepeat * 60 { s = s + s }\nreturn s.length", LIMIT, "bytes");
    check_failure("x = [1]\nrepeat * 60 { x = [x, x] }\nreturn x.summary", LIMIT, "larger than");
    check_failure("x = []\nrepeat * 300 { x = [x] }\nreturn x == x", LIMIT, "nests deeper");
    check_failure("x = []\nrepeat * 300 { x = [x] }\nT.f({ x: x })", LIMIT, "nests deeper");
    check("x = []\nrepeat * 500000 { x = [x] }\nreturn x.length", "1");
    check(
        "x = { a: 1 }\nx.me = x\nl = [x]\nl.add(l)\nreturn l",
        r#"[{"a":1,"me":"[Circular]"},"[Circular]"]"#,
    );
}

#[test]
fn errors_name_their_place() {
    check_failure("return [1][1]", PROGRAM_FAILED, "none at 1 at 8:8");
    check_failure("return [1][0 - 1]", PROGRAM_FAILED, "whole number");
    check_failure("return [1]['x']", PROGRAM_FAILED, "whole number");
    check_failure("x = {}\nreturn x.toString", PROGRAM_FAILED, "no property `toString` at 9:8");
    check_failure("return 'x'.length", PROGRAM_FAILED, "a text cannot be read");
    check_failure("return none.a", PROGRAM_FAILED, "none cannot be read");
    check_failure("return 1 / 0", PROGRAM_FAILED, "divided by zero");
    check_failure("return 1 + none", PROGRAM_FAILED, "two numbers");
    check_failure("for x in 5 max 2 { x }", PROGRAM_FAILED, "takes a list, not a number");
    check_failure("x = [1]\nx.remove(1)", PROGRAM_FAILED, "no method `remove`");
    check_failure("x = [1]\nx.add(1, 2)", PROGRAM_FAILED, "exactly one");
    check_failure("x = [1]\nx.y = 2", PROGRAM_FAILED, "property of a list");
    check_failure("parallel for x in 1 max 2 { x }", PROGRAM_FAILED, "takes a list");
}

#[test]
fn statements_of_every_sort_compute() {
    check("x = { a: 1 }\nx.a += 2\nx.b = x.a - 1\nx.a -= 5\nreturn x", r#"{"a":-2,"b":2}"#);
    check("x = parallel for i in [] max 3 { i }\nreturn x", "[]");
    check("return parallel for i in [1, 2] max 1 { if i < 9 { return i + 1 }\n0 }", "[2]");
    check("x = [1]\nfor i in x max 9 { x.add(i) }\nreturn x", "[1,1]");
    check("t = 0\nfor i in [1, 2, 3] max 2 { i = i * 2\nt += i }\nreturn t", "6");
    check(
        "return [T.name, M, A, 'a' + 1.5]",
        r#"[{"tool":"T","method":"name"},{"llm":"M","uri":"mock://m"},{"agent":"A"},"a1.5"]"#,
    );
    check("x = not true or not false and 1 < 2\nreturn x", "true");
    check("max = 2\nempty = max\nreturn { max: empty, 'a b': none }", r#"{"max":2,"a b":null}"#);
    check("if false { 1 } else { 2 }", "null");
}

#[test]
fn failed_tools_and_agents_leave_an_error_event() {
    let text = format!(
        "{HEAD}B({{}})\n}}\n}}\nagent B {{ main func(x) {{ W.run({{}}) }} }}\n\
        import tool W from 'sh://bash'"
    );
    let module = module(&text);
    let mut providers = providers(None);
    providers.tools = Tools::Workspace(agentic_lang_context::provider::TextTree::default());
    let record = drive(&module).live(providers);
    assert!(shown(&record.end).contains("Tool W.run (sh://bash) failed: "), "{:?}", record.end);
    let trace = trace::collect(&record.events);
    let pretty = trace::pretty(&trace);
    assert_eq!(pretty.matches("- error ").count(), 2, "{pretty}");
}

#[test]
fn nothing_is_reported_when_tracing_is_off() {
    let module = module(&format!("{HEAD}T.x({{}})\nfor i in [1] max 1 {{ i }}\n}}\n}}"));
    let mut drive = drive(&module);
    drive.options.tracing = TraceMode::Off;
    assert!(drive.live(providers(None)).events.is_empty());
}

fn run_input(input: &str, asked: &[(&str, &str)]) -> String {
    let text = "main agent A { main func(input {\nn: number\nl: list[string]\n}) { input } }";
    let module = module(text);
    let mut drive = drive(&module);
    drive.input = parse(input).expect("the case is valid");
    let mut providers = providers(None);
    for (path, value) in asked {
        providers.inputs.insert((*path).to_owned(), parse(value).expect("the case is valid"));
    }
    let record = drive.live(providers);
    assert_eq!(record.asked.len(), asked.len().max(record.asked.len().min(1)));
    shown(&record.end)
}

#[test]
fn input_is_held_to_its_contract_and_asked_for() {
    assert_eq!(run_input(r#"{"l":["a"],"n":1,"z":0}"#, &[]), r#"{"l":["a"],"n":1,"z":0}"#);
    let asked = [("input.n", "7"), ("input.l", "[]")];
    assert_eq!(run_input(r#"{"n":null}"#, &asked), r#"{"n":7,"l":[]}"#);
    let missing = run_input(r#"{"l":[]}"#, &[]);
    assert!(missing.contains("`input.n` is missing: nobody can be asked at 2:1"), "{missing}");
    let wrong = run_input(r#"{"n":"1","l":[]}"#, &[]);
    assert!(wrong.contains("`input.n` is a number at 2:1"), "{wrong}");
    let wrong = run_input(r#"{"n":1,"l":[1]}"#, &[]);
    assert!(wrong.contains("`input.l` is a string at 3:1"), "{wrong}");
    assert!(run_input("[1]", &[]).contains("an object of fields"));
}

#[test]
fn a_cancelled_run_waits_for_nothing() {
    let module = module(&format!("{HEAD}T.x({{}})\n}}\n}}"));
    let program =
        module.run(&EntryPoint::default(), ContextOptions::default()).expect("it is there");
    let at = Instant::from_millis(0);
    let start = Start { input: agentic_model::Value::Null, seed: Seed([0; 32]), at };
    let (mut run, step) = ProgramRun::begin(program, &start);
    assert_eq!(step.opened.len(), 1);
    let step = run.cancel("enough", at);
    assert_eq!((step.end, step.withdrawn.len()), (Some(End::Cancelled), 1));
}

#[test]
fn an_entry_point_that_is_not_there_is_refused() {
    let module =
        module("main agent A { main func(i) { i } func f() { 1 } }\nagent B { func g() { 2 } }");
    let run = |entry: &str| {
        let mut drive = drive(&module);
        drive.entry = EntryPoint::parse(entry);
        shown(&drive.live(providers(None)).end)
    };
    assert_eq!(run("A.f"), "1");
    assert_eq!(run("B.g"), "2");
    assert_eq!(run(".f"), "1");
    for entry in ["C", "A.g", "B"] {
        let refused = module.run(&EntryPoint::parse(entry), ContextOptions::default());
        assert!(refused.is_err(), "{entry}");
    }
}

#[test]
fn an_unknown_variant_is_refused_where_it_is_declared() {
    let body = "use one of {\na: empty\nb: 1\n} as x\nreturn 1";
    let module = module(&format!("{HEAD}{body}\n}}\n}}"));
    assert_eq!(module.choices(), [("main.as#A.__main[x]", vec!["a", "b"])]);
    let mut drive = drive(&module);
    drive.options.variant.insert("main.as#A.__main[x]".into(), "c".into());
    let end = shown(&drive.live(providers(None)).end);
    assert!(end.contains("no candidate `c` at 8:1"), "{end}");
}

#[test]
fn a_call_of_an_agent_can_be_a_program_of_its_own() {
    let text = "main agent A { main func(i) { [B.f(i.n), own(1)] } func own(x) { x } }\n\
                agent B { func f(n) { C(n + 1) } }\nagent C { main func(n) { n * 2 } }";
    let options = CheckOptions { calls: Calls::Children, ..CheckOptions::default() };
    let none = &mut |_: &str| Err("no files here".to_owned());
    let module = compile(SourceText::new("main.as", text), &options, none).expect("it is sound");
    let mut calls = Vec::new();
    let input = json::to_value(&parse(r#"{"n":2}"#).expect("the case is valid"));
    let end = run_family(&module, input, &mut calls);
    assert_eq!(shown(&end), "[6,1]");
    assert_eq!(calls, ["B.f [2] 1", "C.__main [3] 2"]);
}

/// Runs a program and each child that it asks for.
fn run_family(module: &ContextModule, input: agentic_model::Value, calls: &mut Vec<String>) -> End {
    let program =
        module.run(&EntryPoint::default(), ContextOptions::default()).expect("it is there");
    let start = Start { input, seed: Seed([0; 32]), at: Instant::from_millis(0) };
    let finished = agentic_replay::run_to_end(program, &start, |request| {
        assert_eq!((request.kind.as_str(), request.path.as_str()), ("spawn", "0"));
        let input = request.payload.get("input").expect("a child has an input").clone();
        let text = |key| input.get(key).and_then(|text| text.as_text()).expect("it is a text");
        let depth = input.get("depth").and_then(|depth| depth.as_int()).expect("it is a number");
        calls.push(format!("{} {} {depth}", text("call"), text("args")));
        match run_family(module, input, calls) {
            End::Done(value) => RequestAnswer::Ok(value),
            End::Failed(failure) => RequestAnswer::Failed(failure),
            End::Cancelled => RequestAnswer::Cancelled(CancelExtent::Stopped),
        }
    });
    finished.end
}

/// Returns what the first request says, of a program as a version of the language means it.
fn first_request(body: &str, semantics: u32) -> String {
    let module = module(&format!("{HEAD}{body}\n}}\n}}"));
    let mut program =
        module.run(&EntryPoint::default(), ContextOptions::default()).expect("a main");
    program.mean_as(semantics);
    let input = json::to_value(&Json::object([] as [(&str, Json); 0]));
    let turn = program.start(&Start { input, seed: Seed([0; 32]), at: Instant::from_millis(0) });
    agentic_model::json::to_text(&turn.opened[0].payload)
}

#[test]
fn addresses_stay_out_of_prompts_except_in_runs_that_began_before() {
    for body in [
        "x = { a: T }\nuse x as t\ngenerate({ input: 'x' }) -> { ok: boolean }",
        "x = [T, 'long text']\nuse x max 80 as t\ngenerate({ input: 'x' }) -> { ok: boolean }",
        "generate({ input: { t: T } }) -> { ok: boolean }",
    ] {
        assert!(first_request(body, 1).contains("mcp://t"), "{body}");
        assert!(!first_request(body, 2).contains("mcp://t"), "{body}");
    }
}
