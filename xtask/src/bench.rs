//! `docs/benchmarks.md` from the figures that are checked in.
//!
//! `bench/results.json` holds what was measured, when and how. The page is nothing but that, so that a
//! figure stands in one place.

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::CheckOutcome;
use crate::workspace::{TidyWorkspace, root};

/// The page that is written.
pub const PAGE: &str = "docs/benchmarks.md";
/// How to write it.
pub const PAGE_HOW: &str = "cargo xtask bench";
/// The figures.
const SOURCE: &str = "bench/results.json";

/// Everything that the page says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Results {
    /// What the figures hold for: machine, versions, filesystem, in one line.
    measured_on: String,
    /// What a hurried reader takes away.
    summary: Vec<String>,
    sections: Vec<Section>,
    targets: Vec<BenchTarget>,
    commands: Vec<MeasureCommand>,
    hold_still: Vec<String>,
}

/// One table of figures.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    title: String,
    /// The day of the run.
    date: String,
    /// How it was measured.
    method: Vec<String>,
    /// What the rows are.
    rows_are: String,
    columns: Vec<Column>,
    /// The row that the others are compared with, if a ratio stands beside each figure.
    compared_with: Option<String>,
    rows: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Column {
    name: String,
    decimals: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    figures: Vec<Figure>,
}

/// What stands in a cell.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Figure {
    One(f64),
    /// The least and the most of several runs.
    Between(f64, f64),
    Words(String),
}

/// What was aimed at.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BenchTarget {
    target: String,
    measured: String,
    reached: TargetReach,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TargetReach {
    Yes,
    Partly,
    No,
}

/// A command that measures.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MeasureCommand {
    command: String,
    measures: String,
}

/// Writes the page.
pub fn write() -> Result<CheckOutcome> {
    let results = fs::read_to_string(root().join(SOURCE))
        .with_context(|| format!("cannot read `{SOURCE}`"))?;
    let page = page(&results)?;
    fs::write(root().join(PAGE), &page).with_context(|| format!("cannot write `{PAGE}`"))?;
    println!("{PAGE}: {} lines", page.lines().count());
    Ok(CheckOutcome::Good)
}

/// Makes the page from the figures of a workspace; nothing where it has none.
pub fn page_of(workspace: &TidyWorkspace) -> Option<Result<String>> {
    workspace.files.get(SOURCE).map(|results| page(results))
}

/// Makes the page.
fn page(results: &str) -> Result<String> {
    let results: Results =
        serde_json::from_str(results).with_context(|| format!("cannot read `{SOURCE}`"))?;
    let mut out = String::from("# Benchmarks\n\n");
    let mut head = vec![results.measured_on];
    head.extend(results.summary);
    lines(&mut out, &head);
    for section in &results.sections {
        out.push_str(&section.shown()?);
    }
    out.push_str("## Targets\n\n");
    let targets = results.targets.iter().map(|it| vec![&*it.target, &*it.measured, it.word()]);
    table(&mut out, &["target", "measured", "reached"], 0, targets);
    out.push_str("## How to measure\n\n");
    let commands: Vec<[String; 2]> =
        results.commands.into_iter().map(|it| [format!("`{}`", it.command), it.measures]).collect();
    let commands = commands.iter().map(|row| row.iter().map(String::as_str).collect());
    table(&mut out, &["command", "measures"], 0, commands);
    lines(&mut out, &results.hold_still);
    Ok(out.trim_end().to_owned() + "\n")
}

impl Section {
    fn shown(&self) -> Result<String> {
        let base = self.base()?;
        let mut head = vec![self.rows_are.as_str()];
        for column in &self.columns {
            head.push(&column.name);
            if base.is_some() {
                head.push("ratio");
            }
        }
        let mut rows = Vec::new();
        for row in &self.rows {
            let fits = row.figures.len() == self.columns.len();
            anyhow::ensure!(fits, "`{}` has a figure for each column", row.name);
            let mut cells = vec![row.name.clone()];
            for (at, (figure, column)) in row.figures.iter().zip(&self.columns).enumerate() {
                cells.push(figure.shown(column.decimals));
                if let Some(base) = base {
                    cells.push(ratio(figure, &base.figures[at]));
                }
            }
            rows.push(cells);
        }
        let mut out = format!("## {} ({})\n\n", self.title, self.date);
        lines(&mut out, &self.method);
        let rows = rows.iter().map(|cells| cells.iter().map(String::as_str).collect());
        table(&mut out, &head, head.len() - 1, rows);
        Ok(out)
    }

