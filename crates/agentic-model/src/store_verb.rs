//! What the store that a session is in does for its program, in any language.

/// How the addresses of what the store does begin: `agentic://commit`, and `agentic://` for all of it.
pub const STORE_ADDRESS: &str = "agentic://";

/// What the store does for a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StoreVerb {
    /// Commits: `message`, perhaps `kind`, `fields` and `files`.
    Commit,
    /// Asks people: `question`, and what else a hold may say.
    Hold,
    /// Lists open holds: perhaps of one `agent`.
    Pending,
    /// Answers a query: its `text`.
    Query,
    /// Asserts or retracts a relation: `relation`, `target`, perhaps `source` and `change`.
    Relate,
    /// Makes an agent: `briefing`, perhaps `name`, `from` and the `flow` that it runs.
    Spawn,
    /// Writes an entry into the trace of the agent: any value.
    Trace,
}

/// What is known of a verb.
struct VerbEntry {
    verb: StoreVerb,
    name: &'static str,
    /// The field that a single text stands for.
    meant: Option<&'static str>,
    /// All fields that a call may have.
    fields: &'static [&'static str],
}

static VERBS: [VerbEntry; 7] = [
    VerbEntry {
        verb: StoreVerb::Commit,
        name: "commit",
        meant: Some("message"),
        fields: &["message", "kind", "fields", "files"],
    },
    VerbEntry {
        verb: StoreVerb::Hold,
        name: "hold",
        meant: Some("question"),
        fields: &["question", "schema", "assignees", "actions", "deadline", "on_expiry"],
    },
    VerbEntry {
        verb: StoreVerb::Pending,
        name: "pending",
        meant: Some("agent"),
        fields: &["agent"],
    },
    VerbEntry {
        verb: StoreVerb::Query,
        name: "query",
        meant: Some("text"),
        fields: &["text", "params"],
    },
    VerbEntry {
        verb: StoreVerb::Relate,
        name: "relate",
        meant: None,
        fields: &["source", "relation", "target", "change"],
    },
    VerbEntry {
        verb: StoreVerb::Spawn,
        name: "spawn",
        meant: Some("briefing"),
        fields: &["briefing", "name", "from", "flow", "input", "allow", "close"],
    },
    VerbEntry { verb: StoreVerb::Trace, name: "trace", meant: None, fields: &[] },
];

impl StoreVerb {
    /// Returns the names of all verbs, in order.
    pub fn names() -> impl Iterator<Item = &'static str> {
        VERBS.iter().map(|entry| entry.name)
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// Returns the field that a single text stands for.
    pub fn meant_field(self) -> Option<&'static str> {
        self.entry().meant
    }

    /// Returns the fields that a call may have, where they come from a value with others.
    pub fn fields(self) -> &'static [&'static str] {
        self.entry().fields
    }

    /// Finds a verb by its name.
    pub fn parse(name: &str) -> Option<StoreVerb> {
        VERBS.iter().find(|entry| entry.name == name).map(|entry| entry.verb)
    }

    /// Finds the verb of an address such as `agentic://commit`.
    pub fn of_address(address: &str) -> Option<StoreVerb> {
        StoreVerb::parse(address.strip_prefix(STORE_ADDRESS)?)
    }

    fn entry(self) -> &'static VerbEntry {
        VERBS.iter().find(|entry| entry.verb == self).expect("every verb has an entry")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verb_is_found_by_its_name_and_its_address() {
        for name in StoreVerb::names() {
            let verb = StoreVerb::parse(name).expect("it is listed");
            assert_eq!(verb.name(), name);
            assert_eq!(StoreVerb::of_address(&format!("agentic://{name}")), Some(verb));
        }
        for none in
            ["", "comit", "agentic:commit", "agentic://", "agentic://comit", "http://commit"]
        {
            assert_eq!(StoreVerb::of_address(none), None, "{none}");
        }
    }
}
