//! Stored rule files: what `agentic query` uses by name, as an object.

use std::collections::BTreeMap;

use crate::object::{ObjectError, ObjectFields};
use crate::{Cid, Map, Object, Value};

/// The type of the object.
pub const RULES: &str = "rules";
/// The language of all rule files so far.
pub const RULES_LANGUAGE: &str = "datalog-1";
/// How many other rule files one uses at most.
pub const RULES_USES_MAX: usize = 100;

const OWN_FIELDS: [&str; 4] = ["type", "language", "source", "uses"];

/// A rule file with the rule files that it uses.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRules {
    /// The text.
    pub source: String,
    /// What the names mean that it uses: those of stored rules, as they were when it was stored.
    pub uses: BTreeMap<String, Cid>,
    /// Any further fields, kept as they are.
    pub fields: Map,
}

impl StoredRules {
    /// Turns the rules into their object.
    ///
    /// # Errors
    /// Fails when they are too long.
    pub fn to_object(&self) -> Result<Object, ObjectError> {
        let link = |(name, cid): (&String, &Cid)| (name.clone(), Value::Link(*cid));
        let mut map = self.fields.clone();
        map.extend([
            ("type".to_owned(), Value::text(RULES)),
            ("language".to_owned(), Value::text(RULES_LANGUAGE)),
            ("source".to_owned(), Value::text(&self.source)),
            ("uses".to_owned(), Value::Map(self.uses.iter().map(link).collect())),
        ]);
        Object::new(map)
    }

    /// Reads the rules from their object.
    ///
    /// # Errors
    /// Fails when it is of another type, or a field is missing or has the wrong shape.
    pub fn from_object(object: &Object) -> Result<StoredRules, ObjectError> {
        let fields = ObjectFields { kind: RULES, map: object.map() };
        if object.kind().as_str() != RULES {
            return Err(fields.wrong("type", "`rules`"));
        }
        if fields.text("language")? != RULES_LANGUAGE {
            return Err(fields.wrong("language", "`datalog-1`"));
        }
        let links = || fields.wrong("uses", "a map of at most 100 links");
        let uses = match object.map().get("uses") {
            None => BTreeMap::new(),
            Some(uses) => {
                let uses = uses.as_map().filter(|map| map.len() <= RULES_USES_MAX);
                let link = |(name, value): (&String, &Value)| match value {
                    Value::Link(cid) => Ok((name.clone(), *cid)),
                    Value::Null
                    | Value::Bool(_)
                    | Value::Int(_)
                    | Value::Float(_)
                    | Value::Text(_)
                    | Value::Bytes(_)
                    | Value::List(_)
                    | Value::Map(_) => Err(links()),
                };
                uses.ok_or_else(links)?.iter().map(link).collect::<Result<_, _>>()?
            }
        };
        let mut rest = object.map().clone();
        rest.retain(|field, _| !OWN_FIELDS.contains(&field.as_str()));
        Ok(StoredRules { source: fields.text("source")?.to_owned(), uses, fields: rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(pairs: &[(&str, Value)]) -> Object {
        let pair = |(name, value): &(&str, Value)| ((*name).to_owned(), value.clone());
        Object::new(pairs.iter().map(pair).collect()).expect("the case is an object")
    }

    #[test]
    fn rules_come_back_as_they_were_stored() {
        let uses = BTreeMap::from([("base".to_owned(), Cid::of(b"base"))]);
        let fields = Map::from([("licence".to_owned(), Value::text("MIT"))]);
        let rules = StoredRules { source: "p(1).".to_owned(), uses, fields };
        let object = rules.to_object().expect("it is short");
        assert_eq!(StoredRules::from_object(&object).expect("it is one"), rules);
    }

    #[test]
    fn what_is_no_rule_file_is_refused() {
        let (text, source) = (Value::text, ("source", Value::text("p(1).")));
        for pairs in [
            vec![("type", text("edge")), ("language", text("datalog-1")), source.clone()],
            vec![("type", text("rules")), ("language", text("prolog")), source.clone()],
            vec![("type", text("rules")), ("language", text("datalog-1"))],
            vec![
                ("type", text("rules")),
                ("language", text("datalog-1")),
                source,
                ("uses", Value::map([("base", text("bafy"))])),
            ],
        ] {
            assert!(StoredRules::from_object(&object(&pairs)).is_err(), "{pairs:?}");
        }
    }
}
