//! What is remembered of a conversation: whose agent it is, why, and where that was decided.
//!
//! One small file each, below `agentic/capture/conversation/`. An id is whatever a vendor says; it
//! becomes a file name only by its hash. All of it may be deleted: the next event binds anew, and an
//! agent of its own is known by its briefing.

use std::path::{Path, PathBuf};

use agentic_model::{AgentName, Instant};
use agentic_store::Layout;
use agentic_store::file::{self, Persistence};
use serde::{Deserialize, Serialize};

use crate::live::LiveProgram;
use crate::{CaptureError, ConversationId, Source};

/// The longest file that is read, in bytes.
const RECORD_BYTES_MAX: u64 = 64 << 10;
/// The form of the files.
const VERSION: u32 = 1;
/// How long after its last word a conversation of which nobody knows the end may go on.
pub(crate) const QUIET_MS: i64 = 24 * 60 * 60 * 1000;

/// Why a conversation belongs to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BindReason {
    /// The environment names the agent.
    Env,
    /// Its folder is the agent's worktree.
    Worktree,
    /// It was bound before.
    Conversation,
    /// It got an agent of its own.
    Adopted,
    /// It is a subagent, and its agent the child of another.
    Parent,
    /// Its worktree was made for it.
    Created,
    /// Whoever had it imported said so.
    Named,
}

impl BindReason {
    /// All of them.
    pub const ALL: [BindReason; 7] = [
        BindReason::Env,
        BindReason::Worktree,
        BindReason::Conversation,
        BindReason::Adopted,
        BindReason::Parent,
        BindReason::Created,
        BindReason::Named,
    ];

    /// Returns the word that records and status use.
    pub fn as_str(self) -> &'static str {
        match self {
            BindReason::Env => "env",
            BindReason::Worktree => "worktree",
            BindReason::Conversation => "conversation",
            BindReason::Adopted => "adopted",
            BindReason::Parent => "parent",
            BindReason::Created => "created",
            BindReason::Named => "named",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<BindReason> {
        BindReason::ALL.into_iter().find(|reason| reason.as_str() == word)
    }
}

/// What is remembered of a conversation, or of a subagent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationRecord {
    v: u32,
    source: String,
    /// The vendor's id.
    pub native: String,
    agent: String,
    /// Why it is that agent's.
    pub reason: BindReason,
    /// The branch that was checked out where this was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The conversation that a subagent belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// What sort of subagent it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<String>,
    /// The program that has the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<LiveProgram>,
    /// Its transcript, as the last event named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<PathBuf>,
    /// When the first event came, in milliseconds.
    pub began: i64,
    /// When it was over, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<i64>,
}

impl ConversationRecord {
    /// Begins a record.
    pub fn new(
        id: &ConversationId,
        agent: &AgentName,
        reason: BindReason,
        now: Instant,
    ) -> ConversationRecord {
        ConversationRecord {
            v: VERSION,
            source: id.source.to_string(),
            native: id.native.clone(),
            agent: agent.to_string(),
            reason,
            branch: None,
            parent: None,
            sort: None,
            program: None,
            transcript: None,
            began: now.millis(),
            ended: None,
        }
    }

    /// Returns the conversation.
    pub fn id(&self) -> Option<ConversationId> {
        let source = Source::parse(&self.source).ok()?;
        Some(ConversationId { source, native: self.native.clone() })
    }

    /// Returns the agent; nothing if the file was changed to name none.
    pub fn agent(&self) -> Option<AgentName> {
        AgentName::parse(&self.agent).ok()
    }

    /// Names another agent.
    pub fn bind(&mut self, agent: &AgentName, reason: BindReason) {
        (self.agent, self.reason) = (agent.to_string(), reason);
    }

    /// Reads the record of a conversation; nothing if there is none, or if it is damaged.
    pub fn load(layout: &Layout, id: &ConversationId) -> Option<ConversationRecord> {
        let record = read(&place(layout, id))?;
        // A hash that two ids share would be news; a file that was moved is not.
        (record.source == id.source.as_str() && record.native == id.native).then_some(record)
    }

    /// Writes the record.
    ///
    /// # Errors
    /// Fails when the folder cannot be written.
    pub fn save(&self, layout: &Layout) -> Result<(), CaptureError> {
        let Some(id) = self.id() else { return Ok(()) };
        let path = place(layout, &id);
        let folder = path.parent().expect("records stand in a folder");
        std::fs::create_dir_all(folder).map_err(|source| CaptureError::Io { source })?;
        let text = serde_json::to_vec(self).expect("a record of texts and numbers has a JSON form");
        Ok(file::replace(&path, &text, Persistence::Lazy)?)
    }
}

/// Lists what is remembered, in no order.
pub fn conversations(layout: &Layout) -> Vec<ConversationRecord> {
    let mut found = Vec::new();
    for source in Source::ALL {
        for shard in entries(&folder(layout).join(source.as_str())) {
            found.extend(entries(&shard).iter().filter_map(|path| read(path)));
        }
    }
    found
}

/// Hashes an id for the name of a file.
pub fn file_name_of(id: &ConversationId) -> String {
    let text = format!("{}\0{}", id.source, id.native);
    agentic_store::hash_hex(text.as_bytes())[..40].to_owned()
}

fn folder(layout: &Layout) -> PathBuf {
    layout.capture().join("conversation")
}

fn place(layout: &Layout, id: &ConversationId) -> PathBuf {
    let name = file_name_of(id);
    folder(layout).join(id.source.as_str()).join(&name[..2]).join(&name[2..])
}

fn read(path: &Path) -> Option<ConversationRecord> {
    let text = file::read_small(path, RECORD_BYTES_MAX).ok()?;
    let record: ConversationRecord = serde_json::from_slice(&text).ok()?;
    (record.v == VERSION).then_some(record)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(folder).into_iter().flatten().flatten();
    found.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_any_shape_have_a_place_below_the_folder() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let layout = Layout::new(root.path());
        let agent = AgentName::parse("fix").expect("a name");
        let long = "x".repeat(5_000);
        for native in ["../../../etc", "a/b", "", "\u{0}\n", ".", &long, "Ä"] {
            let id = ConversationId { source: Source::Claude, native: native.to_owned() };
            assert_eq!(ConversationRecord::load(&layout, &id), None);
            let record =
                ConversationRecord::new(&id, &agent, BindReason::Env, Instant::from_millis(7));
            record.save(&layout).expect("writable");
            assert_eq!(ConversationRecord::load(&layout, &id), Some(record));
            let other = ConversationId { source: Source::Codex, ..id };
            assert_eq!(ConversationRecord::load(&layout, &other), None);
        }
        assert_eq!(conversations(&layout).len(), 7);
        let outside = std::fs::read_dir(root.path()).expect("readable").count();
        assert_eq!(outside, 1, "nothing stands beside the folder");
    }

    #[test]
    fn a_damaged_record_is_none() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let layout = Layout::new(root.path());
        let id = ConversationId { source: Source::Claude, native: "a".to_owned() };
        let agent = AgentName::parse("fix").expect("a name");
        let record = ConversationRecord::new(&id, &agent, BindReason::Env, Instant::from_millis(7));
        record.save(&layout).expect("writable");
        for text in ["", "{", "[]", "{\"v\":2}"] {
            std::fs::write(place(&layout, &id), text).expect("writable");
            assert_eq!(ConversationRecord::load(&layout, &id), None, "{text}");
        }
    }
}
