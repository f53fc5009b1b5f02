//! What became of the suites.

use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};

use crate::Error;
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
    /// Puts results, in the order of the cases, back to their suites.
    pub(crate) fn collect(
        suites: &[Suite],
        mut results: impl Iterator<Item = Option<String>>,
    ) -> RunReport {
        let report_of = |suite: &Suite| {
            let mut failures = Vec::new();
            for item in &suite.items {
                if let Some(text) = results.next().expect("there is a result for every case") {
                    failures.push(CaseFailure {
                        place: item.place(),
                        title: item.title().to_owned(),
                        text,
                    });
                }
            }
            SuiteReport {
                name: suite.name.clone(),
                passed: suite.items.len() - failures.len(),
                failed: failures.len(),
                failures,
            }
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

    /// Returns the scoreboard for people. Counts only, so that equal results are equal files.
    pub fn scoreboard_markdown(&self) -> String {
        let mut text = String::from(
            "# Scoreboard\n\nCases of the conformance suite, counted by `agentic conformance run`.\n\n\
             | suite | passed | failed |\n| --- | ---: | ---: |\n",
        );
        for suite in &self.suites {
            text.push_str(&format!("| {} | {} | {} |\n", suite.name, suite.passed, suite.failed));
        }
        text.push_str(&format!("| **all** | {} | {} |\n", self.passed(), self.failed()));
        text
    }

    /// Returns the scoreboard for programs: the JSON form with a line break.
    pub fn scoreboard_json(&self) -> String {
        format!("{:#}\n", self.to_json())
    }

    /// Writes `scoreboard.md` and `scoreboard.json` into a folder. Meant for runs of all suites: a
    /// scoreboard with a part of them would hide the others.
    ///
    /// # Errors
    /// Fails when a file cannot be written.
    pub fn write_scoreboard(&self, folder: &Path) -> Result<(), Error> {
        for (name, text) in [
            ("scoreboard.md", self.scoreboard_markdown()),
            ("scoreboard.json", self.scoreboard_json()),
        ] {
            let path = folder.join(name);
            fs::write(&path, text).map_err(Error::file(format!("write `{}`", path.display())))?;
        }
        Ok(())
    }
}
