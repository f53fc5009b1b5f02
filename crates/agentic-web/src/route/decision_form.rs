//! What the form of a decision brings.

use std::collections::BTreeMap;

use agentic_api::Refusal;
use agentic_session::decide::ApprovalScope;
use percent_encoding::percent_decode;

use crate::decision::ShownForm;
use crate::page::field::{TypedValue, as_sent};
use crate::page::hold::TypedAnswer;

/// What the names of the fields of a value begin with.
const VALUE: &str = "value";

/// What the form of a decision holds.
#[derive(Debug, Clone, Default)]
pub struct DecisionForm {
    fields: BTreeMap<String, String>,
}

impl DecisionForm {
    /// Reads what was sent.
    ///
    /// # Errors
    /// Fails where that is no text, and where a field comes twice: nobody could say which of them a person
    /// meant.
    pub fn parse(sent: &[u8]) -> Result<DecisionForm, Refusal> {
        let mut fields = BTreeMap::new();
        for pair in sent.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
            let place = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
            let (name, value) = pair.split_at(place);
            let name = decoded(name)?;
            if fields.contains_key(&name) {
                let what = format!("the field `{name}` was sent twice");
                return Err(Refusal::usage(&what, "send every field once"));
            }
            fields.insert(name, decoded(value.get(1..).unwrap_or_default())?);
        }
        Ok(DecisionForm { fields })
    }

    /// Returns what a field holds; nothing where there is no such field.
    pub fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }

    /// Returns what of it may not be changed.
    pub fn shown<'f>(&'f self, request: &'f str) -> ShownForm<'f> {
        ShownForm {
            request,
            request_hash: self.field("request_hash"),
            shown: self.field("shown"),
            at: self.field("shown_at"),
            who: self.field("who"),
        }
    }

    /// Returns what a person has typed.
    pub fn typed(&self) -> TypedAnswer {
        let is_value =
            |(name, _): &(&String, &String)| *name == VALUE || name.starts_with("value.");
        let value: TypedValue = self
            .fields
            .iter()
            .filter(is_value)
            .map(|(name, typed)| (as_sent(name), as_sent(typed)))
            .collect();
        TypedAnswer {
            action: self.field("action").to_owned(),
            value: Some(value),
            // Browsers send line breaks in two characters.
            reason: self.field("reason").replace("\r\n", "\n"),
            is_lasting: self.field("scope") == ApprovalScope::RestOfSession.name(),
            refusal: None,
            before: None,
        }
    }
}

fn decoded(sent: &[u8]) -> Result<String, Refusal> {
    let spaced: Vec<u8> =
        sent.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
    let text = percent_decode(&spaced).decode_utf8();
    let broken = |_| Refusal::usage("the form holds what is no text", "send it in UTF-8");
    Ok(text.map_err(broken)?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::DecisionForm;

    #[test]
    fn a_form_is_text_and_has_every_field_once() {
        let form = DecisionForm::parse(b"a=b+c%3d&&d&e=%e2%82%ac=&f=%zz").expect("a form");
        for (name, held) in [("a", "b c="), ("d", ""), ("e", "€="), ("f", "%zz"), ("g", "")] {
            assert_eq!(form.field(name), held, "{name}");
        }
        for sent in ["reason=%ff", "%ff=x", "action=reject&action=approve", "a&%61=b"] {
            assert!(DecisionForm::parse(sent.as_bytes()).is_err(), "{sent}");
        }
    }
}
