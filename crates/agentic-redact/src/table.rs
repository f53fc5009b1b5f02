//! Tables with a column of secrets: rows of cells that `|` parts, as Markdown and databases have them,
//! or that a comma, a semicolon or a tab does.

use crate::context::FoundName;
use crate::hit::{HitRule, SecretHit};
use crate::name::{NameStrength, strength};
use crate::steps;
use crate::value::{Quoting, is_secret_value};

/// How far from a name the row of names may begin and end.
const HEAD_BYTES_MAX: usize = 1024;
/// How long the name of a column may be, and of how many words.
const NAME_BYTES_MAX: usize = 40;
const NAME_WORDS_MAX: usize = 3;
/// What parts cells; of two in one row the first does.
const PARTS: [u8; 4] = *b"|\t;,";

/// The columns of a table that hold secrets.
struct SecretColumns {
    part: u8,
    n_cells: usize,
    columns: Vec<(usize, NameStrength)>,
}

/// Finds the secrets of the table in whose first row a name stands; returns up to where it looked.
pub(crate) fn find(text: &[u8], name: FoundName<'_>, hits: &mut Vec<SecretHit>) -> usize {
    if !is_cell(text, name) {
        return name.start;
    }
    let rest = &text[name.end..text.len().min(name.end + HEAD_BYTES_MAX)];
    let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    let end = name.end + len;
    let Some(start) = line_start(text, name.start) else { return end };
    let Some(table) = secret_columns(&text[start..end]) else { return end };
    if table.part != b'|' && is_row(text, start, &table) {
        return end;
    }
    let mut at = end + 1;
    // Where `|` parts cells, a line of dashes tells names from rows.
    let mut is_body = table.part != b'|';
    while at < text.len() {
        let len = memchr::memchr(b'\n', &text[at..]).unwrap_or(text.len() - at);
        steps::count(len);
        let line = &text[at..at + len];
        let cells = cells(line, table.part);
        if is_rule(line) {
            is_body = true;
        } else if !is_body || cells.len() != table.n_cells {
            break;
        } else {
            hits.extend(table.columns.iter().filter_map(|(column, strength)| {
                let (from, to) = unmarked(line, cells[*column]);
                is_secret_value(&line[from..to], *strength, Quoting::Quoted)
                    .then(|| SecretHit::new(HitRule::KeyValue, at + from, at + to))
            }));
        }
        at += len + 1;
    }
    at
}

/// Tells whether the line that ends before `end` is a row of the table, too, so that it begins earlier.
fn is_row(text: &[u8], end: usize, table: &SecretColumns) -> bool {
    let Some(end) = end.checked_sub(1) else { return false };
    let start = line_start(text, end).unwrap_or(end.saturating_sub(HEAD_BYTES_MAX));
    cells(&text[start..end], table.part).len() == table.n_cells
}

/// Tells whether a name is all or the end of a cell.
fn is_cell(text: &[u8], name: FoundName<'_>) -> bool {
    let is_around = |byte: &&u8| matches!(byte, b' ' | b'"' | b'*' | b'`');
    let behind = text[name.end..].iter().find(|byte| !is_around(byte));
    match behind {
        Some(b'\n' | b'\r') => {
            let before = &text[name.start.saturating_sub(NAME_BYTES_MAX)..name.start];
            before.iter().any(|byte| PARTS.contains(byte))
        }
        Some(byte) => PARTS.contains(byte),
        None => false,
    }
}

/// Returns where the line begins in which a name stands.
fn line_start(text: &[u8], at: usize) -> Option<usize> {
    let before = &text[at.saturating_sub(HEAD_BYTES_MAX)..at];
    steps::count(before.len());
    let end = memchr::memrchr(b'\n', before);
    let is_whole = before.len() == at;
    end.map(|end| at - before.len() + end + 1).or(is_whole.then_some(0))
}

/// Returns which columns of a table hold secrets, if a line names its columns.
fn secret_columns(line: &[u8]) -> Option<SecretColumns> {
    let part = *PARTS.iter().find(|part| line.contains(part))?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-. ()#".contains(byte);
    let mut columns = Vec::new();
    let cells = cells(line, part);
    for (column, cell) in cells.iter().enumerate() {
        let (start, end) = unmarked(line, *cell);
        let name = &line[start..end];
        let n_words = name.split(|byte| *byte == b' ').count();
        let is_spaced = part == b',' && start > 0 && line[start - 1] == b' ';
        let is_short = (1..=NAME_BYTES_MAX).contains(&name.len()) && n_words <= NAME_WORDS_MAX;
        if !is_short || is_spaced || !name.iter().all(is_name) {
            return None;
        }
        match strength(name) {
            Some(strength @ (NameStrength::Password | NameStrength::Secret)) => {
                columns.push((column, strength));
            }
            Some(NameStrength::Vague) | None => {}
        }
    }
    let is_table = cells.len() > 1 && !columns.is_empty();
    is_table.then_some(SecretColumns { part, n_cells: cells.len(), columns })
}

/// Tells whether a line only parts others: `|---|---|`, `+----+----+`.
fn is_rule(line: &[u8]) -> bool {
    let is_sign = |byte: &u8| b"-+|:= \t\r".contains(byte);
    line.contains(&b'-') && line.iter().all(is_sign)
}

/// Returns where the cells of a row stand. What quotation marks hold is in one cell; `|` may also begin
/// and end a row.
fn cells(line: &[u8], part: u8) -> Vec<(usize, usize)> {
    let mut cells = Vec::new();
    let mut start = 0;
    let mut is_quoted = false;
    for (at, byte) in line.iter().enumerate() {
        is_quoted ^= *byte == b'"' && part != b'|';
        if *byte == part && !is_quoted {
            cells.push((start, at));
            start = at + 1;
        }
    }
    cells.push((start, line.len()));
    let is_empty = |cell: &(usize, usize)| line[cell.0..cell.1].trim_ascii().is_empty();
    if part == b'|' && is_empty(&cells[0]) {
        cells.remove(0);
    }
    if part == b'|' && cells.last().is_some_and(is_empty) {
        cells.pop();
    }
    cells
}

/// Takes the blanks and marks around a cell off.
fn unmarked(line: &[u8], cell: (usize, usize)) -> (usize, usize) {
    let is_mark = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'`' | b'*');
    let (start, end) = cell;
    let cell = &line[start..end];
    let before = cell.iter().take_while(|byte| is_mark(byte)).count();
    let behind = cell[before..].iter().rev().take_while(|byte| is_mark(byte)).count();
    (start + before, end - behind)
}
