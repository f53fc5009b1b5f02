//! Texts that somebody said, and where they stand.

use std::cmp::Reverse;
use std::fmt;

use agentic_model::{Cid, Instant, Oid};

/// How much of a text is searched, in bytes: 64 KiB.
pub const TEXT_BYTES_MAX: usize = 64 << 10;

/// Which sort of place a text stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DocumentPlace {
    /// An entry of a trace.
    Trace,
    /// The message of a commit.
    Commit,
    /// What an agent was asked to do.
    Briefing,
    /// Why and what a person decided.
    Decision,
    /// What a session asked, and what was answered.
    Session,
}

/// What holds a text: all that is needed to read it again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum DocumentSource {
    /// A commit.
    Commit(Oid),
    /// A trace, and the commit that it is bound to.
    Trace {
        /// The commit.
        commit: Oid,
        /// The trace.
        trace: Cid,
    },
    /// The entries that are bound to no commit yet.
    Pending,
    /// A briefing.
    Briefing(Cid),
    /// A session, by its id.
    Session(String),
}

/// A text that can be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchDocument {
    /// What holds it.
    pub source: DocumentSource,
    /// Its place in what holds it.
    pub position: u64,
    /// Which sort of place that is.
    pub place: DocumentPlace,
    /// The agent.
    pub agent: String,
    /// The kind of the commit, of the entry or of the request.
    pub kind: String,
    /// Who said it.
    pub by: String,
    /// When.
    pub at: Instant,
    /// What: its first [`TEXT_BYTES_MAX`] bytes.
    pub text: String,
}

/// What puts documents in order: newest first, and always the same where instants are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DocumentOrder {
    newest: Reverse<i64>,
    agent: String,
    source: DocumentSource,
    latest: Reverse<u64>,
}

impl DocumentOrder {
    /// Makes the place of a text that was said at an instant, in milliseconds.
    pub fn new(at: i64, agent: &str, source: &DocumentSource, position: u64) -> DocumentOrder {
        DocumentOrder {
            newest: Reverse(at),
            agent: agent.to_owned(),
            source: source.clone(),
            latest: Reverse(position),
        }
    }
}

impl DocumentPlace {
    /// All of them.
    pub const ALL: [DocumentPlace; 5] = [
        DocumentPlace::Trace,
        DocumentPlace::Commit,
        DocumentPlace::Briefing,
        DocumentPlace::Decision,
        DocumentPlace::Session,
    ];

    /// Returns the word for it.
    pub const fn word(self) -> &'static str {
        match self {
            DocumentPlace::Trace => "trace",
            DocumentPlace::Commit => "commit",
            DocumentPlace::Briefing => "briefing",
            DocumentPlace::Decision => "decision",
            DocumentPlace::Session => "session",
        }
    }

    /// Finds the place that a word stands for.
    pub fn of_word(word: &str) -> Option<DocumentPlace> {
        DocumentPlace::ALL.into_iter().find(|place| place.word() == word)
    }
}

impl fmt::Display for DocumentPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl SearchDocument {
    /// Cuts the text to what is searched.
    #[must_use]
    pub fn bounded(mut self) -> SearchDocument {
        if self.text.len() > TEXT_BYTES_MAX {
            self.text.truncate(self.text.floor_char_boundary(TEXT_BYTES_MAX));
        }
        self
    }

    /// Returns its place in the order of hits.
    pub fn order(&self) -> DocumentOrder {
        DocumentOrder::new(self.at.millis(), &self.agent, &self.source, self.position)
    }
}
