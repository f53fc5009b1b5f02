//! The steps of `cargo xtask test`.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Instant;

use agentic_conformance::{COMMAND_LIMIT, CaseCompany, RunReport, Scoreboard, SuiteChoice};
use anyhow::{Context, Result, ensure};

use crate::workspace::{TidyWorkspace, cargo, root, target_folder};
use crate::{CheckOutcome, browser, temporal, tidy};

/// How to make the scoreboard anew.
const SCOREBOARD_HOW: &str = "cargo xtask scoreboard";

/// The suites that are played beside a server too: of what agents and people write, and of what git does.
const SERVED_SUITES: [&str; 4] = ["git", "hold", "relations", "trace"];

/// The suites whose cases are played with a server of Temporal by each `cargo xtask test temporal`; `cargo
/// xtask scoreboard` plays those of all engines.
const SHARED_SUITES: [&str; 1] = ["hold"];

/// The tests that run the binary of the default build.
const DEFAULT_BUILD: [&str; 3] = ["--workspace", "--test", "it"];

/// What is built for runs on a server of Temporal: the binary with the feature, and the crate of it, which is no
/// member of the workspace. All steps build the same, so that what one has built the next one uses.
const SERVED_BUILD: [&str; 6] =
    ["-p", "agentic", "-p", "agentic-temporal", "--features", "agentic/temporal"];

/// What makes the tests with a server of Temporal long.
const LONG: [(&str, &str); 2] = [("AGENTIC_REQUESTS", "50000"), ("AGENTIC_KILLS", "300")];

/// What a step found.
struct StepFinding {
    /// How many tests or cases passed.
    passed: usize,
    /// How many failed; a step without tests that fails counts as one.
    failed: usize,
    /// What to show when something failed.
    details: String,
}

/// Runs one step to its end.
type RunStep = fn() -> Result<StepFinding>;

/// Runs everything that the default build has.
pub fn test() -> Result<CheckOutcome> {
    let steps: [(&str, RunStep); 9] = [
        ("fmt", || simple(&["fmt", "--all", "--check"])),
        ("clippy", || {
            simple(&["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"])
        }),
        ("tidy", tidy),
        ("browser", fetch_browser),
        ("tests", || run_tests(&["test", "--workspace", "--no-fail-fast"])),
        // Once more with what the default build has not; everything but the binary is built already.
        ("ui", || run_tests(&["test", "--workspace", "--features", "agentic/tui", "--test", "ui"])),
        ("conformance", conformance),
        ("served", conformance_beside_a_server),
        ("mcp", clients),
    ];
    take(&steps)
}

/// Runs what needs the feature `temporal`: runs on a real server of Temporal. A long run has a flow of fifty
/// thousand requests, and three hundred kills.
pub fn temporal(length: TemporalLength) -> Result<CheckOutcome> {
    let steps: [(&str, RunStep); 4] = [
        ("server", || {
            temporal::program()?;
            Ok(StepFinding { passed: 0, failed: 0, details: String::new() })
        }),
        ("clippy", || {
            simple(
                &[
                    &["clippy", "--quiet"][..],
                    &SERVED_BUILD,
                    &["--all-targets", "--", "-D", "warnings"],
                ]
                .concat(),
            )
        }),
        match length {
            TemporalLength::Usual => ("runs", || temporal_tests(&[])),
            TemporalLength::Long => ("runs", || temporal_tests(&LONG)),
        },
        ("conformance", || {
            let report = run_served_cases(&SHARED_SUITES.map(str::to_owned))?;
            let (passed, failed) = (report.passed(), report.failed());
            Ok(StepFinding { passed, failed, details: report.failures_text() })
        }),
    ];
    take(&steps)
}

/// How long the tests with a server of Temporal are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemporalLength {
    Usual,
    Long,
}

/// Runs the tests of the feature, and those inside its crate.
fn temporal_tests(variables: &[(&str, &str)]) -> Result<StepFinding> {
    let tests = ["--lib", "--test", "temporal", "--no-fail-fast"];
    run_tests_with(&[&["test"][..], &SERVED_BUILD, &tests].concat(), variables)
}

/// Plays cases whose runs a server of Temporal drives.
fn run_served_cases(suites: &[String]) -> Result<RunReport> {
    let options = SuiteChoice {
        bin: build_binary(&[&SERVED_BUILD[..], &["--lib", "--test", "temporal"]].concat())?,
        cases_dir: root().join("conformance"),
        suites: suites.to_vec(),
        command_limit: COMMAND_LIMIT,
        company: CaseCompany::Temporal { program: temporal::program()? },
    };
    Ok(agentic_conformance::run(&options, &|_| {})?)
}

