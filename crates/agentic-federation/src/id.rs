//! Who is meant: peers, spaces, and the names that people give to peers.

use std::fmt;

use agentic_model::{Cid, Value};

/// How many bytes name a space.
pub const SPACE_BYTES: usize = 16;
/// How many characters of a space's id stand for a nick that is taken.
const SHORT_SPACE_CHARS: usize = 6;
/// The longest petname or nick, in characters.
const PETNAME_CHARS_MAX: usize = 32;
/// The name that stands for this peer itself.
pub const SELF: &str = "self";

/// A peer: the id of document 0 of its identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId(pub Cid);

/// A space: one repository of a peer's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpaceId(pub [u8; SPACE_BYTES]);

/// The name that somebody gives to a peer here.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Petname(String);

/// A text that names no peer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` cannot name a peer")]
pub struct InvalidPetname {
    /// The text as it was given.
    pub text: String,
}

impl PeerId {
    /// Reads the printed id.
    pub fn parse(text: &str) -> Option<PeerId> {
        Cid::parse(text).ok().map(PeerId)
    }
}

impl fmt::Display for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl SpaceId {
    /// Reads 32 lower-case digits.
    pub fn parse(text: &str) -> Option<SpaceId> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() != 2 * SPACE_BYTES || !text.bytes().all(is_hex) {
            return None;
        }
        let mut bytes = [0; SPACE_BYTES];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
        }
        Some(SpaceId(bytes))
    }

    /// Reads the id as objects have it.
    pub fn of_value(value: &Value) -> Option<SpaceId> {
        value.as_bytes()?.try_into().ok().map(SpaceId)
    }

    /// Writes the id as objects have it.
    pub fn to_value(self) -> Value {
        Value::Bytes(self.0.to_vec())
    }

    /// Returns what stands for the space where its nick is taken.
    pub fn short(self) -> String {
        self.to_string()[..SHORT_SPACE_CHARS].to_owned()
    }
}

impl fmt::Display for SpaceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Names the ref of the announcement of a space, here and where the configuration says nothing else.
pub fn announce_ref(peer: PeerId, space: SpaceId) -> String {
    format!("refs/agentic/announce/{peer}/{space}")
}

impl Petname {
    /// Accepts up to 32 lower-case letters, digits and `-`, not beginning with `-`, but for `self`.
    ///
    /// # Errors
    /// Fails on any other text.
    pub fn parse(text: &str) -> Result<Petname, InvalidPetname> {
        match is_nick(text) && text != SELF {
            true => Ok(Petname(text.to_owned())),
            false => Err(InvalidPetname { text: text.to_owned() }),
        }
    }

    /// Returns the name of this peer itself, which nobody can give.
    pub fn own() -> Petname {
        Petname(SELF.to_owned())
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Petname {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Tells whether a text can be the nick of a space.
pub fn is_nick(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.len() <= PETNAME_CHARS_MAX
        && text.starts_with(is_letter)
        && text.chars().all(|c| is_letter(c) || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn petnames_are_short_lower_case_and_never_self() {
        for (text, is_name) in [
            ("bob", true),
            ("b", true),
            ("0-x", true),
            ("self", false),
            ("", false),
            ("-b", false),
            ("Bob", false),
            ("bob+desk", false),
            ("bob/x", false),
            ("..", false),
            (&"a".repeat(32), true),
            (&"a".repeat(33), false),
        ] {
            assert_eq!(Petname::parse(text).is_ok(), is_name, "{text}");
        }
    }

    #[test]
    fn spaces_print_and_read_back_in_one_spelling() {
        let space = SpaceId([0xab; SPACE_BYTES]);
        assert_eq!(SpaceId::parse(&space.to_string()), Some(space));
        assert_eq!(SpaceId::parse(&space.to_string().to_uppercase()), None);
        assert_eq!(SpaceId::parse("ab"), None);
        assert_eq!(space.short(), "ababab");
    }
}
