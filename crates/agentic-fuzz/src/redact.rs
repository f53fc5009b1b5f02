//! Texts from which secrets are taken.
//!
//! Whatever a text says: what is found lies in it, apart and in order; redacting what was redacted
//! changes nothing; a known value is left nowhere; and a text beside a name is no exception.

use std::sync::OnceLock;

use agentic_redact::{KnownValues, RedactAllowances, RedactRules, SecretRedactor, TagKey};

use crate::text_of;

/// A value that is known.
const KNOWN: &str = "tulip-orbit-94";

/// Checks one text.
pub fn check(data: &[u8]) {
    // process: rules are read once for all texts, and never change.
    static REDACTOR: OnceLock<SecretRedactor> = OnceLock::new();
    let redactor = REDACTOR.get_or_init(|| {
        let key = TagKey::new([7; 32]);
        let allowances = RedactAllowances::default();
        SecretRedactor::new(RedactRules::built_in(), KnownValues::new([KNOWN]), allowances, key)
    });
    let Some(text) = text_of(data) else { return };
    let mut at = 0;
    for finding in redactor.findings(text) {
        assert!(at <= finding.start && finding.start < finding.end, "findings overlap");
        assert!(text.get(finding.start..finding.end).is_some(), "a finding cuts a character");
        at = finding.end;
    }
    for key in [None, Some("password"), Some("Cookie")] {
        let redact = |text: &str| match key {
            Some(key) => redactor.redact_beside(key, text).text.into_owned(),
            None => redactor.redact_text(text).text.into_owned(),
        };
        let once = redact(text);
        assert!(!once.contains(KNOWN), "a known value is left");
        assert_eq!(redact(&once), once, "redacting twice is not redacting once");
    }
}
