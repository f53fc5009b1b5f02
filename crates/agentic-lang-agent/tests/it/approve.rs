//! The extension: a pipeline that asks a human.

use agentic_lang_agent::{RunOptions, check, compile, lower, read};
use agentic_model::{Instant, Value};
use agentic_replay::{End, HOLD, ProgramRun, RequestAnswer, Seed, Start};

const TEXT: &str = "language \"agentic 1\";\n\
    pipeline ask(what: String) -> String {\n  let d = approve \"Publish \" + what + \"?\";\n  \
    if d.approved {\n    return \"yes\";\n  }\n  return \"no: \" + d.feedback;\n}\n\
    pipeline outer() -> String { try { let r = ask(\"x\"); return r; } catch e { return e; } }\n\
    pipeline free() -> String { return \"\"; }\n";

fn check_decision(answer: RequestAnswer, wanted: &str) {
    let source = read("approve.agent", TEXT.as_bytes()).expect("the text is UTF-8");
    let module = compile(&source).expect("the program is right");
    let at = Instant::from_millis(0);
    let start = Start { input: "{}".into(), seed: Seed([0; 32]), at };
    let (mut run, step) = ProgramRun::begin(module.run("outer", RunOptions::default()), &start);
    let request = &step.opened[0];
    assert_eq!(request.kind, HOLD);
    let question = request.payload.get("question").and_then(Value::as_text);
    assert_eq!(question, Some("Publish x?"));
    let step = run.deliver(&request.path, answer, at);
    assert_eq!(step.end, Some(End::Done(wanted.into())));
}

#[test]
fn a_decision_goes_on_with_its_verdict() {
    let decision = |action: &str, value: Value| {
        RequestAnswer::Ok(Value::map([("action", Value::text(action)), ("value", value)]))
    };
    check_decision(decision("approve", Value::Null), "\"yes\"");
    check_decision(decision("edit", Value::text("shorter")), "\"yes\"");
    check_decision(decision("reject", Value::text("too long")), "\"no: too long\"");
    check_decision(decision("respond", Value::Int(3)), "\"no: 3\"");
    check_decision(RequestAnswer::TimedOut, "\"Approval expired.\"");
    let nothing = RequestAnswer::Ok(Value::Null);
    check_decision(nothing, "\"Approval failed: the decision has no action.\"");
}

#[test]
fn it_is_known_beforehand_which_pipelines_may_ask() {
    let source = read("approve.agent", TEXT.as_bytes()).expect("the text is UTF-8");
    let module = compile(&source).expect("the program is right");
    let may_hold = ["ask", "outer", "free", "nothing"].map(|name| module.may_hold(name));
    assert_eq!(may_hold, [true, true, false, false]);
    let lowered = lower(&source, "ask").expect("the program lowers");
    assert!(lowered.contains("let d = approve \"Publish \" + what + \"?\";"), "{lowered}");
}

#[test]
fn without_the_version_nothing_changes() {
    let code = |text: &str| {
        let source = read("a.agent", text.as_bytes()).expect("the text is UTF-8");
        check(&source).first().map(|found| found.code)
    };
    let plain = "pipeline go() -> String { let d = approve \"x\"; return \"\"; }";
    assert_eq!(code(plain), Some("A0202"));
    assert_eq!(code(&format!("language \"agentic 1\"; {plain}")), None);
    assert_eq!(code("language \"other\";"), Some("A0252"));
    let named = "pipeline approve(s: String) -> String { return s; }\n\
        pipeline go() -> String { let approve = approve(\"x\"); return approve; }";
    assert_eq!(code(named), None);
    assert_eq!(code(&format!("language \"agentic 1\"; {named}")), None);
    let mistyped = "pipeline go() -> String { let d = approve 1; return \"\"; }";
    assert_eq!(code(&format!("language \"agentic 1\"; {mistyped}")), Some("A0437"));
}
