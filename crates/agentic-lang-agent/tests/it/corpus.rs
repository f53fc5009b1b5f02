//! The cases, and the one function that decides whether a program behaves as a case says.

use std::path::PathBuf;

use agentic_diag::{Diagnostic, SourceText};
use agentic_lang_agent::invocation::{self, FileAction};
use agentic_lang_agent::{
    Data, RunOptions, TraceCapture, code, compile, json, lower, read, report,
};
use agentic_replay::End;

use crate::host::{self, Kit, Outcome};

/// What a case expects, and what a run gave: the same shape, to be compared as a whole.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Verdict {
    pub exit_code: i64,
    pub class: Option<String>,
    pub kind: Option<String>,
    pub span: Option<(usize, usize)>,
    /// The message of an error, or of all failed tests.
    pub message: String,
    /// The result as JSON with sorted keys.
    pub result: Option<String>,
    pub text: Option<String>,
    pub trace: Option<String>,
    pub tests: Option<String>,
}

/// One case of a folder.
pub struct Case {
    pub name: String,
    pub source: Vec<u8>,
    pub args: Data,
    pub expected: Data,
}

pub fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/agentlang").join(name)
}

pub fn read_json(path: &std::path::Path) -> Data {
    let text = std::fs::read_to_string(path).expect("a case file is readable");
    json::from_text(&text).expect("a case file is JSON")
}

/// Reads all cases of a folder in the order of their names.
pub fn cases(name: &str) -> Vec<Case> {
    let folder = folder(name);
    let entries = std::fs::read_dir(&folder).expect("the corpus is in the project");
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|file| file.strip_suffix(".expected.json").map(str::to_owned))
        .collect();
    names.sort();
    let case = |name: String| {
        let file = |end: &str| folder.join(format!("{name}.{end}"));
        Case {
            source: std::fs::read(file("agent")).expect("every case has a source"),
            args: read_json(&file("args.json")),
            expected: read_json(&file("expected.json")),
            name,
        }
    };
    names.into_iter().map(case).collect()
}

/// Reads a file of one JSON value a line.
pub fn lines(name: &str) -> Vec<Data> {
    let text = std::fs::read_to_string(folder(name)).expect("the corpus is in the project");
    text.lines().map(|line| json::from_text(line).expect("every line is JSON")).collect()
}

pub fn text<'a>(data: &'a Data, key: &str) -> Option<&'a str> {
    data.get(key)?.as_text()
}

/// Prints a value with sorted keys, so that equal text means equal value and number kinds.
pub fn sorted(data: &Data) -> String {
    fn sort(data: &Data) -> Data {
        if let Some(items) = data.items() {
            return Data::list(items.iter().map(sort).collect()).expect("not larger than before");
        }
        let Some(fields) = data.fields() else { return data.clone() };
        let mut fields: Vec<_> =
            fields.iter().map(|(name, item)| (name.clone(), sort(item))).collect();
        fields.sort_by(|one, other| one.0.cmp(&other.0));
        Data::object(fields).expect("not larger than before")
    }
    json::to_text(&sort(data))
}

fn refused(code: &str, message: String, exit_code: i64) -> Verdict {
    let class = code::class(code).expect("every code has a class");
    let kind = match &class[..1] {
        "L" => "lex",
        "P" => "parse",
        "W" => "lower",
        "T" => "type",
        "I" => "input",
        "R" => "runtime",
        _ if class == "U06" => "io",
        _ => "usage",
    };
    let kind = Some(kind.to_owned());
    Verdict { exit_code, class: Some(class), kind, message, ..Verdict::default() }
}

fn found(diagnostic: &Diagnostic, source: &SourceText) -> Verdict {
    let rendered = diagnostic.render(source, agentic_diag::DiagnosticStyle::Plain);
    assert!(rendered.contains(diagnostic.code), "a finding shows its code: {rendered}");
    assert!(!diagnostic.hint.is_empty(), "a finding says what to do next: {rendered}");
    let at = source.position(diagnostic.span.start);
    Verdict { span: Some((at.line, at.column)), ..refused(diagnostic.code, rendered, 1) }
}

/// What to run a case with.
#[derive(Clone, Copy)]
pub struct Setup {
    pub kit: Kit,
    /// Kill the run at a random request and resume it, and demand the same outcome.
    pub seed: u64,
}

/// Runs a command line on a source, and says what came of it.
pub fn run(source: &[u8], words: &[String], trace: TraceCapture, setup: Setup) -> Verdict {
    let invocation = match invocation::parse(words) {
        Ok(invocation) => invocation,
        Err(error) => return refused(error.code, error.message, 2),
    };
    if invocation.source != "@SRC" {
        return refused(code::UNREADABLE_SOURCE, invocation.source, 1);
    }
    let source = match read("case.agent", source) {
        Ok(source) => source,
        Err(diagnostic) => return refused(diagnostic.code, diagnostic.message, 1),
    };
    let pipeline = invocation.pipeline.unwrap_or_default();
    if invocation.action == FileAction::Lower {
        return match lower(&source, &pipeline) {
            Ok(text) => Verdict { text: Some(format!("{text}\n")), ..Verdict::default() },
            Err(diagnostic) => found(&diagnostic, &source),
        };
    }
    let module = match compile(&source) {
        Ok(module) => module,
        Err(diagnostics) => return found(&diagnostics[0], &source),
    };
    let options = RunOptions {
        workers: invocation.workers,
        handlers: setup.kit.handlers(),
        trace,
        progress: TraceCapture::On,
        ..RunOptions::default()
    };
    let is_test = invocation.action == FileAction::Test;
    let program = || match is_test {
        true => module.run_tests(options.clone()),
        false => module.run(&pipeline, options.clone()),
    };
    let outcome = host::run(&program, &invocation.input, setup);
    verdict(&outcome, is_test)
}

