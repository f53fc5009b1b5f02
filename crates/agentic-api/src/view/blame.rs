//! Who wrote lines, as JSON.

use agentic_capture::blame::AttributedLines;
use schemars::JsonSchema;
use serde::Serialize;

/// Lines of a file that follow each other, of which the same is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlameView {
    /// The first and the last line, from 1.
    pub lines: [usize; 2],
    /// The commit that they come from; missing if they were not committed yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// How the trace of that commit was found: `exact`, `rewritten`, `same-patch`, `blob`, or `claim` if
    /// only its message says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
    /// `edit`: a call of a tool wrote these very lines; `commit`: the trace is known, the edit is not;
    /// `human`: somebody who is no agent; `unknown`.
    pub by: String,
    /// The agent, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// All agents whose traces are as good, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// The traces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<String>,
    /// The coding agent of a captured conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The conversation, as its coding agent calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The entry of the trace that is the edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The beginning of what a person asked before the edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
}

impl From<&AttributedLines> for BlameView {
    fn from(found: &AttributedLines) -> BlameView {
        let known = &found.attribution;
        let edit = known.edit.as_ref();
        let conversation = edit.and_then(|edit| edit.conversation.as_deref());
        let (source, conversation) = conversation.and_then(|it| it.split_once(':')).unzip();
        let names: Vec<String> = known.agents.iter().map(ToString::to_string).collect();
        let (agent, agents) = match names.as_slice() {
            [only] => (Some(only.clone()), Vec::new()),
            _ => (None, names),
        };
        BlameView {
            lines: [found.first, found.last],
            commit: known.commit.map(|oid| oid.to_string()),
            how: known.proof.map(|proof| proof.as_str().to_owned()),
            by: known.by.as_str().to_owned(),
            agent,
            agents,
            traces: known.traces.iter().map(ToString::to_string).collect(),
            source: source.map(str::to_owned),
            conversation: conversation.map(str::to_owned),
            entry: edit.and_then(|edit| edit.entry.clone()),
            model: edit.and_then(|edit| edit.model.clone()),
            prompt: edit.and_then(|edit| edit.prompt.clone()),
        }
    }
}
