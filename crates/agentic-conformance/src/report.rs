//! What became of the suites.

use serde_json::{Value as Json, json};

use crate::play::{CaseDriver, CaseVerdict};
use crate::suite::Suite;

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunReport {
    /// Every suite that was run, by name.
    pub suites: Vec<SuiteReport>,
}

/// The result of one suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteReport {
    /// The name of the suite.
    pub name: String,
    /// How many cases passed.
    pub passed: usize,
    /// How many cases failed, those included that could not run.
    pub failed: usize,
    /// What went wrong, in the order of the files.
    pub failures: Vec<CaseFailure>,
    /// Of those that passed, how many had something that a server drove.
    pub n_driven: usize,
    /// What was not played, since it needs something that is not there.
    pub apart: Vec<ApartCase>,
}

/// A case that was not played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApartCase {
    /// Where the case stands: suite, file and line.
    pub place: String,
    /// The behaviour.
    pub title: String,
    /// Why it is not played there.
    pub reason: String,
}

/// A case that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseFailure {
    /// Where the case stands: suite, file and line.
    pub place: String,
    /// The behaviour that was not found.
    pub title: String,
    /// The command, what was expected and what was found; several lines.
    pub text: String,
}

impl RunReport {
    /// Puts verdicts, in the order of the cases, back to their suites.
    pub(crate) fn collect(
        suites: &[Suite],
        mut verdicts: impl Iterator<Item = CaseVerdict>,
    ) -> RunReport {
        let report_of = |suite: &Suite| {
            let mut report = SuiteReport {
                name: suite.name.clone(),
                passed: 0,
                failed: 0,
                failures: Vec::new(),
                n_driven: 0,
                apart: Vec::new(),
            };
            for item in &suite.items {
                let (place, title) = (item.place(), item.title().to_owned());
                match verdicts.next().expect("there is a verdict on every case") {
                    CaseVerdict::Passed { by } => {
                        report.passed += 1;
                        report.n_driven += usize::from(by == CaseDriver::Server);
                    }
                    CaseVerdict::Failed(text) => {
                        report.failed += 1;
                        report.failures.push(CaseFailure { place, title, text });
                    }
                    CaseVerdict::Apart(reason) => {
                        report.apart.push(ApartCase { place, title, reason });
                    }
                }
            }
            report
        };
        RunReport { suites: suites.iter().map(report_of).collect() }
    }

    /// Counts the cases that passed.
    pub fn passed(&self) -> usize {
        self.suites.iter().map(|suite| suite.passed).sum()
    }

    /// Counts the cases that failed.
    pub fn failed(&self) -> usize {
        self.suites.iter().map(|suite| suite.failed).sum()
    }

    /// Returns the counts as JSON: `{"suites":[{"name","passed","failed"}…]}`.
    pub fn to_json(&self) -> Json {
        let suites: Vec<Json> = self
            .suites
            .iter()
            .map(
                |suite| json!({"name": suite.name, "passed": suite.passed, "failed": suite.failed}),
            )
            .collect();
        json!({ "suites": suites })
    }

    /// Shows every failure in full; nothing when all cases passed.
    pub fn failures_text(&self) -> String {
        let failures = self.suites.iter().flat_map(|suite| &suite.failures);
        failures
            .map(|failure| {
                let indented: String =
                    failure.text.lines().map(|line| format!("  {line}\n")).collect();
                format!("{}: {}\n{indented}\n", failure.place, failure.title)
            })
            .collect()
    }
}
