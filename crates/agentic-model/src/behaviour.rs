//! Behaviours: skill as content. What a session pins is one; so is a prompt.
//!
//! Name, parents, note and origin are not in the object: they would give one skill several ids. They
//! stand in the library, as what is told [`about`](AboutBehaviour) it.

mod about;
mod news;
mod prompt;
mod proposal;

use std::collections::BTreeMap;

pub use self::about::{ABOUT_BYTES_MAX, ABOUT_LINKS_MAX, AboutBehaviour, InvalidAbout};
pub use self::news::{BehaviourNews, news};
pub use self::prompt::{PromptFault, check_prompt, fill_prompt};
pub use self::proposal::{BehaviourProposal, PROPOSAL_GROWTH, ProposalFault};
use crate::object::{ObjectError, ObjectFields};
use crate::{Cid, Map, Object, Value};

/// The type of the object.
pub const BEHAVIOUR: &str = "behaviour";
/// The type of a piece of one that is too long for an object.
pub const BEHAVIOUR_PART: &str = "behaviour-part";
/// The kind of commits that give an agent another behaviour.
pub const BEHAVIOUR_CHANGE: &str = "behaviour-change";
/// The kind of commits of the library that move a name.
pub const ADOPTION: &str = "adoption";
/// The word for prompts in the field `kind`.
const PROMPT: &str = "prompt";
/// The effects that a behaviour may always be granted: they stay inside the space.
const ALWAYS_ALLOWED: [&str; 2] = ["commit", "spawn"];
/// The word that stands for all kinds of effects.
const EVERYTHING: &str = "*";

/// What a behaviour is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BehaviourForm {
    /// A program that a session runs.
    Flow,
    /// Instructions for whoever works.
    Prompt,
}

impl BehaviourForm {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            BehaviourForm::Flow => "flow",
            BehaviourForm::Prompt => PROMPT,
        }
    }

    /// Finds the form of a word.
    pub fn parse(word: &str) -> Option<BehaviourForm> {
        [BehaviourForm::Flow, BehaviourForm::Prompt].into_iter().find(|form| form.word() == word)
    }
}

/// A behaviour, as its object tells it. Fields that nobody knows stay in the object and count.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredBehaviour {
    /// What it is made of.
    pub form: BehaviourForm,
    /// The language of a flow.
    pub language: Option<String>,
    /// The text, where the object itself has it as one.
    pub source: Option<String>,
    /// The flows that it imports, by the names that it has for them.
    pub modules: BTreeMap<String, Cid>,
    /// The kinds of effects that it may be granted at most; nothing where that is not limited.
    pub allow: Option<Vec<String>>,
}

impl StoredBehaviour {
    /// Makes the object of a prompt.
    ///
    /// # Errors
    /// Fails when it is too long.
    pub fn prompt(source: &str) -> Result<Object, ObjectError> {
        Object::new(Map::from([
            ("type".to_owned(), Value::text(BEHAVIOUR)),
            ("kind".to_owned(), Value::text(PROMPT)),
            ("source".to_owned(), Value::text(source)),
        ]))
    }

    /// Reads a behaviour from its object.
    ///
    /// # Errors
    /// Fails when it is of another type, and when a field has the wrong shape.
    pub fn from_object(object: &Object) -> Result<StoredBehaviour, ObjectError> {
        let fields = ObjectFields { kind: BEHAVIOUR, map: object.map() };
        if object.kind().as_str() != BEHAVIOUR {
            return Err(fields.wrong("type", "`behaviour`"));
        }
        let form = match fields.optional_text("kind")? {
            None => BehaviourForm::Flow,
            Some(PROMPT) => BehaviourForm::Prompt,
            Some(_) => return Err(fields.wrong("kind", "`prompt`, or left out for a flow")),
        };
        let source = match object.map().get("source") {
            Some(Value::Text(text)) => Some(text.clone()),
            // A long program is kept in pieces.
            Some(Value::List(_)) | None if form == BehaviourForm::Flow => None,
            Some(_) | None => return Err(fields.wrong("source", "text")),
        };
        Ok(StoredBehaviour {
            form,
            language: fields.optional_text("language")?.map(str::to_owned),
            source,
            modules: read_modules(&fields)?,
            allow: read_allow(&fields)?,
        })
    }

    /// Finds the first kind of effect that it may not be granted.
    pub fn beyond<'k>(&self, granted: &'k [String]) -> Option<&'k str> {
        let Some(allow) = &self.allow else { return None };
        let covers = |kind: &str| {
            ALWAYS_ALLOWED.contains(&kind)
                || allow.iter().any(|allowed| allowed == kind || allowed == EVERYTHING)
        };
        granted.iter().map(String::as_str).find(|kind| !covers(kind))
    }
}

fn read_modules(fields: &ObjectFields<'_>) -> Result<BTreeMap<String, Cid>, ObjectError> {
    let wrong = || fields.wrong("modules", "a map from names to ids");
    let map = match fields.map.get("modules") {
        None | Some(Value::Null) => return Ok(BTreeMap::new()),
        Some(value) => value.as_map().ok_or_else(wrong)?,
    };
    let module = |(name, value): (&String, &Value)| {
        let cid = value.as_link().or_else(|| Cid::parse(value.as_text()?).ok());
        Ok((name.clone(), cid.ok_or_else(wrong)?))
    };
    map.iter().map(module).collect()
}

fn read_allow(fields: &ObjectFields<'_>) -> Result<Option<Vec<String>>, ObjectError> {
    let wrong = || fields.wrong("allow", "a list of kinds of effects");
    let list = match fields.map.get("allow") {
        None | Some(Value::Null) => return Ok(None),
        Some(value) => value.as_list().ok_or_else(wrong)?,
    };
    let kind = |value: &Value| value.as_text().map(str::to_owned).ok_or_else(wrong);
    list.iter().map(kind).collect::<Result<_, _>>().map(Some)
}

#[cfg(test)]
mod tests;
