//! Cases: agents, and root sessions with their children and continuations. A commit is none: those of
//! one agent resemble each other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

use agentic_model::Oid;
use agentic_query::QueryValue;
use agentic_session::trial::TRIAL_AGENT;

use super::case_facts::{CASE_FACTS, CaseFacts, DECISION_FACTS, STRATUM_FACTS, USAGE_FACTS};
use super::case_landing::{CaseLanding, CaseLandings};
use crate::verb::trial::agents_of_trials;
use crate::verb::{AskQuery, QueryOutcome};
use crate::{Caller, Refusal};

/// After how many days in which nothing was done an agent counts as closed.
pub(super) const QUIET_MS: i64 = 14 * 24 * 3600 * 1000;

/// What a case is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CaseForm {
    /// An agent, with what was committed for it.
    Agent,
    /// A session that no other began, with all that it began.
    Session,
}

/// Why a case is counted and in no rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ApartReason {
    /// It shares its beginning with another.
    Fork,
    /// A trial made it.
    Trial,
    /// It was over before anything here saw it.
    Import,
}

/// What holds of a case came to.
#[derive(Debug, Clone, Default)]
pub(super) struct CaseHolds {
    /// How many effects nobody knows of whether they happened.
    pub in_doubt: usize,
    /// How many holds somebody approved, edited or answered.
    pub approved: usize,
    /// How many somebody rejected.
    pub rejected: usize,
    /// How long people were waited for, and whether they have decided, in milliseconds.
    pub waits: Vec<(i64, bool)>,
}

/// What models cost a case, as far as anybody told.
#[derive(Debug, Clone, Default)]
pub(super) struct CaseUsage {
    /// How many calls there were.
    pub calls: usize,
    /// Of how many the tokens are known.
    pub tokens_known: usize,
    /// Of how many the cost is.
    pub cost_known: usize,
    /// Tokens read and written.
    pub input: i64,
    pub output: i64,
    /// What those cost of which it is known.
    pub cost: f64,
}

/// One case.
#[derive(Debug, Clone)]
pub(super) struct CountedCase {
    pub form: CaseForm,
    /// The agent.
    pub agent: String,
    /// The behaviours that it used: pins of an agent, programs of a session.
    pub behaviours: BTreeSet<String>,
    pub models: BTreeSet<String>,
    /// Who spawned the agent.
    pub person: Option<String>,
    /// The field `kind` of its briefing.
    pub briefing_kind: Option<String>,
    pub began: i64,
    /// When the first commit was made.
    pub first_at: Option<i64>,
    /// When a branch of people had work of it first, if one has.
    pub landing: Option<CaseLanding>,
    /// How many commits are work, and how many there are of each kind.
    pub commits: i64,
    /// What a session committed; of an agent all counts that it did.
    pub made: BTreeSet<Oid>,
    pub kinds: BTreeMap<String, i64>,
    /// When a session was over, or since when an agent was quiet for long.
    pub closed_at: Option<i64>,
    /// Whether nothing more is expected of it.
    pub is_closed: bool,
    /// When it was looked at.
    pub last_seen: i64,
    /// How a session ended.
    pub state: Option<String>,
    pub holds: CaseHolds,
    pub usage: CaseUsage,
    /// Tests as told: how many passed and failed.
    pub tests: (i64, i64),
    pub apart: Option<ApartReason>,
}

/// What is read of cases.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CaseScope {
    /// Whether what models cost and tests gave is wanted.
    pub usage: bool,
    /// Whether what cases are compared within is wanted.
    pub strata: bool,
}

/// All cases of a space.
#[derive(Debug, Default)]
pub(super) struct CountedCases {
    pub cases: Vec<CountedCase>,
    /// What could not be read.
    pub left_out: Vec<String>,
}

/// One answer, row by row.
pub(super) type AnswerRows = Vec<Vec<QueryValue>>;

/// Asks several questions in one text.
pub(super) fn ask(
    caller: &Caller<'_>,
    text: &str,
    left_out: &mut Vec<String>,
) -> Result<Vec<AnswerRows>, Refusal> {
    let query = AskQuery { text: text.to_owned(), ..AskQuery::default() };
    match query.ask(caller, &AtomicBool::new(false))? {
        QueryOutcome::Answered(answered) => {
            left_out.extend(answered.report.notes);
            Ok(answered.report.answers.into_iter().map(|answer| answer.rows).collect())
        }
        QueryOutcome::Refused(findings) => Err(findings.refusal()),
    }
}

impl CountedCases {
    /// Reads them.
    pub(super) fn read(caller: &Caller<'_>, scope: CaseScope) -> Result<CountedCases, Refusal> {
        let mut found = CountedCases::default();
        let mut facts = CaseFacts::of(ask(caller, CASE_FACTS, &mut found.left_out)?);
        if facts.has_holds() {
            facts.add_decisions(ask(caller, DECISION_FACTS, &mut found.left_out)?);
        }
        if scope.usage {
            facts.add_usage(ask(caller, USAGE_FACTS, &mut found.left_out)?);
        }
        if scope.strata {
            facts.add_strata(ask(caller, STRATUM_FACTS, &mut found.left_out)?);
        }
        let landed = CaseLandings::read(caller, &mut found.left_out)?;
        found.cases = facts.cases(&landed, caller.space.now().millis());
        // A name proves nothing: a trial says which agents are its own.
        if found.cases.iter().any(|case| case.agent.starts_with(TRIAL_AGENT)) {
            let agents = agents_of_trials(caller)?;
            let of_trials = |case: &&mut CountedCase| agents.contains(&case.agent);
            for case in found.cases.iter_mut().filter(of_trials) {
                case.apart = Some(ApartReason::Trial);
            }
        }
        Ok(found)
    }
}

impl ApartReason {
    /// Tells why an agent or a session is apart, by how it came to be.
    pub(super) fn of(origin: &str) -> Option<ApartReason> {
        match origin {
            "fork" => Some(ApartReason::Fork),
            "import" => Some(ApartReason::Import),
            _ => None,
        }
    }
}