/// Takes steps one after the other, prints one line a step, and ends with `N passed, N failed`.
fn take(steps: &[(&str, RunStep)]) -> Result<CheckOutcome> {
    let (mut passed, mut failed) = (0, 0);
    for (name, run) in steps {
        let began = Instant::now();
        let step = run().unwrap_or_else(|error| broken(format!("error: {error:#}\n")));
        let counts = match step.passed + step.failed {
            0 => String::new(),
            _ => format!(" ({} passed, {} failed)", step.passed, step.failed),
        };
        let (verdict, seconds) =
            (if step.failed == 0 { "ok" } else { "FAILED" }, began.elapsed().as_secs());
        println!("{name}: {verdict}{counts}, {seconds} s");
        if step.failed > 0 {
            print!("{}", step.details);
        }
        passed += step.passed;
        failed += step.failed;
    }
    println!("{passed} passed, {failed} failed");
    Ok(if failed == 0 { CheckOutcome::Good } else { CheckOutcome::Bad })
}

/// Runs the conformance suite and writes the scoreboard. Where a server of Temporal is installed the suites
/// of all engines are played with it, too; elsewhere what was counted with one stays.
pub fn scoreboard() -> Result<CheckOutcome> {
    let report = run_cases(CaseCompany::Nobody, &[])?;
    let mut board = Scoreboard::load(&root())?.with(&report);
    let mut reports = vec![report];
    if temporal::is_installed()? {
        let served = run_served_cases(&agentic_conformance::engine_suites())?;
        board = board.with_served(&served);
        reports.push(served);
    }
    board.write(&root())?;
    for report in &reports {
        print!("{}", report.failures_text());
        println!("{} passed, {} failed", report.passed(), report.failed());
    }
    let is_good = reports.iter().all(|report| report.failed() == 0);
    Ok(if is_good { CheckOutcome::Good } else { CheckOutcome::Bad })
}

/// Runs the official clients of MCP against the binary.
pub fn mcp() -> Result<CheckOutcome> {
    let found = clients()?;
    print!("{}", found.details);
    println!("{} passed, {} failed", found.passed, found.failed);
    Ok(if found.failed == 0 { CheckOutcome::Good } else { CheckOutcome::Bad })
}

/// Records the histories anew, on a real server, that the tests of Temporal replay.
pub fn record_histories() -> Result<CheckOutcome> {
    temporal::program()?;
    let what = ["test", "--workspace", "--features", "agentic/temporal", "--test", "temporal"];
    let arguments = [&what[..], &["histories_of_earlier_builds"]].concat();
    let recorded = cargo(&arguments).env("AGENTIC_RECORD_HISTORIES", "1").status();
    let is_good = recorded.context("cannot run cargo")?.success();
    Ok(if is_good { CheckOutcome::Good } else { CheckOutcome::Bad })
}

/// Writes the JSON Schemas, which a test of the types compares.
pub fn schemas() -> Result<CheckOutcome> {
    write_generated(&[["--test", "it", "schemas_of_all_answers"]])
}

/// Writes the tables of verbs, the answers of queries and what the demo prints, which tests of the command line make and
/// compare.
pub fn docs() -> Result<CheckOutcome> {
    write_generated(&[
        ["--bin", "agentic", "verb_tables"],
        ["--test", "it", "query_page"],
        ["--test", "it", "first_run_page"],
    ])
}

/// Has tests write what they compare else.
fn write_generated(tests: &[[&str; 3]]) -> Result<CheckOutcome> {
    for test in tests {
        // With the features of all tests, so that what is built is used again.
        let arguments = [&["test", "--quiet", "--workspace"], &test[..]].concat();
        let written = cargo(&arguments).env("AGENTIC_WRITE_TABLES", "1").status();
        if !written.context("cannot run cargo")?.success() {
            return Ok(CheckOutcome::Bad);
        }
    }
    Ok(CheckOutcome::Good)
}

fn broken(details: String) -> StepFinding {
    StepFinding { passed: 0, failed: 1, details }
}

fn simple(arguments: &[&str]) -> Result<StepFinding> {
    let output = cargo(arguments).stdin(Stdio::null()).output().context("cannot run cargo")?;
    if output.status.success() {
        return Ok(StepFinding { passed: 0, failed: 0, details: String::new() });
    }
    let said = [output.stdout, output.stderr].concat();
    Ok(broken(String::from_utf8_lossy(&said).into_owned()))
}

fn tidy() -> Result<StepFinding> {
    let findings = tidy::check(&TidyWorkspace::load()?);
    let failed = usize::from(!findings.is_empty());
    Ok(StepFinding { passed: 0, failed, details: findings.join("\n") + "\n" })
}

fn fetch_browser() -> Result<StepFinding> {
    browser::fetch()?;
    Ok(StepFinding { passed: 0, failed: 0, details: String::new() })
}

