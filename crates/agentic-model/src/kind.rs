//! Kinds: the registered types of commits and objects, one tree under two roots.

use std::collections::BTreeMap;
use std::fmt;

use crate::object::{ObjectError, ObjectFields};
use crate::{Map, Object, Value};

/// The longest kind name, in bytes.
pub const KIND_NAME_BYTES_MAX: usize = 63;
/// How far `is_a` walks up; a longer chain can only be a cycle that somebody wrote by hand.
pub const KIND_ANCESTORS_MAX: usize = 64;

/// The root of all kinds of commits.
pub const AGENT_COMMIT: &str = "agent-commit";
/// The root of all types of objects.
pub const OBJECT: &str = "object";
/// The type of what a trial of two behaviours came to.
pub const TRIAL: &str = "trial";

/// The name of a kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(String);

/// A text that cannot name a kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` cannot name a kind: use up to 63 lower-case letters, digits and `-`, beginning with a letter"
)]
pub struct InvalidKind {
    /// The text as it was given.
    pub text: String,
}

impl Kind {
    /// Accepts a lower-case letter, then up to 62 lower-case letters, digits and `-`.
    ///
    /// # Errors
    /// Fails on any other text.
    pub fn parse(text: &str) -> Result<Kind, InvalidKind> {
        let valid = text.len() <= KIND_NAME_BYTES_MAX
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        if valid { Ok(Kind(text.to_owned())) } else { Err(InvalidKind { text: text.to_owned() }) }
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the root of all kinds of commits.
    pub fn agent_commit() -> Kind {
        Kind(AGENT_COMMIT.to_owned())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is registered about one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct KindEntry {
    /// Its name.
    pub name: Kind,
    /// The kind it specialises; nothing for the two roots.
    pub parent: Option<Kind>,
    /// One line for people.
    pub description: String,
    /// A JSON Schema for the open fields of such a commit or object, if there is one.
    pub schema: Option<Value>,
}

impl KindEntry {
    /// Turns the entry into the `type` object that is stored in the registry.
    ///
    /// # Errors
    /// Fails when the schema is too long or too deep for an object.
    pub fn to_object(&self) -> Result<Object, ObjectError> {
        let mut map = Map::from([
            ("type".to_owned(), Value::text("type")),
            ("name".to_owned(), Value::text(self.name.as_str())),
            ("description".to_owned(), Value::text(&self.description)),
        ]);
        if let Some(parent) = &self.parent {
            map.insert("parent".to_owned(), Value::text(parent.as_str()));
        }
        if let Some(schema) = &self.schema {
            map.insert("schema".to_owned(), schema.clone());
        }
        Object::new(map)
    }

    /// Reads the entry back from its object.
    ///
    /// # Errors
    /// Fails when a field is missing or has the wrong shape.
    pub fn from_object(object: &Object) -> Result<KindEntry, ObjectError> {
        let fields = ObjectFields { kind: "type", map: object.map() };
        let kind = |field: &'static str, text: &str| {
            Kind::parse(text).map_err(|_| fields.wrong(field, "the name of a kind"))
        };
        Ok(KindEntry {
            name: kind("name", fields.text("name")?)?,
            parent: fields.optional_text("parent")?.map(|text| kind("parent", text)).transpose()?,
            description: fields.optional_text("description")?.unwrap_or_default().to_owned(),
            schema: object.map().get("schema").cloned(),
        })
    }
}

/// All registered kinds.
#[derive(Debug, Clone)]
pub struct KindTree {
    entries: BTreeMap<Kind, KindEntry>,
}

/// Why a kind was not registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// The name is taken; registration only creates.
    #[error("the kind `{name}` is already registered")]
    Taken {
        /// The name.
        name: Kind,
    },
    /// The parent is not registered (a kind is never its own parent).
    #[error("the parent kind `{parent}` is not registered")]
    UnknownParent {
        /// The parent that was named.
        parent: Kind,
    },
    /// The entry names no parent; only the built-in roots have none.
    #[error("the kind `{name}` names no parent")]
    NoParent {
        /// The name.
        name: Kind,
    },
}

/// Built-in kinds: name, parent, description.
const BUILT_IN: &[(&str, &str, &str)] = &[
    (AGENT_COMMIT, "", "Any commit on an agent's branch"),
    ("spawn", AGENT_COMMIT, "The genesis of an agent"),
    ("finding", AGENT_COMMIT, "Something learned"),
    ("refactor", AGENT_COMMIT, "A change that keeps behaviour"),
    ("test", AGENT_COMMIT, "A change to tests"),
    ("session-merge", AGENT_COMMIT, "Another agent's work taken in"),
    ("decision", AGENT_COMMIT, "The answer to a hold"),
    ("behaviour-change", AGENT_COMMIT, "The agent has another behaviour from here on"),
    ("adoption", AGENT_COMMIT, "A name means another behaviour from here on"),
    (OBJECT, "", "Any typed object"),
    ("briefing", OBJECT, "What seeds an agent"),
    ("console-trace", OBJECT, "What an agent saw and said up to a commit"),
    ("behaviour", OBJECT, "A content-addressed skill: flow, plan or prompt"),
    ("behaviour-part", OBJECT, "A piece of a skill that is too long for one object"),
    ("edge", OBJECT, "An asserted or retracted relation between agents"),
    ("type", OBJECT, "A registered kind"),
    ("capability", OBJECT, "A permission that a peer holds here"),
    ("session-segment", OBJECT, "A sealed part of a session's journal"),
    ("plan", OBJECT, "A closed, valid graph of steps"),
    ("source-map", OBJECT, "Where the nodes of a plan stand in their source"),
    ("rules", OBJECT, "A rule file that queries use"),
    (TRIAL, OBJECT, "What a trial of two behaviours came to"),
    ("rewrite", OBJECT, "Commits that became another one"),
    (
        "picture",
        OBJECT,
        "A picture or document of a conversation, in which nobody looked for secrets",
    ),
    ("tombstone", OBJECT, "What was purged, and what stands in its place"),
];

impl KindTree {
    /// Returns the tree of the built-in kinds.
    pub fn built_in() -> KindTree {
        let entries = BUILT_IN.iter().map(|(name, parent, description)| {
            let name = Kind((*name).to_owned());
            let parent = (!parent.is_empty()).then(|| Kind((*parent).to_owned()));
            let description = (*description).to_owned();
            (name.clone(), KindEntry { name, parent, description, schema: None })
        });
        KindTree { entries: entries.collect() }
    }

