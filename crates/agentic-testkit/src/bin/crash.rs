//! Kills real processes at random: `crash [--bin PATH] [--kills N] [--seed N]`.

use std::path::PathBuf;
use std::process::ExitCode;

use agentic_testkit::{Kills, kill_at_random};

const USAGE: &str = "usage: crash [--bin PATH] [--kills N] [--seed N]";

fn main() -> ExitCode {
    let Some(kills) = parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    if !kills.program.is_file() {
        eprintln!("error: there is no `{}`", kills.program.display());
        eprintln!("hint: build it with `cargo build -p agentic`, or name it with `--bin PATH`");
        return ExitCode::FAILURE;
    }
    match kill_at_random(&kills) {
        Ok(report) => {
            report.broken.iter().for_each(|line| println!("BROKEN {line}"));
            println!(
                "{} kills (seed {}), {} commands acknowledged, {} recoveries, {} broken promises",
                report.n_kills,
                kills.seed,
                report.n_acknowledged,
                report.n_recovered,
                report.broken.len()
            );
            if report.broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Kills> {
    let beside = std::env::current_exe().ok()?.with_file_name("agentic");
    let mut kills = Kills { program: beside, n_kills: 50, seed: 1, check_every: 10 };
    while let Some(flag) = arguments.next() {
        let value = arguments.next()?;
        match flag.as_str() {
            "--bin" => kills.program = PathBuf::from(value),
            "--kills" => kills.n_kills = value.parse().ok()?,
            "--seed" => kills.seed = value.parse().ok()?,
            _ => return None,
        }
    }
    Some(kills)
}
