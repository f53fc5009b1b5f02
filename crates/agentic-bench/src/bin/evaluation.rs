//! Measures the evaluation of queries alone, over facts in memory: `evaluation ROUNDS [DIR]`.
//!
//! Prints a line for each figure: its name, the answer, and milliseconds or bytes, with tabs between
//! them. The facts are written below DIR, so that `bench/query` can ask SQLite the same.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use agentic_bench::{
    COPY_LOOKUPS, ENDLESS_QUESTION, EVALUATION_QUESTIONS, EvaluationBench, EvaluationFacts,
};
use agentic_query::QueryError;
use agentic_testkit::{Error, peak_memory};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rounds = arguments.first().and_then(|rounds| rounds.parse().ok());
    let (Some(rounds @ 1..), Some(..2)) = (rounds, arguments.len().checked_sub(1)) else {
        eprintln!("usage: evaluation ROUNDS [DIR]");
        return ExitCode::from(2);
    };
    match measure(rounds, arguments.get(1).map(Path::new)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(rounds: usize, folder: Option<&Path>) -> Result<(), Error> {
    let facts = EvaluationFacts::make();
    if let Some(folder) = folder {
        facts.write(folder)?;
    }
    let mut bench = EvaluationBench::begin(&facts);
    for (name, question) in EVALUATION_QUESTIONS {
        // The first time makes the indices, which stay.
        let answer = ask(&mut bench, question).0;
        let times = (0..rounds).map(|_| ask(&mut bench, question).1);
        show(name, answer, median(times.collect()));
    }

    // The values of the copy are known, so that what it takes is its rows and their indices.
    let before = bench.bytes();
    let n_rows = bench.keep_copy();
    let mut index_times = Vec::new();
    for question in COPY_LOOKUPS {
        let (_, first) = ask(&mut bench, question);
        let (_, again) = ask(&mut bench, question);
        index_times.push(first.saturating_sub(again));
    }
    let bytes = bench.bytes() - before;
    show("an index of 1,000,000", n_rows, median(index_times));
    println!("bytes a row of four, two indices\t{n_rows}\t{:.1}", bytes as f64 / n_rows as f64);

    let endless = bench.ask(ENDLESS_QUESTION);
    let Err(QueryError::Limit { most, .. }) = endless.answer else {
        let said = format!("{:?}", endless.answer);
        return Err(Error::Command { command: ENDLESS_QUESTION.to_owned(), said });
    };
    show("all pairs, chain of 100,000: its limit", most, endless.taken);
    println!("bytes of memory at most\t{most}\t{}", peak_memory());
    Ok(())
}

fn ask(bench: &mut EvaluationBench<'_>, question: &str) -> (i64, Duration) {
    let asked = bench.ask(question);
    (asked.answer.unwrap_or_else(|error| panic!("{question}: {error}")), asked.taken)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn show(name: &str, answer: impl std::fmt::Display, taken: Duration) {
    println!("{name}\t{answer}\t{:.3}", taken.as_secs_f64() * 1000.0);
}
