//! `agentic conformance …`

use std::path::PathBuf;
use std::process::ExitCode;

use agentic_conformance::{CaseCompany, RunReport, SuiteChoice, SuiteReport, find_cases};
use clap::Subcommand;
use indicatif::{ProgressBar, ProgressStyle};

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
    },
}

/// Runs the verb.
pub fn run(context: &Context, verb: ConformanceVerb) -> VerbOutcome {
    let ConformanceVerb::Run { suite, bin, cases, served } = verb;
    let no_cases = || {
        CommandFailure::refused(
            "there is no folder `conformance` here",
            "run this in a checkout, or name the folder with `--cases`",
        )
    };
    let cases_dir = cases.or_else(find_cases).ok_or_else(no_cases)?;
    let own =
        || std::env::current_exe().map_err(|error| CommandFailure::io("find this binary", &error));
    let options = SuiteChoice {
        bin: match bin {
            Some(bin) => bin,
            None => own()?,
        },
        cases_dir: cases_dir.clone(),
        suites: suite.clone(),
        command_limit: agentic_conformance::COMMAND_LIMIT,
        company: if served { CaseCompany::Server } else { CaseCompany::Nobody },
    };
    let report = play(&options)?;
    match context.format {
        Format::Json => print_raw(&report.to_json().to_string()),
        Format::Text => print_text(&counts(&report)),
    }
    if report.failed() > 0 {
        talk(&report.failures_text());
    }
    if suite.is_empty()
        && !served
        && let Some(checkout) = cases_dir.parent()
    {
        report.write_scoreboard(checkout).map_err(failed)?;
    }
    Ok(if report.failed() == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn counts(report: &RunReport) -> String {
    let line = |suite: &SuiteReport| {
        format!("{:12} {} passed, {} failed\n", suite.name, suite.passed, suite.failed)
    };
    report.suites.iter().map(line).collect()
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
