//! Edges: relations that somebody asserted or retracted, one event an object.

use std::fmt;

use crate::object::{ObjectError, ObjectFields};
use crate::{AgentName, Instant, Kind, Map, Object, Value};

/// One end of an edge: an agent, or a person written `user:<name>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Party {
    /// An agent of this or another space.
    Agent(AgentName),
    /// A person.
    User(String),
    /// A branch that no agent owns, such as `main`.
    Branch(String),
}

impl Party {
    /// Parses `alice`, `user:bob` or `branch:main`.
    ///
    /// # Errors
    /// Fails on an invalid agent name and on an empty or multi-line user or branch.
    pub fn parse(text: &str) -> Result<Party, crate::InvalidName> {
        let rest_of = |prefix: &str| {
            let rest = text.strip_prefix(prefix)?;
            let valid = !rest.is_empty() && !rest.chars().any(char::is_control);
            valid.then(|| rest.to_owned())
        };
        if let Some(user) = rest_of("user:") {
            return Ok(Party::User(user));
        }
        if let Some(branch) = rest_of("branch:") {
            return Ok(Party::Branch(branch));
        }
        AgentName::parse(text).map(Party::Agent)
    }

    /// Returns the agent, if this end is one.
    pub fn agent(&self) -> Option<&AgentName> {
        match self {
            Party::Agent(agent) => Some(agent),
            Party::User(_) | Party::Branch(_) => None,
        }
    }
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Party::Agent(agent) => write!(f, "{agent}"),
            Party::User(name) => write!(f, "user:{name}"),
            Party::Branch(name) => write!(f, "branch:{name}"),
        }
    }
}

/// Whether an edge event makes the relation hold or ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeEvent {
    /// The relation holds from now on.
    Assert,
    /// The relation no longer holds.
    Retract,
}

/// One event: `source` asserts or retracts `relation` to `target`.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// Who relates.
    pub source: Party,
    /// The name of the relation, such as `reviews`.
    pub relation: Kind,
    /// To whom.
    pub target: Party,
    /// Whether the relation begins or ends.
    pub event: EdgeEvent,
    /// When; of two events about the same relation the later one counts.
    pub at: Instant,
    /// Any further fields, kept as they are.
    pub fields: Map,
}

const OWN_FIELDS: [&str; 6] = ["type", "source", "relation", "target", "event", "at"];

impl Edge {
    /// Turns the event into its object.
    ///
    /// # Errors
    /// Fails when the open fields are too long or too deep.
    pub fn to_object(&self) -> Result<Object, ObjectError> {
        let event = match self.event {
            EdgeEvent::Assert => "assert",
            EdgeEvent::Retract => "retract",
        };
        let mut map = self.fields.clone();
        map.extend([
            ("type".to_owned(), Value::text("edge")),
            ("source".to_owned(), Value::text(self.source.to_string())),
            ("relation".to_owned(), Value::text(self.relation.as_str())),
            ("target".to_owned(), Value::text(self.target.to_string())),
            ("event".to_owned(), Value::text(event)),
            ("at".to_owned(), Value::Int(self.at.millis())),
        ]);
        Object::new(map)
    }

    /// Reads the event from its object.
    ///
    /// # Errors
    /// Fails when a field is missing or has the wrong shape.
    pub fn from_object(object: &Object) -> Result<Edge, ObjectError> {
        let fields = ObjectFields { kind: "edge", map: object.map() };
        let party = |field: &'static str| {
            Party::parse(fields.text(field)?).map_err(|_| fields.wrong(field, "an agent or a user"))
        };
        let event = match fields.text("event")? {
            "assert" => EdgeEvent::Assert,
            "retract" => EdgeEvent::Retract,
            _ => return Err(fields.wrong("event", "`assert` or `retract`")),
        };
        let rest = object.map().iter().filter(|(key, _)| !OWN_FIELDS.contains(&key.as_str()));
        Ok(Edge {
            source: party("source")?,
            relation: Kind::parse(fields.text("relation")?)
                .map_err(|_| fields.wrong("relation", "the name of a relation"))?,
            target: party("target")?,
            event,
            at: Instant::from_millis(fields.int("at")?),
            fields: rest.map(|(key, item)| (key.clone(), item.clone())).collect(),
        })
    }
}
