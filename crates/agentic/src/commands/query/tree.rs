//! Answers as trees: what rows have in common at their beginning stands once.

use agentic_query::AnswerSet;

use super::shown::{CellStyle, IdLengths};

/// Draws the rows, each column a step further in.
pub(super) fn text(answer: &AnswerSet, style: CellStyle) -> String {
    let ids = IdLengths::of(answer);
    let mut drawn = String::new();
    let mut above: Option<&Vec<agentic_query::QueryValue>> = None;
    for row in &answer.rows {
        let is_same = |column: &usize| above.is_some_and(|above| above[*column] == row[*column]);
        let shared = (0..row.len()).take_while(is_same).count();
        for (column, value) in row.iter().enumerate().skip(shared) {
            let (_, kind) = &answer.columns[column];
            let cell = ids.cut(column, style.cell(value, *kind));
            drawn.push_str(&format!("{}{}\n", "  ".repeat(column), cell).replace("  \n", "\n"));
        }
        above = Some(row);
    }
    drawn
}
