//! The shared corpus: every case, and every case again from its record with a kill at each
//! request.

use std::collections::BTreeMap;

use agentic_lang_context::json::{self, Json, compact};
use agentic_lang_context::provider::{
    EmptyModel, LocalMemories, MockMemory, PreparedModel, TextTree,
};
use agentic_lang_context::{CheckFindings, RunFault, trace};
use agentic_replay::End;

use crate::case::{self, Case, Reading};
use crate::host::{Drive, Memories, Model, Order, Providers, Record, Tools};

/// Cases that no detector can read: nothing in them shows their version.
const AMBIGUOUS: [&str; 1] = ["p50-v010-no-implicit-return"];

type Outcome = Result<usize, String>;

#[test]
fn every_case_of_the_corpus_passes() {
    let cases = case::all();
    let (mut failed, mut replays) = (Vec::new(), 0);
    for case in &cases {
        match check(case, Reading::Declared) {
            Ok(count) => replays += count,
            Err(reason) => failed.push(format!("{}: {reason}", case.name)),
        }
    }
    let passed = cases.len() - failed.len();
    println!("context: {passed} passed, {} failed, {replays} replays", failed.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert_eq!(cases.len(), 51);
}

#[test]
fn every_case_that_runs_runs_alike_when_its_version_is_detected() {
    let cases = case::all();
    let runs = cases
        .iter()
        .filter(|case| case.expect("parse_error").is_none())
        .filter(|case| !AMBIGUOUS.contains(&case.name.as_str()));
    let failed: Vec<String> = runs
        .filter_map(|case| {
            check(case, Reading::Detected).err().map(|reason| format!("{}: {reason}", case.name))
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Checks a case; returns how often it was replayed.
fn check(case: &Case, reading: Reading) -> Outcome {
    let module = match case.compile(reading) {
        Ok(module) => module,
        Err(checked) => return check_findings(case, &checked).map(|()| 0),
    };
    for key in ["parse_error", "check"] {
        if case.expect(key).is_some() {
            return Err(format!("nothing was found, but `{key}` is expected"));
        }
    }
    let drive = Drive {
        module: &module,
        entry: case.entry(),
        options: case.run_options(),
        input: case.json.get("input").cloned().unwrap_or_default(),
        order: Order::First,
    };
    let record = drive.live(providers(case, module.dialect().version));
    check_end(case, &record)?;
    check_prompts(case, &record)?;
    check_trace(case, &trace::collect(&record.events))?;
    for cut in 0..=record.asked.len() {
        let providers = providers(case, module.dialect().version);
        let again = drive.run(providers, &record.asked[..cut], &record);
        if again != record {
            return Err(format!("the replay that was killed after {cut} answers differs"));
        }
    }
    Ok(record.asked.len() + 1)
}

fn providers(case: &Case, version: agentic_lang_context::Version) -> Providers {
    let model = match case.json.get("llm") {
        Some(Json::List(replies)) => Model::Scripted(PreparedModel::from_json(replies)),
        _ => Model::Mock(EmptyModel::new(version)),
    };
    let tools = match case.text("tools") {
        "host" => Tools::Workspace(TextTree::new(case.workspace())),
        _ => Tools::Mock,
    };
    let memory = match case.text("memory") {
        "file" => Memories::Real(LocalMemories::default()),
        _ => Memories::Mock(MockMemory::default()),
    };
    Providers { model, tools, memory, inputs: BTreeMap::new() }
}

fn place(json: &Json) -> Option<(usize, usize)> {
    let number = |key| match json.get(key) {
        Some(Json::Number(number)) => Some(*number as usize),
        _ => None,
    };
    Some((number("line")?, number("column")?))
}

fn check_findings(case: &Case, checked: &CheckFindings) -> Result<(), String> {
    let found: Vec<(&str, (usize, usize))> = checked
        .findings
        .iter()
        .map(|finding| {
            let span = finding.diagnostic.span;
            let position = checked.sources[finding.file].position(span.start);
            (finding.diagnostic.code, (position.line, position.column))
        })
        .collect();
    for finding in &checked.findings {
        let diagnostic = &finding.diagnostic;
        if diagnostic.reason.is_empty() || diagnostic.hint.is_empty() {
            return Err(format!("no reason or hint: {diagnostic:?}"));
        }
    }
    if let Some(expected) = case.expect("parse_error") {
        let expected = place(expected).ok_or("a parse error has a place")?;
        return match found.as_slice() {
            [("SYNTAX", at)] if *at == expected => Ok(()),
            other => Err(format!("{expected:?} expected, {other:?} found")),
        };
    }
    let Some(expected) = case.expect("check") else {
        return Err(format!("refused: {found:?}"));
    };
    let listed = expected.get("diagnostics").and_then(Json::as_list).unwrap_or_default();
    let listed: Vec<(&str, (usize, usize))> = listed
        .iter()
        .filter_map(|json| Some((json.get("code")?.as_text()?, place(json)?)))
        .collect();
    if let Some(missing) = listed.iter().find(|listed| !found.contains(listed)) {
        return Err(format!("{missing:?} is missing in {found:?}"));
    }
    let exact = expected.get("mode").and_then(Json::as_text) == Some("exact");
    match found.iter().find(|found| !listed.contains(found)) {
        Some(surplus) if exact => Err(format!("{surplus:?} is not expected")),
        Some(_) | None => Ok(()),
    }
}

fn check_end(case: &Case, record: &Record) -> Result<(), String> {
    let exit = match &record.end {
        End::Done(_) => 0.0,
        End::Failed(_) | End::Cancelled => 1.0,
    };
    if case.expect("exit") != Some(&Json::Number(exit)) {
        return Err(format!("ended with {:?}", record.end));
    }
    if let Some(expected) = case.expect("value") {
        let End::Done(value) = &record.end else { return Err("no value".to_owned()) };
        let value = json::from_value(value).map_err(|fault| fault.to_string())?;
        if compact(&value) != compact(expected) {
            return Err(format!("{} expected, {} found", compact(expected), compact(&value)));
        }
    }
    if let Some(expected) = case.expect("error").and_then(place) {
        let End::Failed(failure) = &record.end else { return Err("no error".to_owned()) };
        let fault = RunFault::of(failure).ok_or("the failure has no place")?;
        let found = (fault.position.line as usize, fault.position.column as usize);
        if found != expected {
            return Err(format!("{expected:?} expected, {found:?} found: {}", fault.message));
        }
    }
    Ok(())
}

fn check_prompts(case: &Case, record: &Record) -> Result<(), String> {
    let field = |asked: &crate::host::Asked, key: &str| {
        asked.request.payload.get(key).and_then(|text| text.as_text()).unwrap_or("").to_owned()
    };
    let prompts: Vec<(String, String)> = record
        .asked
        .iter()
        .filter(|asked| asked.request.kind == "model")
        .map(|asked| (field(asked, "system"), field(asked, "user")))
        .collect();
    let count = Json::Number(prompts.len() as f64);
    if case.expect("prompt_count").is_some_and(|expected| *expected != count) {
        return Err(format!("{} prompts", prompts.len()));
    }
    let Some(expected) = case.expect("prompts").and_then(Json::as_list) else { return Ok(()) };
    if expected.len() != prompts.len() {
        return Err(format!("{} prompts expected, {} found", expected.len(), prompts.len()));
    }
    for (expected, (system, user)) in expected.iter().zip(&prompts) {
        let text = |key| expected.get(key).and_then(Json::as_text);
        if text("system").is_some_and(|expected| expected != system) {
            return Err(format!("system: {system:?}"));
        }
        if text("user").is_some_and(|expected| expected != user) {
            return Err(format!("user: {user:?}\nexpected: {:?}", text("user")));
        }
        let parts = expected.get("user_contains").and_then(Json::as_list).unwrap_or_default();
        if let Some(part) = parts.iter().filter_map(Json::as_text).find(|part| !user.contains(part))
        {
            return Err(format!("{part:?} is missing in {user:?}"));
        }
    }
    Ok(())
}

fn check_trace(case: &Case, trace: &[Json]) -> Result<(), String> {
    if let Some(expected) = case.expect("trace_kinds") {
        let kinds = trace.iter().map(|event| event.get("kind").cloned().unwrap_or_default());
        let kinds = Json::List(kinds.collect());
        if *expected != kinds {
            return Err(format!("kinds: {}", compact(&kinds)));
        }
    }
    for expected in case.expect("trace").and_then(Json::as_list).unwrap_or_default() {
        let Some(Json::Number(index)) = expected.get("index") else {
            return Err("an expected event has an index".to_owned());
        };
        let event = trace.get(*index as usize).cloned().unwrap_or_default();
        for key in ["kind", "data"] {
            let (expected, found) = (expected.get(key), event.get(key));
            if let Some(expected) = expected
                && !found.is_some_and(|found| matches(expected, found))
            {
                return Err(format!("event {index}: {}", compact(&event)));
            }
        }
    }
    if let Some(expected) = case.expect("pretty").and_then(Json::as_list) {
        let lines: Vec<&str> = expected.iter().filter_map(Json::as_text).collect();
        let found = trace::pretty(trace);
        if found.lines().collect::<Vec<_>>() != lines {
            return Err(format!("pretty:\n{found}"));
        }
    }
    Ok(())
}

/// Objects match by subset, lists item by item.
fn matches(expected: &Json, found: &Json) -> bool {
    match (expected, found) {
        (Json::Object(expected), Json::Object(found)) => expected
            .iter()
            .all(|(key, expected)| found.get(key).is_some_and(|found| matches(expected, found))),
        (Json::List(expected), Json::List(found)) => {
            expected.len() == found.len()
                && expected.iter().zip(found).all(|(expected, found)| matches(expected, found))
        }
        (expected, found) => expected == found,
    }
}
