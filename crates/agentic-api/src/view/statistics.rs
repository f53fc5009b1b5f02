//! What was done, how long people were waited for and what came of it, as JSON.

use schemars::JsonSchema;
use serde::Serialize;

/// Statistics of a span of time.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StatisticsView {
    /// From when on.
    pub from: String,
    /// Until when, that instant left out.
    pub to: String,
    /// `day` or `week`; weeks begin on Monday, both in UTC.
    pub by: String,
    /// The agent that this is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Commits of agents that are open here, by when they were committed.
    pub commits: Vec<CommitCountView>,
    /// Holds that were decided, by when that was.
    pub waits: Vec<WaitView>,
    /// Sessions that were started, by the program that they run.
    pub outcomes: Vec<OutcomeView>,
    /// What could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// How many commits of a kind there are in a day or a week.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CommitCountView {
    /// The first day of it.
    pub bucket: String,
    /// The kind.
    pub kind: String,
    /// How many.
    pub count: usize,
}

/// How long decisions of a day or a week were waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WaitView {
    /// The first day of it.
    pub bucket: String,
    /// How many holds were decided.
    pub count: usize,
    /// Half of them took no longer, in milliseconds.
    pub p50_ms: i64,
    /// Nine of ten took no longer, in milliseconds.
    pub p90_ms: i64,
    /// How many took how long.
    pub histogram: Vec<WaitBucketView>,
}

/// How many took less than so long, and not less than half of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WaitBucketView {
    /// So long, in milliseconds.
    pub below_ms: i64,
    /// How many.
    pub count: usize,
}

/// What came of the sessions that run a program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OutcomeView {
    /// The program.
    pub behaviour: String,
    /// What it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How many are done.
    pub done: usize,
    /// How many failed.
    pub failed: usize,
    /// How many were cancelled.
    pub cancelled: usize,
    /// How many wait for a person now.
    pub held: usize,
    /// How many are under way otherwise.
    pub open: usize,
    /// How many commits say that one of these sessions made them.
    pub commits: usize,
}

/// One table of statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatisticsTable {
    /// Commits.
    Commits,
    /// Waits.
    Waits,
    /// Outcomes.
    Outcomes,
}

impl StatisticsTable {
    /// Finds the table of a name.
    pub fn parse(name: &str) -> Option<StatisticsTable> {
        match name {
            "commits" => Some(StatisticsTable::Commits),
            "waits" => Some(StatisticsTable::Waits),
            "outcomes" => Some(StatisticsTable::Outcomes),
            _ => None,
        }
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            StatisticsTable::Commits => "commits",
            StatisticsTable::Waits => "waits",
            StatisticsTable::Outcomes => "outcomes",
        }
    }
}

impl StatisticsView {
    /// Writes a table for spreadsheets: no cell is a formula there.
    pub fn csv(&self, table: StatisticsTable) -> String {
        let mut rows: Vec<Vec<String>> = Vec::new();
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        match table {
            StatisticsTable::Commits => {
                rows.push(words(&["bucket", "kind", "count"]));
                rows.extend(
                    self.commits.iter().map(|one| {
                        vec![one.bucket.clone(), one.kind.clone(), one.count.to_string()]
                    }),
                );
            }
            StatisticsTable::Waits => {
                rows.push(words(&["bucket", "count", "p50_ms", "p90_ms"]));
                rows.extend(self.waits.iter().map(|one| {
                    let (p50, p90) = (one.p50_ms.to_string(), one.p90_ms.to_string());
                    vec![one.bucket.clone(), one.count.to_string(), p50, p90]
                }));
            }
            StatisticsTable::Outcomes => {
                rows.push(words(&[
                    "behaviour",
                    "name",
                    "done",
                    "failed",
                    "cancelled",
                    "held",
                    "open",
                    "commits",
                ]));
                rows.extend(self.outcomes.iter().map(|one| {
                    let mut row = vec![one.behaviour.clone(), one.name.clone().unwrap_or_default()];
                    let counts =
                        [one.done, one.failed, one.cancelled, one.held, one.open, one.commits];
                    row.extend(counts.map(|count| count.to_string()));
                    row
                }));
            }
        }
        rows.iter().map(|row| csv_line(row)).collect()
    }
}

pub(super) fn csv_line(cells: &[String]) -> String {
    let cell = |text: &String| {
        // What begins so, spreadsheets compute.
        let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
        let text = if is_formula { format!("'{text}") } else { text.clone() };
        match text.contains([',', '"', '\n', '\r', '\'']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text,
        }
    };
    cells.iter().map(cell).collect::<Vec<_>>().join(",") + "\r\n"
}

#[cfg(test)]
mod tests {
    use super::csv_line;

    #[test]
    fn no_cell_is_a_formula() {
        let cells = ["plain", "=1+1", "a,b", "say \"x\"", "@sum", "-2"].map(str::to_owned);
        let line = csv_line(&cells);
        assert_eq!(line, "plain,\"'=1+1\",\"a,b\",\"say \"\"x\"\"\",\"'@sum\",\"'-2\"\r\n");
    }
}
