//! Answers as comma-separated values (RFC 4180), safe to open in a spreadsheet.

use agentic_model::Instant;
use agentic_query::{AnswerSet, QueryType, QueryValue};

/// How a cell begins that a spreadsheet would run.
const RUN: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Writes the names of the columns and the rows.
pub(super) fn text(answer: &AnswerSet) -> String {
    let names = answer.columns.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let mut text = names.join(",") + "\r\n";
    for row in &answer.rows {
        let cells = row.iter().zip(&answer.columns).map(|(value, (_, kind))| cell(value, *kind));
        text.push_str(&cells.collect::<Vec<_>>().join(","));
        text.push_str("\r\n");
    }
    text
}

fn cell(value: &QueryValue, kind: QueryType) -> String {
    match value {
        QueryValue::Null => String::new(),
        QueryValue::Bool(truth) => truth.to_string(),
        QueryValue::Int(millis) if kind == QueryType::Instant => {
            Instant::from_millis(*millis).to_string()
        }
        QueryValue::Int(number) => number.to_string(),
        QueryValue::Float(number) => number.to_string(),
        QueryValue::Text(text) => quoted(text),
    }
}

/// Quotes a text where its characters need it. One that a spreadsheet would run gets an apostrophe,
/// as people write it there.
fn quoted(text: &str) -> String {
    let is_run = text.starts_with(RUN);
    let text = if is_run { format!("'{text}") } else { text.to_owned() };
    match is_run || text.contains(['"', ',', '\n', '\r', '\0']) || text.trim() != text {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_would_run_are_quoted() {
        let cases = [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"x\"\n", "\"say \"\"x\"\"\n\""),
            ("=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""),
            ("@SUM(1)", "\"'@SUM(1)\""),
            ("-1+1", "\"'-1+1\""),
        ];
        for (text, expected) in cases {
            assert_eq!(quoted(text), expected, "{text:?}");
        }
    }
}
