//! What was found, as JSON.

use agentic_index::{DocumentSource, SearchDocument, SearchExcerpt, SearchQuery};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer of `agentic search`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SearchView {
    /// What was found, newest first.
    pub items: Vec<SearchHitView>,
    /// Whether there is more than was asked for.
    pub more: bool,
    /// Whether not everything that could fit was looked at; narrower words look at less.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
}

/// A text that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SearchHitView {
    /// What it stands in: a trace, a commit, a briefing or a session; of an entry that is bound to no
    /// commit yet the agent.
    pub id: String,
    /// `trace`, `commit`, `briefing`, `decision` or `session`.
    #[serde(rename = "in")]
    pub place: String,
    /// The number of the entry in its trace from 0, or of the record in its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// The commit that the trace is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether the entry is bound to no commit yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pending: bool,
    /// The agent.
    pub agent: String,
    /// The kind of the commit, of the entry or of the request.
    pub kind: String,
    /// Who said it: an agent, a person, or what answered a request.
    pub by: String,
    /// When.
    pub at: String,
    /// At most 200 characters of it, on one line.
    pub text: String,
    /// What was asked for in `text`: where it begins and ends, in characters.
    pub marks: Vec<[usize; 2]>,
}

impl SearchHitView {
    /// Shows a document that a query found.
    pub fn new(document: &SearchDocument, query: &SearchQuery) -> SearchHitView {
        let (id, commit, n) = match &document.source {
            DocumentSource::Commit(oid) => (oid.to_string(), None, None),
            DocumentSource::Trace { commit, trace } => {
                (trace.to_string(), Some(commit.to_string()), Some(document.position))
            }
            DocumentSource::Pending => (document.agent.clone(), None, Some(document.position)),
            DocumentSource::Briefing(cid) => (cid.to_string(), None, None),
            DocumentSource::Session(id) => (id.clone(), None, Some(document.position)),
        };
        let excerpt = SearchExcerpt::of(&document.text, query);
        SearchHitView {
            id,
            place: document.place.to_string(),
            n,
            commit,
            pending: document.source == DocumentSource::Pending,
            agent: document.agent.clone(),
            kind: document.kind.clone(),
            by: document.by.clone(),
            at: document.at.to_string(),
            marks: excerpt.marks.iter().map(|(start, end)| [*start, *end]).collect(),
            text: excerpt.text,
        }
    }

    /// Cuts the text where marks begin and end; each piece says whether it was asked for.
    pub fn pieces(&self) -> Vec<(bool, String)> {
        let marks = self.marks.iter().map(|[start, end]| (*start, *end)).collect();
        SearchExcerpt { text: self.text.clone(), marks }.pieces()
    }
}
