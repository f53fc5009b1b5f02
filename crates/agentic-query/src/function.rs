//! Functions and tests: their names, arguments, types and what they give.

use agentic_model::{Value, json};

use crate::value::QueryType;

/// A function of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum QueryFunction {
    Lower,
    Len,
    Number,
    Text,
    Day,
    Week,
    Hour,
    Json,
}

/// A goal that only tests, as an atom of its own name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TextTest {
    Contains,
    StartsWith,
    EndsWith,
    Matches,
    PathUnder,
}

const FUNCTIONS: [(&str, QueryFunction); 8] = [
    ("lower", QueryFunction::Lower),
    ("len", QueryFunction::Len),
    ("number", QueryFunction::Number),
    ("text", QueryFunction::Text),
    ("day", QueryFunction::Day),
    ("week", QueryFunction::Week),
    ("hour", QueryFunction::Hour),
    ("json", QueryFunction::Json),
];
const TESTS: [(&str, TextTest); 5] = [
    ("contains", TextTest::Contains),
    ("starts_with", TextTest::StartsWith),
    ("ends_with", TextTest::EndsWith),
    ("matches", TextTest::Matches),
    ("path_under", TextTest::PathUnder),
];

const HOUR_MILLIS: i64 = 3_600_000;
const DAY_MILLIS: i64 = 24 * HOUR_MILLIS;
const WEEK_MILLIS: i64 = 7 * DAY_MILLIS;
/// The first Monday after the start of 1970, which was a Thursday.
const MONDAY_MILLIS: i64 = 4 * DAY_MILLIS;

/// Says whether a name is that of a function.
pub(crate) fn is_function(name: &str) -> bool {
    QueryFunction::parse(name).is_some()
}

impl QueryFunction {
    /// Finds the function of a name.
    pub fn parse(name: &str) -> Option<QueryFunction> {
        FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
    }

    /// Lists the names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FUNCTIONS.iter().map(|(name, _)| *name)
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|(_, function)| *function == self).map_or("", |(name, _)| name)
    }

    /// Counts the arguments.
    pub fn arity(self) -> usize {
        if self == QueryFunction::Json { 2 } else { 1 }
    }

    /// Returns the type of the arguments; `text` takes any.
    pub fn argument(self) -> Option<QueryType> {
        match self {
            QueryFunction::Lower
            | QueryFunction::Len
            | QueryFunction::Number
            | QueryFunction::Json => Some(QueryType::Text),
            QueryFunction::Day | QueryFunction::Week | QueryFunction::Hour => {
                Some(QueryType::Instant)
            }
            QueryFunction::Text => None,
        }
    }

    /// Returns the type of what it gives.
    pub fn result(self) -> QueryType {
        match self {
            QueryFunction::Lower | QueryFunction::Text | QueryFunction::Json => QueryType::Text,
            QueryFunction::Len => QueryType::Int,
            QueryFunction::Number => QueryType::Float,
            QueryFunction::Day | QueryFunction::Week | QueryFunction::Hour => QueryType::Instant,
        }
    }
}

impl TextTest {
    /// Finds the test of a name.
    pub fn parse(name: &str) -> Option<TextTest> {
        TESTS.iter().find(|(known, _)| *known == name).map(|(_, test)| *test)
    }

    /// Lists the names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TESTS.iter().map(|(name, _)| *name)
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        TESTS.iter().find(|(_, test)| *test == self).map_or("", |(name, _)| name)
    }

    /// Says whether two texts pass; `matches` has an expression instead of a second text.
    pub fn holds(self, text: &str, other: &str) -> bool {
        match self {
            TextTest::Contains => text.contains(other),
            TextTest::StartsWith => text.starts_with(other),
            TextTest::EndsWith => text.ends_with(other),
            TextTest::Matches => false,
            TextTest::PathUnder => {
                let folder = other.trim_end_matches('/');
                let below = text.strip_prefix(folder);
                below.is_some_and(|rest| {
                    rest.is_empty() || rest.starts_with('/') || folder.is_empty()
                })
            }
        }
    }
}

/// Cuts an instant to the start of its hour, its day or its week.
pub(crate) fn floor_instant(function: QueryFunction, millis: i64) -> Option<i64> {
    let (length, start) = match function {
        QueryFunction::Hour => (HOUR_MILLIS, 0),
        QueryFunction::Week => (WEEK_MILLIS, MONDAY_MILLIS),
        QueryFunction::Day
        | QueryFunction::Lower
        | QueryFunction::Len
        | QueryFunction::Number
        | QueryFunction::Text
        | QueryFunction::Json => (DAY_MILLIS, 0),
    };
    let behind = millis.checked_sub(start)?.rem_euclid(length);
    millis.checked_sub(behind)
}

/// Reads a number from a text, if it is one.
pub(crate) fn number_of(text: &str) -> Option<f64> {
    let is_number = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    text.parse().ok().filter(|number: &f64| is_number && number.is_finite())
}

/// Looks a pointer up in a JSON text: a text's content, else canonical JSON.
pub(crate) fn pointed(text: &str, pointer: &str) -> Option<String> {
    let document = json::from_text(text).ok()?;
    let mut value = &document;
    for part in pointer.split('/').skip(1) {
        let key = part.replace("~1", "/").replace("~0", "~");
        value = match value {
            Value::Map(map) => map.get(&key)?,
            Value::List(list) if key == "0" || !key.starts_with('0') => {
                list.get(key.parse::<usize>().ok()?)?
            }
            Value::List(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::Bytes(_)
            | Value::Link(_) => return None,
        };
    }
    Some(json::to_plain_text(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_cut_to_hours_days_and_weeks_that_begin_on_monday() {
        let check = |function, given: &str, wanted: &str| {
            let millis = |text: &str| agentic_model::Instant::parse(text).map(|at| at.millis());
            let cut = floor_instant(function, millis(given).expect("an instant"));
            assert_eq!(cut, millis(wanted), "{given}");
        };
        check(QueryFunction::Week, "2026-11-22T23:59:59Z", "2026-11-16T00:00:00Z");
        check(QueryFunction::Week, "2026-11-23T00:00:00Z", "2026-11-23T00:00:00Z");
        check(QueryFunction::Week, "1969-12-31T00:00:00Z", "1969-12-29T00:00:00Z");
        check(QueryFunction::Day, "1969-12-31T01:00:00Z", "1969-12-31T00:00:00Z");
        check(QueryFunction::Hour, "2026-11-22T23:59:59Z", "2026-11-22T23:00:00Z");
    }

    #[test]
    fn texts_paths_pointers_and_numbers() {
        assert!(TextTest::PathUnder.holds("src/a.rs", "src"));
        assert!(TextTest::PathUnder.holds("src", "src/"));
        assert!(!TextTest::PathUnder.holds("src2/a.rs", "src"));
        let pointed = |pointer: &str| pointed(r#"{"a/b":[{"c":"x"},1.5]}"#, pointer);
        assert_eq!(pointed("/a~1b/0/c").as_deref(), Some("x"));
        assert_eq!(pointed("/a~1b/1").as_deref(), Some("1.5"));
        assert_eq!(pointed("/a~1b/01"), None);
        assert_eq!(pointed("/z"), None);
        assert_eq!(number_of("-1.5e3"), Some(-1500.0));
        for text in ["", "inf", "NaN", "1e999", " 1", "0x1"] {
            assert_eq!(number_of(text), None, "{text}");
        }
    }
}
