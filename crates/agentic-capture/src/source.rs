//! Coding agents whose conversations are captured, and the names of those conversations.

use std::fmt;

/// A coding agent of a vendor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    Gemini,
    /// Copilot CLI.
    Copilot,
    /// opencode.
    Opencode,
}

/// The name is none of the six.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{name}` is no coding agent that is captured: claude, codex, cursor, gemini, copilot, opencode"
)]
pub struct InvalidSource {
    /// What was given.
    pub name: String,
}

impl Source {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Source; 6] = [
        Source::Claude,
        Source::Codex,
        Source::Cursor,
        Source::Gemini,
        Source::Copilot,
        Source::Opencode,
    ];

    /// Returns the name that commands, entries and folders use.
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Claude => "claude",
            Source::Codex => "codex",
            Source::Cursor => "cursor",
            Source::Gemini => "gemini",
            Source::Copilot => "copilot",
            Source::Opencode => "opencode",
        }
    }

    /// Reads a name.
    ///
    /// # Errors
    /// Fails when it is none of the six.
    pub fn parse(name: &str) -> Result<Source, InvalidSource> {
        let found = Source::ALL.into_iter().find(|source| source.as_str() == name);
        found.ok_or_else(|| InvalidSource { name: name.to_owned() })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A conversation: the source, and the vendor's id of its session or thread, whatever that contains.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConversationId {
    /// Whose conversation it is.
    pub source: Source,
    /// The vendor's id, as the vendor writes it.
    pub native: String,
}

impl fmt::Display for ConversationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.source, self.native)
    }
}
