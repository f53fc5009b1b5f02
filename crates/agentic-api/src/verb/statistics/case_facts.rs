//! What queries answer about agents and sessions, put together to cases.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::Oid;
use agentic_query::QueryValue;

use super::case_landing::CaseLandings;
use super::case_told::{AgentTold, HoldTold, SessionTold};
use super::cases::{AnswerRows, ApartReason, CaseForm, CaseHolds, CaseUsage, CountedCase};
use super::holds::text;

/// What is asked for every case.
pub(super) const CASE_FACTS: &str = "
? (A, O, P, Began, FA, L, N) work(A, _, O, P, Began, _, FA, L, N).
? (A) archived(agent: A, by: person).
? (A, K, N) work_kind(A, K, N).
? (A, B) pinned(A, B, _).
? (S, A, State, T, E) session(id: S, agent: A, state: State, started: T, ended: E).
? (S, B) runs(S, B, _).
? (S, P) child(S, P).
? (S, N) continued(S, N).
? (S) forked(session: S).
? (S, C, T) made(S, C, T).
? (A, T) linked(agent: A, at: T).
? (R, A, S, Reason, T, State) hold(request: R, agent: A, session: S, reason: Reason, at: T, state: State).
";

/// What is asked where there are holds.
pub(super) const DECISION_FACTS: &str =
    "? (R, Action, T) decision(request: R, action: Action, at: T, standing: counted).";

/// What is asked where models and tests matter. Of what is known to be absurd the facts have null.
pub(super) const USAGE_FACTS: &str = "
? (T, R, N, A, M, I, O, C) usage(trace: T, request: R, n: N, agent: A, model: M, input: I, output: O, cost: C).
? (T, N, A, P, F) test_result(trace: T, n: N, agent: A, passed: P, failed: F).
";

/// What is asked where cases are compared within strata.
pub(super) const STRATUM_FACTS: &str = "? (A, V) briefing_field(agent: A, name: kind, value: V).";

/// All that was told.
#[derive(Debug, Default)]
pub(super) struct CaseFacts {
    agents: BTreeMap<String, AgentTold>,
    sessions: BTreeMap<String, SessionTold>,
    /// By request: whether somebody rejected, and when somebody decided last.
    decided: BTreeMap<String, (bool, i64)>,
}

impl CaseFacts {
    /// Takes the answers to [`CASE_FACTS`].
    pub(super) fn of(answers: Vec<AnswerRows>) -> CaseFacts {
        let mut facts = CaseFacts::default();
        let mut answers = answers.into_iter();
        let mut next = || answers.next().unwrap_or_default();
        for row in next() {
            facts.add_agent(&row);
        }
        for row in next() {
            let [agent] = row.as_slice() else { continue };
            if let Some(agent) = facts.agents.get_mut(text(agent)) {
                agent.is_put_away = true;
            }
        }
        for row in next() {
            let [agent, kind, n] = row.as_slice() else { continue };
            let kinds = facts.agents.get_mut(text(agent)).map(|agent| &mut agent.kinds);
            kinds.map(|kinds| kinds.insert(text(kind).to_owned(), number(n).unwrap_or(0)));
        }
        for row in next() {
            let [agent, cid] = row.as_slice() else { continue };
            let pins = facts.agents.get_mut(text(agent)).map(|agent| &mut agent.pins);
            pins.map(|pins| pins.insert(text(cid).to_owned()));
        }
        facts.add_sessions(&mut next);
        facts
    }

    fn add_agent(&mut self, row: &[QueryValue]) {
        let [agent, origin, person, began, first_at, last_at, n] = row else { return };
        let told = AgentTold {
            origin: text(origin).to_owned(),
            person: named(person),
            began: number(began).unwrap_or(0),
            first_at: number(first_at),
            last_at: number(last_at).unwrap_or(0),
            commits: number(n).unwrap_or(0),
            ..AgentTold::default()
        };
        self.agents.insert(text(agent).to_owned(), told);
    }

