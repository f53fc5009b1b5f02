//! What an evaluation did: its plan with the rows of each step, and what its source was asked for.

use crate::fact::{FactColumn, FactRequest};
use crate::progress::ExplainedCache;
use crate::value::{QueryType, QueryValue};

/// How many values of a binding are printed.
const VALUES_SHOWN: usize = 3;

/// What an evaluation did, in the order in which it did it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueryExplanation {
    /// Predicates that were computed together, those that others need first.
    pub strata: Vec<ExplainedStratum>,
    /// What was asked of the source.
    pub reads: Vec<ExplainedRead>,
    /// What the caches of the source were good for.
    pub caches: Vec<ExplainedCache>,
    /// How many rows were made, those that other goals dropped later included.
    pub n_rows: u64,
    /// How long everything took, by the watch of the query.
    pub elapsed_ms: u64,
}

/// Predicates that depend on each other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExplainedStratum {
    /// The predicates, as they are asked for, and how many rows each has.
    pub predicates: Vec<(String, usize)>,
    /// In how many rounds they were computed; one without recursion.
    pub n_rounds: usize,
    /// How their rules were done.
    pub rules: Vec<ExplainedRule>,
    /// How long it took.
    pub elapsed_ms: u64,
}

/// How a rule was done. A recursive one stands here once for each goal that begins with new rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExplainedRule {
    /// The rule, as it is written.
    pub rule: String,
    /// What was done, in its order; goals behind one without rows were never reached.
    pub steps: Vec<ExplainedStep>,
    /// How many rows of its head were found, equal ones included.
    pub n_rows: usize,
}

/// One goal of a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExplainedStep {
    /// The goal, as it is written.
    pub goal: String,
    /// Columns by which rows are looked up, with the variable or constant that binds each.
    pub bound_by: Vec<(String, String)>,
    /// How many rows came in, over all rounds.
    pub n_in: usize,
    /// How many rows went out.
    pub n_out: usize,
}

/// What a source was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExplainedRead {
    /// The predicate.
    pub predicate: String,
    /// The columns that were wanted, by name.
    pub columns: Vec<String>,
    /// What was asked, as the source got it.
    pub request: FactRequest,
    /// What the rows were restricted to, as people read it.
    pub restrictions: Vec<String>,
    /// How many rows there were.
    pub n_rows: usize,
    /// How long it took.
    pub elapsed_ms: u64,
}

impl QueryExplanation {
    /// Prints everything, a line each.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (number, stratum) in self.strata.iter().enumerate() {
            let names: Vec<String> =
                stratum.predicates.iter().map(|(name, n)| format!("{name}: {n} rows")).collect();
            let rounds = match stratum.n_rounds {
                0 | 1 => String::new(),
                n => format!(", {n} rounds"),
            };
            let millis = stratum.elapsed_ms;
            lines.push(format!("{}. {}{rounds}, {millis} ms", number + 1, names.join(", ")));
            stratum.rules.iter().for_each(|rule| rule.print(&mut lines));
        }
        let n_facts: usize = self.reads.iter().map(|read| read.n_rows).sum();
        lines.push(format!("facts: {n_facts} rows read"));
        lines.extend(self.reads.iter().map(ExplainedRead::line));
        if !self.caches.is_empty() {
            lines.push("caches:".to_owned());
            lines.extend(self.caches.iter().map(ExplainedCache::line));
        }
        lines.push(format!("{} rows made, {} ms", self.n_rows, self.elapsed_ms));
        lines
    }
}

impl ExplainedRule {
    fn print(&self, lines: &mut Vec<String>) {
        let rule = self.rule.split_whitespace().collect::<Vec<_>>().join(" ");
        lines.push(format!("   {rule}"));
        for step in &self.steps {
            let keys: Vec<String> =
                step.bound_by.iter().map(|(column, by)| format!("{column} by {by}")).collect();
            let by =
                if keys.is_empty() { String::new() } else { format!(" [{}]", keys.join(", ")) };
            let goal = step.goal.split_whitespace().collect::<Vec<_>>().join(" ");
            lines.push(format!("     {goal}{by}: {} → {} rows", step.n_in, step.n_out));
        }
    }
}

impl ExplainedRead {
    fn line(&self) -> String {
        let columns = self.columns.join(", ");
        let restricted = match self.restrictions.as_slice() {
            [] => String::new(),
            all => format!(" where {}", all.join(", ")),
        };
        let (predicate, n_rows, millis) = (&self.predicate, self.n_rows, self.elapsed_ms);
        format!("   {predicate}({columns}){restricted}: {n_rows} rows, {millis} ms")
    }
}

/// Prints what a request restricts, with the names and types of the columns.
pub(crate) fn restrictions(request: &FactRequest, columns: &[FactColumn]) -> Vec<String> {
    let name = |column: usize| columns.get(column).map_or("?", |column| column.name);
    let kind = |column: usize| columns.get(column).map_or(QueryType::Text, |column| column.kind);
    let mut shown = Vec::new();
    for bound in &request.bound {
        let first = bound.values.iter().take(VALUES_SHOWN);
        let values: Vec<String> = first.map(|value| value.to_json(kind(bound.column))).collect();
        let values = values.join(" ");
        let column = name(bound.column);
        shown.push(match bound.values.len() {
            0 | 1 => format!("{column} = {values}"),
            n if n <= VALUES_SHOWN => format!("{column} in {values}"),
            n => format!("{column} in {values} … ({n} values)"),
        });
    }
    for range in &request.ranges {
        let column = name(range.column);
        let value = |number: i64| QueryValue::Int(number).to_json(kind(range.column));
        shown.extend(range.least.map(|least| format!("{column} >= {}", value(least))));
        shown.extend(range.most.map(|most| format!("{column} <= {}", value(most))));
    }
    shown
}
