//! Texts in the forms of others.

use schemars::JsonSchema;
use serde::Serialize;

/// One text of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExportView {
    /// The commit that it is about; missing where it is about all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The name of the file that holds it.
    pub name: String,
    /// The text, in the form that was asked for.
    pub text: String,
}
