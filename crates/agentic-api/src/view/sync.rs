//! Push and fetch as JSON.

use agentic_space::library::Library;
use agentic_space::sync::{FetchOutcome, PushOutcome};
use schemars::JsonSchema;
use serde::Serialize;

use crate::view::{AnnouncedView, PeerFetchView, PeerReplyView, texts};

/// The answer of `agentic push`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PushView {
    /// The remote.
    pub remote: String,
    /// The refs that it did not have like this before.
    pub pushed: Vec<String>,
    /// The announcement, where the remote takes one.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub announced: Option<AnnouncedView>,
}

/// The answer of `agentic fetch`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FetchView {
    /// The remote.
    pub remote: String,
    /// Agents whose branches moved forward.
    pub fast_forwarded: Vec<String>,
    /// Agents whose notes took something in.
    pub notes_united: Vec<String>,
    /// Agents whose branches have gone different ways.
    pub diverged: Vec<String>,
    /// Agents that have a branch here from now on.
    pub adopted: Vec<String>,
    /// Agents that were set back in the space of ours that they follow; here they stay.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rewound: Vec<String>,
    /// Names of rules that moved here and there; here they mean what they did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contested: Vec<String>,
    /// Names of behaviours that were adopted here and there; here what was stays in force.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contested_behaviours: Vec<String>,
    /// Names of behaviours by which something else is adopted there; here what was stays in force.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub offered: Vec<String>,
    /// What became of the spaces of peers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<PeerFetchView>,
    /// What became of decisions that peers sent for holds here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<PeerReplyView>,
}

impl From<&PushOutcome> for PushView {
    fn from(pushed: &PushOutcome) -> PushView {
        PushView { remote: pushed.remote.clone(), pushed: pushed.refs.clone(), announced: None }
    }
}

impl FetchView {
    /// Adds what moved by another way.
    pub fn add(&mut self, moved: &FetchOutcome) {
        self.fast_forwarded.extend(texts(&moved.fast_forwarded));
        self.notes_united.extend(texts(&moved.notes_united));
        self.diverged.extend(texts(&moved.diverged));
        self.adopted.extend(texts(&moved.adopted));
    }
}

impl From<&FetchOutcome> for FetchView {
    fn from(fetched: &FetchOutcome) -> FetchView {
        let contested = |wanted: Library| {
            let names = fetched.contested.iter().filter(|(library, _)| *library == wanted);
            names.map(|(_, name)| name.to_string()).collect()
        };
        FetchView {
            remote: fetched.remote.clone(),
            fast_forwarded: texts(&fetched.fast_forwarded),
            notes_united: texts(&fetched.notes_united),
            diverged: texts(&fetched.diverged),
            adopted: texts(&fetched.adopted),
            rewound: Vec::new(),
            contested: contested(Library::Rules),
            contested_behaviours: contested(Library::Behaviours),
            offered: fetched.offered.iter().map(ToString::to_string).collect(),
            peers: Vec::new(),
            replies: Vec::new(),
        }
    }
}
