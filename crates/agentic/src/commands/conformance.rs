//! `agentic conformance …`

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use agentic_conformance::{
    CaseCompany, RunReport, Scoreboard, SuiteChoice, SuiteReport, engine_suites, find_cases,
};
use clap::{Subcommand, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value as Json, json};

use super::VerbOutcome;
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::output::{Format, print_raw, print_text, talk};

/// Run the conformance suite against any binary
#[derive(Debug, Subcommand)]
pub enum ConformanceVerb {
    /// Run the cases of a checkout and write scoreboard.md and scoreboard.json
    ///
    /// The scoreboard is written beside the cases when all suites ran.
    /// With --engine temporal the suites of all engines are played on both of them, and the counts
    /// stand side by side: a server is started for that, and a worker for each repository of a case.
    ///
    /// Example: agentic conformance run --suite trace
    #[command(verbatim_doc_comment)]
    Run {
        /// Only this suite; may be repeated
        #[arg(long, value_name = "S")]
        suite: Vec<String>,
        /// The binary to judge; this one without
        #[arg(long, value_name = "PATH")]
        bin: Option<PathBuf>,
        /// The folder of cases; that of the checkout without
        #[arg(long, value_name = "DIR")]
        cases: Option<PathBuf>,
        /// Play each case in a repository that is served meanwhile; the scoreboard stays as it is
        #[arg(long)]
        served: bool,
        /// Whose runs the cases have
        #[arg(long, value_name = "ENGINE", conflicts_with = "served", default_value = "embedded")]
        engine: CaseEngine,
        /// The program of the server; the one that `temporal install` of `cargo xtask` gets without
        #[arg(long, value_name = "PATH")]
        server: Option<PathBuf>,
    },
}

/// Whose runs cases have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CaseEngine {
    /// Those of the program itself
    Embedded,
    /// Those of a server of Temporal, beside them
    Temporal,
}

/// Runs the verb.
pub fn run(context: &Context, verb: ConformanceVerb) -> VerbOutcome {
    let ConformanceVerb::Run { suite, bin, cases, served, engine, server } = verb;
    let no_cases = || {
        CommandFailure::refused(
            "there is no folder `conformance` here",
            "run this in a checkout, or name the folder with `--cases`",
        )
    };
    let cases_dir = cases.or_else(find_cases).ok_or_else(no_cases)?;
    // Of another binary nobody knows what it speaks to.
    let is_near = cfg!(feature = "temporal") && bin.is_none();
    let company = if is_near { CaseCompany::NobodyNear } else { CaseCompany::Nobody };
    let own =
        || std::env::current_exe().map_err(|error| CommandFailure::io("find this binary", &error));
    let options = SuiteChoice {
        bin: match bin {
            Some(bin) => bin,
            None => own()?,
        },
        cases_dir,
        suites: suite,
        command_limit: agentic_conformance::COMMAND_LIMIT,
        company: match served {
            true => CaseCompany::Server,
            false => company,
        },
    };
    match engine {
        CaseEngine::Embedded => run_alone(context, &options),
        CaseEngine::Temporal => run_beside(context, options, server),
    }
}