    fn base(&self) -> Result<Option<&Row>> {
        let Some(name) = &self.compared_with else { return Ok(None) };
        let row = self.rows.iter().find(|row| row.name == *name);
        row.with_context(|| format!("no row is called `{name}`")).map(Some)
    }
}

impl BenchTarget {
    fn word(&self) -> &'static str {
        match self.reached {
            TargetReach::Yes => "yes",
            TargetReach::Partly => "partly",
            TargetReach::No => "**no**",
        }
    }
}

impl Figure {
    fn shown(&self, decimals: usize) -> String {
        match self {
            Figure::One(number) => grouped(*number, decimals),
            Figure::Between(least, most) => {
                format!("{}–{}", grouped(*least, decimals), grouped(*most, decimals))
            }
            Figure::Words(words) => words.clone(),
        }
    }
}

fn ratio(figure: &Figure, base: &Figure) -> String {
    match (figure, base) {
        (Figure::One(number), Figure::One(base)) => format!("{:.2}", number / base),
        (Figure::One(_) | Figure::Between(..) | Figure::Words(_), _) => String::new(),
    }
}

/// Prints a number with commas between thousands.
fn grouped(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut out = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + fraction
}

/// Appends sentences, each on a line of its own, as one paragraph.
fn lines(out: &mut String, sentences: &[String]) {
    for sentence in sentences {
        writeln!(out, "{sentence}").expect("writing to a string never fails");
    }
    out.push('\n');
}

/// Appends a table whose last columns are numbers.
fn table<'a>(
    out: &mut String,
    head: &[&str],
    numbers: usize,
    rows: impl Iterator<Item = Vec<&'a str>>,
) {
    let row = |cells: &[&str]| format!("| {} |\n", cells.join(" | "));
    out.push_str(&row(head));
    let rule = (0..head.len()).map(|at| if at + numbers < head.len() { "---" } else { "---:" });
    out.push_str(&row(&rule.collect::<Vec<&str>>()));
    for cells in rows {
        out.push_str(&row(&cells));
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_printed_beside_their_ratio() {
        let results = r#"{
            "measured_on": "A machine.", "summary": ["It is fast."],
            "sections": [{
                "title": "Commands", "date": "2026-11-22", "method": ["Medians."], "rows_are": "work",
                "columns": [{ "name": "ms", "decimals": 2 }], "compared_with": "git",
                "rows": [
                    { "name": "git", "figures": [8.4] }, { "name": "ours", "figures": [2.1] },
                    { "name": "many", "figures": [[1757, 2157]] }
                ]
            }],
            "targets": [{ "target": "ours ≤ git", "measured": "0.25", "reached": "yes" }],
            "commands": [{ "command": "bench/compare", "measures": "commands" }],
            "hold_still": ["The filesystem decides."]
        }"#;
        let page = page(results).expect("the results are complete");
        for line in [
            "## Commands (2026-11-22)\n\nMedians.\n",
            "| work | ms | ratio |\n| --- | ---: | ---: |\n| git | 8.40 | 1.00 |\n| ours | 2.10 | 0.25 |\n",
            "| many | 1,757.00–2,157.00 |  |\n",
            "| ours ≤ git | 0.25 | yes |\n",
            "| `bench/compare` | commands |\n",
        ] {
            assert!(page.contains(line), "{page}");
        }
    }

    #[test]
    fn thousands_are_told_apart() {
        assert_eq!(grouped(1_234_567.5, 1), "1,234,567.5");
        assert_eq!(grouped(999.0, 0), "999");
    }
}
