//! Runs the conformance suite of a checkout: `cargo run --example run -- BIN [SUITE…]`.

use std::process::ExitCode;

use agentic_conformance::{COMMAND_LIMIT, CaseCompany, SuiteChoice, find_cases, run};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(bin), Some(cases_dir)) = (arguments.next(), find_cases()) else {
        eprintln!("usage: run BIN [SUITE…], inside a checkout");
        return ExitCode::from(2);
    };
    let suites = arguments.collect();
    let options = SuiteChoice {
        bin: bin.into(),
        cases_dir,
        suites,
        command_limit: COMMAND_LIMIT,
        company: CaseCompany::Nobody,
    };
    match run(&options, &|_| {}) {
        Ok(report) => {
            println!("{}{}", report.failures_text(), report.to_json());
            if report.failed() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
