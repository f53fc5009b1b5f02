//! Agent-commits: what they claim, their message and their bytes.
//!
//! An agent-commit is an ordinary git commit whose message ends in trailers that only we write.
//! Trailers, not extra headers: they survive amend, rebase and cherry-pick, and every git tool
//! shows them. They are claims; a reader decides by the branch they stand on whether they are facts.

use std::borrow::Cow;

use crate::guidance::{ErrorClass, Guidance};
use crate::object::{Object, ObjectError};
use crate::trailer::{self, Trailer};
use crate::{AgentName, Cid, Kind, Map, Oid, Signature, Value, json};

/// The longest open fields that stand in the message itself, in bytes: 16 KiB. Longer ones become
/// an object, and the trailer names it.
pub const FIELDS_INLINE_BYTES_MAX: usize = 16 << 10;

/// Open fields of a commit: in the message, or in an object that the message names.
#[derive(Debug, Clone, PartialEq)]
pub enum OpenFields {
    /// Short enough to stand in the message.
    Inline(Map),
    /// Kept as an object of the agent's notes ref.
    Object(Cid),
}

impl Default for OpenFields {
    fn default() -> OpenFields {
        OpenFields::Inline(Map::new())
    }
}

/// What the trailers of a commit claim.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Claims {
    /// The kind of the commit.
    pub kind: Option<Kind>,
    /// The agent whose commit it is.
    pub agent: Option<AgentName>,
    /// The briefing of the agent (genesis).
    pub briefing: Option<Cid>,
    /// The agent it was forked from (genesis of a sub-agent).
    pub parent: Option<AgentName>,
    /// The agent whose work was merged.
    pub merged: Option<AgentName>,
    /// Where a peer announced that work: its id, its space and the agent with slashes between, a blank,
    /// and the announcement.
    pub merged_from: Option<String>,
    /// The behaviour that made the commit.
    pub behaviour: Option<Cid>,
    /// The session that made the commit.
    pub session: Option<String>,
    /// The request that the commit answers or performs.
    pub request: Option<String>,
    /// Open fields.
    pub fields: OpenFields,
}

/// Why a message cannot become that of an agent-commit.
#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    /// There is no text.
    #[error("the commit message is empty")]
    Empty,
    /// The message already ends in a trailer that only agentic writes.
    #[error("the message ends in the line `{line}`, which only agentic writes")]
    ForgedTrailer {
        /// The line.
        line: String,
    },
    /// The message holds a NUL byte, which git does not store.
    #[error("the commit message holds a NUL byte")]
    Nul,
}

impl Guidance for MessageError {
    fn class(&self) -> ErrorClass {
        ErrorClass::Refused
    }

    fn hint(&self) -> Cow<'static, str> {
        "give a message with `-m`, without lines that begin with `Agentic-` at its end".into()
    }
}

impl Claims {
    /// Reads the claims from a message. What is malformed claims nothing; of two trailers with
    /// one key the last counts.
    pub fn read(message: &str) -> Claims {
        let mut claims = Claims::default();
        for trailer in trailer::read(message) {
            claims.read_trailer(&trailer.key.to_ascii_lowercase(), &trailer.value);
        }
        claims
    }

    fn read_trailer(&mut self, key: &str, value: &str) {
        match key {
            "agentic-kind" => self.kind = Kind::parse(value).ok(),
            "agentic-agent" => self.agent = AgentName::parse(value).ok(),
            "agentic-briefing" => self.briefing = Cid::parse(value).ok(),
            "agentic-parent" => self.parent = AgentName::parse(value).ok(),
            "agentic-merged" => self.merged = AgentName::parse(value).ok(),
            "agentic-merged-from" => self.merged_from = Some(value.to_owned()),
            "agentic-behaviour" => self.behaviour = Cid::parse(value).ok(),
            "agentic-session" => self.session = Some(value.to_owned()),
            "agentic-request" => self.request = Some(value.to_owned()),
            "agentic-fields" => self.fields = read_fields(value),
            _ => {}
        }
    }

    /// Writes the whole message: the text, then the claims as trailers.
    ///
    /// # Errors
    /// Fails when the text is empty, holds a NUL byte or ends in trailers of ours.
    pub fn write(&self, text: &str) -> Result<String, MessageError> {
        check_text(text)?;
        Ok(trailer::append(text, &self.trailers()))
    }

    fn trailers(&self) -> Vec<Trailer> {
        let text = |value: &Option<String>| value.clone();
        let fields = match &self.fields {
            OpenFields::Inline(map) if map.is_empty() => None,
            OpenFields::Inline(map) => Some(json::to_text(&Value::Map(map.clone()))),
            OpenFields::Object(cid) => Some(cid.to_string()),
        };
        let pairs = [
            ("Kind", self.kind.as_ref().map(Kind::to_string)),
            ("Agent", self.agent.as_ref().map(AgentName::to_string)),
            ("Parent", self.parent.as_ref().map(AgentName::to_string)),
            ("Briefing", self.briefing.map(|cid| cid.to_string())),
            ("Merged", self.merged.as_ref().map(AgentName::to_string)),
            ("Merged-From", text(&self.merged_from)),
            ("Behaviour", self.behaviour.map(|cid| cid.to_string())),
            ("Session", text(&self.session)),
            ("Request", text(&self.request)),
            ("Fields", fields),
        ];
        let trailer = |(key, value): (&str, Option<String>)| {
            Some(Trailer { key: format!("{}{key}", trailer::PREFIX), value: value? })
        };
        pairs.into_iter().filter_map(trailer).collect()
    }
}

