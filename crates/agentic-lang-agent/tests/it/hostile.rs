//! Input that tries to break something: it must end in a clean finding, soon.

use agentic_lang_agent::{
    Data, RunOptions, TraceCapture, check, compile, format, invocation, json, lower, read,
};
use agentic_replay::{End, Seed, Start};

use crate::corpus::{Setup, Verdict, run};
use crate::host::Kit;

/// The code of the first finding of a source, or nothing.
fn first_code(text: &str) -> Option<&'static str> {
    let source = read("hostile.agent", text.as_bytes()).expect("the text is UTF-8");
    check(&source).first().map(|found| found.code)
}

fn go(text: &str) -> Verdict {
    let words = ["@SRC", "go"].map(str::to_owned);
    run(text.as_bytes(), &words, TraceCapture::Off, Setup { kit: Kit::None, seed: 1 })
}

#[test]
fn deep_nesting_is_a_finding() {
    let deep = 10_000;
    let wrapped = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(deep), close.repeat(deep))
    };
    let expression = |text: String| format!("pipeline go() -> Number {{ return {text}; }}");
    for text in [
        expression(wrapped("(", "1", ")")),
        expression(wrapped("[", "1", "]")),
        expression(wrapped("{ a: ", "1", " }")),
        expression("(".repeat(deep)),
        format!("pipeline go() -> Number {{ {} }}", wrapped("if true { ", "return 1;", " }")),
        format!("pipeline go() -> Number {{ {} }}", wrapped("while true { ", "break;", " }")),
        format!("pipeline go() -> {} {{ return 1; }}", wrapped("List[", "Number", "]")),
        format!("pipeline go() -> {} {{ return 1; }}", wrapped("Obj{ a: ", "Number", " }")),
    ] {
        assert_eq!(first_code(&text), Some("A0250"), "{}", &text[..60]);
    }
}

