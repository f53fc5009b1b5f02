//! Which traces have an entry that tells something by its form. Few have, and that never changes: a
//! cache names, for each agent, the state of the notes that was looked at, the traces in it that tell
//! something and those that do not.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{Cid, Oid, Value};

use super::cache;
use crate::SessionSpace;

/// The name of the cache.
const NAME: &str = "telling";

/// Which traces of agents tell something, by what questions call the agents.
pub(super) struct TellingTraces {
    agents: BTreeMap<String, LookedNotes>,
    is_new: bool,
}

/// What was found in one state of the notes of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LookedNotes {
    /// The state.
    pub(super) tip: Option<Oid>,
    /// The traces that tell something.
    pub(super) telling: BTreeSet<Cid>,
    /// Those that do not.
    pub(super) silent: BTreeSet<Cid>,
}

impl TellingTraces {
    /// Reads what is known.
    pub(super) fn read(space: &SessionSpace) -> TellingTraces {
        let known = cache::read(space, NAME);
        let agents = known.as_ref().and_then(|known| {
            let looked = |(agent, looked): (&String, &Value)| {
                Some((agent.clone(), LookedNotes::of_value(looked)?))
            };
            known.as_map()?.iter().map(looked).collect()
        });
        TellingTraces { agents: agents.unwrap_or_default(), is_new: false }
    }

    /// Returns what is known of an agent.
    pub(super) fn of(&self, agent: &str) -> LookedNotes {
        self.agents.get(agent).cloned().unwrap_or_default()
    }

    /// Takes in what was found.
    pub(super) fn keep(&mut self, agent: String, looked: LookedNotes) {
        if self.agents.get(&agent) != Some(&looked) {
            self.is_new = true;
            self.agents.insert(agent, looked);
        }
    }

    /// Writes what is known, if that is more than before.
    pub(super) fn write(self, space: &SessionSpace) {
        if self.is_new {
            let agents = self.agents.iter();
            let agents = agents.map(|(agent, looked)| (agent.clone(), looked.to_value()));
            cache::write(space, NAME, &Value::Map(agents.collect()));
        }
    }
}

impl LookedNotes {
    fn to_value(&self) -> Value {
        let links =
            |cids: &BTreeSet<Cid>| Value::List(cids.iter().copied().map(Value::Link).collect());
        let tip = self.tip.map_or(Value::Null, |tip| Value::Bytes(tip.as_bytes().to_vec()));
        Value::List(vec![tip, links(&self.telling), links(&self.silent)])
    }

    fn of_value(value: &Value) -> Option<LookedNotes> {
        let [tip, telling, silent] = value.as_list()? else { return None };
        let links = |value: &Value| -> Option<BTreeSet<Cid>> {
            value.as_list()?.iter().map(Value::as_link).collect()
        };
        Some(LookedNotes {
            tip: tip.as_bytes().and_then(|tip| Oid::from_bytes(tip).ok()),
            telling: links(telling)?,
            silent: links(silent)?,
        })
    }
}