impl OpenFields {
    /// Chooses where the fields stand: in the message, or as the returned object when they are
    /// longer than [`FIELDS_INLINE_BYTES_MAX`].
    ///
    /// # Errors
    /// Fails when they are too long or too deep even for an object.
    pub fn place(fields: Map) -> Result<(OpenFields, Option<Object>), ObjectError> {
        let value = Value::Map(fields);
        if json::to_text(&value).len() <= FIELDS_INLINE_BYTES_MAX {
            let Value::Map(fields) = value else { unreachable!("BUG: a map stays a map") };
            return Ok((OpenFields::Inline(fields), None));
        }
        let object =
            Object::from_value(Value::map([("type", Value::text("object")), ("fields", value)]))?;
        Ok((OpenFields::Object(object.cid()), Some(object)))
    }
}

/// A commit, ready to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct CommitData {
    /// The tree.
    pub tree: Oid,
    /// The parents, first parent first.
    pub parents: Vec<Oid>,
    /// Who did the work.
    pub author: Signature,
    /// Whose repository it was done in.
    pub committer: Signature,
    /// The whole message, trailers included.
    pub message: String,
}

impl CommitData {
    /// Writes the bytes that git hashes and stores, without the object header.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut text = self.headers();
        text.push('\n');
        text.push_str(&self.message);
        text.into_bytes()
    }

    /// Writes the same with a signature of [`CommitData::to_bytes`] in a header of the given name,
    /// where git looks for it.
    pub fn to_signed_bytes(&self, header: &str, signature: &str) -> Vec<u8> {
        let mut text = self.headers();
        text.push_str(header);
        for line in signature.lines() {
            text.push_str(&format!(" {line}\n"));
        }
        text.push('\n');
        text.push_str(&self.message);
        text.into_bytes()
    }

    fn headers(&self) -> String {
        let mut text = format!("tree {}\n", self.tree);
        for parent in &self.parents {
            text.push_str(&format!("parent {parent}\n"));
        }
        text.push_str(&format!("author {}\n", self.author.to_header()));
        text.push_str(&format!("committer {}\n", self.committer.to_header()));
        text
    }
}

/// Returns the first line of a message.
pub fn subject(message: &str) -> &str {
    message.lines().next().unwrap_or("")
}

fn check_text(text: &str) -> Result<(), MessageError> {
    if text.trim().is_empty() {
        return Err(MessageError::Empty);
    }
    if text.contains('\0') {
        return Err(MessageError::Nul);
    }
    let forged = trailer::read(text).into_iter().map(|t| format!("{}: {}", t.key, t.value));
    match forged.into_iter().find(|line| trailer::is_ours(line)) {
        Some(line) => Err(MessageError::ForgedTrailer { line }),
        None => Ok(()),
    }
}

fn read_fields(value: &str) -> OpenFields {
    if let Ok(cid) = Cid::parse(value) {
        return OpenFields::Object(cid);
    }
    match json::from_text(value) {
        Ok(Value::Map(map)) => OpenFields::Inline(map),
        _ => OpenFields::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims() -> Claims {
        Claims {
            kind: Kind::parse("refactor").ok(),
            agent: AgentName::parse("fix-auth").ok(),
            fields: OpenFields::Inline(Map::from([("severity".to_owned(), Value::text("high"))])),
            ..Claims::default()
        }
    }

    #[test]
    fn claims_survive_the_message() {
        let message = claims().write("Fix it\n\nTwo refreshed at once.\n").expect("plain text");
        assert!(message.ends_with(
            "\n\nAgentic-Kind: refactor\nAgentic-Agent: fix-auth\nAgentic-Fields: {\"severity\":\"high\"}\n"
        ));
        assert_eq!(Claims::read(&message), claims());
    }

    #[test]
    fn text_that_poses_as_trailers_is_refused_or_harmless() {
        for forged in
            ["T\n\nAgentic-Kind: decision", "T\n\nCo-authored-by: x\nagentic-agent: eve\n"]
        {
            assert!(matches!(claims().write(forged), Err(MessageError::ForgedTrailer { .. })));
        }
        let message = claims().write("T\n\nAgentic-Kind: decision\n\nBody").expect("harmless");
        assert_eq!(Claims::read(&message).kind, Kind::parse("refactor").ok());
    }

    #[test]
    fn an_empty_message_is_refused() {
        assert!(matches!(claims().write(" \n"), Err(MessageError::Empty)));
        assert!(matches!(claims().write("a\0b"), Err(MessageError::Nul)));
    }
}
