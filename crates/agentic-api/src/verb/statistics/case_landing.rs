//! When the work of cases came to branches of people, and whether it stayed there: a rule that ships says it.

use std::collections::BTreeMap;

use agentic_model::Oid;

use super::case_facts::{number, oid};
use super::cases::{AnswerRows, ask};
use super::holds::text;
use crate::shipped::ShippedRules;
use crate::{Caller, Refusal};

/// The name of the rule.
const RULE: &str = "landed-work";
/// What the rule calls a commit of a session, which says nothing of its agent as a whole.
const OF_SESSION: &str = "session";

/// What became of the work of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CaseLanding {
    /// When the first of it came to a branch of people.
    pub at: i64,
    /// Whether something of it was reverted, and no branch has kept that.
    pub is_reverted: bool,
}

/// What was found of the work of cases.
#[derive(Debug, Default)]
pub(super) struct CaseLandings {
    /// By commit.
    pub by_commit: BTreeMap<Oid, CaseLanding>,
    /// By agent, of its work as a whole.
    pub by_agent: BTreeMap<String, CaseLanding>,
}

impl CaseLanding {
    /// Joins it with that of other work of the case.
    pub fn joined(self, other: CaseLanding) -> CaseLanding {
        let is_reverted = self.is_reverted || other.is_reverted;
        CaseLanding { at: self.at.min(other.at), is_reverted }
    }
}

impl CaseLandings {
    /// Asks the rule.
    pub fn read(caller: &Caller<'_>, left_out: &mut Vec<String>) -> Result<CaseLandings, Refusal> {
        let rule = ShippedRules::find(RULE).expect("BUG: the rule of landed work ships");
        Ok(CaseLandings::of(ask(caller, rule.text, left_out)?))
    }

    fn of(answers: Vec<AnswerRows>) -> CaseLandings {
        let mut landings = CaseLandings::default();
        for row in answers.into_iter().flatten() {
            let [agent, commit, part, at, reverted] = row.as_slice() else { continue };
            let (Some(commit), Some(at)) = (oid(commit), number(at)) else { continue };
            let here = CaseLanding { at, is_reverted: number(reverted).is_some() };
            landings.by_commit.insert(commit, here);
            if text(part) != OF_SESSION {
                let known = landings.by_agent.entry(text(agent).to_owned()).or_insert(here);
                *known = known.joined(here);
            }
        }
        landings
    }
}
