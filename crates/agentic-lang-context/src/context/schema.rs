//! The JSON schema of a contract.

use std::sync::Arc;

use crate::ast::TypeExpr;
use crate::json::Json;

/// Returns the schema of an object with exactly these fields.
pub(crate) fn of_fields<'a>(fields: impl Iterator<Item = (&'a Arc<str>, &'a TypeExpr)>) -> Json {
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

fn of_type(kind: &TypeExpr) -> Json {
    let name = match kind {
        TypeExpr::Json => return Json::object([] as [(&str, Json); 0]),
        TypeExpr::Text => "string",
        TypeExpr::Number => "number",
        TypeExpr::Boolean => "boolean",
        TypeExpr::List(None) => "array",
        TypeExpr::List(Some(item)) => {
            return Json::object([("type", Json::text("array")), ("items", of_type(item))]);
        }
    };
    Json::object([("type", Json::text(name))])
}
