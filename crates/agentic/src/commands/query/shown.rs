//! Values as people read them.

use std::collections::BTreeSet;

use agentic_api::view::visible_line;
use agentic_model::Instant;
use agentic_query::{AnswerSet, QueryType, QueryValue};

/// How many milliseconds the units have.
const UNITS: [(i64, &str); 5] =
    [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s"), (1, "ms")];
/// How many units of a duration are shown.
const UNITS_SHOWN_MAX: usize = 2;

/// How cells are shown.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CellStyle {
    /// What instants are told from, if not as they are.
    relative_to: Option<Instant>,
}

/// How many characters of the ids of each column are shown.
pub(super) struct IdLengths(Vec<IdLength>);

/// How much of an id is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IdLength {
    Whole,
    /// So many characters.
    Begin(usize),
    /// So many of what stands before the full stop, and of what stands behind it.
    Halves(usize),
}

impl CellStyle {
    pub fn new(is_relative: bool, now: Instant) -> CellStyle {
        CellStyle { relative_to: is_relative.then_some(now) }
    }

    /// Shows a value on one line.
    pub fn cell(self, value: &QueryValue, kind: QueryType) -> String {
        match value {
            QueryValue::Null => String::new(),
            QueryValue::Bool(truth) => truth.to_string(),
            QueryValue::Int(millis) if kind == QueryType::Instant => self.instant(*millis),
            QueryValue::Int(millis) if kind == QueryType::Duration => duration(*millis),
            QueryValue::Int(number) => number.to_string(),
            QueryValue::Float(number) => number.to_string(),
            QueryValue::Text(text) => visible_line(text),
        }
    }

    fn instant(self, millis: i64) -> String {
        match self.relative_to {
            None => Instant::from_millis(millis).to_string(),
            Some(now) => match now.millis().saturating_sub(millis) {
                0 => "now".to_owned(),
                past if past > 0 => format!("{} ago", duration(past)),
                future => format!("in {}", duration(future.saturating_neg())),
            },
        }
    }
}

impl IdLengths {
    /// Finds how long the ids of an answer have to be, so that no two of one type look alike.
    pub fn of(answer: &AnswerSet) -> IdLengths {
        let of_kind = |kind: QueryType| {
            let columns = answer.columns.iter().enumerate().filter(|(_, (_, it))| *it == kind);
            let texts = columns.flat_map(|(column, _)| {
                answer.rows.iter().filter_map(move |row| match &row[column] {
                    QueryValue::Text(text) => Some(text.as_ref()),
                    QueryValue::Null | QueryValue::Bool(_) | QueryValue::Int(_) => None,
                    QueryValue::Float(_) => None,
                })
            });
            shortest(&texts.collect(), kind)
        };
        IdLengths(answer.columns.iter().map(|(_, kind)| of_kind(*kind)).collect())
    }

    /// Cuts an id, if the column has ids.
    pub fn cut(&self, column: usize, shown: String) -> String {
        let begin = |text: &str, n: usize| text.chars().take(n).collect::<String>();
        match (self.0[column], shown.split_once('.')) {
            (IdLength::Halves(n), Some((session, request))) => {
                format!("{}.{}", begin(session, n), begin(request, n))
            }
            (IdLength::Begin(n), _) => begin(&shown, n),
            (IdLength::Halves(_), None) | (IdLength::Whole, _) => shown,
        }
    }
}

/// Returns how many characters of ids tell these apart, and are accepted wherever an id is.
fn shortest(texts: &BTreeSet<&str>, kind: QueryType) -> IdLength {
    match kind {
        QueryType::Commit => IdLength::Begin(distinct(texts, 10)),
        QueryType::Cid => IdLength::Begin(distinct(texts, 16)),
        QueryType::Session => IdLength::Begin(distinct(texts, 8)),
        QueryType::Request => {
            let split = |text: &&'_ str| text.split_once('.').map(|(session, _)| session.len());
            let half = texts.iter().find_map(split).unwrap_or(0);
            // As other verbs show them, unless two sessions or two requests begin alike.
            let is_told_apart = |n: &usize| {
                let cut = |text: &&str| {
                    let (session, request) = text.split_once('.').unwrap_or((text, ""));
                    (session.get(..*n).map(str::to_owned), request.get(..*n).map(str::to_owned))
                };
                texts.iter().map(cut).collect::<BTreeSet<_>>().len() == texts.len()
            };
            (12..half).find(is_told_apart).map_or(IdLength::Whole, IdLength::Halves)
        }
        QueryType::Text | QueryType::Int | QueryType::Float | QueryType::Bool => IdLength::Whole,
        QueryType::Instant | QueryType::Duration => IdLength::Whole,
    }
}

/// Returns how many characters tell texts apart.
fn distinct(texts: &BTreeSet<&str>, least: usize) -> usize {
    let texts: Vec<&&str> = texts.iter().collect();
    let alike = |pair: &[&&str]| {
        let same = pair[0].bytes().zip(pair[1].bytes()).take_while(|(a, b)| a == b);
        same.count() + 1
    };
    texts.windows(2).map(alike).max().unwrap_or(0).max(least)
}

/// Shows a length of time by its two largest units.
fn duration(millis: i64) -> String {
    let sign = if millis < 0 { "-" } else { "" };
    let mut rest = millis.unsigned_abs();
    let mut parts = Vec::new();
    for (length, unit) in UNITS {
        let n = rest / length.unsigned_abs();
        rest %= length.unsigned_abs();
        if n > 0 {
            parts.push(format!("{n}{unit}"));
        } else if !parts.is_empty() {
            break;
        }
        if parts.len() == UNITS_SHOWN_MAX {
            break;
        }
    }
    if parts.is_empty() { "0s".to_owned() } else { format!("{sign}{}", parts.concat()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_two_units() {
        let cases = [
            (0, "0s"),
            (250, "250ms"),
            (1_250, "1s250ms"),
            (5_400_000, "1h30m"),
            (90_061_001, "1d1h"),
            (86_400_001, "1d"),
            (-60_000, "-1m"),
            (i64::MIN, "-106751991167d7h"),
        ];
        for (millis, expected) in cases {
            assert_eq!(duration(millis), expected, "{millis}");
        }
    }

    #[test]
    fn ids_are_cut_where_they_differ() {
        let ids = ["0123456789abcdef", "0123456789abffff"];
        let texts: BTreeSet<&str> = ids.into_iter().collect();
        assert_eq!(shortest(&texts, QueryType::Commit), IdLength::Begin(13));
        assert_eq!(shortest(&BTreeSet::new(), QueryType::Session), IdLength::Begin(8));
        assert_eq!(shortest(&texts, QueryType::Text), IdLength::Whole);
        let requests = ["0123456789abcdef.0123456789abcdef", "0123456789abcdef.0123456789abffff"];
        let texts: BTreeSet<&str> = requests.into_iter().collect();
        assert_eq!(shortest(&texts, QueryType::Request), IdLength::Halves(13));
    }
}
