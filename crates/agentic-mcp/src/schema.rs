//! The schemas of what tools answer, made from those of the verbs.

use std::collections::BTreeSet;

use agentic_api::Answer;
use agentic_api::view::schemas;
use serde_json::{Map, Value as Json, json};

/// What a tool answers.
#[derive(Debug, Clone, Copy)]
pub enum AnswerShape {
    /// What this verb answers.
    Of(&'static str),
    /// One item of the list that this verb answers.
    ItemOf(&'static str),
    /// A page of the list that this verb answers.
    PageOf(&'static str),
}

/// The schemas that answers are made of.
pub struct AnswerSchemas {
    properties: Map<String, Json>,
    definitions: Map<String, Json>,
}

impl AnswerSchemas {
    /// Reads the schemas of all verbs and of errors.
    pub fn new() -> AnswerSchemas {
        let mut answers = plain(Answer::schema().to_value());
        let mut definitions = taken(&mut answers, "$defs");
        let failure = schemas().remove("error.json").expect("BUG: errors have a schema");
        let mut failure = plain(failure.to_value());
        definitions.extend(taken(&mut failure, "$defs"));
        if let Json::Object(map) = &mut failure {
            map.remove("$schema");
        }
        definitions.insert("FailureView".to_owned(), failure);
        AnswerSchemas { properties: taken(&mut answers, "properties"), definitions }
    }

    /// Returns the schema of an answer, which may be an error.
    pub fn of(&self, shape: AnswerShape) -> Map<String, Json> {
        let of = |verb: &str| self.properties.get(verb).cloned().expect("BUG: no such verb");
        let answer = match shape {
            AnswerShape::Of(verb) => of(verb),
            AnswerShape::ItemOf(verb) => of(verb)["items"].clone(),
            AnswerShape::PageOf(verb) => json!({
                "type": "object",
                "properties": {
                    "items": of(verb),
                    "next": { "type": "string", "description": "What the next page begins `after`" },
                },
                "required": ["items"],
            }),
        };
        let failure = json!({ "$ref": "#/$defs/FailureView" });
        let mut names = BTreeSet::new();
        self.reach(&answer, &mut names);
        self.reach(&failure, &mut names);
        let definitions: Map<String, Json> =
            names.iter().map(|name| (name.clone(), self.definitions[name].clone())).collect();
        Map::from_iter([
            ("type".to_owned(), Json::from("object")),
            ("anyOf".to_owned(), Json::from(vec![answer, failure])),
            ("$defs".to_owned(), Json::Object(definitions)),
        ])
    }

    /// Gathers the definitions that a schema refers to.
    fn reach(&self, schema: &Json, names: &mut BTreeSet<String>) {
        match schema {
            Json::Object(map) => {
                let name = map.get("$ref").and_then(Json::as_str);
                let name = name.and_then(|name| name.strip_prefix("#/$defs/"));
                if let Some(name) = name
                    && let Some(definition) = self.definitions.get(name)
                    && names.insert(name.to_owned())
                {
                    self.reach(definition, names);
                }
                map.values().for_each(|inner| self.reach(inner, names));
            }
            Json::Array(items) => items.iter().for_each(|inner| self.reach(inner, names)),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }
}

fn taken(schema: &mut Json, name: &str) -> Map<String, Json> {
    match schema.as_object_mut().and_then(|map| map.remove(name)) {
        Some(Json::Object(map)) => map,
        Some(_) | None => Map::new(),
    }
}

/// Leaves out the names of Rust's numbers, and writes anything as no demand: there are clients that know
/// neither.
fn plain(mut schema: Json) -> Json {
    strip(&mut schema);
    schema
}

fn strip(schema: &mut Json) {
    match schema {
        Json::Object(map) => {
            if map.get("format").is_some_and(Json::is_string) {
                map.remove("format");
            }
            if map.get("items") == Some(&Json::Bool(true)) {
                map.remove("items");
            }
            if let Some(Json::Object(properties)) = map.get_mut("properties") {
                let anything =
                    properties.values_mut().filter(|schema| **schema == Json::Bool(true));
                anything.for_each(|schema| *schema = json!({}));
            }
            map.values_mut().for_each(strip);
        }
        Json::Array(items) => items.iter_mut().for_each(strip),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}