    fn add_sessions(&mut self, next: &mut dyn FnMut() -> AnswerRows) {
        for row in next() {
            let [session, agent, state, started, ended] = row.as_slice() else { continue };
            let told = SessionTold {
                agent: text(agent).to_owned(),
                state: text(state).to_owned(),
                started: number(started).unwrap_or(0),
                ended: number(ended),
                ..SessionTold::default()
            };
            self.sessions.insert(text(session).to_owned(), told);
        }
        for row in next() {
            let [session, cid] = row.as_slice() else { continue };
            self.told_of(session).map(|one| one.programs.insert(text(cid).to_owned()));
        }
        for row in next() {
            let [session, parent] = row.as_slice() else { continue };
            let parent = text(parent).to_owned();
            self.told_of(session).map(|one| one.before.get_or_insert(parent).len());
        }
        for row in next() {
            let [session, following] = row.as_slice() else { continue };
            let session = text(session).to_owned();
            if let Some(one) = self.told_of(following) {
                (one.before, one.is_continuation) = (Some(session), true);
            }
        }
        for row in next() {
            let [session] = row.as_slice() else { continue };
            if let Some(one) = self.told_of(session) {
                one.is_fork = true;
            }
        }
        for row in next() {
            let [session, commit, at] = row.as_slice() else { continue };
            if let (Some(commit), Some(one)) = (oid(commit), self.told_of(session)) {
                one.made.push((commit, number(at).unwrap_or(0)));
            }
        }
        for row in next() {
            let [agent, at] = row.as_slice() else { continue };
            let Some(told) = self.agents.get_mut(text(agent)) else { continue };
            told.add_linked(number(at).unwrap_or(0));
        }
        for row in next() {
            let [request, _, session, reason, asked, state] = row.as_slice() else { continue };
            let hold = HoldTold {
                request: text(request).to_owned(),
                is_in_doubt: text(reason) == "in-doubt",
                asked: number(asked).unwrap_or(0),
                is_open: text(state) == "open",
            };
            if let Some(one) = self.told_of(session) {
                one.holds.push(hold);
            }
        }
    }

    fn told_of(&mut self, session: &QueryValue) -> Option<&mut SessionTold> {
        self.sessions.get_mut(text(session))
    }

    /// Says whether anybody was ever asked.
    pub(super) fn has_holds(&self) -> bool {
        self.sessions.values().any(|session| !session.holds.is_empty())
    }

    /// Takes the answers to [`DECISION_FACTS`].
    pub(super) fn add_decisions(&mut self, answers: Vec<AnswerRows>) {
        for row in answers.into_iter().flatten() {
            let [request, action, at] = row.as_slice() else { continue };
            let at = number(at).unwrap_or(0);
            let known = self.decided.entry(text(request).to_owned()).or_insert((false, at));
            known.0 |= text(action) == "reject";
            known.1 = known.1.max(at);
        }
    }

    /// Takes the answers to [`USAGE_FACTS`].
    pub(super) fn add_usage(&mut self, answers: Vec<AnswerRows>) {
        let mut answers = answers.into_iter();
        for row in answers.next().unwrap_or_default() {
            let [_, request, _, agent, model, input, output, cost] = row.as_slice() else {
                continue;
            };
            let session = text(request).split_once('.').map_or("", |(session, _)| session);
            let (models, usage) =
                match (self.sessions.get_mut(session), self.agents.get_mut(text(agent))) {
                    (Some(session), _) => (&mut session.models, &mut session.usage),
                    (None, Some(agent)) => (&mut agent.models, &mut agent.usage),
                    (None, None) => continue,
                };
            models.extend(named(model));
            usage.add(number(input), number(output), real(cost));
        }
        for row in answers.next().unwrap_or_default() {
            let [_, _, agent, passed, failed] = row.as_slice() else { continue };
            let Some(agent) = self.agents.get_mut(text(agent)) else { continue };
            // What is negative is no count.
            let counts = [passed, failed].map(|count| number(count).unwrap_or(0).max(0));
            agent.tests.0 = agent.tests.0.saturating_add(counts[0]);
            agent.tests.1 = agent.tests.1.saturating_add(counts[1]);
        }
    }

    /// Takes the answers to [`STRATUM_FACTS`].
    pub(super) fn add_strata(&mut self, answers: Vec<AnswerRows>) {
        for row in answers.into_iter().flatten() {
            let [agent, value] = row.as_slice() else { continue };
            if let Some(agent) = self.agents.get_mut(text(agent)) {
                agent.briefing_kind = named(value);
            }
        }
    }

