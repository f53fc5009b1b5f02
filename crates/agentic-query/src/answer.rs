//! Answers: sets of rows, in an order that no number inside the evaluation reaches.

use crate::ast::OrderDirection;
use crate::evaluate::Evaluation;
use crate::pool::ValuePool;
use crate::rule::CheckedQuery;
use crate::table::{FactTable, sorted_permutation};
use crate::value::{QueryType, QueryValue};

/// The answer of one query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerSet {
    /// Names and types of the columns.
    pub columns: Vec<(String, QueryType)>,
    /// The rows, in their order.
    pub rows: Vec<Vec<QueryValue>>,
    /// How many rows there are without limit and offset.
    pub n_rows: usize,
}

impl AnswerSet {
    /// Prints the rows as an array of objects, each on a line of its own.
    pub fn to_json(&self) -> String {
        let mut out = String::from("[");
        for (n, row) in self.rows.iter().enumerate() {
            out.push_str(if n == 0 { "\n{" } else { ",\n{" });
            for (at, ((name, kind), value)) in self.columns.iter().zip(row).enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&QueryValue::text(name).to_json(QueryType::Text));
                out.push(':');
                out.push_str(&value.to_json(*kind));
            }
            out.push('}');
        }
        out.push_str(if self.rows.is_empty() { "]" } else { "\n]" });
        out
    }
}

/// Puts the rows of a query in order and decodes those that are shown.
pub(crate) fn answer(evaluation: &Evaluation<'_>, query: &CheckedQuery) -> AnswerSet {
    let table = evaluation.table(query.predicate);
    let kinds = &evaluation.set.predicates[query.predicate].kinds;
    let columns = query.columns.iter().zip(kinds);
    let columns = columns.map(|(name, kind)| (name.clone(), kind.unwrap_or(QueryType::Text)));
    let order = ordered(evaluation.pool, table, query);
    let offset = usize::try_from(query.offset).unwrap_or(usize::MAX);
    let limit = query.limit.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX));
    let shown = order.iter().skip(offset).take(limit);
    let decode = |row: &u32| {
        (0..table.width()).map(|c| evaluation.pool.value(table.cell(*row, c))).collect()
    };
    AnswerSet { columns: columns.collect(), rows: shown.map(decode).collect(), n_rows: table.len() }
}

/// Sorts the rows by the keys of the query, then column by column.
fn ordered(pool: &ValuePool, table: &FactTable, query: &CheckedQuery) -> Vec<u32> {
    let ranked: Vec<Vec<u32>> = (0..table.width()).map(|c| ranks(pool, table.column(c))).collect();
    let keys: Vec<Vec<u32>> = query
        .order
        .iter()
        .map(|(column, direction)| match direction {
            OrderDirection::Ascending => ranked[*column].clone(),
            OrderDirection::Descending => ranked[*column].iter().map(|rank| !rank).collect(),
        })
        .collect();
    let columns: Vec<&[u32]> = keys.iter().chain(&ranked).map(Vec::as_slice).collect();
    sorted_permutation(&columns, table.len())
}

/// Replaces each number by the place of its value among all values of the column.
fn ranks(pool: &ValuePool, column: &[u32]) -> Vec<u32> {
    let mut distinct = column.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let mut by_value: Vec<u32> = (0..distinct.len() as u32).collect();
    by_value.sort_by_cached_key(|at| pool.value(distinct[*at as usize]));
    let mut rank = vec![0; distinct.len()];
    for (place, at) in by_value.iter().enumerate() {
        rank[*at as usize] = place as u32;
    }
    let find = |word: &u32| distinct.partition_point(|other| other < word);
    column.iter().map(|word| rank[find(word)]).collect()
}
