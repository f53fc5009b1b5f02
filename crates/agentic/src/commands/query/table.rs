//! Answers as tables that fit the screen.

use std::io::IsTerminal as _;

use agentic_query::{AnswerSet, QueryType};

use super::shown::{CellStyle, IdLengths};

/// What stands between two columns.
const GAP: &str = "  ";
/// How narrow a column is made at most.
const COLUMN_CHARS_MIN: usize = 8;

/// Returns how wide the screen is; nothing if the answer goes elsewhere.
pub(super) fn width() -> Option<usize> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(&stdout).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// Lays an answer out. Numbers stand at the right.
pub(super) fn text(answer: &AnswerSet, style: CellStyle, width: Option<usize>) -> String {
    if answer.rows.is_empty() {
        return String::new();
    }
    let ids = IdLengths::of(answer);
    let names = answer.columns.iter().map(|(name, _)| name.clone()).collect();
    let rows = answer.rows.iter().map(|row| {
        let cells = row.iter().zip(&answer.columns).enumerate();
        cells.map(|(at, (value, (_, kind)))| ids.cut(at, style.cell(value, *kind))).collect()
    });
    let lines: Vec<Vec<String>> = std::iter::once(names).chain(rows).collect();
    let widths = fitted(&lines, width);
    let line = |cells: &Vec<String>| {
        let cells = cells.iter().zip(&widths).zip(&answer.columns);
        let cells = cells.map(|((cell, width), (_, kind))| padded(cell, *width, *kind));
        cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned() + "\n"
    };
    lines.iter().map(line).collect()
}

/// Returns how wide each column is: as wide as its widest cell, or what is left for it.
fn fitted(lines: &[Vec<String>], width: Option<usize>) -> Vec<usize> {
    let n_columns = lines.first().map_or(0, Vec::len);
    let widest =
        |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..n_columns).map(widest).collect();
    let Some(width) = width else { return widths };
    let room = width.saturating_sub(GAP.len() * n_columns.saturating_sub(1));
    let mut over = widths.iter().sum::<usize>().saturating_sub(room);
    while over > 0 {
        let Some(wide) = widths.iter_mut().max().filter(|wide| **wide > COLUMN_CHARS_MIN) else {
            break;
        };
        *wide -= 1;
        over -= 1;
    }
    widths
}

fn padded(cell: &str, width: usize, kind: QueryType) -> String {
    let n_chars = cell.chars().count();
    if n_chars > width {
        let kept: String = cell.chars().take(width.saturating_sub(1)).collect();
        return format!("{kept}…");
    }
    let blanks = " ".repeat(width - n_chars);
    match kind {
        QueryType::Int | QueryType::Float | QueryType::Duration => format!("{blanks}{cell}"),
        QueryType::Text | QueryType::Bool | QueryType::Instant | QueryType::Commit => {
            format!("{cell}{blanks}")
        }
        QueryType::Cid | QueryType::Session | QueryType::Request => format!("{cell}{blanks}"),
    }
}

#[cfg(test)]
mod tests {
    use agentic_model::Instant;
    use agentic_query::QueryValue;

    use super::*;

    #[test]
    fn a_table_fits_the_screen() {
        let answer = AnswerSet {
            columns: vec![("Who".to_owned(), QueryType::Text), ("N".to_owned(), QueryType::Int)],
            rows: vec![
                vec![QueryValue::text("alice and many others"), QueryValue::Int(7)],
                vec![QueryValue::Null, QueryValue::Int(1_000)],
            ],
            n_rows: 2,
        };
        let style = CellStyle::new(false, Instant::from_millis(0));
        assert_eq!(
            text(&answer, style, Some(16)),
            "Who            N\nalice and…     7\n            1000\n"
        );
        assert!(text(&answer, style, None).contains("alice and many others     7\n"));
    }
}
