//! Programs as `--json` shows them.

use agentic_model::{Value, json};
use schemars::JsonSchema;
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::program::ProgramFindings;

/// A pipeline of an AgentLang program as it runs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LoweredView {
    /// Its name.
    pub pipeline: String,
    /// Its text, workflows lowered.
    pub text: String,
}

/// The answer of `agentic fmt`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LayoutView {
    /// Whether the new text is another one.
    pub changed: bool,
    /// The file.
    pub file: String,
    /// The new text.
    pub text: String,
}

/// What laying a program out anew came to.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum LayoutAnswer {
    /// It was laid out.
    Laid(LayoutView),
    /// Something is wrong with its syntax.
    Faulty(ProgramFindings),
}

/// The plan of a block of a pipeline, in the form that was asked for.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub enum PlanView {
    /// JSON.
    Json(#[schemars(with = "serde_json::Value")] String),
    /// A drawing, for Graphviz.
    Drawing(String),
}

impl PlanView {
    /// Returns its text.
    pub fn text(&self) -> &str {
        match self {
            PlanView::Json(text) | PlanView::Drawing(text) => text,
        }
    }
}

impl Serialize for PlanView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            // Byte by byte as it is stored: its hash is its id.
            PlanView::Json(text) => {
                RawValue::from_string(text.clone()).map_err(S::Error::custom)?.serialize(serializer)
            }
            PlanView::Drawing(text) => text.serialize(serializer),
        }
    }
}

/// The plans of a pipeline.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum PlanAnswer {
    /// One for each block.
    Plans(Vec<PlanView>),
    /// Something is wrong with the program.
    Faulty(ProgramFindings),
}

/// What a pipeline does, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExplanationView {
    /// The words.
    pub text: String,
}

/// What explaining a pipeline came to.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ExplainAnswer {
    /// This is what it does.
    Explained(ExplanationView),
    /// Something is wrong with the program.
    Faulty(ProgramFindings),
}

/// The answer of `agentic flow translate`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TranslateView {
    /// The program.
    pub program: String,
}

/// What turning prose into a pipeline came to.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum TranslateAnswer {
    /// The program.
    Program(TranslateView),
    /// Something is wrong with the last reply.
    Faulty(ProgramFindings),
}

/// What is wrong with a pipeline, for other programs; a line of `agentic flow check --diagnostics json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PipelineFindingView {
    /// The backend that cannot do it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// Its code, which stays.
    pub code: String,
    /// The column, from 1.
    pub col: u32,
    /// The column behind its last character, from 1.
    pub end_col: u32,
    /// The line of its last character, from 1.
    pub end_line: u32,
    /// What could stand there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<String>,
    /// The file.
    pub file: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What kind it is, in a word.
    pub kind: String,
    /// The line, from 1.
    pub line: u32,
    /// What is wrong.
    pub message: String,
    /// The name that is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The parameter that is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub param: Option<String>,
    /// What looked at the program when it was found.
    pub phase: String,
}

impl PipelineFindingView {
    /// Takes over what the language says of a finding.
    pub(crate) fn of(finding: &Value) -> PipelineFindingView {
        serde_json::from_value(json::to_json(finding))
            .expect("BUG: the language says something else of its findings")
    }
}
