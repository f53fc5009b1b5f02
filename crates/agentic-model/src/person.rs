//! Who made a commit, and when.

use crate::{AgentName, Instant};

/// A name and an address, as git writes them into commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The full name. Never contains `<`, `>` or a line break.
    pub name: String,
    /// The address. Never contains `<`, `>` or a line break.
    pub email: String,
}

impl Person {
    /// Makes a person; characters that would break a commit header are dropped, as git does.
    pub fn new(name: &str, email: &str) -> Person {
        let clean = |text: &str| -> String {
            let kept: String =
                text.chars().filter(|c| !matches!(c, '<' | '>' | '\n' | '\0')).collect();
            kept.trim().to_owned()
        };
        Person { name: clean(name), email: clean(email) }
    }

    /// Returns the author of an agent's commits.
    pub fn of_agent(agent: &AgentName) -> Person {
        Person { name: agent.to_string(), email: format!("{agent}@agents.invalid") }
    }
}

/// A person at an instant, in that person's time zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Who.
    pub person: Person,
    /// When; commits keep whole seconds.
    pub at: Instant,
    /// The offset from UTC, in minutes.
    pub offset_minutes: i32,
}

impl Signature {
    /// Writes the form used in commit headers: `name <email> seconds +hhmm`.
    pub fn to_header(&self) -> String {
        let sign = if self.offset_minutes < 0 { '-' } else { '+' };
        let offset = self.offset_minutes.unsigned_abs();
        format!(
            "{} <{}> {} {sign}{:02}{:02}",
            self.person.name,
            self.person.email,
            self.at.seconds(),
            offset / 60,
            offset % 60
        )
    }
}
