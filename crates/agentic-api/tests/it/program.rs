//! Texts of programs: checked, laid out anew, explained and turned from prose.

use agentic_api::program::{NamedText, ProgramSource};
use agentic_api::verb::{
    CheckProgram, FlowCheck, FlowDiagnostics, FlowExplain, FlowExplainStored, FlowPlan, FlowSource,
    FlowTranslate, FormatProgram, LayoutUse, PlanForm, ScriptOutcome,
};
use agentic_api::view::{ExplainAnswer, LayoutAnswer, PlanAnswer};
use agentic_api::{Caller, LocalVerb as _, Reply, Surroundings, Verb as _};
use agentic_model::guidance::ErrorClass;
use serde::Serialize;
use serde_json::Value as Json;

use crate::place::{place, refusal};

const PIPELINE: &str = "memory static ( echo \"a\"  >=> upper )\n";

fn source(name: &str, text: &str) -> ProgramSource {
    ProgramSource::of(NamedText::given(name, text))
}

fn here() -> Surroundings {
    Surroundings { folder: std::env::temp_dir(), ..Surroundings::default() }
}

fn data<A: Serialize>(reply: &Reply<A>) -> Json {
    serde_json::to_value(&reply.answer).expect("data")
}

#[test]
fn a_program_is_checked_in_its_language() {
    let check = |name: &str, text: &str| {
        let verb = CheckProgram { program: source(name, text), registry: None };
        let reply = verb.run_here(&here()).expect("it is read");
        (reply.completion.exit_code(), data(&reply).as_array().expect("a list").len())
    };
    assert_eq!(check("a.rhai", "let a = 1; a"), (0, 0));
    assert_eq!(check("a.rhai", "let a = ;"), (1, 1));
    assert_eq!(check("a.as", "memory static ( nobody \"a\" )"), (1, 1));
    let unknown = CheckProgram { program: source("a.txt", ""), registry: None };
    assert_eq!(refusal(unknown.run_here(&here())).class, ErrorClass::Usage);
}

#[test]
fn a_layout_is_shown_compared_and_written() {
    let folder = tempfile();
    let file = folder.join("a.as");
    std::fs::write(&file, PIPELINE).expect("writable");
    let here = Surroundings { folder: folder.clone(), ..Surroundings::default() };
    let laid = |layout| {
        let program = ProgramSource::of(NamedText::file("a.as"));
        let reply = FormatProgram { program, layout }.run_here(&here).expect("it is read");
        let LayoutAnswer::Laid(view) = reply.answer else { panic!("it parses") };
        (reply.completion.exit_code(), view.changed, view.text)
    };
    let text = PIPELINE.replace("  ", " ");
    assert_eq!(laid(LayoutUse::Show), (0, true, text.clone()));
    assert_eq!(laid(LayoutUse::Compare), (1, true, text.clone()));
    assert_eq!(std::fs::read_to_string(&file).expect("readable"), PIPELINE);
    assert_eq!(laid(LayoutUse::Write), (0, true, text.clone()));
    assert_eq!(std::fs::read_to_string(&file).expect("readable"), text);
    assert_eq!(laid(LayoutUse::Compare), (0, false, text));
    let given = FormatProgram { program: source("a.as", PIPELINE), layout: LayoutUse::Write };
    assert_eq!(refusal(given.run_here(&here)).class, ErrorClass::Usage);
    let broken = FormatProgram { program: source("a.as", "memory ("), layout: LayoutUse::Show };
    assert_eq!(broken.run_here(&here).expect("it is read").completion.exit_code(), 1);
    std::fs::remove_dir_all(&folder).expect("it is ours");
}

/// Makes a folder of this test's own.
fn tempfile() -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("agentic-layout-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("writable");
    folder
}

#[test]
fn a_flow_is_checked_as_what_its_name_says() {
    let check = |name: &str, text: &str| {
        let verb = FlowCheck { program: source(name, text), registry: None };
        verb.run_here(&here()).expect("it is read").completion.exit_code()
    };
    assert_eq!(check("a.as", PIPELINE), 0);
    assert_eq!(check("a", PIPELINE), 1);
    assert_eq!(check("a", "1 + 1"), 0);
    let program = source("a.as", "memory static ( nobody \"a\" )");
    let reply = FlowDiagnostics { program, registry: None }.run_here(&here()).expect("it is read");
    assert_eq!(reply.completion.exit_code(), 1);
    let [finding] = reply.answer.as_slice() else { panic!("there is one: {:?}", reply.answer) };
    assert_eq!((finding.line, finding.col, finding.file.as_str()), (1, 17, "a.as"));
    assert_eq!(finding.name.as_deref(), Some("nobody"));
}

#[test]
fn plans_are_shown_in_each_form_and_explained() {
    let plans = |form| {
        let program = source("a.as", PIPELINE);
        let reply = FlowPlan { program, registry: None, form }.run_here(&here()).expect("read");
        let PlanAnswer::Plans(_) = &reply.answer else { panic!("it compiles") };
        data(&reply)
    };
    assert_eq!(plans(PlanForm::V1)[0]["exit"], "n1");
    assert!(plans(PlanForm::Sibyl)[0]["nodes"].is_array());
    assert!(plans(PlanForm::Dot)[0].as_str().is_some_and(|text| text.starts_with("digraph")));
    let explained = |text: &str| {
        let verb = FlowExplain { program: source("a.as", text), registry: None };
        verb.run_here(&here()).expect("read")
    };
    let ExplainAnswer::Explained(view) = explained(PIPELINE).answer else { panic!("it compiles") };
    assert!(view.text.contains("calls `upper`"), "{}", view.text);
    assert_eq!(explained("memory (").completion.exit_code(), 1);
    let (sandbox, space) = place();
    let stored = FlowExplainStored { plan: "bafyr4inothing".to_owned(), registry: None };
    refusal(stored.run(&Caller::new(&space, sandbox.start())));
}

#[test]
fn prose_that_nobody_completes_becomes_no_program() {
    let translate = |complete: &str, repairs| {
        let (prose, complete) = ("Shout".to_owned(), complete.to_owned());
        FlowTranslate { prose, complete, registry: None, repairs }.run_here(&here())
    };
    assert_eq!(refusal(translate("exit 3", 0)).class, ErrorClass::Refused);
    let often = translate("exit 3", FlowTranslate::REPAIRS_MAX + 1);
    assert_eq!(refusal(often).class, ErrorClass::Usage);
}

#[test]
fn a_script_is_read_before_a_session_starts_with_it() {
    let read = |text: &str| FlowSource::of_script(source("a.rhai", text), &here()).expect("text");
    assert!(
        matches!(read("1 + 1"), ScriptOutcome::Flow(FlowSource::Script(text)) if text == "1 + 1")
    );
    let ScriptOutcome::Faulty(findings, refusal) = read("let a = ;") else { panic!("broken") };
    assert!(
        !findings.is_sound() && refusal.message.starts_with("the flow `a.rhai` does not parse")
    );
}
