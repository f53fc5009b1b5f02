//! A decoder that reads canonical bytes straight into a [`Value`], and nothing but canonical bytes.
//!
//! Every rule is checked where it can be broken, on the way through the bytes once: shortest
//! heads, definite lengths, sorted keys, finite numbers of 64 bits, no tags but content ids. So
//! what was read need not be encoded again to know that it was canonical. Lengths that the bytes
//! claim are held against the bytes that are left before anything is made of them.

use super::{CanonicalError, EntryPart};
use crate::value::NESTING_MAX;
use crate::{Cid, Map, Value};

/// The tag of a content id.
const LINK_TAG: u64 = 42;
/// How many items a list has room for before the first is read; a claim costs no more than that.
const ITEMS_RESERVED_MAX: usize = 64;

/// How many entries there is room for before the first is read: as many as a record has.
const ENTRIES_RESERVED: usize = 12;

/// Reads one value that takes all of the bytes.
pub(super) fn value(bytes: &[u8]) -> Result<Value, CanonicalError> {
    let mut reader = CanonicalReader { rest: bytes };
    let value = reader.value(0)?;
    reader.end()?;
    Ok(value)
}

/// Reads the entries of a map that takes all of the bytes.
pub(super) fn entries(bytes: &[u8]) -> Result<Vec<(&str, EntryPart<'_>)>, CanonicalError> {
    let mut reader = CanonicalReader { rest: bytes };
    let head = reader.head()?;
    if head.major != Major::Map {
        return Err(broken("it is no map"));
    }
    let mut entries = Vec::with_capacity(ENTRIES_RESERVED);
    reader.map(&head, 0, |reader, key| {
        entries.push((key, reader.part()?));
        Ok(())
    })?;
    reader.end()?;
    Ok(entries)
}

/// The bytes that are not read yet.
struct CanonicalReader<'b> {
    rest: &'b [u8],
}

/// The sorts of items, by the first three bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Major {
    Unsigned,
    Negative,
    Bytes,
    Text,
    List,
    Map,
    Tag,
    Simple,
}

/// The first byte of an item.
struct Head {
    major: Major,
    /// The last five bits: a number, or how many bytes it has.
    info: u8,
}

impl<'b> CanonicalReader<'b> {
    fn value(&mut self, depth: usize) -> Result<Value, CanonicalError> {
        let head = self.head()?;
        Ok(match head.major {
            Major::Unsigned => Value::Int(whole(i128::from(self.number(&head)?))?),
            Major::Negative => Value::Int(whole(-1 - i128::from(self.number(&head)?))?),
            Major::Bytes => Value::Bytes(self.string(&head)?.to_vec()),
            Major::Text => Value::Text(self.text(&head)?.to_owned()),
            Major::List => self.list(&head, depth)?,
            Major::Map => {
                let mut map = Map::new();
                self.map(&head, depth, |reader, key| {
                    map.insert(key.to_owned(), reader.value(depth + 1)?);
                    Ok(())
                })?;
                Value::Map(map)
            }
            Major::Tag => self.link(&head)?,
            Major::Simple => self.simple(&head)?,
        })
    }