#[test]
fn long_sums_and_chains_need_no_stack() {
    let sum = format!("1{}", " + 1".repeat(200_000));
    let verdict = go(&format!("pipeline go() -> Number {{ return {sum}; }}"));
    assert_eq!(verdict.result.as_deref(), Some(r#"{"result":200001}"#));
    let chain = format!("true{}", " == true".repeat(100_000));
    let text = format!("pipeline go() -> Bool {{ return {chain}; }}");
    assert_eq!(go(&text).result.as_deref(), Some(r#"{"result":true}"#));
    let source = read("long.agent", text.as_bytes()).expect("the text is UTF-8");
    let lowered = lower(&source, "go").expect("the program lowers");
    assert!(lowered.len() > 800_000);
}

#[test]
fn types_that_explode_are_a_finding() {
    let mut doubling = String::from("type T0 = Number;\n");
    let mut nesting = doubling.clone();
    for at in 1..400 {
        let inner = at - 1;
        doubling.push_str(&format!("type T{at} = Obj{{a: T{inner}, b: T{inner}}};\n"));
        nesting.push_str(&format!("type T{at} = List[T{inner}];\n"));
    }
    assert_eq!(first_code(&doubling), Some("A0251"));
    assert_eq!(first_code(&nesting), Some("A0251"));
}

#[test]
fn values_that_explode_end_in_an_error_that_can_be_caught() {
    let cases = [
        (
            "pipeline twice(s: String) -> String { return s + s; }",
            "\"x\"",
            "let v = twice(v);",
            "Value too large",
        ),
        (
            "pipeline twice(o: Obj{}) -> Obj{} { return { a: o, b: o }; }",
            "{}",
            "let v = twice(v);",
            "Value too large",
        ),
        (
            "pipeline twice(o: Obj{}) -> Obj{} { return { a: o }; }",
            "{}",
            "let v = twice(v);",
            "Value too large",
        ),
        (
            "pipeline twice(n: Number) -> Number { return n + n; }",
            "1.5",
            "let v = twice(v);",
            "Number out of range",
        ),
    ];
    for (helper, first, step, wanted) in cases {
        let text = format!(
            "{helper}\npipeline go() -> String {{ let v = twice({first}); \
             try {{ while true {{ {step} }} }} catch e {{ return e; }} return \"no\"; }}"
        );
        let result = go(&text).result.unwrap_or_default();
        assert!(result.contains(wanted), "{helper}: {result}");
    }
}

#[test]
fn loops_without_end_are_stopped() {
    for body in ["while true { }", "while true { try { assert false; } catch e { } }"] {
        let text = format!("pipeline go() -> Number {{ {body} return 1; }}");
        let source = read("loop.agent", text.as_bytes()).expect("the text is UTF-8");
        let module = compile(&source).expect("the program is right");
        let options = RunOptions { statements_max: 100_000, ..RunOptions::default() };
        let start = Start {
            input: "{}".into(),
            seed: Seed([0; 32]),
            at: agentic_model::Instant::from_millis(0),
        };
        let finished = agentic_replay::run_to_end(module.run("go", options), &start, |_| {
            unreachable!("nothing is asked")
        });
        let End::Failed(failure) = finished.end else { panic!("{:?}", finished.end) };
        assert_eq!(failure.code, "A0690");
        assert!(failure.message.contains("100000 statements"), "{}", failure.message);
    }
}

#[test]
fn whole_numbers_are_exact_at_any_length() {
    let digits = "9".repeat(5_000);
    let text = format!("pipeline go() -> Number {{ return {digits} + 1; }}");
    let wanted = format!("{{\"result\":1{}}}", "0".repeat(5_000));
    assert_eq!(go(&text).result, Some(wanted));
    let too_long = format!("pipeline go() -> Number {{ return {}; }}", "9".repeat(100_001));
    assert_eq!(first_code(&too_long), Some("A0106"));
}

#[test]
fn bytes_that_are_no_text_are_a_finding() {
    for bytes in [&b"\xff\xfe"[..], b"pipeline \xc3\x28", b"test \"\xed\xa0\x80\" {}"] {
        let found = read("bytes.agent", bytes).expect_err("the bytes are not UTF-8");
        assert_eq!(found.code, "A0706");
    }
}

#[test]
fn json_that_is_none_is_refused() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let cases = [
        "",
        "{",
        "{\"a\":}",
        "{\"a\" 1}",
        "{'a': 1}",
        "{\"a\": NaN}",
        "{\"a\": 1e999}",
        "[1,]",
        "{\"a\": 01}",
        "{\"a\": \"\\ud800\"}",
        "{\"a\": \"\\u12\"}",
        "{\"a\": \"\u{1}\"}",
        "{} x",
        "tru",
        "-",
        "1.",
        "\"",
        "\"\\",
        "{\"a\"",
        "[1",
        &deep,
    ];
    for text in cases {
        let words = ["@SRC", "go", "--input", text].map(str::to_owned);
        let error = invocation::parse(&words).expect_err(text);
        assert_eq!(error.code, "A0701", "{text}");
    }
}

#[test]
fn every_cut_of_every_program_is_clean() {
    for case in crate::corpus::cases("public").iter().step_by(9) {
        let Ok(text) = std::str::from_utf8(&case.source) else { continue };
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)).step_by(3) {
            let source = read("cut.agent", &case.source[..at]).expect("the text is UTF-8");
            for found in check(&source) {
                assert!(!found.render(&source, agentic_diag::DiagnosticStyle::Plain).is_empty());
            }
            if let Ok(formatted) = format(&source) {
                assert!(formatted.len() < 4 * text.len() + 100);
            }
        }
    }
}

/// Runs a pipeline whose tasks are mocked; returns the code of its failure, or its result.
fn end_within(text: &str, options: RunOptions) -> String {
    let source = read("work.agent", text.as_bytes()).expect("the text is UTF-8");
    let module = compile(&source).expect("the program is right");
    let at = agentic_model::Instant::from_millis(0);
    let start = Start { input: "{}".into(), seed: Seed([0; 32]), at };
    let mut mock = agentic_lang_agent::MockTasks::default();
    let finished = agentic_replay::run_to_end(module.run("go", options), &start, |request| {
        mock.perform(request).expect("only mock tasks are called")
    });
    match finished.end {
        End::Failed(failure) => format!("{}: {}", failure.code, failure.message),
        End::Done(value) => value.as_text().expect("a result is a text").to_owned(),
        End::Cancelled => "cancelled".to_owned(),
    }
}

#[test]
fn work_is_measured_by_what_it_touches() {
    // Texts of 8 MiB, each made on its own; numbers of 60,000 digits.
    let texts = "pipeline twice(t: String) -> String { return t + t; }\n\
        pipeline big() -> String { let t = twice(\"01234567\"); "
        .to_owned()
        + &"let t = twice(t); ".repeat(19)
        + "return t; }\n";
    let digits = format!(
        "pipeline big() -> Number {{ return {}; }}\n\
         pipeline plus(a: Number, b: Number) -> Number {{ return a + b; }}\n",
        "9".repeat(60_000)
    );
    let list = format!("[{}]", vec!["\"a\""; 10_000].join(", "));
    let cases = [
        (&texts, "while true { if a == b { } }"),
        (&texts, "while true { let c = short(a + \"x\"); }"),
        (&digits, "while true { let c = plus(a, b); }"),
        (&digits, "while true { if a == b { } }"),
        (&digits, &format!("while true {{ if {list} == {list} {{ }} }}")),
    ];
    let short = "pipeline short(t: String) -> Number { return 1; }\n";
    for (helpers, body) in cases {
        let text = format!(
            "{helpers}{short}pipeline go() -> Number {{ let a = big(); let b = big(); {body} return 1; }}"
        );
        // Were a statement a statement, these would take hours.
        let options = RunOptions { statements_max: 1_000_000, ..RunOptions::default() };
        let end = end_within(&text, options);
        assert!(end.starts_with("A0690: the work of 1000000 statements"), "{end}: {body:.60}");
    }
    // The same work is allowed to whoever may do that much.
    let once =
        format!("{texts}pipeline go() -> Bool {{ let a = big(); let b = big(); return a == b; }}");
    let within =
        |statements_max| end_within(&once, RunOptions { statements_max, ..RunOptions::default() });
    assert_eq!(within(200_000), "true");
    assert!(within(100_000).starts_with("A0690"));
}

#[test]
fn asking_without_end_is_stopped() {
    let text = "task llm_complete(prompt: String) -> Obj{text: String} {}\n\
        task flaky_fetch(key: String, failures_before_success: Number) -> Obj{data: String} {}\n\
        pipeline twice(t: String) -> String { return t + t; }\n\
        pipeline go() -> String { BODY return \"\"; }";
    let cases = [
        "while true { let a = llm_complete(\"x\"); }",
        "while true { try { let a = llm_complete(\"x\"); } catch e { } }",
        "let a = flaky_fetch(\"k\", 1000000) retries 1000000;",
        "while true { parallel { let a = llm_complete(\"x\"); let b = llm_complete(\"y\"); } join; }",
        // Few questions, but large ones.
        "let t = twice(\"x\"); while true { let t = twice(t); let a = llm_complete(t); }",
    ];
    for body in cases {
        let options = RunOptions { requests_max: 300, ..RunOptions::default() };
        let end = end_within(&text.replace("BODY", body), options);
        assert_eq!(end, "A0691: the run has asked for as much as 300 requests", "{body}");
    }
}

#[test]
fn branches_without_end_are_stopped() {
    let text = "pipeline wide() -> Number { \
          parallel { let x = wide(); let y = wide(); } join; return x + y; }\n\
        pipeline go() -> String { try { let n = wide(); } catch e { return e; } return \"\"; }";
    let end = end_within(text, RunOptions::default());
    assert_eq!(end, "A0692: more than 100000 branches run at once");
}

#[test]
fn a_cancelled_run_can_clean_up_and_ends() {
    let text = "task llm_complete(prompt: String) -> Obj{text: String} {}\n\
        pipeline go() -> String { \
          try { let a = llm_complete(\"long\"); return a.text; } \
          catch e { let b = llm_complete(e); return b.text; } }\n\
        pipeline stuck() -> String { while true { \
          try { let a = llm_complete(\"x\"); } catch e { let b = llm_complete(\"again\"); } } \
          return \"\"; }";
    let source = read("cancel.agent", text.as_bytes()).expect("the text is UTF-8");
    let module = compile(&source).expect("the program is right");
    let at = agentic_model::Instant::from_millis(0);
    let start = Start { input: "{}".into(), seed: Seed([0; 32]), at };
    let begin = |name: &str| {
        agentic_replay::ProgramRun::begin(module.run(name, RunOptions::default()), &start)
    };
    let (mut run, _) = begin("go");
    let step = run.cancel("enough", at);
    assert_eq!(step.withdrawn.len(), 1);
    let request = &step.opened[0];
    let args = request.payload.get("args").and_then(|args| args.as_text()).expect("has arguments");
    let args = json::from_text(args).expect("arguments are JSON");
    assert_eq!(args.get("prompt").and_then(Data::as_text), Some("Run cancelled: enough"));
    let result = Data::object(vec![("text".into(), Data::text("done"))]).expect("small");
    let step = run.deliver(&request.path, agentic_lang_agent::answer(&result), at);
    assert_eq!(step.end, Some(End::Done("\"done\"".into())));

    let (mut run, _) = begin("stuck");
    let mut step = run.cancel("enough", at);
    let mut n_requests = 0;
    while step.end.is_none() {
        n_requests += 1;
        let path = step.opened[0].path.clone();
        step = run.deliver(&path, agentic_lang_agent::answer(&result), at);
        assert!(n_requests < 1_000, "the run ends");
    }
    assert_eq!(step.end, Some(End::Cancelled));
}

#[test]
fn nesting_below_the_limit_works_in_every_phase() {
    let wrapped = |open: &str, inner: &str, close: &str, depth: usize| {
        format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
    };
    let sum = wrapped("(1 + ", "1", ")", 250);
    let sum = format!("pipeline go() -> Number {{ return {sum}; }}");
    assert_eq!(go(&sum).result.as_deref(), Some(r#"{"result":251}"#));
    let value = wrapped("[", "1", "]", 250);
    let declared = wrapped("List[", "Number", "]", 250);
    let list = format!("pipeline go() -> {declared} {{ return {value}; }}");
    assert_eq!(go(&list).result, Some(format!("{{\"result\":{value}}}")));
    for (open, close) in [
        ("if true { ", " }"),
        ("while true { ", " }"),
        ("try { ", " } catch e { }"),
        ("try { assert false; } catch e { ", " }"),
    ] {
        let body = wrapped(open, "return 1;", close, 250);
        let text = format!("pipeline go() -> Number {{ {body} return 0; }}");
        assert_eq!(go(&text).result.as_deref(), Some(r#"{"result":1}"#), "{open}");
        let source = read("deep.agent", text.as_bytes()).expect("the text is UTF-8");
        let formatted = format(&source).expect("the program parses");
        assert_eq!(go(&formatted).result.as_deref(), Some(r#"{"result":1}"#), "{open}");
        assert!(lower(&source, "go").is_ok(), "{open}");
    }
}

#[test]
fn large_files_take_time_in_proportion() {
    let mut branches = String::new();
    let mut loops = String::new();
    let mut variants = String::new();
    let mut tasks = String::new();
    for at in 0..30_000 {
        branches.push_str(&format!(
            "if b {{ let v{at} = f(n); }} else {{ let v{at} = f(1); let n = f(2); }}\n"
        ));
        loops.push_str(&format!(
            "let w{at} = f(n); if b {{ break; }} if b {{ continue; }} try {{ let n = f(n); }} \
             catch e {{ let n = f(w{at}); }}\n"
        ));
        variants.push_str(&format!("x{at}, "));
        tasks.push_str(&format!(
            "task t{at}(a: Big) -> Big by agent {{}}\npipeline p{at}(a: Big) -> Big \
             {{ let r = t{at}(a) by who; return r; }}\n"
        ));
    }
    let head = "task f(x: Number) -> Number {}\npipeline go(n: Number, b: Bool) -> Number {\n";
    let fields: Vec<String> = (0..5_000).map(|at| format!("f{at}: Number")).collect();
    for text in [
        format!("{head}{branches}return n;\n}}"),
        format!("{head}while b {{\n{loops}}}\nreturn n;\n}}"),
        format!("enum E {{ {variants} }};\n{head}return n; }}"),
        format!("agent who {{ tools: [] }}\ntype Big = Obj{{{}}};\n{tasks}", fields.join(", ")),
    ] {
        let source = read("large.agent", text.as_bytes()).expect("the text is UTF-8");
        let module = compile(&source)
            .map_err(|found| found[0].render(&source, agentic_diag::DiagnosticStyle::Plain));
        assert!(module.is_ok(), "{:?}", module.err());
        assert!(format(&source).is_ok());
    }
}

#[test]
fn no_mutant_of_the_corpus_makes_any_phase_panic() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    let pieces: [&[u8]; 12] = [
        b"{",
        b"}",
        b"(",
        b"\"",
        b"\\",
        b";",
        b"let ",
        b"Obj{",
        b"--",
        b"\n",
        "é".as_bytes(),
        b"999999999999999999999",
    ];
    for case in crate::corpus::cases("public") {
        for _ in 0..25 {
            let mut bytes = case.source.clone();
            for _ in 0..1 + random(3) {
                let (from, to) = (random(bytes.len()), random(bytes.len()));
                let (from, to) = (from.min(to), from.max(to).min(from.min(to) + 12));
                match random(3) {
                    0 => drop(bytes.drain(from..to)),
                    1 => {
                        let copy = bytes[from..to].to_vec();
                        bytes.splice(to..to, copy);
                    }
                    _ => drop(bytes.splice(from..from, pieces[random(pieces.len())].to_vec())),
                }
            }
            let Ok(source) = read("mutant.agent", &bytes) else { continue };
            for found in check(&source) {
                assert!(!found.render(&source, agentic_diag::DiagnosticStyle::Plain).is_empty());
            }
            if let Ok(once) = format(&source) {
                let again = read("mutant.agent", once.as_bytes()).expect("still UTF-8");
                assert_eq!(format(&again).ok(), Some(once), "formatting twice");
            }
            if let Ok(module) = compile(&source) {
                for info in module.pipelines() {
                    assert!(lower(&source, &info.name).is_ok());
                }
            }
        }
    }
}

#[test]
fn a_source_of_too_many_tokens_is_a_finding() {
    let text = format!("pipeline go() -> List[Number] {{ return [{}1]; }}", "1,".repeat(5 << 20));
    assert_eq!(first_code(&text), Some("A0107"));
    assert_eq!(first_code(&"(".repeat(9 << 20)), Some("A0107"));
}
