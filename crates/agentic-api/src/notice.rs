//! What a caller should be told although the verb was done.

use std::sync::Arc;

use agentic_space::Written;
use agentic_space::error::left_out_words;

/// Something that did not keep a verb from being done.
#[derive(Debug, Clone)]
pub enum Notice {
    /// The write is decided but not visible yet.
    Deferred {
        /// Why.
        why: Arc<agentic_store::Error>,
    },
    /// A worktree did not follow its branch.
    LeftBehind {
        /// Why.
        why: String,
    },
    /// A folder has git repositories that a commit of it does not hold.
    LeftOut {
        /// Where they are.
        repositories: Vec<String>,
    },
    /// An agent was made, and its worktree was not.
    NoWorktree {
        /// Why.
        why: String,
    },
    /// Part of what was asked for could not be read, and the rest is the answer.
    Unreadable {
        /// What, and why.
        what: String,
    },
}

impl Notice {
    /// Says what a write left to tell: nothing where everything is visible.
    pub fn of(written: &Written) -> Option<Notice> {
        written.deferred.clone().map(|why| Notice::Deferred { why })
    }

    /// Says what a worktree that did not follow its branch leaves to tell.
    pub fn left_behind(why: Option<&agentic_store::Error>) -> Option<Notice> {
        why.map(|why| Notice::LeftBehind { why: why.to_string() })
    }

    /// Says it in a sentence.
    pub fn sentence(&self) -> String {
        match self {
            Notice::Deferred { why } => {
                format!(
                    "the write is durable but not visible yet: {why}; the next command finishes it"
                )
            }
            Notice::LeftBehind { why } => format!(
                "the worktree did not follow: {why}; run `agentic worktree sync`, or `git restore .` there where no agent works"
            ),
            Notice::LeftOut { repositories } => format!(
                "{}; `git submodule add` makes it part of this one",
                left_out_words(repositories)
            ),
            Notice::NoWorktree { why } => format!("the agent exists, but has no worktree: {why}"),
            Notice::Unreadable { what } => what.clone(),
        }
    }
}