fn run_tests(arguments: &[&str]) -> Result<StepFinding> {
    run_tests_with(arguments, &[])
}

fn run_tests_with(arguments: &[&str], variables: &[(&str, &str)]) -> Result<StepFinding> {
    let mut command = cargo(arguments);
    command.envs(variables.iter().copied()).stdin(Stdio::null());
    let output = command.output().context("cannot run cargo")?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let (passed, mut failed) = count_tests(&stdout);
    if failed == 0 && !output.status.success() {
        failed = 1; // It did not compile, or a test binary crashed.
    }
    let details = format!("{stdout}{}", String::from_utf8_lossy(&output.stderr));
    Ok(StepFinding { passed, failed, details })
}

/// Adds up the lines `test result: ok. 3 passed; 0 failed; …`.
fn count_tests(stdout: &str) -> (usize, usize) {
    let (mut passed, mut failed) = (0, 0);
    for line in stdout.lines().filter(|line| line.starts_with("test result: ")) {
        let words: Vec<&str> =
            line.split([' ', ';', '.']).filter(|word| !word.is_empty()).collect();
        for pair in words.windows(2) {
            let [number, what] = pair else { continue };
            let number: usize = number.parse().unwrap_or(0);
            match *what {
                "passed" => passed += number,
                "failed" => failed += number,
                _ => {}
            }
        }
    }
    (passed, failed)
}

fn conformance() -> Result<StepFinding> {
    let report = run_cases(CaseCompany::Nobody, &[])?;
    let mut details = report.failures_text();
    let mut failed = report.failed();
    // What was counted with a server stays: `cargo xtask test temporal` plays a share of that.
    let fresh = Scoreboard::load(&root())?.with(&report).files();
    let stored = fresh
        .keys()
        .filter_map(|name| Some((name.clone(), fs::read_to_string(root().join(name)).ok()?)))
        .collect();
    let stale = tidy::compare(&stored, &fresh, SCOREBOARD_HOW);
    failed += stale.len();
    details.push_str(&stale.iter().map(|line| format!("{line}\n")).collect::<String>());
    Ok(StepFinding { passed: report.passed(), failed, details })
}

fn clients() -> Result<StepFinding> {
    let bin = build_binary(&DEFAULT_BUILD)?;
    let target = bin.ancestors().nth(2).context("the binary lies in the target folder")?;
    let report = crate::clients::run(&crate::clients::MCP, &bin, target)?;
    Ok(StepFinding { passed: report.passed, failed: report.failed, details: report.details })
}

/// Runs real coding agents with a model of ours, and looks at what was kept. It is no part of the test,
/// since what it installs is large.
pub fn agents() -> Result<CheckOutcome> {
    let bin = build_binary(&DEFAULT_BUILD)?;
    let target = bin.ancestors().nth(2).context("the binary lies in the target folder")?;
    let report = crate::clients::run(&crate::clients::AGENTS, &bin, target)?;
    print!("{}", if report.failed == 0 { &report.said } else { &report.details });
    println!("{} passed, {} failed", report.passed, report.failed);
    Ok(if report.failed == 0 { CheckOutcome::Good } else { CheckOutcome::Bad })
}

/// Plays the cases of some suites once more, each in a repository that is served meanwhile: nobody waits for
/// who stays. `agentic conformance run --served` plays all of them.
fn conformance_beside_a_server() -> Result<StepFinding> {
    let report = run_cases(CaseCompany::Server, &SERVED_SUITES)?;
    let (passed, failed) = (report.passed(), report.failed());
    Ok(StepFinding { passed, failed, details: report.failures_text() })
}

fn run_cases(company: CaseCompany, suites: &[&str]) -> Result<RunReport> {
    let options = SuiteChoice {
        bin: build_binary(&DEFAULT_BUILD)?,
        cases_dir: root().join("conformance"),
        suites: suites.iter().map(ToString::to_string).collect(),
        command_limit: COMMAND_LIMIT,
        company,
    };
    Ok(agentic_conformance::run(&options, &|_| {})?)
}

/// Builds the binary and returns its path. It is the one that tests run: the package alone would have other
/// features of what it depends on, and all of that would be built once more.
fn build_binary(build: &[&str]) -> Result<PathBuf> {
    let output = cargo(&[&["test", "--quiet", "--no-run"], build].concat())
        .output()
        .context("cannot run cargo")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the binary does not build:\n{said}");
    Ok(target_folder()?.join("debug").join("agentic"))
}

#[cfg(test)]
mod counts {
    use super::*;

    #[test]
    fn results_of_test_binaries_are_added_up() {
        let stdout = "running 2 tests\n\
            test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n\
            test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";
        assert_eq!(count_tests(stdout), (5, 1));
        assert_eq!(count_tests("test result: ok"), (0, 0));
    }
}
