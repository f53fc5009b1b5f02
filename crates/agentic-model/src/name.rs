//! Names of agents.

use std::fmt;

/// The longest agent name, in bytes.
pub const AGENT_NAME_BYTES_MAX: usize = 63;

/// The name of an agent: the part of its branch after `agents/`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentName(String);

/// A text that cannot name an agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` cannot name an agent: {reason}")]
pub struct InvalidName {
    /// The text as it was given.
    pub text: String,
    /// Which rule it breaks.
    pub reason: &'static str,
}

impl AgentName {
    /// How the full name of the branch of every agent begins.
    pub const BRANCHES: &str = "refs/heads/agents/";
    /// How the full name of the notes ref of every agent begins.
    pub const NOTES_REFS: &str = "refs/notes/agentic/";

    /// Accepts flat names: a lower-case letter or digit, then up to 62 of these, `.`, `_` or `-`;
    /// no `..`, not ending in `.` or `.lock`.
    ///
    /// # Errors
    /// Fails on any other text and names the rule that it breaks.
    pub fn parse(text: &str) -> Result<AgentName, InvalidName> {
        match broken_rule(text) {
            None => Ok(AgentName(text.to_owned())),
            Some(reason) => Err(InvalidName { text: text.to_owned(), reason }),
        }
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the full name of the agent's branch.
    pub fn branch_ref(&self) -> String {
        format!("{}{}", Self::BRANCHES, self.0)
    }

    /// Returns the full name of the agent's notes ref.
    pub fn notes_ref(&self) -> String {
        format!("{}{}", Self::NOTES_REFS, self.0)
    }

    /// Returns the name of the agent that owns a full branch name, if an agent does.
    pub fn from_branch_ref(full_name: &str) -> Option<AgentName> {
        AgentName::parse(full_name.strip_prefix(Self::BRANCHES)?).ok()
    }

    /// Returns the name of the agent that owns a full name of notes, if an agent does.
    pub fn from_notes_ref(full_name: &str) -> Option<AgentName> {
        AgentName::parse(full_name.strip_prefix(Self::NOTES_REFS)?).ok()
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns which rule of flat names a text breaks.
pub(crate) fn broken_rule(text: &str) -> Option<&'static str> {
    let is_first = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_later = |c: char| is_first(c) || matches!(c, '.' | '_' | '-');
    if text.is_empty() {
        return Some("it is empty");
    }
    if text.len() > AGENT_NAME_BYTES_MAX {
        return Some("it is longer than 63 characters");
    }
    if !text.starts_with(is_first) {
        return Some("it must begin with a lower-case letter or a digit");
    }
    if !text.chars().all(is_later) {
        return Some("only lower-case letters, digits, `.`, `_` and `-` are allowed");
    }
    if text.contains("..") {
        return Some("it contains `..`");
    }
    if text.ends_with('.') || text.ends_with(".lock") {
        return Some("it must not end in `.` or `.lock`");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_names_are_accepted() {
        for text in ["a", "fix-auth", "0.1_x", &"a".repeat(63)] {
            assert!(AgentName::parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn names_that_git_or_people_trip_over_are_refused() {
        let long = "a".repeat(64);
        for text in
            ["", "A", "-a", ".a", "_space", "a/b", "a b", "a..b", "a.", "a.lock", "é", &long]
        {
            assert!(AgentName::parse(text).is_err(), "{text}");
        }
    }
}
