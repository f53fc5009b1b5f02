//! The schema of an answer, as far as it matters to a request.
//!
//! Descriptions, titles and examples are for people; changing them must not make a recorded
//! session diverge. So a schema is named by its shape without them.

use agentic_model::{Cid, Map, Value, canonical};

/// What does not belong to the shape of a schema.
const FOR_PEOPLE: [&str; 4] = ["$comment", "description", "examples", "title"];
/// The keywords whose members are schemas by name, so that a property may be called `title`.
const BY_NAME: [&str; 5] =
    ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];
/// The keywords whose value is data, not a schema.
const DATA: [&str; 3] = ["const", "default", "enum"];

/// Returns a JSON Schema without what is written for people.
pub fn shape(schema: &Value) -> Value {
    match schema {
        Value::Map(map) => Value::Map(map.iter().filter_map(shape_of_keyword).collect()),
        Value::List(items) => Value::List(items.iter().map(shape).collect()),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Bytes(_)
        | Value::Link(_)) => other.clone(),
    }
}

/// Names a schema by its shape. A schema without canonical bytes is named like `null`.
pub fn cid(schema: &Value) -> Cid {
    let bytes = canonical::encode(&shape(schema)).or_else(|_| canonical::encode(&Value::Null));
    Cid::of(&bytes.expect("null has canonical bytes"))
}

fn shape_of_keyword((key, value): (&String, &Value)) -> Option<(String, Value)> {
    if FOR_PEOPLE.contains(&key.as_str()) {
        return None;
    }
    let value = if DATA.contains(&key.as_str()) {
        value.clone()
    } else if let Value::Map(members) = value
        && BY_NAME.contains(&key.as_str())
    {
        let members = members.iter().map(|(name, item)| (name.clone(), shape(item)));
        Value::Map(members.collect::<Map>())
    } else {
        shape(value)
    };
    Some((key.clone(), value))
}

#[cfg(test)]
mod tests {
    use agentic_model::json;

    use super::*;

    fn check(schema: &str, wanted: &str) {
        let schema = json::from_text(schema).expect("the case is JSON");
        assert_eq!(json::to_text(&shape(&schema)), wanted);
    }

    #[test]
    fn the_shape_leaves_out_what_is_for_people_and_nothing_else() {
        check(
            r#"{"type":"object","title":"T","properties":{"title":{"type":"string","description":"d"}}}"#,
            r#"{"properties":{"title":{"type":"string"}},"type":"object"}"#,
        );
        check(r#"{"anyOf":[{"examples":[1]}]}"#, r#"{"anyOf":[{}]}"#);
        check(r#"{"const":{"title":1}}"#, r#"{"const":{"title":1}}"#);
    }
}
