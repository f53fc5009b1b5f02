//! What a person or a machine runs before a change goes in.
//!
//! - `cargo xtask test`: everything, with one line a step and the counts at the end;
//! - `cargo xtask test temporal`: the same of what the feature `temporal` brings, with a real server; with
//!   `--long` a flow of fifty thousand requests and three hundred kills, which takes an hour or more;
//! - `cargo xtask tidy`: the rules of the house alone;
//! - `cargo xtask mcp`: the official clients of MCP against the binary;
//! - `cargo xtask agents`: real coding agents, installed for it, with a model of ours behind them;
//! - `cargo xtask scoreboard`: runs the conformance suite and writes the scoreboard;
//! - `cargo xtask schemas`: writes the JSON Schemas of everything that is printed;
//! - `cargo xtask browser`: gets the browser that tests drive, once;
//! - `cargo xtask temporal install | start | stop`: gets a server of Temporal, starts one on loopback
//!   and says its address, ends it; `cargo xtask temporal record-histories` records the histories anew
//!   that tests replay;
//! - `cargo xtask bench`: writes `docs/benchmarks.md` from `bench/results.json`;
//! - `cargo xtask docs`: writes the tables of verbs in `docs/commands.md`, and the predicates, rules
//!   and answers in `docs/query.md`, and what the demo prints in `docs/first-run.md`.

mod bench;
mod browser;
mod clients;
mod steps;
mod temporal;
mod tidy;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;

use crate::steps::TemporalLength;
use crate::workspace::TidyWorkspace;

const USAGE: &str = "usage: cargo xtask test | test temporal [--long] | tidy | mcp | agents | scoreboard | schemas | browser | bench | docs \
    | temporal install | temporal start | temporal stop | temporal record-histories";
/// The exit code for wrong usage, as everywhere in this project.
const EXIT_USAGE: u8 = 2;

fn main() -> ExitCode {
    let verb: Vec<String> = std::env::args().skip(1).collect();
    let verb: Vec<&str> = verb.iter().map(String::as_str).collect();
    let outcome = match verb.as_slice() {
        ["test"] => steps::test(),
        ["test", "temporal"] => steps::temporal(TemporalLength::Usual),
        ["test", "temporal", "--long"] => steps::temporal(TemporalLength::Long),
        ["tidy"] => tidy_alone(),
        ["mcp"] => steps::mcp(),
        ["agents"] => steps::agents(),
        ["scoreboard"] => steps::scoreboard(),
        ["schemas"] => steps::schemas(),
        ["browser"] => browser::fetch(),
        ["temporal", "install"] => temporal::install(),
        ["temporal", "start"] => temporal::start(),
        ["temporal", "stop"] => temporal::stop(),
        ["temporal", "record-histories"] => steps::record_histories(),
        ["bench"] => bench::write(),
        ["docs"] => steps::docs(),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(EXIT_USAGE);
        }
    };
    match outcome {
        Ok(CheckOutcome::Good) => ExitCode::SUCCESS,
        Ok(CheckOutcome::Bad) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether everything is as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CheckOutcome {
    Good,
    Bad,
}

fn tidy_alone() -> Result<CheckOutcome> {
    let findings = tidy::check(&TidyWorkspace::load()?);
    for finding in &findings {
        println!("{finding}");
    }
    println!("tidy: {} findings", findings.len());
    Ok(if findings.is_empty() { CheckOutcome::Good } else { CheckOutcome::Bad })
}
