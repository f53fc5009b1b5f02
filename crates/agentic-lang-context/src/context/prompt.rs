//! The layout of prompts, exactly as each version has it.

use std::sync::Arc;

use crate::code::BudgetCode;
use crate::dialect::Version;

use super::clip::ClippedValue;

/// One context item: a source that is visible, with its value at this moment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ContextItem {
    pub source: Arc<str>,
    pub label: Option<Arc<str>>,
    pub budget: Option<BudgetCode>,
    pub content: ClippedValue,
}

/// Who speaks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Identity<'a> {
    pub agent: &'a str,
    pub role: &'a str,
    pub description: &'a str,
}

/// What is sent to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContextPrompt {
    pub system: String,
    pub user: String,
}

/// Lays out a prompt from the only things that may enter one.
pub(crate) fn lay_out(
    version: Version,
    identity: Identity<'_>,
    items: &[ContextItem],
    instruction: &str,
    schema: Option<&str>,
) -> ContextPrompt {
    let first = version < Version::V0_1_3;
    let Identity { agent, role, description } = identity;
    let system = if first {
        format!("You are {agent}.\nrole: {role}\ndescription: {description}")
    } else {
        format!("You are {role}.\n{description}")
    };
    let content: usize = items.iter().map(|item| item.content.text.len() + 256).sum();
    let mut user = String::with_capacity(content + instruction.len() + 1024);
    if !items.is_empty() {
        user.push_str("Context:\n");
    }
    for (at, item) in items.iter().enumerate() {
        let head = match (&item.label, first) {
            (_, true) => format!("[{at}] {}:\n", item.source),
            (Some(label), false) => format!("[{label}]\nsource: {}\n", item.source),
            (None, false) => format!("[{at}]\nsource: {}\n", item.source),
        };
        user.push_str(&head);
        user.push_str(&item.content.text);
        user.push('\n');
    }
    user.push_str("Instruction:\n");
    user.push_str(instruction);
    if let Some(schema) = schema {
        user.push_str("\nReturn JSON matching this schema:\n");
        user.push_str(schema);
    }
    ContextPrompt { system, user }
}
