//! Traces as JSON.

use std::collections::{BTreeMap, HashMap};

use agentic_model::{Entry, Value, json};
use agentic_space::trace::{AttachOutcome, PastBinding, ShownTrace};
use agentic_store::PendingAside;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use schemars::JsonSchema;
use serde::Serialize;

/// The answer of `agentic trace add`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TraceAddView {
    /// The agent.
    pub agent: String,
    /// The kind of the entry.
    pub kind: String,
    /// When it was added.
    pub at: String,
    /// The length of the entry, in bytes.
    pub bytes: usize,
    /// How many entries are pending now.
    pub pending: u64,
}

/// One entry of a trace: text, or bytes in base64.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct EntryView {
    /// What sort of thing happened.
    pub kind: String,
    /// When.
    pub at: String,
    /// The text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The bytes, if they are not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// What is known about it beside its text, where it was captured; what its source said that nobody
    /// here knows stands under `more`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub meta: BTreeMap<String, serde_json::Value>,
    /// The folder below `agentic/` whose journal has it, if that is one of an earlier branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// The answer of `agentic trace show`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TraceView {
    /// The commit it is bound to, if it was found by a commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// How it was found, if not by a note of that commit: `rewritten`, `same-patch` or `blob`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
    /// Its id.
    pub cid: String,
    /// Whose trace it is.
    pub agent: String,
    /// Its entries, oldest first; long ones are whole again.
    pub entries: Vec<EntryView>,
}

/// The answer of `agentic trace attach`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AttachView {
    /// The commit.
    pub commit: String,
    /// The id of the trace.
    pub cid: String,
    /// How many entries it has.
    pub entries: u64,
}

/// What `agentic trace rewrites` kept with one agent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RewritesView {
    /// The agent.
    pub agent: String,
    /// How many rewritten commits lead to its traces.
    pub rewrites: usize,
}

/// One binding of `agentic trace history`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BindingView {
    /// The trace; missing if the note named none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cid: Option<String>,
    /// When it was bound.
    pub at: String,
    /// The notes commit that bound it.
    pub note_commit: String,
}

/// One binding, held against the one before.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TraceBindingView {
    /// The binding.
    #[serde(flatten)]
    pub binding: BindingView,
    /// How many entries the trace has; missing if it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<usize>,
    /// The entries that the trace bound before lacks, by their places, from 1.
    pub added: Vec<usize>,
    /// The entries of the trace bound before that this one lacks, by their places there.
    pub left_out: Vec<usize>,
}

impl TraceBindingView {
    /// Holds bindings, newest first, against the traces that they bound.
    pub(crate) fn compare(
        bindings: Vec<BindingView>,
        mut read: impl FnMut(&str) -> Option<Vec<EntryView>>,
    ) -> Vec<TraceBindingView> {
        let mut before: Option<Vec<EntryView>> = None;
        let mut views = Vec::new();
        for binding in bindings.into_iter().rev() {
            // A note that names no trace takes all entries away; one that cannot be read says nothing.
            let now = binding.cid.as_deref().map_or_else(|| Some(Vec::new()), &mut read);
            let earlier = before.as_deref().unwrap_or_default();
            let (added, left_out) = match &now {
                Some(now) => (lacking(now, earlier), lacking(earlier, now)),
                None => (Vec::new(), Vec::new()),
            };
            let entries = now.as_ref().map(Vec::len);
            views.push(TraceBindingView { binding, entries, added, left_out });
            before = now.or(before);
        }
        views.reverse();
        views
    }
}

/// Lists the places, from 1, of what the other does not have as often.
fn lacking(one: &[EntryView], other: &[EntryView]) -> Vec<usize> {
    let mut left: HashMap<&EntryView, usize> = HashMap::new();
    for entry in other {
        *left.entry(entry).or_default() += 1;
    }
    let mut places = Vec::new();
    for (place, entry) in one.iter().enumerate() {
        match left.get_mut(entry) {
            Some(n) if *n > 0 => *n -= 1,
            Some(_) | None => places.push(place + 1),
        }
    }
    places
}

impl EntryView {
    /// Shows entries, with the pieces of long ones put together.
    pub fn whole(entries: &[Entry]) -> Vec<EntryView> {
        let mut views = Vec::new();
        let mut pieces: Vec<&Entry> = Vec::new();
        for entry in entries {
            pieces.push(entry);
            if !entry.continues {
                views.push(EntryView::join(&pieces));
                pieces.clear();
            }
        }
        // The rest of a long entry may have been lost with the process that wrote it.
        if !pieces.is_empty() {
            views.push(EntryView::join(&pieces));
        }
        views
    }

    /// Shows entries of a journal that was set aside.
    pub fn of_aside(aside: &PendingAside) -> Vec<EntryView> {
        let mut views = EntryView::whole(&aside.entries);
        for view in &mut views {
            view.from = Some(aside.folder.clone());
        }
        views
    }

    fn join(pieces: &[&Entry]) -> EntryView {
        let mut bytes = Vec::new();
        let mut is_text = true;
        for piece in pieces {
            if let Some(purge) = piece.purged_by().filter(|_| piece.body_length() == 0) {
                bytes.extend_from_slice(format!("[purged:{purge}]").as_bytes());
            }
            match &piece.body {
                Value::Text(text) => bytes.extend_from_slice(text.as_bytes()),
                Value::Bytes(raw) => {
                    is_text = false;
                    bytes.extend_from_slice(raw);
                }
                Value::Null
                | Value::Bool(_)
                | Value::Int(_)
                | Value::Float(_)
                | Value::List(_)
                | Value::Map(_)
                | Value::Link(_) => {}
            }
        }
        let first = pieces.first().expect("an entry has at least one piece");
        let text = if is_text { String::from_utf8(bytes.clone()).ok() } else { None };
        let base64 = if text.is_none() { Some(BASE64.encode(&bytes)) } else { None };
        let (kind, at) = (first.kind.to_string(), first.at.to_string());
        let meta =
            first.meta.iter().map(|(key, value)| (key.clone(), json::to_json(value))).collect();
        EntryView { kind, at, text, base64, meta, from: None }
    }
}

impl From<&ShownTrace> for TraceView {
    fn from(shown: &ShownTrace) -> TraceView {
        TraceView {
            commit: shown.commit.map(|oid| oid.to_string()),
            how: None,
            cid: shown.cid.to_string(),
            agent: shown.trace.agent.to_string(),
            entries: EntryView::whole(&shown.trace.entries),
        }
    }
}

impl From<&AttachOutcome> for AttachView {
    fn from(attached: &AttachOutcome) -> AttachView {
        AttachView {
            commit: attached.commit.to_string(),
            cid: attached.cid.to_string(),
            entries: attached.n_entries,
        }
    }
}

impl From<&PastBinding> for BindingView {
    fn from(binding: &PastBinding) -> BindingView {
        BindingView {
            cid: binding.cid.map(|cid| cid.to_string()),
            at: binding.at.to_string(),
            note_commit: binding.note_commit.to_string(),
        }
    }
}
