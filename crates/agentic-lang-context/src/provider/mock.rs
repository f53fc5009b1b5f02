//! A model and tools that make everything up, always alike.

use agentic_model::Value;
use agentic_replay::RequestAnswer;

use crate::dialect::Version;
use crate::json::{self, Json};

use super::{args, done, text_field};

/// A model that fills every contract with empty values and never looks at the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmptyModel {
    version: Version,
}

impl EmptyModel {
    /// Makes the mock of a version: until 0.1.3 a typed list had one item, later none.
    pub fn new(version: Version) -> EmptyModel {
        EmptyModel { version }
    }

    /// Answers a request of kind `model`.
    pub fn answer(&self, payload: &Value) -> RequestAnswer {
        let schema = payload.get("schema").and_then(Value::as_text);
        let value = match schema.map(json::parse) {
            Some(Ok(schema)) => self.fill(&schema),
            Some(Err(_)) | None => Json::Null,
        };
        RequestAnswer::Ok(Value::map([("value", json::to_value(&value))]))
    }

    fn fill(&self, schema: &Json) -> Json {
        match schema.get("type").and_then(Json::as_text) {
            Some("string") => Json::text(""),
            Some("number") => Json::Number(0.0),
            Some("boolean") => Json::Bool(true),
            Some("array") => match schema.get("items") {
                Some(item) if self.version < Version::V0_1_3 => Json::List(vec![self.fill(item)]),
                Some(_) | None => Json::List(Vec::new()),
            },
            Some(_) | None => {
                let properties = schema.get("properties").and_then(Json::as_object);
                let fields = properties.map(|properties| {
                    let fields = properties.iter();
                    fields.map(|(name, schema)| (name.clone(), self.fill(schema))).collect()
                });
                Json::Object(fields.unwrap_or_default())
            }
        }
    }
}

/// Answers a request of kind `tool` with what the published mocks return.
pub fn mock_tool(payload: &Value) -> RequestAnswer {
    let (uri, method) = (text_field(payload, "uri"), text_field(payload, "method"));
    let scheme = uri.split(':').next().unwrap_or_default();
    let ok = ("ok", Json::Bool(true));
    let result = match (scheme, method) {
        ("file", "read") => {
            let content = format!("mock file content from {uri}");
            Json::object([ok, ("content", Json::text(content))])
        }
        ("file", "list") => Json::object([ok, ("entries", Json::List(Vec::new()))]),
        ("env", "get") => Json::object([ok, ("value", Json::Null)]),
        _ => {
            let summary = format!("{}.{method}", text_field(payload, "tool"));
            Json::object([
                ok,
                ("summary", Json::text(summary)),
                ("source", Json::text(uri)),
                ("args", Json::List(args(payload))),
            ])
        }
    };
    done(&result)
}
