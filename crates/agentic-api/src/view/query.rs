//! Answers of queries as JSON.

use agentic_query::{AnswerSet, FactPredicate, QueryReasons, QueryReport, QueryType, QueryValue};
use schemars::JsonSchema;
use serde::Serialize;

/// What a query gives.
#[derive(Debug, Serialize, JsonSchema)]
pub struct QueryView {
    /// The answer of each query of the text.
    pub answers: Vec<AnswerView>,
    /// Why rows are answers, as lines that people read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<String>,
    /// What was left out, and why.
    pub notes: Vec<String>,
    /// How many facts were read.
    pub facts: usize,
}

/// The answer of one query.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AnswerView {
    /// The columns.
    pub columns: Vec<AnswerColumnView>,
    /// The rows, in their order, each with a value for each column.
    pub rows: Vec<Vec<serde_json::Value>>,
    /// How many rows there are without limit and offset.
    pub total: usize,
}

/// A column of an answer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AnswerColumnView {
    /// The variable.
    pub name: String,
    /// The type of its values.
    #[serde(rename = "type")]
    pub kind: String,
}

/// What can be asked for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PredicateView {
    /// The name of the predicate.
    pub name: String,
    /// What a row says.
    pub meaning: String,
    /// What its rows are read from.
    pub origin: String,
    /// The columns, in order.
    pub columns: Vec<PredicateColumnView>,
}

/// A column of a predicate.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PredicateColumnView {
    /// Its name.
    pub name: String,
    /// The type of its values.
    #[serde(rename = "type")]
    pub kind: String,
    /// What they say.
    pub meaning: String,
}

impl PredicateView {
    /// Tells what it is in two lines.
    pub fn line(&self) -> String {
        let columns: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        format!("{}({})\n  {}\n", self.name, columns.join(", "), self.meaning)
    }

    /// Tells all about it.
    pub fn whole(&self) -> String {
        let width = self.columns.iter().map(|column| column.name.len()).max().unwrap_or(0);
        let columns = self.columns.iter().map(|column| {
            format!("  {:width$}  {:8}  {}\n", column.name, column.kind, column.meaning)
        });
        let from = format!("From {}.\n", self.origin);
        format!("{}{}{from}", self.line(), columns.collect::<String>())
    }
}

impl From<&FactPredicate> for PredicateView {
    fn from(predicate: &FactPredicate) -> PredicateView {
        let columns = predicate.columns.iter().map(|column| PredicateColumnView {
            name: column.name.to_owned(),
            kind: column.kind.name().to_owned(),
            meaning: column.meaning.to_owned(),
        });
        PredicateView {
            name: predicate.name.to_owned(),
            meaning: predicate.meaning.to_owned(),
            origin: predicate.origin.to_owned(),
            columns: columns.collect(),
        }
    }
}

impl QueryView {
    /// Shows a report.
    pub fn new(report: &QueryReport) -> QueryView {
        QueryView {
            answers: report.answers.iter().map(AnswerView::new).collect(),
            why: report.reasons.iter().flat_map(QueryReasons::lines).collect(),
            notes: report.notes.clone(),
            facts: report.n_facts,
        }
    }
}

impl AnswerView {
    fn new(answer: &AnswerSet) -> AnswerView {
        let column = |(name, kind): &(String, QueryType)| AnswerColumnView {
            name: name.clone(),
            kind: kind.name().to_owned(),
        };
        let row = |row: &Vec<QueryValue>| {
            let cells = row.iter().zip(&answer.columns);
            cells.map(|(value, (_, kind))| json(value, *kind)).collect()
        };
        AnswerView {
            columns: answer.columns.iter().map(column).collect(),
            rows: answer.rows.iter().map(row).collect(),
            total: answer.n_rows,
        }
    }
}

fn json(value: &QueryValue, kind: QueryType) -> serde_json::Value {
    serde_json::from_str(&value.to_json(kind)).expect("BUG: values print as JSON")
}
