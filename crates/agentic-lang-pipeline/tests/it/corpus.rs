//! The whole suite: plans node by node, findings by phase, kind and place, and runs on every
//! driver.

use agentic_diag::SourceText;
use agentic_lang_pipeline::run::{PipelineOptions, PipelineProgram};
use agentic_lang_pipeline::{
    CompiledSource, PipelineFindings, canonical, compile, findings_to_values, format, parse,
    source_text,
};
use agentic_model::{Value, json};
use agentic_plan::Backend;
use agentic_providers::host::{CancelFlag, Host, HostClock, HostExecutor};
use agentic_replay::{Request, RequestAnswer};

use crate::kit::{
    Script, World, durable_with_kills, outcome, perform_native, start, suite, suite_registry,
};

#[derive(Default, Debug, PartialEq)]
struct Counts {
    programs: usize,
    plans: usize,
    diagnostics: usize,
    runs: usize,
    kills: usize,
}

fn cases() -> Vec<(String, String, Value)> {
    let folder = std::fs::read_dir(suite("public")).expect("the suite is there");
    let mut names: Vec<String> = folder
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
        .filter_map(|name| name.strip_suffix(".as").map(str::to_owned))
        .collect();
    names.sort();
    let read = |name: &str, suffix: &str| {
        let bytes = std::fs::read(suite("public").join(format!("{name}{suffix}")));
        let bytes = bytes.expect("every case has two files");
        source_text(&bytes).expect("cases are UTF-8").to_owned()
    };
    let expected = |name: &str| json::from_text(&read(name, ".expect.json")).expect("JSON");
    names.iter().map(|name| (name.clone(), read(name, ".as"), expected(name))).collect()
}

#[test]
fn every_program_of_the_suite() {
    let mut counts = Counts::default();
    for (name, source, expected) in cases() {
        counts.programs += 1;
        let compiled = compile(&source, suite_registry());
        match (compiled, expected.get("ok").and_then(Value::as_bool)) {
            (Ok(compiled), Some(true)) => {
                check_plans(&name, &compiled, &expected, &mut counts);
                check_runs(&name, &compiled, &expected, &mut counts);
                check_forms(&name, &source);
            }
            (Err(findings), Some(false)) => {
                check_findings(&name, &source, &findings, &expected, &mut counts);
            }
            (compiled, _) => panic!("{name}: {compiled:#?}"),
        }
    }
    println!("pipeline suite: {counts:?}");
    assert_eq!((counts.programs, counts.plans, counts.diagnostics, counts.runs), (30, 22, 9, 13));
    assert!(counts.kills > counts.runs, "{counts:?}");
}

/// Compares plans as the suite says: absent containers are empty.
fn check_plans(name: &str, compiled: &CompiledSource, expected: &Value, counts: &mut Counts) {
    let blocks = expected.get("blocks").and_then(Value::as_list).expect("blocks are expected");
    assert_eq!(compiled.blocks.len(), blocks.len(), "{name}");
    for (block, expected) in compiled.blocks.iter().zip(blocks) {
        counts.plans += 1;
        let found = block.plan.to_value();
        for key in ["backend", "mode", "entry", "exit", "nodes"] {
            assert_eq!(found.get(key), expected.get(key), "{name}: {key}");
        }
        assert_eq!(agentic_plan::Plan::from_value(&found).as_ref(), Ok(&*block.plan), "{name}");
        for node in block.plan.nodes() {
            let is_call = node.work != agentic_plan::NodeWork::Join;
            assert_eq!(block.source_map.place(&node.id).is_some(), is_call, "{name}");
        }
    }
}

fn check_findings(
    name: &str,
    source: &str,
    findings: &PipelineFindings,
    expected: &Value,
    counts: &mut Counts,
) {
    let expected = expected.get("errors").and_then(Value::as_list).expect("errors are expected");
    let found = findings_to_values(&SourceText::new(name, source), findings);
    assert_eq!(found.len(), expected.len(), "{name}: {found:?}");
    for (found, expected) in found.iter().zip(expected) {
        counts.diagnostics += 1;
        for (key, value) in expected.as_map().expect("an error is a map") {
            assert_eq!(found.get(key), Some(value), "{name}: {key} in {found:?}");
        }
    }
}

/// Runs on four drivers: one after the other, the concurrent host, durably, and durably with a
/// kill after every record.
fn check_runs(name: &str, compiled: &CompiledSource, expected: &Value, counts: &mut Counts) {
    let Some(expected) = expected.get("run").and_then(Value::as_list) else { return };
    counts.runs += 1;
    let expected = Ok(expected.to_vec());
    let make = || PipelineProgram::new(compiled, PipelineOptions::default());
    let mut world = World::new(Script::default());
    let simple =
        agentic_replay::run_to_end(make(), &start(Value::Null), |request| world.perform(request));
    assert_eq!(outcome(&simple.end), expected, "{name}");
    let host = Host::new(Natives).with_clock(HostClock::Jumping);
    let end = host.run(make(), &start(Value::Null), &CancelFlag::new(), &mut |_| {});
    assert_eq!(outcome(&end), expected, "{name} on the host");
    let durable = durable_with_kills(make, perform_native);
    assert_eq!(outcome(&durable.end), expected, "{name} durably");
    counts.kills += durable.n_records - 1;
    let mut asked: Vec<String> = world.asked.iter().map(|(path, _)| path.to_string()).collect();
    asked.sort();
    let mut performed: Vec<String> =
        durable.performed.iter().map(|(path, ..)| path.to_string()).collect();
    performed.sort();
    assert_eq!(asked, performed, "{name}: both drivers are asked the same");
}

fn check_forms(name: &str, source: &str) {
    let script = parse(source).expect("the case is valid");
    assert_eq!(parse(&canonical(&script)).as_ref(), Ok(&script), "{name}");
    let formatted = format(source).expect("the case is valid");
    assert_eq!(parse(&formatted).as_ref(), Ok(&script), "{name}:\n{formatted}");
    assert_eq!(format(&formatted).as_ref(), Ok(&formatted), "{name}");
}

struct Natives;

impl HostExecutor for Natives {
    fn perform(&self, request: &Request, _cancel: &CancelFlag) -> RequestAnswer {
        perform_native(request)
    }
}

#[test]
fn every_block_runs_alone_in_its_place_in_the_whole() {
    let source = "memory static ( echo \"a\" ) memory dynamic ( echo \"b\" >=> upper )";
    let compiled = compile(source, suite_registry()).expect("the source is valid");
    assert_eq!(compiled.blocks[1].plan.backend(), Backend::Memory);
    let program = PipelineProgram::of_block(&compiled, 1, PipelineOptions::default())
        .expect("the block is there");
    crate::kit::is_program(&program);
    let mut world = World::new(Script::default());
    let end =
        agentic_replay::run_to_end(program, &start(Value::Null), |request| world.perform(request))
            .end;
    assert_eq!(outcome(&end), Ok(vec![Value::text("B")]));
    let paths: Vec<String> = world.asked.iter().map(|(path, _)| path.to_string()).collect();
    assert_eq!(paths, ["b1/n0/n0/0", "b1/n0/n1/0"]);
    assert!(PipelineProgram::of_block(&compiled, 2, PipelineOptions::default()).is_none());
}
