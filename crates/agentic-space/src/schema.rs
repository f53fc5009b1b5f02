//! JSON Schemas: what a kind says of the open fields of its commits, and a hold of its answer.

use agentic_model::{Value, json};

/// Why a value does not fit a schema.
#[derive(Debug)]
pub struct SchemaMismatch {
    /// The part of the value; empty where it is the schema that is wrong.
    pub pointer: String,
    /// What is wrong.
    pub reason: String,
}

/// Checks a schema, and a value against it.
///
/// # Errors
/// Fails when the schema is none, and when the value does not fit it.
pub fn fits(schema: &Value, value: &Value) -> std::result::Result<(), SchemaMismatch> {
    let validator = validator(schema).map_err(|error| {
        let reason = format!("the schema is not valid: {error}");
        SchemaMismatch { pointer: String::new(), reason }
    })?;
    let value = json::to_json(value);
    let first = validator.iter_errors(&value).next();
    first.map_or(Ok(()), |error| {
        Err(SchemaMismatch {
            pointer: error.instance_path().to_string(),
            reason: error.to_string(),
        })
    })
}

/// Reads a JSON Schema.
///
/// # Errors
/// Fails when it is none; the text says why.
pub fn validator(schema: &Value) -> std::result::Result<jsonschema::Validator, String> {
    jsonschema::validator_for(&json::to_json(schema)).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
