//! A version of a behaviour that somebody proposes who is not trusted, such as a model that has read what
//! others wrote. It changes the text, and nothing else.

use super::{StoredBehaviour, read_allow};
use crate::hidden::is_hidden;
use crate::object::{ObjectError, ObjectFields};
use crate::{Object, Value};

/// How much longer a proposal may be: so many parts of two.
pub const PROPOSAL_GROWTH: usize = 3;

/// A proposal: another text for a behaviour, which may be granted less.
#[derive(Debug, Clone, Copy)]
pub struct BehaviourProposal<'p> {
    /// The behaviour.
    pub base: &'p Object,
    /// The new text.
    pub source: &'p str,
    /// The kinds of effects that it may be granted at most; those of the behaviour without.
    pub allow: Option<&'p [String]>,
}

/// Why a proposal is none.
#[derive(Debug, thiserror::Error)]
pub enum ProposalFault {
    /// The behaviour has no text of its own.
    #[error("the behaviour has no text that could be changed")]
    NoSource,
    /// Nothing is changed.
    #[error("the proposal is what is there already")]
    Same,
    /// It is too long.
    #[error(
        "the proposal has {bytes} bytes, and at most one and a half times as much as before may be proposed: {max}"
    )]
    TooLong {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        max: usize,
    },
    /// A reader would not see all of it.
    #[error("line {line} of the proposal has the character U+{code:04X}, which nobody sees")]
    Hidden {
        /// The line, from 1.
        line: usize,
        /// The character.
        code: u32,
    },
    /// It wants more than the behaviour.
    #[error("the proposal would allow `{kind}`, and the behaviour does not")]
    Wider {
        /// The kind of effect.
        kind: String,
    },
    /// It is no object.
    #[error(transparent)]
    Object(#[from] ObjectError),
}

impl BehaviourProposal<'_> {
    /// Makes the object of the proposed version. All fields but the text and what is allowed stay.
    ///
    /// # Errors
    /// Fails when it is longer, hides something, may do more, or changes nothing.
    pub fn object(&self) -> Result<Object, ProposalFault> {
        let read = StoredBehaviour::from_object(self.base)?;
        let before = read.source.as_deref().ok_or(ProposalFault::NoSource)?;
        let (bytes, max) = (self.source.len(), before.len() * PROPOSAL_GROWTH / 2);
        if bytes > max {
            return Err(ProposalFault::TooLong { bytes, max });
        }
        if let Some((line, code)) = first_hidden(self.source) {
            return Err(ProposalFault::Hidden { line, code });
        }
        let mut map = self.base.map().clone();
        map.insert("source".to_owned(), Value::text(self.source));
        if let Some(allow) = self.allow {
            if let Some(kind) = read.beyond(allow) {
                return Err(ProposalFault::Wider { kind: kind.to_owned() });
            }
            // `*` covers all kinds, and no list of kinds covers it.
            let is_wide = allow.iter().any(|kind| kind == super::EVERYTHING);
            let was_wide = read_allow(&ObjectFields { kind: super::BEHAVIOUR, map: &map })?
                .is_none_or(|before| before.iter().any(|kind| kind == super::EVERYTHING));
            if is_wide && !was_wide {
                return Err(ProposalFault::Wider { kind: super::EVERYTHING.to_owned() });
            }
            let kinds: std::collections::BTreeSet<&String> = allow.iter().collect();
            let kinds = kinds.into_iter().map(Value::text).collect();
            map.insert("allow".to_owned(), Value::List(kinds));
        }
        let object = Object::new(map)?;
        if object.cid() == self.base.cid() { Err(ProposalFault::Same) } else { Ok(object) }
    }
}

/// Finds the first character that a reader would not see, by line.
fn first_hidden(text: &str) -> Option<(usize, u32)> {
    let mut line = 1;
    for c in text.chars() {
        match c {
            '\n' => line += 1,
            '\t' => {}
            c if is_hidden(c) => return Some((line, u32::from(c))),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Map;

    fn base(allow: Option<&[&str]>) -> Object {
        let mut map = Map::from([
            ("type".to_owned(), Value::text("behaviour")),
            ("language".to_owned(), Value::text("rhai")),
            ("source".to_owned(), Value::text("let a = 1; a")),
            ("later".to_owned(), Value::text("stays")),
        ]);
        if let Some(allow) = allow {
            let kinds = allow.iter().map(|kind| Value::text(*kind)).collect();
            map.insert("allow".to_owned(), Value::List(kinds));
        }
        Object::new(map).expect("an object")
    }

    fn check(allowed: Option<&[&str]>, source: &str, wanted: Option<&[&str]>, expected: &str) {
        let base = base(allowed);
        let wanted: Option<Vec<String>> =
            wanted.map(|kinds| kinds.iter().map(|kind| (*kind).to_owned()).collect());
        let proposal = BehaviourProposal { base: &base, source, allow: wanted.as_deref() };
        let told = match proposal.object() {
            Ok(object) => crate::json::to_text(&Value::Map(object.map().clone())),
            Err(fault) => fault.to_string(),
        };
        assert!(told.contains(expected), "{source:?}: {told}");
    }

    #[test]
    fn a_proposal_changes_the_text_and_nothing_else() {
        check(None, "let a = 2; a", None, r#""later":"stays""#);
        check(None, "let a = 2; a", None, r#""source":"let a = 2; a""#);
        check(None, "let a = 1; a", None, "is there already");
    }

    #[test]
    fn a_proposal_is_at_most_half_as_long_again() {
        check(None, "let a = 1; a+12345", None, r#"a+12345""#);
        check(None, "let a = 1; a+123456", None, "has 19 bytes");
    }

    #[test]
    fn what_nobody_sees_is_refused() {
        check(None, "let\ta;\n\u{202e}a", None, "line 2 of the proposal has the character U+202E");
        check(None, "a\u{200b}", None, "U+200B");
        check(None, "a\r", None, "U+000D");
        check(None, "\u{e0041}", None, "U+E0041");
    }

    #[test]
    fn what_is_allowed_only_shrinks() {
        check(Some(&["exec", "model"]), "a", Some(&["exec"]), r#""allow":["exec"]"#);
        check(Some(&["exec"]), "a", Some(&["exec", "http"]), "would allow `http`");
        check(Some(&["exec"]), "a", Some(&["*"]), "would allow `*`");
        check(Some(&["*"]), "a", Some(&["exec"]), r#""allow":["exec"]"#);
        check(None, "a", Some(&[]), r#""allow":[]"#);
        check(None, "a", Some(&["*"]), r#""allow":["*"]"#);
        check(Some(&["exec"]), "a", None, r#""allow":["exec"]"#);
    }
}
