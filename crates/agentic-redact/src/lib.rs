//! Takes secrets out of texts before anything writes them down.
//!
//! Pure: rules, known values and the key of the tags come in, texts go out. Who finds the values and
//! the key is `agentic-capture`'s affair.
//!
//! - [`SecretRedactor`]: redacts texts ([`RedactedText`]) and values of JSON ([`RedactedJson`]).
//! - [`RedactRules`], [`RedactRule`]: what secrets of providers look like, as data.
//! - [`KnownValues`], [`KnownFile`]: values that the user's own files hold.
//! - [`RedactAllowances`]: what a user says is no secret.
//! - [`TagKey`]: makes the tags of the marks `[redacted:RULE:TAG]`.

mod command;
mod context;
mod cursor;
mod data;
mod element;
mod entropy;
mod exempt;
mod finding;
mod header;
mod hit;
mod json;
mod known;
mod measure;
mod name;
mod phrase;
mod pipe;
mod place;
mod private_key;
mod provider;
mod redactor;
mod rules;
mod separator;
mod setter;
mod steps;
mod table;
mod tag;
mod trigger;
mod url;
mod value;
mod view;
mod words;

pub use crate::exempt::is_plain_id;
pub use crate::finding::{RedactLayer, RuleId, SecretFinding};
pub use crate::json::{JsonFinding, RedactedJson};
pub use crate::known::{
    KNOWN_VALUE_BYTES_MAX, KNOWN_VALUE_BYTES_MIN, KNOWN_VALUES_MAX, KnownFile, KnownFormat,
    KnownValues, SOUGHT_BYTES_MAX, is_secret_variable,
};
pub use crate::redactor::{
    ALLOWANCES_MAX, AllowanceFault, RedactAllowances, RedactedText, SecretRedactor,
};
pub use crate::rules::{
    RULES_ADDED_MAX, RedactAllowlist, RedactRule, RedactRules, RedactTable, RuleFault,
    RuleFileFault,
};
pub use crate::tag::TagKey;
