//! When the work of cases came to branches of people, and whether it stayed there.

use std::collections::BTreeMap;

use agentic_model::Oid;
use agentic_space::facts::FoundLandings;

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
    /// By agent, of work that was found by its content.
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
    /// Puts together what was found.
    pub fn of(found: &FoundLandings) -> CaseLandings {
        let mut landings = CaseLandings::default();
        let mut agents: BTreeMap<Oid, &String> = BTreeMap::new();
        for landed in &found.landed {
            let here =
                CaseLanding { at: landed.at.millis(), is_reverted: landed.reverted.is_some() };
            agents.extend(landed.agent.as_ref().map(|agent| (landed.commit, agent)));
            // What one branch has kept was not reverted.
            landings
                .by_commit
                .entry(landed.commit)
                .and_modify(|known| {
                    let is_reverted = known.is_reverted && here.is_reverted;
                    *known = CaseLanding { at: known.at.min(here.at), is_reverted };
                })
                .or_insert(here);
        }
        for (commit, agent) in agents {
            let Some(landing) = landings.by_commit.get(&commit).copied() else { continue };
            let known = landings.by_agent.entry(agent.clone()).or_insert(landing);
            *known = known.joined(landing);
        }
        landings
    }
}
