//! What a library tells about a behaviour: where it comes from, in a file beside the objects.

use std::collections::BTreeSet;

use crate::edge::Party;
use crate::{Cid, LibraryName, Value, json};

/// The longest text about a behaviour, in bytes.
pub const ABOUT_BYTES_MAX: usize = crate::library::POINTER_BYTES_MAX;
/// How many parents, pieces of evidence or names a behaviour has at most.
pub const ABOUT_LINKS_MAX: usize = 16;

/// What is told about a behaviour.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AboutBehaviour {
    /// The names that it was added under.
    pub names: BTreeSet<LibraryName>,
    /// The behaviours that it was made from.
    pub parents: BTreeSet<Cid>,
    /// What whoever added it says of it; may be empty.
    pub note: String,
    /// Who added it first.
    pub proposed_by: Option<Party>,
    /// What speaks for it, such as trials.
    pub evidence: BTreeSet<Cid>,
}

/// A text that tells nothing about a behaviour.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("its field `{field}` is missing, too long or malformed")]
pub struct InvalidAbout {
    /// The field.
    pub field: &'static str,
}

impl AboutBehaviour {
    /// Writes it as one line.
    ///
    /// # Errors
    /// Fails when there is more to tell than is kept.
    pub fn to_text(&self) -> Result<String, InvalidAbout> {
        let too_long = |field| InvalidAbout { field };
        for (field, n) in [
            ("names", self.names.len()),
            ("parents", self.parents.len()),
            ("evidence", self.evidence.len()),
        ] {
            if n > ABOUT_LINKS_MAX {
                return Err(too_long(field));
            }
        }
        let cids = |cids: &BTreeSet<Cid>| {
            Value::List(cids.iter().map(|cid| Value::text(cid.to_string())).collect())
        };
        let names = self.names.iter().map(|name| Value::text(name.as_str())).collect();
        let by = self.proposed_by.as_ref().map_or(Value::Null, |by| Value::text(by.to_string()));
        let value = Value::map([
            ("evidence", cids(&self.evidence)),
            ("names", Value::List(names)),
            ("note", Value::text(&self.note)),
            ("parents", cids(&self.parents)),
            ("proposed_by", by),
        ]);
        let text = format!("{}\n", json::to_text(&value));
        if text.len() > ABOUT_BYTES_MAX { Err(too_long("note")) } else { Ok(text) }
    }

    /// Reads what anybody may have written. Fields that nobody knows are passed over.
    ///
    /// # Errors
    /// Fails when a field has the wrong shape.
    pub fn parse(bytes: &[u8]) -> Result<AboutBehaviour, InvalidAbout> {
        let invalid = |field| InvalidAbout { field };
        let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= ABOUT_BYTES_MAX);
        let value = text.and_then(|text| json::from_text(text).ok());
        let map = value.as_ref().and_then(Value::as_map).ok_or(invalid("form"))?;
        let list = |field| match map.get(field) {
            None | Some(Value::Null) => Ok(&[][..]),
            Some(value) => {
                value.as_list().filter(|it| it.len() <= ABOUT_LINKS_MAX).ok_or(invalid(field))
            }
        };
        let cids = |field| -> Result<BTreeSet<Cid>, InvalidAbout> {
            let cid = |value: &Value| value.as_text().and_then(|text| Cid::parse(text).ok());
            list(field)?.iter().map(|value| cid(value).ok_or(invalid(field))).collect()
        };
        let name = |value: &Value| {
            value.as_text().and_then(|text| LibraryName::parse(text).ok()).ok_or(invalid("names"))
        };
        let text = |field| match map.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_text().map(Some).ok_or(invalid(field)),
        };
        let by =
            text("proposed_by")?.map(|by| Party::parse(by).map_err(|_| invalid("proposed_by")));
        Ok(AboutBehaviour {
            names: list("names")?.iter().map(name).collect::<Result<_, _>>()?,
            parents: cids("parents")?,
            note: text("note")?.unwrap_or_default().to_owned(),
            proposed_by: by.transpose()?,
            evidence: cids("evidence")?,
        })
    }

    /// Tells what two clones tell together; in both the same, whoever unites. Where both say who
    /// proposed it or note something else, what comes first in the order of texts stays.
    pub fn united(&self, other: &AboutBehaviour) -> AboutBehaviour {
        let first = |left: &str, right: &str| match (left, right) {
            ("", only) | (only, "") => only.to_owned(),
            (left, right) => left.min(right).to_owned(),
        };
        let by = self.proposed_by.iter().chain(&other.proposed_by).min().cloned();
        AboutBehaviour {
            names: &self.names | &other.names,
            parents: &self.parents | &other.parents,
            note: first(&self.note, &other.note),
            proposed_by: by,
            evidence: &self.evidence | &other.evidence,
        }
    }
}
