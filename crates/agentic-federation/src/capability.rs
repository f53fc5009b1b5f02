//! Capabilities: what a peer may do here, as an object.

use std::fmt;

use agentic_model::{Cid, Kind, Value};

use crate::fields::{MalformedInput, ObjectReader, decode_map, encode_typed, optional};
use crate::id::PeerId;

/// The type of the object.
const TYPE: &str = "capability";
/// How deep a right may be given on.
pub const DELEGATE_MAX: u64 = 3;
/// The longest capability that is read, in bytes.
pub const CAPABILITY_BYTES_MAX: usize = 64 << 10;
/// How many kinds, triggers or patterns one may name.
const NAMES_MAX: usize = 256;

/// What a peer may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TriggerName {
    /// A new agent is believed.
    Spawn,
    /// A head moves.
    HeadMove,
    /// Work is merged into an agent here.
    Merge,
    /// Notes move.
    Trace,
    /// A hold is decided.
    Decide,
    /// A relation becomes a fact.
    Relate,
    /// A behaviour is adopted.
    BehaviourAdopt,
    /// A kind is adopted.
    TypeDefine,
}

/// Whether something runs here without a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TriggerForce {
    /// It is stored and shown.
    Shown,
    /// It may make something run.
    Runs,
}

/// What a peer may do, and whether something runs of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PeerTrigger {
    /// What.
    pub name: TriggerName,
    /// Whether it runs.
    pub force: TriggerForce,
}

/// A permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capability {
    /// The project.
    pub project: Cid,
    /// Who gives it.
    pub issuer: PeerId,
    /// Who has it.
    pub peer: PeerId,
    /// For which kinds, and those below them.
    pub kinds: Vec<Kind>,
    /// For what.
    pub triggers: Vec<PeerTrigger>,
    /// For which agents, as patterns; all without.
    pub agents: Option<Vec<String>>,
    /// From when on, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Until when.
    pub until: Option<i64>,
    /// How often it may be given on.
    pub delegate: u64,
    /// What it was given on from.
    pub parent: Option<Cid>,
    /// What makes it another one than any that says the same.
    pub nonce: Vec<u8>,
}

impl TriggerName {
    /// All of them.
    pub const ALL: [TriggerName; 8] = [
        TriggerName::Spawn,
        TriggerName::HeadMove,
        TriggerName::Merge,
        TriggerName::Trace,
        TriggerName::Decide,
        TriggerName::Relate,
        TriggerName::BehaviourAdopt,
        TriggerName::TypeDefine,
    ];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            TriggerName::Spawn => "spawn",
            TriggerName::HeadMove => "head-move",
            TriggerName::Merge => "merge",
            TriggerName::Trace => "trace",
            TriggerName::Decide => "decide",
            TriggerName::Relate => "relate",
            TriggerName::BehaviourAdopt => "behaviour-adopt",
            TriggerName::TypeDefine => "type-define",
        }
    }

    /// Tells whether something can run of it.
    fn can_run(self) -> bool {
        match self {
            TriggerName::HeadMove
            | TriggerName::Merge
            | TriggerName::Decide
            | TriggerName::BehaviourAdopt => true,
            TriggerName::Spawn
            | TriggerName::Trace
            | TriggerName::Relate
            | TriggerName::TypeDefine => false,
        }
    }

    /// Returns it without anything running of it.
    pub fn shown(self) -> PeerTrigger {
        PeerTrigger { name: self, force: TriggerForce::Shown }
    }
}

impl PeerTrigger {
    /// Reads a word, with `!` where something runs of it.
    ///
    /// # Errors
    /// Fails on any other word.
    pub fn parse(text: &str) -> Result<PeerTrigger, MalformedInput> {
        let (word, force) = match text.strip_suffix('!') {
            Some(word) => (word, TriggerForce::Runs),
            None => (text, TriggerForce::Shown),
        };
        let name = TriggerName::ALL.into_iter().find(|name| name.as_str() == word);
        let name = name.filter(|name| force == TriggerForce::Shown || name.can_run());
        match name {
            Some(name) => Ok(PeerTrigger { name, force }),
            None => Err(MalformedInput(format!("`{text}` is no trigger"))),
        }
    }

    /// Tells whether one who may do this may do the other.
    pub fn includes(self, other: PeerTrigger) -> bool {
        self.name == other.name && self.force >= other.force
    }
}

impl fmt::Display for PeerTrigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.force {
            TriggerForce::Shown => "",
            TriggerForce::Runs => "!",
        };
        write!(f, "{}{mark}", self.name.as_str())
    }
}

