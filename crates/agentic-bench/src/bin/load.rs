//! Puts a repository under load:
//! `load [--work NAME] [--processes N] [--threads N] [--rounds N] [--files N] [--durability full|git] [--in DIR]`.
//!
//! `load each [--work NAME] [--durability full|git]` does the work of the agent `w0` of the repository
//! that it is started in, once for each line on standard input, so that `bench/compare` can measure
//! the library in turn with commands.

use std::process::ExitCode;

use agentic_bench::{Load, LoadWork, put_under_load};

const USAGE: &str = "usage: load [--work own-branches|one-branch|spawns|entries|commits|one-branch-commits|batches|entry-batches|readers] \
    [--processes N] [--threads N] [--rounds N] [--files N] [--durability full|git] [--in DIR]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, rest @ ..] = arguments.as_slice()
        && first == "worker"
    {
        let Some((number, flags)) = rest.split_first() else { return ExitCode::from(2) };
        let (Ok(number), Some(load)) = (number.parse(), Load::parse(flags)) else {
            return ExitCode::from(2);
        };
        agentic_bench::work(&load, number);
        return ExitCode::SUCCESS;
    }
    if let [first, flags @ ..] = arguments.as_slice()
        && first == "each"
    {
        let Some(load) = Load::parse(flags) else { return ExitCode::from(2) };
        return match agentic_bench::work_each(&load, std::io::stdin().lines()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let Some(load) = Load::parse(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let is_named = arguments.iter().any(|flag| flag == "--work");
    let is_wanted = |work: &LoadWork| !is_named || *work == load.work;
    let mut is_good = true;
    for (work, name) in LoadWork::ALL.into_iter().filter(|(work, _)| is_wanted(work)) {
        match put_under_load(&Load { work, ..load.clone() }) {
            Ok(report) => {
                println!(
                    "{name}: {} processes × {} threads, {} done in {:.2} s, {:.0}/s, p50 {:.2} ms, \
                     p99 {:.2} ms, {:.2} ms CPU each, {} errors, {} lost, fsck {}",
                    load.n_processes,
                    load.n_threads,
                    report.n_done,
                    report.seconds,
                    report.n_done as f64 / report.seconds,
                    report.percentile(50),
                    report.percentile(99),
                    report.cpu_seconds * 1000.0 / report.n_done.max(1) as f64,
                    report.n_errors,
                    report.n_lost,
                    if report.fsck.is_empty() { "clean" } else { &report.fsck }
                );
                is_good &= report.n_errors + report.n_lost == 0 && report.fsck.is_empty();
            }
            Err(error) => {
                eprintln!("error: {error}");
                is_good = false;
            }
        }
    }
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
