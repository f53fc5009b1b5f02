//! Measures what verbs cost in a repository with very many agents:
//! `scale make DIR [AGENTS OPEN ENTRIES [COMMITS [WORDS [SECONDS-APART]]]]`, then `scale compare BIN SMALL LARGE [ROUNDS]`.
//! `scale count BIN DIR` prints the instructions of each, for `bench/instructions`.

use std::path::Path;
use std::process::ExitCode;

use agentic_bench::{Scale, make};
use agentic_testkit::{CostBench, Error, MeasuredCommand, has_valgrind};

const USAGE: &str = "usage: scale make DIR [AGENTS OPEN ENTRIES-EACH [COMMITS-EACH [WORDS-EACH [SECONDS-APART]]]]\n       \
    scale compare BIN SMALL LARGE [ROUNDS]\n       \
    scale count BIN DIR";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["make", folder] => make_one(folder, ["100000", "1000", "10", "1", "0", "0"]),
        ["make", folder, agents, open, entries] => {
            make_one(folder, [agents, open, entries, "1", "0", "0"])
        }
        ["make", folder, agents, open, entries, commits] => {
            make_one(folder, [agents, open, entries, commits, "0", "0"])
        }
        ["make", folder, agents, open, entries, commits, words] => {
            make_one(folder, [agents, open, entries, commits, words, "0"])
        }
        ["make", folder, agents, open, entries, commits, words, apart] => {
            make_one(folder, [agents, open, entries, commits, words, apart])
        }
        ["compare", binary, small, large] => compare(binary, small, large, "40"),
        ["compare", binary, small, large, rounds] => compare(binary, small, large, rounds),
        ["count", binary, folder] => count(binary, folder),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn make_one(folder: &str, numbers: [&str; 6]) -> Result<(), Error> {
    let numbers = numbers.map(|text| text.parse().unwrap_or(10));
    let [n_agents, n_open, n_entries_each, n_commits_each, n_words_each, n_seconds_apart] = numbers;
    let scale =
        Scale { n_agents, n_open, n_entries_each, n_words_each, n_commits_each, n_seconds_apart };
    let made = make(Path::new(folder), scale)?;
    println!(
        "{n_agents} agents with {} entries in {:.1} s; {} of them archived in {:.1} s",
        n_agents * n_entries_each,
        made.agents,
        n_agents.saturating_sub(n_open),
        made.archive
    );
    Ok(())
}

/// Runs every command in both repositories in turn.
fn compare(binary: &str, small: &str, large: &str, rounds: &str) -> Result<(), Error> {
    let rounds: usize = rounds.parse().unwrap_or(40);
    let mut benches = [
        CostBench::new(binary.as_ref(), small.as_ref())?,
        CostBench::new(binary.as_ref(), large.as_ref())?,
    ];
    println!("{:<14} {:>10} {:>10} {:>7} {:>7}", "", "small", "large", "ratio", "instr.");
    for (hot, name) in MeasuredCommand::ALL {
        let mut seconds = [0.0, 0.0];
        for round in 0..rounds {
            for side in [round % 2, 1 - round % 2] {
                seconds[side] += benches[side].processor_seconds(hot)?;
            }
        }
        let [small, large] = seconds.map(|sum| sum * 1000.0 / rounds as f64);
        let counted = match has_valgrind() {
            true => {
                let counts = [benches[0].instructions(hot)?, benches[1].instructions(hot)?];
                format!("{:>7.2}", counts[1] as f64 / counts[0] as f64)
            }
            false => "no valgrind".to_owned(),
        };
        println!("{name:<14} {small:>7.2} ms {large:>7.2} ms {:>7.2} {counted}", large / small);
    }
    Ok(())
}

/// Runs every command once under valgrind.
fn count(binary: &str, folder: &str) -> Result<(), Error> {
    let mut bench = CostBench::new(binary.as_ref(), folder.as_ref())?;
    for (hot, name) in MeasuredCommand::ALL {
        println!("{name} {}", bench.instructions(hot)?);
    }
    Ok(())
}