impl Capability {
    /// Returns the bytes of the object.
    pub fn to_bytes(&self) -> Vec<u8> {
        let texts = |texts: Vec<String>| Value::List(texts.into_iter().map(Value::Text).collect());
        let mut fields = vec![
            ("project", Value::Link(self.project)),
            ("issuer", Value::Link(self.issuer.0)),
            ("peer", Value::Link(self.peer.0)),
            ("kinds", texts(self.kinds.iter().map(ToString::to_string).collect())),
            ("triggers", texts(self.triggers.iter().map(ToString::to_string).collect())),
            ("since", optional(self.since, Value::Int)),
            ("until", optional(self.until, Value::Int)),
            ("delegate", Value::Int(self.delegate as i64)),
            ("parent", optional(self.parent, Value::Link)),
            ("nonce", Value::Bytes(self.nonce.clone())),
        ];
        if let Some(agents) = &self.agents {
            fields.push(("agents", texts(agents.clone())));
        }
        encode_typed(TYPE, fields)
    }

    /// Reads the object. One without `v`, as an earlier schema has it, grants nothing and is none.
    ///
    /// # Errors
    /// Fails when the bytes are no capability.
    pub fn decode(bytes: &[u8]) -> Result<Capability, MalformedInput> {
        if bytes.len() > CAPABILITY_BYTES_MAX {
            return Err(MalformedInput::new("a capability is too long"));
        }
        let map = decode_map(TYPE, bytes)?;
        let fields = ObjectReader::typed(TYPE, &map)?;
        let (kinds, triggers) = (fields.texts("kinds")?, fields.texts("triggers")?);
        let kinds: Result<Vec<Kind>, _> = kinds.iter().map(|kind| Kind::parse(kind)).collect();
        let triggers: Result<Vec<_>, _> =
            triggers.iter().map(|trigger| PeerTrigger::parse(trigger)).collect();
        let agents = match map.get("agents") {
            None | Some(Value::Null) => None,
            Some(_) => Some(fields.texts("agents")?),
        };
        let capability = Capability {
            project: fields.link("project")?,
            issuer: PeerId(fields.link("issuer")?),
            peer: PeerId(fields.link("peer")?),
            kinds: kinds.map_err(|_| fields.wrong("kinds"))?,
            triggers: triggers?,
            agents,
            since: fields.optional_int("since")?,
            until: fields.optional_int("until")?,
            delegate: fields.count("delegate")?,
            parent: fields.optional_link("parent")?,
            nonce: fields.bytes("nonce")?.to_vec(),
        };
        let n_agents = capability.agents.as_ref().map_or(0, Vec::len);
        let longest = capability.kinds.len().max(capability.triggers.len()).max(n_agents);
        match capability.delegate <= DELEGATE_MAX && longest <= NAMES_MAX {
            true => Ok(capability),
            false => Err(fields.wrong("delegate")),
        }
    }

    /// Returns its id.
    pub fn cid(&self) -> Cid {
        Cid::of(&self.to_bytes())
    }

    /// Tells whether it is one that a peer gave by itself, not on.
    pub fn is_root_of(&self, issuer: PeerId) -> bool {
        self.parent.is_none() && self.issuer == issuer
    }

    /// Tells whether it counts at an instant.
    pub fn is_live_at(&self, now: i64) -> bool {
        self.since.is_none_or(|since| since <= now) && self.until.is_none_or(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_run_has_a_mark() {
        for (text, is_trigger) in [
            ("spawn", true),
            ("spawn!", false),
            ("head-move!", true),
            ("merge!", true),
            ("decide!", true),
            ("behaviour-adopt!", true),
            ("trace!", false),
            ("relate!", false),
            ("type-define!", false),
            ("decide!!", false),
            ("", false),
            ("!", false),
        ] {
            let read = PeerTrigger::parse(text);
            assert_eq!(read.is_ok(), is_trigger, "{text}");
            if let Ok(trigger) = read {
                assert_eq!(trigger.to_string(), text);
            }
        }
    }

    #[test]
    fn what_runs_includes_what_is_shown() {
        let read = |text: &str| PeerTrigger::parse(text).expect("a trigger");
        assert!(read("decide!").includes(read("decide")));
        assert!(!read("decide").includes(read("decide!")));
        assert!(!read("merge!").includes(read("decide")));
    }

    #[test]
    fn a_capability_reads_back_and_the_old_form_is_none() {
        let capability = Capability {
            project: Cid::of(b"project"),
            issuer: PeerId(Cid::of(b"ada")),
            peer: PeerId(Cid::of(b"bob")),
            kinds: vec![Kind::agent_commit()],
            triggers: vec![TriggerName::Spawn.shown()],
            agents: Some(vec!["fix-*".to_owned()]),
            since: None,
            until: Some(1),
            delegate: 1,
            parent: None,
            nonce: vec![7; 16],
        };
        let bytes = capability.to_bytes();
        assert_eq!(Capability::decode(&bytes), Ok(capability.clone()));
        assert!(capability.is_live_at(0) && !capability.is_live_at(1));
        let deep = Capability { delegate: 4, ..capability };
        assert!(Capability::decode(&deep.to_bytes()).is_err());
        let old = Value::map([
            ("type", Value::text("capability")),
            ("peer", Value::text("bob")),
            ("kind", Value::text("agent-commit")),
            ("transition", Value::text("spawn")),
        ]);
        assert!(Capability::decode(&crate::fields::encode(&old)).is_err());
    }
}
