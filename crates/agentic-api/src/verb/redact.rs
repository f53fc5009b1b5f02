//! Looking for secrets in a text.

use agentic_capture::redaction;
use agentic_redact::SecretFinding;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::redaction::redactor;
use crate::verb::{EntryBody, Reply, Verb};
use crate::view::SecretView;
use crate::{Caller, Notice, Refusal};

/// Find the secrets in a text, as they are found before anything is written. No value is shown.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindSecrets {
    /// The text.
    pub text: EntryBody,
}

/// A text without its secrets.
#[derive(Debug)]
pub struct RedactedInput {
    /// The text.
    pub bytes: Vec<u8>,
    /// What stood where.
    pub secrets: Vec<SecretView>,
    /// What is to be told.
    pub notices: Vec<Notice>,
}

impl FindSecrets {
    /// Takes the secrets out.
    ///
    /// # Errors
    /// Fails when rules or allowances cannot be used.
    pub fn redact(self, caller: &Caller<'_>) -> Result<RedactedInput, Refusal> {
        let redactor = redactor(caller)?;
        let text = self.text.into_bytes()?;
        let (bytes, findings) = redactor.redact_bytes(&text);
        let worktree = caller.space.repository().work_dir();
        let refused = worktree.map(redaction::refused_settings).unwrap_or_default();
        let notices = refused.into_iter().map(|name| Notice::Remark {
            what: format!(
                "`redact.{name}` of `agentic.toml` does not count: a project adds rules, and only \
                 `agentic.redactAllow` of your own git configuration allows values"
            ),
        });
        Ok(RedactedInput {
            bytes: bytes.into_owned(),
            secrets: findings.iter().map(SecretView::from).collect(),
            notices: notices.collect(),
        })
    }
}

impl Verb for FindSecrets {
    type Answer = Vec<SecretView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<SecretView>>, Refusal> {
        let RedactedInput { secrets, notices, .. } = self.redact(caller)?;
        Ok(Reply { notices, ..Reply::plain(secrets) })
    }
}

impl From<&SecretFinding> for SecretView {
    fn from(finding: &SecretFinding) -> SecretView {
        let rule = finding.rule.to_string();
        SecretView { rule, start: finding.start, end: finding.end }
    }
}
