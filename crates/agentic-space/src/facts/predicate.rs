//! Which facts a repository has: names, columns, types, what a row says and where it is read.

use agentic_query::QueryType::{Bool, Cid, Commit, Instant, Int, Text};
use agentic_query::{FactPredicate, QueryType};

/// A predicate of the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpacePredicate {
    Agent,
    Commit,
    Subject,
    Body,
    Field,
    Committer,
    Claim,
    Copied,
    Parent,
    Changed,
    Worktree,
    SubAgentOf,
    Kind,
    IsA,
    Object,
}

/// A predicate as people and queries know it.
pub(super) struct PredicateText {
    pub predicate: SpacePredicate,
    name: &'static str,
    meaning: &'static str,
    origin: &'static str,
    columns: &'static [(&'static str, QueryType, &'static str)],
}

impl PredicateText {
    /// Describes it to queries.
    pub fn described(&self) -> FactPredicate {
        FactPredicate::described(self.name, [self.meaning, self.origin], self.columns)
    }
}

/// All predicates, in the order of their numbers.
pub(super) const PREDICATES: &[PredicateText] = &[
    PredicateText {
        predicate: SpacePredicate::Agent,
        name: "agent",
        meaning: "There is an agent.",
        origin: "branches, the archive and the branches of remotes",
        columns: &[
            ("name", Text, "its name; `REMOTE/NAME` of one that only a remote has"),
            ("place", Text, "open, archived or remote"),
            ("private", Bool, "whether no push names it"),
            ("head", Commit, "its newest commit"),
            ("genesis", Commit, "its first commit; null if it was not spawned"),
            ("parent", Text, "the agent it was forked from"),
            ("briefing", Cid, "what it was asked to do"),
            ("at", Instant, "when its newest commit was made"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Commit,
        name: "commit",
        meaning: "An agent made a commit.",
        origin: "its own line of commits, as `log` shows it",
        columns: &[
            ("id", Commit, "the commit"),
            ("agent", Text, "whose it is"),
            ("n", Int, "its place in the line, from 0, the genesis"),
            ("kind", Text, "its kind, as far as it counts on this branch"),
            ("at", Instant, "when it was committed"),
            ("author", Text, "the name of its author"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Subject,
        name: "subject",
        meaning: "The first line of a commit's message.",
        origin: "the message",
        columns: &[("commit", Commit, "the commit"), ("text", Text, "the line")],
    },
    PredicateText {
        predicate: SpacePredicate::Body,
        name: "body",
        meaning: "The rest of a commit's message, where there is one.",
        origin: "the message",
        columns: &[("commit", Commit, "the commit"), ("text", Text, "without trailers of ours")],
    },
    PredicateText {
        predicate: SpacePredicate::Field,
        name: "field",
        meaning: "A commit has an open field.",
        origin: "its trailer `Agentic-Fields`",
        columns: &[
            ("commit", Commit, "the commit"),
            ("name", Text, "the name of the field"),
            ("value", Text, "a text's content, else canonical JSON"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Committer,
        name: "committer",
        meaning: "Whose repository a commit was made in.",
        origin: "the header of the commit",
        columns: &[
            ("commit", Commit, "the commit"),
            ("name", Text, "the name"),
            ("email", Text, "the address"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Claim,
        name: "claim",
        meaning: "A commit claims something, whether or not it counts.",
        origin: "trailers of ours",
        columns: &[
            ("commit", Commit, "the commit"),
            ("key", Text, "the key after `Agentic-`, in lower case"),
            ("value", Text, "what is claimed"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Copied,
        name: "copied",
        meaning: "A commit was copied from another agent's branch.",
        origin: "its trailer `Agentic-Agent`",
        columns: &[
            ("commit", Commit, "the commit"),
            ("agent", Text, "whose branch has it"),
            ("from", Text, "whose commit it claims to be"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Parent,
        name: "parent",
        meaning: "A commit of an agent has a parent.",
        origin: "the header of the commit",
        columns: &[
            ("commit", Commit, "the commit"),
            ("parent", Commit, "its parent"),
            ("n", Int, "which one, from 0"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Changed,
        name: "changed",
        meaning: "A commit changed a file.",
        origin: "its tree and that of its first parent",
        columns: &[
            ("commit", Commit, "the commit"),
            ("path", Text, "the file"),
            ("status", Text, "A new, M other content, D gone, T another sort of file"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Worktree,
        name: "worktree",
        meaning: "An agent's branch is checked out in a folder.",
        origin: "the worktrees of this machine",
        columns: &[
            ("path", Text, "the folder"),
            ("agent", Text, "the agent"),
            ("base", Commit, "the commit that the folder was last brought to"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Kind,
        name: "kind",
        meaning: "There is a kind of commits or objects.",
        origin: "the built-in kinds and the registry",
        columns: &[("name", Text, "the kind"), ("parent", Text, "the one that it specialises")],
    },
    PredicateText {
        predicate: SpacePredicate::IsA,
        name: "is_a",
        meaning: "A kind is another, or specialises it.",
        origin: "the built-in kinds and the registry",
        columns: &[("kind", Text, "the kind"), ("ancestor", Text, "itself, or one above it")],
    },
    PredicateText {
        predicate: SpacePredicate::Object,
        name: "object",
        meaning: "An agent keeps a typed object.",
        origin: "the notes of agents, and the registry",
        columns: &[
            ("cid", Cid, "the object"),
            ("type", Text, "its type"),
            ("agent", Text, "who keeps it; null for the registry"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::SubAgentOf,
        name: "sub_agent_of",
        meaning: "An agent was forked from another.",
        origin: "the genesis of the agent",
        columns: &[("agent", Text, "the agent"), ("parent", Text, "the one it came from")],
    },
];