    /// Reads the value of an entry of the outermost map.
    fn part(&mut self) -> Result<EntryPart<'b>, CanonicalError> {
        let rest = self.rest;
        let head = self.head()?;
        match head.major {
            Major::Text => Ok(EntryPart::Text(self.text(&head)?)),
            Major::Bytes => Ok(EntryPart::Bytes(self.string(&head)?)),
            Major::Unsigned
            | Major::Negative
            | Major::List
            | Major::Map
            | Major::Tag
            | Major::Simple => {
                self.rest = rest;
                self.value(1).map(EntryPart::Other)
            }
        }
    }

    fn head(&mut self) -> Result<Head, CanonicalError> {
        let [first] = self.array()?;
        let major = match first >> 5 {
            0 => Major::Unsigned,
            1 => Major::Negative,
            2 => Major::Bytes,
            3 => Major::Text,
            4 => Major::List,
            5 => Major::Map,
            6 => Major::Tag,
            _ => Major::Simple,
        };
        Ok(Head { major, info: first & 0b1_1111 })
    }

    /// Reads the number of a head, which must take the fewest bytes that it can.
    fn number(&mut self, head: &Head) -> Result<u64, CanonicalError> {
        let (number, least) = match head.info {
            info @ 0..=23 => (u64::from(info), 0),
            24 => (u64::from(u8::from_be_bytes(self.array()?)), 24),
            25 => (u64::from(u16::from_be_bytes(self.array()?)), 1 << 8),
            26 => (u64::from(u32::from_be_bytes(self.array()?)), 1 << 16),
            27 => (u64::from_be_bytes(self.array()?), 1 << 32),
            _ => return Err(broken("a length is not definite")),
        };
        if number < least {
            return Err(CanonicalError::NotCanonical);
        }
        Ok(number)
    }

    fn string(&mut self, head: &Head) -> Result<&'b [u8], CanonicalError> {
        let length = self.number(head)?;
        let length = usize::try_from(length).map_err(|_| ended())?;
        self.take(length)
    }

    fn text(&mut self, head: &Head) -> Result<&'b str, CanonicalError> {
        let bytes = self.string(head)?;
        std::str::from_utf8(bytes).map_err(|_| broken("a text is not UTF-8"))
    }

    fn list(&mut self, head: &Head, depth: usize) -> Result<Value, CanonicalError> {
        let n_items = self.n_items(head, depth, 1)?;
        let mut items = Vec::with_capacity(n_items.min(ITEMS_RESERVED_MAX));
        for _ in 0..n_items {
            items.push(self.value(depth + 1)?);
        }
        Ok(Value::List(items))
    }

    fn map(
        &mut self,
        head: &Head,
        depth: usize,
        mut take: impl FnMut(&mut Self, &'b str) -> Result<(), CanonicalError>,
    ) -> Result<(), CanonicalError> {
        let n_items = self.n_items(head, depth, 2)?;
        let mut before: Option<&str> = None;
        for _ in 0..n_items {
            let head = self.head()?;
            if head.major != Major::Text {
                return Err(broken("a key is not text"));
            }
            let key = self.text(&head)?;
            let is_next = |before: &str| (before.len(), before) < (key.len(), key);
            if !before.is_none_or(is_next) {
                return Err(CanonicalError::NotCanonical);
            }
            before = Some(key);
            take(self, key)?;
        }
        Ok(())
    }

    /// Reads how many items there are, of so many bytes each at least.
    fn n_items(
        &mut self,
        head: &Head,
        depth: usize,
        item_bytes_min: usize,
    ) -> Result<usize, CanonicalError> {
        if depth >= NESTING_MAX {
            return Err(CanonicalError::TooDeep);
        }
        let n_items = usize::try_from(self.number(head)?).map_err(|_| ended())?;
        if n_items > self.rest.len() / item_bytes_min {
            return Err(ended());
        }
        Ok(n_items)
    }

    /// Reads a content id: its binary form behind a zero byte, tagged.
    fn link(&mut self, head: &Head) -> Result<Value, CanonicalError> {
        if self.number(head)? != LINK_TAG {
            return Err(broken("a tag is not that of a content id"));
        }
        let head = self.head()?;
        if head.major != Major::Bytes {
            return Err(broken("a content id is not bytes"));
        }
        let Some((0, id)) = self.string(&head)?.split_first() else {
            return Err(broken("a content id does not begin with a zero byte"));
        };
        let cid = cid::Cid::try_from(id).map_err(broken)?;
        if cid.to_bytes() != id {
            return Err(CanonicalError::NotCanonical);
        }
        Ok(Value::Link(Cid::from_inner(cid)))
    }

    fn simple(&mut self, head: &Head) -> Result<Value, CanonicalError> {
        match head.info {
            20 => Ok(Value::Bool(false)),
            21 => Ok(Value::Bool(true)),
            22 => Ok(Value::Null),
            25 | 26 => Err(CanonicalError::NotCanonical),
            27 => {
                let number = f64::from_be_bytes(self.array()?);
                if !number.is_finite() {
                    return Err(CanonicalError::NotFinite);
                }
                if number == 0.0 && number.is_sign_negative() {
                    return Err(CanonicalError::NotCanonical);
                }
                Ok(Value::Float(number))
            }
            _ => Err(broken("a simple value is neither a truth value nor null")),
        }
    }

    fn end(&self) -> Result<(), CanonicalError> {
        match self.rest {
            [] => Ok(()),
            _ => Err(broken("bytes follow the value")),
        }
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8], CanonicalError> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(ended)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], CanonicalError> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or_else(ended)?;
        self.rest = rest;
        Ok(*taken)
    }
}

fn whole(number: i128) -> Result<i64, CanonicalError> {
    i64::try_from(number).map_err(|_| CanonicalError::IntTooLarge { number })
}

fn ended() -> CanonicalError {
    broken("the bytes end too early")
}

fn broken(reason: impl ToString) -> CanonicalError {
    CanonicalError::NotDagCbor { reason: reason.to_string() }
}