    /// Makes a tree of entries that were all there is at some time, built-in ones too. They are taken as they are.
    pub fn of(entries: impl IntoIterator<Item = KindEntry>) -> KindTree {
        let entries = entries.into_iter().map(|entry| (entry.name.clone(), entry));
        KindTree { entries: entries.collect() }
    }

    /// Tells whether the kind is built in, so that nobody may register it.
    pub fn is_built_in(kind: &Kind) -> bool {
        BUILT_IN.iter().any(|(name, _, _)| *name == kind.as_str())
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// Fails when the name is taken or the parent is not registered yet; the tree is unchanged.
    pub fn register(&mut self, entry: KindEntry) -> Result<(), RegisterError> {
        if self.entries.contains_key(&entry.name) {
            return Err(RegisterError::Taken { name: entry.name });
        }
        let parent =
            entry.parent.clone().ok_or(RegisterError::NoParent { name: entry.name.clone() })?;
        if !self.entries.contains_key(&parent) {
            return Err(RegisterError::UnknownParent { parent });
        }
        self.entries.insert(entry.name.clone(), entry);
        Ok(())
    }

    /// Adds an entry as it was read from a registry that others may have written by hand: a
    /// missing parent or a cycle is tolerated here, because `is_a` is bounded.
    pub fn adopt(&mut self, entry: KindEntry) {
        self.entries.entry(entry.name.clone()).or_insert(entry);
    }

    /// Returns the entry of a kind, if it is registered.
    pub fn get(&self, kind: &Kind) -> Option<&KindEntry> {
        self.entries.get(kind)
    }

    /// Lists all entries by name.
    pub fn entries(&self) -> impl Iterator<Item = &KindEntry> {
        self.entries.values()
    }

    /// Lists the ancestors of a kind, itself first, at most [`KIND_ANCESTORS_MAX`] of them.
    pub fn ancestors<'a>(&'a self, kind: &'a Kind) -> impl Iterator<Item = &'a Kind> {
        let parent_of = |kind: &&'a Kind| self.entries.get(*kind)?.parent.as_ref();
        std::iter::successors(Some(kind), parent_of).take(KIND_ANCESTORS_MAX)
    }

    /// Tells whether `kind` is `ancestor` or a specialisation of it. Reflexive and transitive.
    pub fn is_a(&self, kind: &Kind, ancestor: &Kind) -> bool {
        self.ancestors(kind).any(|above| above == ancestor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str) -> Kind {
        Kind::parse(name).expect("the case names a kind")
    }

    fn entry(name: &str, parent: &str) -> KindEntry {
        KindEntry {
            name: kind(name),
            parent: Some(kind(parent)),
            description: String::new(),
            schema: None,
        }
    }

    #[test]
    fn is_a_is_reflexive_and_transitive() {
        let mut tree = KindTree::built_in();
        tree.register(entry("bug", "finding")).expect("the parent exists");
        tree.register(entry("race", "bug")).expect("the parent exists");
        assert!(tree.is_a(&kind("race"), &kind("race")));
        assert!(tree.is_a(&kind("race"), &kind("agent-commit")));
        assert!(!tree.is_a(&kind("finding"), &kind("race")));
        assert!(!tree.is_a(&kind("race"), &kind("object")));
    }

    #[test]
    fn registration_only_creates_and_checks_the_parent() {
        let mut tree = KindTree::built_in();
        assert_eq!(
            tree.register(entry("finding", "test")),
            Err(RegisterError::Taken { name: kind("finding") })
        );
        assert_eq!(
            tree.register(entry("own", "own")),
            Err(RegisterError::UnknownParent { parent: kind("own") })
        );
    }

    #[test]
    fn a_cycle_written_by_hand_ends() {
        let mut tree = KindTree::built_in();
        tree.adopt(entry("a", "b"));
        tree.adopt(entry("b", "a"));
        assert!(!tree.is_a(&kind("a"), &kind("agent-commit")));
    }
}