fn verdict(outcome: &Outcome, is_test: bool) -> Verdict {
    let trace = Some(plain_trace(&report::trace_text(&outcome.events)));
    let failed = match &outcome.end {
        End::Failed(failure) => refused(&failure.code, failure.message.clone(), 1),
        End::Cancelled => panic!("nobody cancels a case"),
        End::Done(_) if is_test => {
            let tests = report::test_results(&outcome.end).expect("a test run gives results");
            let failed: Vec<&str> = tests.iter().filter_map(|test| test.error.as_deref()).collect();
            let result = report::result(&outcome.end).expect("a test run gives results");
            let list = result.get("tests").expect("a test run lists its tests");
            Verdict {
                exit_code: i64::from(!failed.is_empty()),
                tests: Some(sorted(list)),
                text: Some(report::test_text(&tests)),
                message: failed.join("\n"),
                ..Verdict::default()
            }
        }
        End::Done(_) => {
            let result = report::result(&outcome.end).expect("a run gives a result");
            let text = report::result_text(result).expect("a result is not too large");
            let shown = json::from_text(&text).expect("results are shown as JSON");
            Verdict { result: Some(sorted(&shown)), ..Verdict::default() }
        }
    };
    Verdict { trace, ..failed }
}

/// Leaves out the times of a trace and replaces its durations.
fn plain_trace(text: &str) -> String {
    let trace = json::from_text(text).expect("a trace is JSON");
    let events = trace.get("trace").and_then(Data::items).expect("a trace is a list");
    let plain = |event: &Data| {
        let fields = event.fields().expect("an event is an object").iter();
        let kept = fields.filter(|(name, _)| &**name != "timestamp").map(|(name, value)| {
            let value = if &**name == "duration_s" { Data::text("<num>") } else { value.clone() };
            (name.clone(), value)
        });
        Data::object(kept.collect()).expect("not larger than before")
    };
    sorted(&Data::list(events.iter().map(plain).collect()).expect("not larger than before"))
}

/// The command line of a case.
pub fn words(case: &Case) -> Vec<String> {
    let word = |text: &str| text.to_owned();
    if let Some(argv) = case.args.get("argv").and_then(Data::items) {
        return argv.iter().filter_map(|each| each.as_text().map(word)).collect();
    }
    let mut words = vec![word("@SRC")];
    words.extend(text(&case.args, "pipeline").map(word));
    match text(&case.args, "mode") {
        Some("lower") => words.push(word("--lower")),
        Some("test") => words.push(word("--test")),
        _ => {}
    }
    if let Some(raw) = text(&case.args, "raw_input") {
        words.extend([word("--input"), word(raw)]);
    } else if let Some(inputs) = case.args.get("inputs") {
        words.extend([word("--input"), json::to_text(inputs)]);
    }
    let flags = case.args.get("flags").and_then(Data::items).unwrap_or(&[]);
    words.extend(flags.iter().filter_map(|each| each.as_text().map(word)));
    words
}

/// Compares a verdict with what a case expects, and lists every difference.
pub fn differences(expected: &Data, given: &Verdict) -> Vec<String> {
    let mut list = Vec::new();
    let mut compare = |what: &str, wanted: Option<String>, given: Option<String>| {
        if wanted.is_some() && wanted != given {
            list.push(format!("{what}: wanted {wanted:?}, got {given:?}"));
        }
    };
    let own = |key: &str| text(expected, key).map(str::to_owned);
    let data = |key: &str| expected.get(key).map(sorted);
    compare("exit code", data("exit_code"), Some(given.exit_code.to_string()));
    compare("class", own("class"), given.class.clone());
    compare("kind", own("error_kind"), given.kind.clone());
    let span = given.span.map(|(line, column)| format!("[{line},{column}]"));
    compare("span", data("span"), span);
    compare("result", data("stdout_json"), given.result.clone());
    compare("text", own("stdout_text"), given.text.clone());
    compare("trace", data("trace"), given.trace.clone());
    compare("tests", data("tests"), given.tests.clone());
    for (key, is_hard) in [("mentions", true), ("message_contains", true)] {
        for mention in expected.get(key).and_then(Data::items).unwrap_or(&[]) {
            let wanted = mention.as_text().expect("mentions are texts");
            let wanted = wanted.strip_prefix("Execution error: ").unwrap_or(wanted);
            if is_hard && !given.message.contains(wanted) {
                list.push(format!("{key}: no {wanted:?} in {:?}", given.message));
            }
        }
    }
    list
}

/// Whether a case asks for a trace.
pub fn capture(case: &Case) -> TraceCapture {
    match case.args.get("trace").and_then(Data::as_bool) {
        Some(true) => TraceCapture::On,
        Some(false) | None => TraceCapture::Off,
    }
}

/// Runs every case of a folder but the ones named, and demands that all are right.
pub fn check_all(name: &str, cases: &[Case], kit: Kit, count: usize) {
    let mut wrong = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let setup = Setup { kit, seed: at as u64 };
        let given = run(&case.source, &words(case), capture(case), setup);
        let differences = differences(&case.expected, &given);
        if !differences.is_empty() {
            wrong.push(format!("{}: {}", case.name, differences.join("; ")));
        }
    }
    println!("{name}: {} of {} right", cases.len() - wrong.len(), cases.len());
    assert!(wrong.is_empty(), "{name}: {} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(cases.len(), count, "{name}: the number of cases has changed");
}
