//! Rewrites: which commits became which other one, by an amend, a rebase or a history filter.
//!
//! Git forgets where a rewritten commit came from; the object keeps it, so that the trace of the old
//! commit is found from the new one.

use crate::object::{ObjectError, ObjectFields};
use crate::{Map, Object, Oid, Value};

/// The most commits that one rewrite names as its origins.
pub const REWRITE_FROM_MAX: usize = 1024;

/// Commits that became another one: several where a rebase joined them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// The commits that were rewritten, in the order in which git names them.
    pub from: Vec<Oid>,
    /// What they became.
    pub to: Oid,
    /// Who said so: `post-rewrite amend`, `window`, `commit-map`.
    pub by: String,
}

impl Rewrite {
    /// Turns the rewrite into its object.
    ///
    /// # Errors
    /// Fails when it names no origin or more than [`REWRITE_FROM_MAX`].
    pub fn to_object(&self) -> Result<Object, ObjectError> {
        let fields = ObjectFields { kind: "rewrite", map: &Map::new() };
        if self.from.is_empty() || self.from.len() > REWRITE_FROM_MAX {
            return Err(fields.wrong("from", "a list of 1 to 1024 commits"));
        }
        let from = self.from.iter().map(|oid| Value::text(oid.to_string())).collect();
        Object::new(Map::from([
            ("type".to_owned(), Value::text("rewrite")),
            ("from".to_owned(), Value::List(from)),
            ("to".to_owned(), Value::text(self.to.to_string())),
            ("by".to_owned(), Value::text(&*self.by)),
        ]))
    }

    /// Reads the rewrite from its object.
    ///
    /// # Errors
    /// Fails when a field is missing or has the wrong shape.
    pub fn from_object(object: &Object) -> Result<Rewrite, ObjectError> {
        let fields = ObjectFields { kind: "rewrite", map: object.map() };
        let oid = |value: &Value| value.as_text().and_then(|text| Oid::parse(text).ok());
        let listed = fields.list("from")?;
        let from: Option<Vec<Oid>> = listed.iter().map(oid).collect();
        let from = from.filter(|from| !from.is_empty() && from.len() <= REWRITE_FROM_MAX);
        let to = Oid::parse(fields.text("to")?).map_err(|_| fields.wrong("to", "a commit"))?;
        Ok(Rewrite {
            from: from.ok_or(fields.wrong("from", "a list of 1 to 1024 commits"))?,
            to,
            by: fields.text("by")?.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oid(digit: char) -> Oid {
        Oid::parse(&digit.to_string().repeat(40)).expect("valid")
    }

    #[test]
    fn a_rewrite_reads_back() {
        let rewrite =
            Rewrite { from: vec![oid('a'), oid('b')], to: oid('c'), by: "window".to_owned() };
        let object = rewrite.to_object().expect("valid");
        assert_eq!(Rewrite::from_object(&object).expect("what we write reads back"), rewrite);
    }

    #[test]
    fn a_rewrite_of_nothing_is_none() {
        let rewrite = Rewrite { from: Vec::new(), to: oid('c'), by: String::new() };
        assert!(rewrite.to_object().is_err());
    }
}
