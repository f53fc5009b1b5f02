//! Secrets are taken out of what callers say before any of it is written.
//!
//! In texts that people read a mark stands in their place, and a notice names rule and place. Names,
//! keys, sources and objects are refused: they mean something else with a mark in them. Answers of
//! sessions are never altered: programs would run otherwise than they were recorded.

use agentic_capture::redaction;
use agentic_model::{Map, Value};
use agentic_redact::{SecretFinding, SecretRedactor};

use crate::{Caller, Notice, Refusal};

/// What to do where secrets cannot be looked for.
const RULES_HINT: &str = "nothing is written while secrets cannot be looked for: mend the rules, or take them out of `agentic.toml`";

/// Makes the redactor of the worktree where a caller stands.
///
/// # Errors
/// Fails when rules, allowances or the key of the tags cannot be used.
pub(crate) fn redactor(caller: &Caller<'_>) -> Result<SecretRedactor, Refusal> {
    let worktree = caller.space.repository().work_dir();
    redaction::redactor(caller.space, worktree).map_err(|error| {
        let because = std::error::Error::source(&error).map(ToString::to_string);
        Refusal { because, ..Refusal::refused(&error.to_string(), RULES_HINT) }
    })
}

/// Refuses a value that has a secret: one that a program is given, and that it must get as it is.
///
/// # Errors
/// Fails when it has one, and as [`CallerRedactor::new`] does.
pub(crate) fn refuse_secrets(
    caller: &Caller<'_>,
    place: &str,
    value: &Value,
) -> Result<(), Refusal> {
    if matches!(value, Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_)) {
        return Ok(());
    }
    CallerRedactor::new(caller)?.refuse(place, value)
}

/// Refuses a text that has a secret: a name or a key, which a mark would make another one.
///
/// # Errors
/// Fails when it has one, and as [`CallerRedactor::new`] does.
pub(crate) fn refuse_secret_text(
    caller: &Caller<'_>,
    place: &str,
    text: &str,
) -> Result<(), Refusal> {
    CallerRedactor::new(caller)?.refuse_text(place, text)
}

/// Takes secrets out of what one verb is given.
pub(crate) struct CallerRedactor {
    redactor: SecretRedactor,
    notices: Vec<Notice>,
}

impl CallerRedactor {
    /// Makes the redactor of the caller's worktree.
    ///
    /// # Errors
    /// Fails when rules, allowances or the key of the tags cannot be used: nothing may be written then.
    pub(crate) fn new(caller: &Caller<'_>) -> Result<CallerRedactor, Refusal> {
        Ok(CallerRedactor { redactor: redactor(caller)?, notices: Vec::new() })
    }

    /// Refuses a value that has a secret.
    ///
    /// # Errors
    /// Fails when it has one.
    pub(crate) fn refuse(&self, place: &str, value: &Value) -> Result<(), Refusal> {
        let (_, findings) = self.redactor.redact_value(value);
        let Some(finding) = findings.first() else { return Ok(()) };
        let message = format!("{place} has a secret, found by rule `{}`", finding.rule);
        let hint = "it is kept as it is given: name a credential in place of its value, or let `agentic.redactAllow` of your git configuration allow it";
        Err(Refusal::refused(&message, hint))
    }

    /// Refuses a text that has a secret.
    ///
    /// # Errors
    /// Fails when it has one.
    pub(crate) fn refuse_text(&self, place: &str, text: &str) -> Result<(), Refusal> {
        if text.is_empty() { Ok(()) } else { self.refuse(place, &Value::text(text)) }
    }

    /// Redacts a text.
    pub(crate) fn text(&mut self, place: &str, text: String) -> String {
        let redacted = self.redactor.redact_text(&text);
        if redacted.findings.is_empty() {
            return text;
        }
        let clean = redacted.text.into_owned();
        self.note(place, &redacted.findings);
        clean
    }

    /// Redacts bytes that may be text.
    pub(crate) fn bytes(&mut self, place: &str, bytes: Vec<u8>) -> Vec<u8> {
        let (clean, findings) = self.redactor.redact_bytes(&bytes);
        if findings.is_empty() {
            return bytes;
        }
        let clean = clean.into_owned();
        self.note(place, &findings);
        clean
    }

    /// Redacts the texts of a map, each with its key as context.
    pub(crate) fn map(&mut self, place: &str, map: Map) -> Map {
        if map.is_empty() {
            return map;
        }
        let (clean, findings) = self.redactor.redact_map(&map);
        self.note(place, &findings);
        clean
    }

    /// Returns what is to be told: a warning for each secret.
    pub(crate) fn notices(self) -> Vec<Notice> {
        self.notices
    }

    fn note(&mut self, place: &str, findings: &[SecretFinding]) {
        self.notices.extend(findings.iter().map(|finding| Notice::Redacted {
            rule: finding.rule.to_string(),
            place: place.to_owned(),
        }));
    }
}
