//! The JSON schema of a contract.

use std::sync::Arc;

use crate::ast::Type;
use crate::json::Json;

/// Returns the schema of an object with exactly these fields.
pub(crate) fn of_fields<'a>(fields: impl Iterator<Item = (&'a Arc<str>, &'a Type)>) -> Json {
    let (mut properties, mut required) = (Vec::new(), Vec::new());
    for (name, kind) in fields {
        properties.push((name.clone(), of_type(kind)));
        required.push(Json::Text(name.clone()));
    }
    Json::object([
        ("type", Json::text("object")),
        ("properties", Json::object(properties)),
        ("required", Json::List(required)),
        ("additionalProperties", Json::Bool(false)),
    ])
}

fn of_type(kind: &Type) -> Json {
    let name = match kind {
        Type::Json => return Json::object([] as [(&str, Json); 0]),
        Type::Text => "string",
        Type::Number => "number",
        Type::Boolean => "boolean",
        Type::List(None) => "array",
        Type::List(Some(item)) => {
            return Json::object([("type", Json::text("array")), ("items", of_type(item))]);
        }
    };
    Json::object([("type", Json::text(name))])
}