    /// Finds the session that began all that led to a session.
    fn root<'c>(&'c self, id: &'c str) -> &'c str {
        let (mut root, mut n_steps) = (id, 0);
        while let Some(before) = self.sessions.get(root).and_then(|one| one.before.as_deref()) {
            // A cycle is nothing that records can say; hostile ones get no endless loop.
            if n_steps > self.sessions.len() || !self.sessions.contains_key(before) {
                break;
            }
            (root, n_steps) = (before, n_steps + 1);
        }
        root
    }

    /// Puts the cases together.
    pub(super) fn cases(&self, landed: &CaseLandings, now: i64) -> Vec<CountedCase> {
        let mut cases: BTreeMap<&str, CountedCase> = BTreeMap::new();
        let mut in_sessions: BTreeSet<&str> = BTreeSet::new();
        for (id, told) in &self.sessions {
            let root = self.root(id);
            let Some(first) = self.sessions.get(root) else { continue };
            in_sessions.insert(&told.agent);
            let case = cases.entry(root).or_insert_with(|| self.case_of_session(first, now));
            case.add_session(told, id == root || told.is_continuation, landed);
            told.holds.iter().for_each(|hold| case.holds.add(hold, &self.decided, now));
        }
        let mut all: Vec<CountedCase> = cases.into_values().collect();
        all.sort_by_key(|case| case.began);
        for (name, told) in &self.agents {
            let is_part = in_sessions.contains(name.as_str()) || told.origin == "session";
            let n_own = told.commits.saturating_sub(self.n_made(name));
            if is_part && (told.pins.is_empty() || n_own <= 0) {
                // What its traces tell belongs to what it did first.
                let own = all.iter_mut().find(|case| case.agent == *name);
                own.into_iter().for_each(|case| case.add_told(told));
                continue;
            }
            // What sessions committed is counted with them.
            all.push(CountedCase { commits: n_own, ..told.case(name, landed, now) });
        }
        all
    }

    /// Counts what sessions of an agent committed.
    fn n_made(&self, agent: &str) -> i64 {
        let own = self.sessions.values().filter(|session| session.agent == agent);
        let made: BTreeSet<Oid> = own.flat_map(|one| &one.made).map(|(oid, _)| *oid).collect();
        made.len() as i64
    }

    fn case_of_session(&self, root: &SessionTold, now: i64) -> CountedCase {
        let agent = self.agents.get(&root.agent);
        let origin = agent.map_or("", |agent| agent.origin.as_str());
        let forked = root.is_fork.then_some(ApartReason::Fork);
        CountedCase {
            form: CaseForm::Session,
            agent: root.agent.clone(),
            behaviours: BTreeSet::new(),
            models: BTreeSet::new(),
            person: agent.and_then(|agent| agent.person.clone()),
            briefing_kind: agent.and_then(|agent| agent.briefing_kind.clone()),
            began: root.started,
            first_at: None,
            landing: None,
            commits: 0,
            made: BTreeSet::new(),
            kinds: BTreeMap::new(),
            closed_at: root.ended,
            is_closed: true,
            last_seen: now,
            state: None,
            holds: CaseHolds::default(),
            usage: CaseUsage::default(),
            tests: (0, 0),
            apart: ApartReason::of(origin).or(forked),
        }
    }
}

/// Reads a whole number.
pub(super) fn number(value: &QueryValue) -> Option<i64> {
    match value {
        QueryValue::Int(number) => Some(*number),
        QueryValue::Null | QueryValue::Bool(_) | QueryValue::Float(_) | QueryValue::Text(_) => None,
    }
}

/// Reads a number.
pub(super) fn real(value: &QueryValue) -> Option<f64> {
    match value {
        QueryValue::Float(number) => Some(*number),
        QueryValue::Int(number) => Some(*number as f64),
        QueryValue::Null | QueryValue::Bool(_) | QueryValue::Text(_) => None,
    }
}

fn named(value: &QueryValue) -> Option<String> {
    Some(text(value)).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Reads the id of a commit.
pub(super) fn oid(value: &QueryValue) -> Option<Oid> {
    Oid::parse(text(value)).ok()
}
