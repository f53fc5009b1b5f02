//! The scoreboard: what was counted last, for people and for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};

use crate::report::RunReport;
use crate::{Error, SuiteReport};

/// For people.
const MARKDOWN: &str = "scoreboard.md";
/// For programs.
const JSON: &str = "scoreboard.json";

/// Counts of suites. Counts only, so that equal results are equal files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scoreboard {
    suites: Vec<SuiteCounts>,
    served: Option<ServedCounts>,
}

/// Counts of one suite.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SuiteCounts {
    name: String,
    passed: u64,
    failed: u64,
}

/// Counts of the suites that were played with a server.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ServedCounts {
    suites: Vec<ServedSuite>,
    /// How many cases are of the embedded engine alone, by reason.
    reasons: BTreeMap<String, u64>,
}

/// Counts of one suite that was played with a server.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ServedSuite {
    counts: SuiteCounts,
    /// In how many that passed the server drove something.
    driven: u64,
    /// How many are of the embedded engine alone.
    apart: u64,
}

impl Scoreboard {
    /// Reads the one in a folder; one without counts where there is none.
    ///
    /// # Errors
    /// Fails when it cannot be read.
    pub fn load(folder: &Path) -> Result<Scoreboard, Error> {
        let path = folder.join(JSON);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Scoreboard::default());
            }
            read => read.map_err(Error::file(format!("read `{}`", path.display())))?,
        };
        let read = serde_json::from_str(&text).ok().and_then(|said| Scoreboard::read(&said));
        read.ok_or_else(|| Error::NoScoreboard { path: path.display().to_string() })
    }

    /// Replaces the counts of all suites by those of a run of all.
    #[must_use]
    pub fn with(self, report: &RunReport) -> Scoreboard {
        Scoreboard { suites: report.suites.iter().map(SuiteCounts::of).collect(), ..self }
    }

    /// Replaces the counts with a server by those of a run with one.
    #[must_use]
    pub fn with_served(self, report: &RunReport) -> Scoreboard {
        Scoreboard { served: Some(ServedCounts::of(report)), ..self }
    }

    /// Returns the files that say it: their names and texts.
    pub fn files(&self) -> BTreeMap<String, String> {
        [(MARKDOWN, self.markdown()), (JSON, format!("{:#}\n", self.to_json()))]
            .map(|(name, text)| (name.to_owned(), text))
            .into()
    }

    /// Writes its files into a folder.
    ///
    /// # Errors
    /// Fails when a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        for (name, text) in self.files() {
            let path = folder.join(name);
            fs::write(&path, text).map_err(Error::file(format!("write `{}`", path.display())))?;
        }
        Ok(())
    }

    fn markdown(&self) -> String {
        let mut text = String::from(
            "# Scoreboard\n\nCases of the conformance suite, counted by `agentic conformance run`.\n\n\
             | suite | passed | failed |\n| --- | ---: | ---: |\n",
        );
        let rows = self.suites.iter().map(|it| (it.name.as_str(), [it.passed, it.failed]));
        rows_and_sum(&mut text, rows);
        if let Some(served) = &self.served {
            text.push_str(&served.markdown());
        }
        text
    }

    /// Returns it as JSON: the counts of suites, and below `temporal` those with a server.
    pub fn to_json(&self) -> Json {
        let suites: Vec<Json> = self.suites.iter().map(SuiteCounts::to_json).collect();
        let mut json = json!({ "suites": suites });
        if let Some(served) = &self.served {
            json["temporal"] = served.to_json();
        }
        json
    }

    fn read(said: &Json) -> Option<Scoreboard> {
        let suites = said["suites"].as_array()?.iter().map(SuiteCounts::read);
        let served = said.get("temporal").map(|served| ServedCounts::read(served).ok_or(()));
        Some(Scoreboard {
            suites: suites.collect::<Option<_>>()?,
            served: served.transpose().ok()?,
        })
    }
}

impl SuiteCounts {
    fn of(report: &SuiteReport) -> SuiteCounts {
        let name = report.name.clone();
        SuiteCounts { name, passed: report.passed as u64, failed: report.failed as u64 }
    }

    fn to_json(&self) -> Json {
        json!({ "name": self.name, "passed": self.passed, "failed": self.failed })
    }

    fn read(said: &Json) -> Option<SuiteCounts> {
        Some(SuiteCounts {
            name: said["name"].as_str()?.to_owned(),
            passed: said["passed"].as_u64()?,
            failed: said["failed"].as_u64()?,
        })
    }
}

impl ServedCounts {
    fn of(report: &RunReport) -> ServedCounts {
        let counts = |suite: &SuiteReport| ServedSuite {
            counts: SuiteCounts::of(suite),
            driven: suite.n_driven as u64,
            apart: suite.apart.len() as u64,
        };
        let mut reasons = BTreeMap::new();
        for case in report.suites.iter().flat_map(|suite| &suite.apart) {
            *reasons.entry(case.reason.clone()).or_insert(0) += 1;
        }
        ServedCounts { suites: report.suites.iter().map(counts).collect(), reasons }
    }

    fn read(said: &Json) -> Option<ServedCounts> {
        let counts = |suite: &Json| {
            Some(ServedSuite {
                counts: SuiteCounts::read(suite)?,
                driven: suite["driven"].as_u64()?,
                apart: suite["embedded_alone"].as_u64()?,
            })
        };
        let suites = said["suites"].as_array()?.iter().map(counts).collect::<Option<_>>()?;
        let number = |(reason, n): (&String, &Json)| Some((reason.clone(), n.as_u64()?));
        let reasons = said["reasons"].as_object()?.iter().map(number).collect::<Option<_>>()?;
        Some(ServedCounts { suites, reasons })
    }

    fn to_json(&self) -> Json {
        let suite = |suite: &ServedSuite| {
            let mut json = suite.counts.to_json();
            json["driven"] = suite.driven.into();
            json["embedded_alone"] = suite.apart.into();
            json
        };
        let suites: Vec<Json> = self.suites.iter().map(suite).collect();
        json!({ "suites": suites, "reasons": self.reasons })
    }

    fn markdown(&self) -> String {
        let mut text = String::from(
            "\n## With a server of Temporal\n\n\
             The same cases where a server drives what runs, counted by \
             `agentic conformance run --engine temporal`.\n\
             Where it drove nothing, the case runs in memory or runs nothing.\n\n\
             | suite | passed | failed | driven by it | of the embedded engine alone |\n\
             | --- | ---: | ---: | ---: | ---: |\n",
        );
        let rows = self.suites.iter().map(|ServedSuite { counts, driven, apart }| {
            (counts.name.as_str(), [counts.passed, counts.failed, *driven, *apart])
        });
        rows_and_sum(&mut text, rows);
        if !self.reasons.is_empty() {
            text.push_str("\n| of the embedded engine alone, since | cases |\n| --- | ---: |\n");
            for (reason, n) in &self.reasons {
                writeln!(text, "| {reason} | {n} |").expect("writing to a string never fails");
            }
        }
        text
    }
}

/// Appends rows of counts, and their sums as a last one.
fn rows_and_sum<'n, const N: usize>(
    text: &mut String,
    rows: impl Iterator<Item = (&'n str, [u64; N])>,
) {
    let mut row = |name: &str, counts: [u64; N]| {
        let counts = counts.map(|count| count.to_string()).join(" | ");
        writeln!(text, "| {name} | {counts} |").expect("writing to a string never fails");
    };
    let mut all = [0; N];
    for (name, counts) in rows {
        row(name, counts);
        all.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    row("**all**", all);
}
