//! Libraries: objects that people share by name. A name points to one object, and says who set it.

use std::fmt;

use crate::edge::Party;
use crate::name::broken_rule;
use crate::{AgentName, Cid, Instant, Oid, Value, json};

/// The longest pointer that is read, in bytes.
pub const POINTER_BYTES_MAX: usize = 4096;

/// A name in a library.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LibraryName(String);

/// A text that cannot name anything in a library.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` cannot be a name in a library: {reason}", text.escape_debug())]
pub struct InvalidLibraryName {
    /// The text as it was given.
    pub text: String,
    /// Which rule it breaks.
    pub reason: &'static str,
}

impl LibraryName {
    /// Accepts what may name an agent.
    ///
    /// # Errors
    /// Fails on any other text and names the rule that it breaks.
    pub fn parse(text: &str) -> Result<LibraryName, InvalidLibraryName> {
        match broken_rule(text) {
            None => Ok(LibraryName(text.to_owned())),
            Some(reason) => Err(InvalidLibraryName { text: text.to_owned(), reason }),
        }
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LibraryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a name points to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryPointer {
    /// The object.
    pub cid: Cid,
    /// Who set it.
    pub by: Party,
    /// When.
    pub at: Instant,
    /// The state of the library that it was set upon, so that no two moves of a name are alike.
    pub on: Option<Oid>,
}

/// Bytes that are no pointer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it has no {0}")]
pub struct InvalidPointer(&'static str);

impl LibraryPointer {
    /// Writes the pointer as one line.
    pub fn to_text(&self) -> String {
        let on = self.on.map_or(Value::Null, |on| Value::text(on.to_string()));
        let value = Value::map([
            ("at", Value::Int(self.at.millis())),
            ("by", Value::text(self.by.to_string())),
            ("cid", Value::text(self.cid.to_string())),
            ("on", on),
        ]);
        format!("{}\n", json::to_text(&value))
    }

    /// Reads a pointer that anybody may have written. Fields that nobody knows are passed over.
    ///
    /// # Errors
    /// Fails when a field is missing or has the wrong shape.
    pub fn parse(bytes: &[u8]) -> Result<LibraryPointer, InvalidPointer> {
        let missing = InvalidPointer;
        let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= POINTER_BYTES_MAX);
        let value = text.and_then(|text| json::from_text(text).ok());
        let map = value.as_ref().and_then(Value::as_map).ok_or(missing("form"))?;
        let field = |name: &str| map.get(name).and_then(Value::as_text);
        let on = match map.get("on") {
            None | Some(Value::Null) => None,
            Some(on) => {
                let on = on.as_text().and_then(|on| Oid::parse(on).ok());
                Some(on.ok_or(missing("state that it was set upon"))?)
            }
        };
        Ok(LibraryPointer {
            cid: field("cid").and_then(|cid| Cid::parse(cid).ok()).ok_or(missing("id"))?,
            by: field("by").and_then(|by| Party::parse(by).ok()).ok_or(missing("author"))?,
            at: map
                .get("at")
                .and_then(Value::as_int)
                .map(Instant::from_millis)
                .ok_or(missing("time"))?,
            on,
        })
    }

    /// Returns the agent that set it; nothing if a person did.
    pub fn agent(&self) -> Option<&AgentName> {
        self.by.agent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer() -> LibraryPointer {
        LibraryPointer {
            cid: Cid::of(b"rules"),
            by: Party::User("eve".to_owned()),
            at: Instant::from_millis(5),
            on: Oid::parse(&"a".repeat(40)).ok(),
        }
    }

    #[test]
    fn a_pointer_comes_back_as_it_was_written() {
        for on in [None, pointer().on] {
            let pointer = LibraryPointer { on, ..pointer() };
            assert_eq!(LibraryPointer::parse(pointer.to_text().as_bytes()), Ok(pointer));
        }
    }

    #[test]
    fn what_is_no_pointer_is_refused() {
        let good = pointer().to_text();
        let cid = Cid::of(b"rules").to_string();
        for bytes in [
            b"".to_vec(),
            b"null".to_vec(),
            b"\xff".to_vec(),
            good.replace("user:eve", "Eve\u{1b}[31m").into_bytes(),
            good.replace(&cid, "bafy").into_bytes(),
            good.replace("\"at\":5", "\"at\":\"5\"").into_bytes(),
            good.replace(&"a".repeat(40), "zz").into_bytes(),
            [good.as_bytes(), &vec![b' '; POINTER_BYTES_MAX]].concat(),
        ] {
            assert!(LibraryPointer::parse(&bytes).is_err(), "{}", String::from_utf8_lossy(&bytes));
        }
    }

    #[test]
    fn names_are_those_that_agents_may_have() {
        assert!(LibraryName::parse("stuck-now.2").is_ok());
        for text in ["", "A", "a/b", "a\u{1b}[31m", "a\nb", "..", "a.lock", &"a".repeat(64)] {
            assert!(LibraryName::parse(text).is_err(), "{text:?}");
        }
    }
}
