//! Puts a repository under load:
//! `load [--work NAME] [--processes N] [--threads N] [--rounds N] [--files N] [--durability full|git] [--in DIR]`.

use std::process::ExitCode;

use agentic_space::Durability;
use agentic_testkit::{Load, Part, Work, put_under_load};

const USAGE: &str = "usage: load [--work own-branches|one-branch|spawns|entries|commits|batches|entry-batches|readers] \
    [--processes N] [--threads N] [--rounds N] [--files N] [--durability full|git] [--in DIR]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, rest @ ..] = arguments.as_slice()
        && first == "worker"
    {
        let Some(part) = part(rest) else { return ExitCode::from(2) };
        agentic_testkit::work(part);
        return ExitCode::SUCCESS;
    }
    let Some((works, load)) = parse(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let mut is_good = true;
    for (work, name) in Work::ALL.into_iter().filter(|(work, _)| works.contains(work)) {
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

/// Reads what one worker process is to do.
fn part(arguments: &[String]) -> Option<Part> {
    let [work, number, rounds, durability, threads] = arguments else { return None };
    Some(Part {
        work: Work::parse(work)?,
        number: number.parse().ok()?,
        n_rounds: rounds.parse().ok()?,
        durability: durability_of(durability),
        n_threads: threads.parse().ok()?,
    })
}

fn parse(arguments: &[String]) -> Option<(Vec<Work>, Load)> {
    let mut works: Vec<Work> = Work::ALL.iter().map(|(work, _)| *work).collect();
    let mut load = Load {
        work: Work::OwnBranches,
        n_processes: 16,
        n_threads: 1,
        n_rounds: 50,
        n_files: 10,
        durability: Durability::Full,
        place: None,
    };
    for pair in arguments.chunks(2) {
        let [flag, value] = pair else { return None };
        match flag.as_str() {
            "--work" => works = vec![Work::parse(value)?],
            "--processes" => load.n_processes = value.parse().ok()?,
            "--threads" => load.n_threads = value.parse().ok()?,
            "--rounds" => load.n_rounds = value.parse().ok()?,
            "--files" => load.n_files = value.parse().ok()?,
            "--durability" => load.durability = durability_of(value),
            "--in" => load.place = Some(value.into()),
            _ => return None,
        }
    }
    Some((works, load))
}

fn durability_of(text: &str) -> Durability {
    match text {
        "git" => Durability::Git,
        _ => Durability::Full,
    }
}
