//! The digits of an id that go into the name of an agent.

use agentic_model::AgentName;

use crate::ConversationId;

/// How many digits a name has.
const DIGITS: usize = 8;
/// How many it has where the shorter name is taken.
const MORE_DIGITS: usize = 16;
/// How many it has where that is taken as well.
const WHOLE_DIGITS: usize = 32;
/// How many digits a UUID has.
const UUID_DIGITS: usize = 32;
/// Where the digit stands that tells the version of a UUID.
const UUID_VERSION_AT: usize = 12;

/// How many names a conversation's agent may have: each longer than the one before.
pub const NAMES: usize = 3;

/// The digits of an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdDigits {
    /// Eight hexadecimal digits.
    pub short: String,
    /// Sixteen, for when the eight are taken.
    pub long: String,
    /// Thirty-two of the hash, for when the sixteen are taken, too: no other id has them.
    pub whole: String,
}

impl IdDigits {
    /// Returns them, the fewest first.
    pub fn all(&self) -> [&str; NAMES] {
        [&self.short, &self.long, &self.whole]
    }
}

/// Takes the first digits of an id that is made of them; of a UUIDv7 the last, since its first ones
/// are time, and of any other id those of its hash.
pub fn id_digits(native: &str) -> IdDigits {
    let plain: String = native.chars().filter(|c| *c != '-').collect();
    let is_hex = plain.len() >= DIGITS && plain.chars().all(|c| c.is_ascii_hexdigit());
    let plain = if is_hex { plain.to_ascii_lowercase() } else { hash(native) };
    let is_by_time = is_hex && is_uuid_of_time(native);
    // Of an id that is too short for sixteen, its hash tells it as well.
    let long = if plain.len() < MORE_DIGITS { hash(native) } else { plain.clone() };
    let cut = |text: &str, n: usize| match is_by_time {
        true => text[text.len() - n..].to_owned(),
        false => text[..n].to_owned(),
    };
    let whole = hash(native)[..WHOLE_DIGITS].to_owned();
    IdDigits { short: cut(&plain, DIGITS), long: cut(&long, MORE_DIGITS), whole }
}

/// Names the agent that a conversation gets for its own: the first name that nobody else has.
pub fn adopted_names(id: &ConversationId) -> [AgentName; NAMES] {
    id_digits(&id.native).all().map(|digits| {
        let name = format!("{}-{digits}", id.source);
        AgentName::parse(&name).expect("a source and digits make a name")
    })
}

fn is_uuid_of_time(native: &str) -> bool {
    let groups: Vec<usize> = native.split('-').map(str::len).collect();
    let digits: String = native.chars().filter(|c| *c != '-').collect();
    groups == [8, 4, 4, 4, 12]
        && digits.len() == UUID_DIGITS
        && digits.as_bytes()[UUID_VERSION_AT] == b'7'
}

fn hash(native: &str) -> String {
    agentic_store::hash_hex(native.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_tell_ids_apart() {
        for (native, short, long) in [
            ("3f2a91c0-0000-4000-8000-0000000000aa", "3f2a91c0", "3f2a91c000004000"),
            ("3F2A91C0-0000-4000-8000-0000000000AA", "3f2a91c0", "3f2a91c000004000"),
            ("019c4b43-0000-7000-8000-0000000000aa", "000000aa", "80000000000000aa"),
            ("a4d2c8f1e0b3a297", "a4d2c8f1", "a4d2c8f1e0b3a297"),
        ] {
            let whole = &hash(native)[..32];
            assert_eq!(id_digits(native).all(), [short, long, whole], "{native}");
        }
        for native in ["c-1", "ses_1", "", "abc", "../../../etc", "é"] {
            let digits = id_digits(native);
            assert_eq!(digits.short, hash(native)[..8], "{native}");
            assert_eq!(digits.long, hash(native)[..16], "{native}");
        }
        // Alike in all digits, and not the same.
        let (one, other) = (id_digits("3f2a91c0-AA"), id_digits("3f2a91c0-aa"));
        assert_eq!(one.short, other.short);
        assert_ne!(one.whole, other.whole);
        let digits = id_digits("a4d2c8f1");
        assert_eq!((digits.short.as_str(), digits.long.len()), ("a4d2c8f1", 16));
    }
}
