//! Counts of commits, made while commits are read: none is held.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Instant as Moment;

use agentic_model::{AgentName, trailer};
use agentic_query::QueryLimits;
use agentic_space::facts::{CommitFold, FoldedCommit};

use super::CountedSpan;
use super::sessions::CountedSessions;
use crate::view::CommitCountView;
use crate::{Caller, Refusal};

/// By which trailer a commit says which session made it.
const SESSION_KEY: &str = "session";
/// After how many commits is looked how long it has taken.
const COMMITS_PER_LOOK: usize = 1 << 12;

/// How many commits there were.
pub(super) struct CountedCommits<'c> {
    span: &'c CountedSpan,
    sessions: &'c CountedSessions,
    counts: BTreeMap<String, BTreeMap<String, usize>>,
    /// How many say that a session made them which runs a program, by the number of that program.
    pub(super) of_flows: BTreeMap<usize, usize>,
}

impl<'c> CountedCommits<'c> {
    /// Begins with none.
    pub(super) fn new(span: &'c CountedSpan, sessions: &'c CountedSessions) -> Self {
        let (counts, of_flows) = (BTreeMap::new(), BTreeMap::new());
        CountedCommits { span, sessions, counts, of_flows }
    }

    /// Counts the commits of one agent, or of all that are open; returns what could not be read.
    pub(super) fn count(
        &mut self,
        caller: &Caller<'_>,
        agent: Option<&AgentName>,
    ) -> Result<Vec<String>, Refusal> {
        let fold = match agent {
            Some(agent) => CommitFold::of_agent(caller.space, agent.clone()),
            None => CommitFold::of_all(caller.space),
        };
        let (began, millis_max) = (Moment::now(), QueryLimits::default().time_ms_max);
        let (mut n_seen, mut is_late) = (0_usize, false);
        let report = fold.visit(&mut |commit| {
            self.take(commit);
            n_seen += 1;
            is_late = n_seen.is_multiple_of(COMMITS_PER_LOOK)
                && began.elapsed().as_millis() > u128::from(millis_max);
            if is_late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if is_late {
            let message = format!("to count commits took more than {millis_max} ms");
            return Err(Refusal::refused(&message, "ask for one agent"));
        }
        Ok(report.notes)
    }

    fn take(&mut self, commit: &FoldedCommit<'_>) {
        if self.span.has(commit.at) {
            let bucket = self.span.by.bucket(commit.at);
            let kinds = self.counts.entry(bucket).or_default();
            match kinds.get_mut(commit.kind) {
                Some(count) => *count += 1,
                None => drop(kinds.insert(commit.kind.to_owned(), 1)),
            }
        }
        if let Some(flow) = self.flow_of(commit.message) {
            *self.of_flows.entry(flow).or_default() += 1;
        }
    }

    /// Finds the program of the session that made a commit, if that session counts.
    fn flow_of(&self, message: &str) -> Option<usize> {
        if self.sessions.is_empty() {
            return None;
        }
        let is_it = |key: &str| {
            let key = key.to_ascii_lowercase();
            key.strip_prefix(&trailer::PREFIX.to_ascii_lowercase()) == Some(SESSION_KEY)
        };
        let claims = trailer::read(message).into_iter().filter(|one| is_it(&one.key));
        claims.filter_map(|one| self.sessions.flow_of(&one.value)).min()
    }

    /// Lists the counts, by time and kind.
    pub(super) fn view(self) -> Vec<CommitCountView> {
        let of_bucket = |(bucket, kinds): (String, BTreeMap<String, usize>)| {
            kinds.into_iter().map(move |(kind, count)| {
                let bucket = bucket.clone();
                CommitCountView { bucket, kind, count }
            })
        };
        self.counts.into_iter().flat_map(of_bucket).collect()
    }
}
