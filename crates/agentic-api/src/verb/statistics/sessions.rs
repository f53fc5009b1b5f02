//! What came of sessions, by the program that they run.

use std::collections::BTreeMap;

use agentic_query::QueryValue;

use super::holds::text;
use crate::view::OutcomeView;

/// The sessions of a span: of each only which program it runs.
#[derive(Debug, Default)]
pub(super) struct CountedSessions {
    outcomes: Vec<OutcomeView>,
    flows: BTreeMap<String, usize>,
    flow_of: BTreeMap<String, usize>,
}

impl CountedSessions {
    /// Counts sessions by their rows: id, program and state.
    pub(super) fn of<'r>(rows: impl Iterator<Item = &'r [QueryValue]>) -> CountedSessions {
        let mut counted = CountedSessions::default();
        for row in rows {
            let [session, flow, state] = row else { continue };
            let flow = counted.number_of(text(flow));
            counted.flow_of.insert(text(session).to_owned(), flow);
            let outcome = &mut counted.outcomes[flow];
            let count = match text(state) {
                "done" => &mut outcome.done,
                "failed" | "diverged" => &mut outcome.failed,
                "cancelled" => &mut outcome.cancelled,
                "held" => &mut outcome.held,
                _ => &mut outcome.open,
            };
            *count += 1;
        }
        counted
    }

    fn number_of(&mut self, flow: &str) -> usize {
        if let Some(number) = self.flows.get(flow) {
            return *number;
        }
        let number = self.outcomes.len();
        self.outcomes.push(OutcomeView { behaviour: flow.to_owned(), ..OutcomeView::default() });
        self.flows.insert(flow.to_owned(), number);
        number
    }

    /// Says whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.flow_of.is_empty()
    }

    /// Finds the number of the program that a session runs.
    pub(super) fn flow_of(&self, session: &str) -> Option<usize> {
        self.flow_of.get(session).copied()
    }

    /// Lists what came of them, the program that most run first.
    pub(super) fn outcomes(&self, commits: &BTreeMap<usize, usize>) -> Vec<OutcomeView> {
        let with_commits = |(number, outcome): (usize, &OutcomeView)| OutcomeView {
            commits: commits.get(&number).copied().unwrap_or_default(),
            ..outcome.clone()
        };
        let mut outcomes: Vec<OutcomeView> =
            self.outcomes.iter().enumerate().map(with_commits).collect();
        let n = |one: &OutcomeView| one.done + one.failed + one.cancelled + one.held + one.open;
        outcomes.sort_by(|left, right| {
            n(right).cmp(&n(left)).then(left.behaviour.cmp(&right.behaviour))
        });
        outcomes
    }
}
