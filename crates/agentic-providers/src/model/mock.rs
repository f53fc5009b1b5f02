//! A model that makes everything up, always alike.

use serde_json::value::RawValue;

use super::{
    Completion, Finish, Model, ModelCall, ModelFault, ModelPrompt, ReplyContent, TokenUsage,
};
use crate::ordered::Members;

/// How deep a schema is filled; what is deeper is `null`.
const FILLED_MAX: usize = 128;

/// A model that fills every schema with empty values and never looks at the prompt: `""`, `0`,
/// `true`, `[]`, objects field by field, `null` where nothing is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MockModel;

impl Model for MockModel {
    fn complete(
        &self,
        prompt: &ModelPrompt,
        _call: &mut ModelCall<'_>,
    ) -> Result<Completion, ModelFault> {
        let mut out = String::new();
        match &prompt.schema {
            Some(schema) => fill(schema, 0, &mut out),
            None => out.push_str("null"),
        }
        Ok(Completion {
            content: ReplyContent::Json(out),
            usage: Some(TokenUsage::of(0, 0)),
            finish: Finish::Stop,
            calls: Vec::new(),
            left_out: Vec::new(),
        })
    }
}

fn fill(schema: &str, depth: usize, out: &mut String) {
    let Ok(Members(members)) = serde_json::from_str::<Members>(schema) else {
        return out.push_str("null");
    };
    let find = |key: &str| members.iter().find(|(name, _)| name == key).map(|(_, raw)| raw.get());
    let text = |raw: Option<&str>| raw.and_then(|raw| serde_json::from_str::<String>(raw).ok());
    match text(find("type")).as_deref() {
        Some("string") => out.push_str(&first_choice(find("enum"))),
        Some("number" | "integer") => out.push('0'),
        Some("boolean") => out.push_str("true"),
        Some("array") => out.push_str("[]"),
        Some("null") => out.push_str("null"),
        Some(_) | None => fill_object(find("properties"), depth, out),
    }
}

/// The first of the words that are allowed, or the empty text.
fn first_choice(choices: Option<&str>) -> String {
    let choices = choices.and_then(|raw| serde_json::from_str::<Vec<Box<RawValue>>>(raw).ok());
    choices
        .and_then(|choices| choices.first().map(|first| first.get().to_owned()))
        .unwrap_or_else(|| "\"\"".to_owned())
}

fn fill_object(properties: Option<&str>, depth: usize, out: &mut String) {
    let properties = properties.map(serde_json::from_str::<Members>);
    let Some(Ok(Members(properties))) = properties else { return out.push_str("{}") };
    if depth >= FILLED_MAX {
        return out.push_str("null");
    }
    out.push('{');
    for (at, (name, schema)) in properties.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        out.push_str(&serde_json::Value::from(name.as_str()).to_string());
        out.push(':');
        fill(schema.get(), depth + 1, out);
    }
    out.push('}');
}