/// Plays cases whose runs are those of the program.
fn run_alone(context: &Context, options: &SuiteChoice) -> VerbOutcome {
    let report = play(options)?;
    match context.format {
        Format::Json => print_raw(&report.to_json().to_string()),
        Format::Text => print_text(&counts(&report)),
    }
    if report.failed() > 0 {
        talk(&report.failures_text());
    }
    // What leaves cases out would hide them.
    let is_whole = report.suites.iter().all(|suite| suite.apart.is_empty());
    if options.suites.is_empty() && is_whole && options.company != CaseCompany::Server {
        write(options, |board| board.with(&report))?;
    }
    Ok(if report.failed() == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Plays cases on both engines.
fn run_beside(context: &Context, options: SuiteChoice, server: Option<PathBuf>) -> VerbOutcome {
    let program = match server {
        Some(program) => program,
        None => installed_server(&options)?,
    };
    let is_whole = options.suites.is_empty();
    let suites = if is_whole { engine_suites() } else { options.suites.clone() };
    let options = SuiteChoice { suites, ..options };
    let near = CaseCompany::NobodyNear;
    let embedded = play(&SuiteChoice { company: near, ..options.clone() })?;
    let company = CaseCompany::Temporal { program };
    let served = play(&SuiteChoice { company, ..options.clone() })?;
    match context.format {
        Format::Json => print_raw(&beside_json(&embedded, &served).to_string()),
        Format::Text => print_text(&beside(&embedded, &served)),
    }
    for report in [&embedded, &served].into_iter().filter(|report| report.failed() > 0) {
        talk(&report.failures_text());
    }
    if is_whole {
        write(&options, |board| board.with_served(&served))?;
    }
    let failed = embedded.failed() + served.failed();
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Finds the server that was installed below the target folder of a binary.
fn installed_server(options: &SuiteChoice) -> Result<PathBuf, CommandFailure> {
    let target = options.bin.ancestors().nth(2);
    let program = target.map(|target| target.join("temporal/venv/bin/temporal"));
    program.filter(|program| program.exists()).ok_or_else(|| {
        CommandFailure::refused(
            "there is no server of Temporal beside the target folder of the binary",
            "get one with `cargo xtask temporal install`, or name its program with `--server`",
        )
    })
}

/// Writes the scoreboard of the checkout anew.
fn write(
    options: &SuiteChoice,
    change: impl FnOnce(Scoreboard) -> Scoreboard,
) -> Result<(), CommandFailure> {
    let Some(checkout) = options.cases_dir.parent() else { return Ok(()) };
    let board = Scoreboard::load(checkout).map_err(failed)?;
    change(board).write(checkout).map_err(failed)
}

/// Shows the counts of both engines side by side.
fn beside(embedded: &RunReport, served: &RunReport) -> String {
    let count =
        |report: &SuiteReport| format!("{} passed, {} failed", report.passed, report.failed);
    let mut text = format!("{:12} {:24} {}\n", "", "embedded", "temporal");
    for (own, other) in embedded.suites.iter().zip(&served.suites) {
        let (left, right) = (count(own), count(other));
        let (driven, apart) = (other.n_driven, other.apart.len());
        text.push_str(&format!(
            "{:12} {left:24} {right} ({driven} driven by the server), {apart} embedded alone\n",
            own.name
        ));
    }
    text + reasons(served).as_str()
}

/// Returns the counts of both engines, and what was not played with a server.
fn beside_json(embedded: &RunReport, served: &RunReport) -> Json {
    let apart = served.suites.iter().flat_map(|suite| &suite.apart);
    let apart: Vec<Json> = apart
        .map(|it| json!({ "place": it.place, "title": it.title, "reason": it.reason }))
        .collect();
    let mut json = Scoreboard::default().with(embedded).with_served(served).to_json();
    json["embedded_alone"] = apart.into();
    json
}

fn counts(report: &RunReport) -> String {
    let line = |suite: &SuiteReport| {
        format!("{:12} {} passed, {} failed\n", suite.name, suite.passed, suite.failed)
    };
    report.suites.iter().map(line).collect::<String>() + reasons(report).as_str()
}

/// Says what was not played, and why.
fn reasons(report: &RunReport) -> String {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for case in report.suites.iter().flat_map(|suite| &suite.apart) {
        *reasons.entry(&case.reason).or_default() += 1;
    }
    reasons.into_iter().map(|(reason, n)| format!("not played: {n}, since {reason}\n")).collect()
}

fn failed(error: agentic_conformance::Error) -> CommandFailure {
    CommandFailure::refused(
        &error.to_string(),
        "`agentic conformance run` without `--suite` runs all suites",
    )
}

fn play(options: &SuiteChoice) -> Result<RunReport, CommandFailure> {
    let bar = ProgressBar::new(0);
    let style =
        ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}").expect("a valid template");
    bar.set_style(style);
    let report = agentic_conformance::run(options, &|progress| {
        bar.set_length(progress.n_cases as u64);
        bar.set_position(progress.n_done as u64);
        bar.set_message(progress.suite.to_owned());
    });
    bar.finish_and_clear();
    report.map_err(failed)
}
