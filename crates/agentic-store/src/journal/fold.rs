//! Agents that leave their refs for the archive, or come back from it, as part of a transaction.

use agentic_model::{AgentName, Oid, Value};

use super::record::oid_or_null;
use crate::{Error, Result};

/// An agent with the places of its two refs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedAgent {
    /// The agent.
    pub agent: AgentName,
    /// Where its branch is, or was.
    pub head: Oid,
    /// Where its notes are, or were; nothing if it has none.
    pub notes: Option<Oid>,
}

/// What a write does with refs that the archive keeps instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefFold {
    /// The branches and notes of these agents go, once the archive has them.
    Away(Vec<ArchivedAgent>),
    /// The notes of this agent come back, once its branch has.
    Back(ArchivedAgent),
}

impl RefFold {
    /// Returns the agents that it is about.
    pub fn agents(&self) -> &[ArchivedAgent] {
        match self {
            RefFold::Away(agents) => agents,
            RefFold::Back(agent) => std::slice::from_ref(agent),
        }
    }

    pub(super) fn to_value(&self) -> Value {
        let oid = |oid: Oid| Value::Bytes(oid.as_bytes().to_vec());
        let mut items = vec![Value::text(match self {
            RefFold::Away(_) => "away",
            RefFold::Back(_) => "back",
        })];
        items.extend(self.agents().iter().map(|one| {
            let notes = one.notes.map_or(Value::Null, oid);
            Value::List(vec![Value::text(one.agent.as_str()), oid(one.head), notes])
        }));
        Value::List(items)
    }

    pub(super) fn from_value(value: &Value) -> Result<RefFold> {
        let [way, agents @ ..] = value.as_list().unwrap_or_default() else {
            return Err(damaged());
        };
        let mut agents = agents.iter().map(read_archived).collect::<Result<Vec<_>>>()?;
        match (way.as_text(), agents.len()) {
            (Some("away"), _) => Ok(RefFold::Away(agents)),
            (Some("back"), 1) => Ok(RefFold::Back(agents.remove(0))),
            _ => Err(damaged()),
        }
    }
}

fn read_archived(value: &Value) -> Result<ArchivedAgent> {
    let [name, head, notes] = value.as_list().unwrap_or_default() else { return Err(damaged()) };
    let agent = name.as_text().and_then(|name| AgentName::parse(name).ok());
    Ok(ArchivedAgent {
        agent: agent.ok_or_else(damaged)?,
        head: oid_or_null(head)?.ok_or_else(damaged)?,
        notes: oid_or_null(notes)?,
    })
}

fn damaged() -> Error {
    Error::corrupt("a transaction record", "its archived agents are missing or wrong")
}
