//! Two sessions beside each other, and sessions a page at a time, as JSON.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::view::{DiffView, RequestView, SessionView};

/// Some of the sessions, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionPageView {
    /// The sessions.
    pub items: Vec<SessionView>,
    /// How many of those that are meant stand before the next page, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
    /// What cannot be read, so that sessions may be missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// A session that was forked from another.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ForkView {
    /// Its id.
    pub session: String,
    /// The agent that it runs as.
    pub agent: String,
    /// After how many records it was forked.
    pub forked_at: u64,
}

/// A session as it stood after some of its records, with what is known of it now.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReplayedSessionView {
    /// As it stood then; or now, where no record was named.
    pub session: SessionView,
    /// When it stood so.
    pub at: String,
    /// How many records it has now.
    pub records: u64,
    /// The sessions that were forked from it, by where.
    pub forks: Vec<ForkView>,
}

/// Two sessions beside each other.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionComparisonView {
    /// The first record in which they differ.
    pub difference: DiffView,
    /// The one, without its requests.
    pub left: SessionView,
    /// The other.
    pub right: SessionView,
    /// The requests of both, those of one path beside each other.
    pub requests: Vec<ComparedRequestView>,
}

/// What two sessions asked in one place of their programs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparedRequestView {
    /// The place.
    pub path: String,
    /// Whether both asked the same and were answered the same.
    pub same: bool,
    /// What the one asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<RequestView>,
    /// What the other asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<RequestView>,
}

impl SessionComparisonView {
    /// Puts two sessions beside each other.
    pub(crate) fn new(
        difference: DiffView,
        mut left: SessionView,
        mut right: SessionView,
    ) -> SessionComparisonView {
        let (one, other) = (left.requests.take(), right.requests.take());
        let requests = align(one.unwrap_or_default(), other.unwrap_or_default());
        SessionComparisonView { difference, left, right, requests }
    }
}

/// Puts requests of one path beside each other, in the order of the left; what only the right has
/// stands after what it follows there.
fn align(left: Vec<RequestView>, right: Vec<RequestView>) -> Vec<ComparedRequestView> {
    let paths: BTreeSet<String> = left.iter().map(|asked| asked.path.clone()).collect();
    let mut paired: BTreeMap<String, RequestView> = BTreeMap::new();
    let mut alone: BTreeMap<Option<String>, Vec<RequestView>> = BTreeMap::new();
    let mut after = None;
    for asked in right {
        if paths.contains(&asked.path) && !paired.contains_key(&asked.path) {
            after = Some(asked.path.clone());
            paired.insert(asked.path.clone(), asked);
        } else {
            alone.entry(after.clone()).or_default().push(asked);
        }
    }
    let only_right = |asked: RequestView| ComparedRequestView {
        path: asked.path.clone(),
        same: false,
        left: None,
        right: Some(asked),
    };
    let mut rows: Vec<_> =
        alone.remove(&None).unwrap_or_default().into_iter().map(only_right).collect();
    for asked in left {
        let path = asked.path.clone();
        let right = paired.remove(&path);
        let same = right.as_ref().is_some_and(|right| is_same(&asked, right));
        rows.push(ComparedRequestView { path: path.clone(), same, left: Some(asked), right });
        rows.extend(alone.remove(&Some(path)).unwrap_or_default().into_iter().map(only_right));
    }
    rows
}

/// Tells whether two requests and their answers say the same. Ids and times are each session's own.
fn is_same(left: &RequestView, right: &RequestView) -> bool {
    let said = |asked: &RequestView| {
        (asked.kind.clone(), asked.payload.clone(), asked.executed.clone(), asked.answer.clone())
    };
    said(left) == said(right)
}

#[cfg(test)]
mod tests {
    use super::{RequestView, align};

    fn asked(path: &str, answer: &str) -> RequestView {
        RequestView {
            seq: 0,
            request: String::new(),
            path: path.to_owned(),
            kind: "exec".to_owned(),
            payload: serde_json::Value::Null,
            line: None,
            asked_at: String::new(),
            answered_at: None,
            took_ms: None,
            executed: None,
            decision: None,
            votes: Vec::new(),
            attempts: Vec::new(),
            answer: Some(serde_json::Value::from(answer)),
            by: None,
            overtaken: Vec::new(),
        }
    }

    /// Writes rows: a path, and what stands on each side.
    fn check(left: &[(&str, &str)], right: &[(&str, &str)], expected: &str) {
        let side =
            |list: &[(&str, &str)]| list.iter().map(|(path, said)| asked(path, said)).collect();
        let rows = align(side(left), side(right)).into_iter().map(|row| {
            let sides = match (row.left.is_some(), row.right.is_some(), row.same) {
                (true, true, true) => "=",
                (true, true, false) => "!",
                (true, false, _) => "<",
                (false, _, _) => ">",
            };
            format!("{}{sides}", row.path)
        });
        assert_eq!(rows.collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn requests_stand_beside_those_of_their_path() {
        check(&[("1", "a"), ("2", "b")], &[("1", "a"), ("2", "b")], "1= 2=");
        check(&[("1", "a"), ("2", "b")], &[("1", "a"), ("2", "c"), ("3", "d")], "1= 2! 3>");
        check(
            &[("1", "a"), ("3", "b")],
            &[("0", "x"), ("1", "a"), ("2", "y"), ("3", "b")],
            "0> 1= 2> 3=",
        );
        check(&[("b1/0", "a"), ("b0/0", "b")], &[("b0/0", "b"), ("b1/0", "a")], "b1/0= b0/0=");
        check(&[], &[("1", "a")], "1>");
        check(&[("1", "a")], &[], "1<");
    }
}
