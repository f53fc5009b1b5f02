//! Which facts a repository has: names, columns, types, what a row says and where it is read.

use agentic_query::QueryType::{Bool, Cid, Commit, Instant, Int, Text};
use agentic_query::{FactColumn, FactPredicate, column};

/// A predicate of the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpacePredicate {
    Agent,
    Archived,
    Briefing,
    BriefingField,
    Commit,
    Subject,
    Body,
    Field,
    Committer,
    Claim,
    Copied,
    Parent,
    Changed,
    Lines,
    Branch,
    BranchHas,
    Landed,
    Linked,
    Worktree,
    SubAgentOf,
    MergedInto,
    Reviews,
    Edge,
    EdgeEvent,
    Trace,
    Binding,
    Entry,
    PendingEntry,
    Kind,
    IsA,
    Object,
    Work,
    WorkKind,
    Pinned,
}

/// A predicate as people and queries know it.
pub(super) struct PredicateText {
    pub predicate: SpacePredicate,
    name: &'static str,
    meaning: &'static str,
    origin: &'static str,
    columns: &'static [FactColumn],
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
            column("name", Text, "its name; `REMOTE/NAME` of one that only a remote has"),
            column("place", Text, "open, archived or remote"),
            column("private", Bool, "whether no push names it"),
            column("head", Commit, "its newest commit"),
            column("genesis", Commit, "its first commit; null if it was not spawned"),
            column("parent", Text, "the agent it was forked from"),
            column("briefing", Cid, "what it was asked to do"),
            column("at", Instant, "when its newest commit was made"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Archived,
        name: "archived",
        meaning: "An agent is in the archive.",
        origin: "the archives of this space",
        columns: &[
            column("agent", Text, "the agent"),
            column("at", Instant, "since when"),
            column("by", Text, "person; program, for an agent or what tidies up by itself"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Briefing,
        name: "briefing",
        meaning: "What an agent was asked to do.",
        origin: "the object that its genesis names",
        columns: &[
            column("agent", Text, "the agent"),
            column("cid", Cid, "the object"),
            column("text", Text, "what it says; null if it cannot be read"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::BriefingField,
        name: "briefing_field",
        meaning: "A briefing has an open field.",
        origin: "the object that the genesis names",
        columns: &[
            column("agent", Text, "the agent"),
            column("name", Text, "the name of the field"),
            column("value", Text, "a text's content, else canonical JSON"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Commit,
        name: "commit",
        meaning: "An agent made a commit.",
        origin: "its own line of commits, as `log` shows it",
        columns: &[
            column("id", Commit, "the commit"),
            column("agent", Text, "whose it is"),
            column("n", Int, "its place in the line, from 0, the genesis"),
            column("kind", Text, "its kind, as far as it counts on this branch"),
            column("at", Instant, "when it was committed"),
            column("author", Text, "the name of its author"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Subject,
        name: "subject",
        meaning: "The first line of a commit's message.",
        origin: "the message",
        columns: &[column("commit", Commit, "the commit"), column("text", Text, "the line")],
    },
    PredicateText {
        predicate: SpacePredicate::Body,
        name: "body",
        meaning: "The rest of a commit's message, where there is one.",
        origin: "the message",
        columns: &[
            column("commit", Commit, "the commit"),
            column("text", Text, "without trailers of ours"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Field,
        name: "field",
        meaning: "A commit has an open field.",
        origin: "its trailer `Agentic-Fields`",
        columns: &[
            column("commit", Commit, "the commit"),
            column("name", Text, "the name of the field"),
            column("value", Text, "a text's content, else canonical JSON"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Committer,
        name: "committer",
        meaning: "Whose repository a commit was made in.",
        origin: "the header of the commit",
        columns: &[
            column("commit", Commit, "the commit"),
            column("name", Text, "the name"),
            column("email", Text, "the address"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Claim,
        name: "claim",
        meaning: "A commit claims something, whether or not it counts.",
        origin: "trailers of ours",
        columns: &[
            column("commit", Commit, "the commit"),
            column("key", Text, "the key after `Agentic-`, in lower case"),
            column("value", Text, "what is claimed"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Copied,
        name: "copied",
        meaning: "A commit was copied from another agent's branch.",
        origin: "its trailer `Agentic-Agent`",
        columns: &[
            column("commit", Commit, "the commit"),
            column("agent", Text, "whose branch has it"),
            column("from", Text, "whose commit it claims to be"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Parent,
        name: "parent",
        meaning: "A commit of an agent has a parent.",
        origin: "the header of the commit",
        columns: &[
            column("commit", Commit, "the commit"),
            column("parent", Commit, "its parent"),
            column("n", Int, "which one, from 0"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Changed,
        name: "changed",
        meaning: "A commit changed a file.",
        origin: "its tree and that of its first parent",
        columns: &[
            column("commit", Commit, "the commit"),
            column("path", Text, "the file"),
            column("status", Text, "A new, M other content, D gone, T another sort of file"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Lines,
        name: "lines",
        meaning: "How many lines of a file a commit changed.",
        origin: "its tree and that of its first parent, as git counts",
        columns: &[
            column("commit", Commit, "the commit"),
            column("path", Text, "the file"),
            column("added", Int, "lines that are new; null if it is no text"),
            column("deleted", Int, "lines that are gone"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Branch,
        name: "branch",
        meaning: "People have a branch.",
        origin: "branches that are no agents",
        columns: &[column("name", Text, "its name"), column("head", Commit, "its newest commit")],
    },
    PredicateText {
        predicate: SpacePredicate::BranchHas,
        name: "branch_has",
        meaning: "A branch of people has a commit of an agent.",
        origin: "the history of the branch",
        columns: &[column("branch", Text, "the branch"), column("commit", Commit, "the commit")],
    },
    PredicateText {
        predicate: SpacePredicate::Landed,
        name: "landed",
        meaning: "A branch of people has the work of a commit of an agent.",
        origin: "the history of the branch since the work was done",
        columns: &[
            column("commit", Commit, "the commit"),
            column("branch", Text, "the branch"),
            column(
                "how",
                Text,
                "`reached`; `same-patch` of a copy; `blob` where each file has that content",
            ),
            column("at", Instant, "when it came there"),
            column(
                "reverted",
                Instant,
                "when it was reverted there; null if it was not, or if that was undone",
            ),
            column("by", Commit, "the commit of the branch that has it: itself, or one like it"),
            column("agent", Text, "whose work it is"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Linked,
        name: "linked",
        meaning: "An agent made a commit on a branch of people with plain git.",
        origin: "traces that its notes bind to what is not on its own line",
        columns: &[
            column("commit", Commit, "the commit"),
            column("agent", Text, "the agent"),
            column("at", Instant, "when it was made"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Worktree,
        name: "worktree",
        meaning: "An agent's branch is checked out in a folder.",
        origin: "the worktrees of this machine",
        columns: &[
            column("path", Text, "the folder"),
            column("agent", Text, "the agent"),
            column("base", Commit, "the commit that the folder was last brought to"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::MergedInto,
        name: "merged_into",
        meaning: "An agent's work was merged.",
        origin: "commits of merges, and merges into branches of people",
        columns: &[
            column("agent", Text, "whose work"),
            column("into", Text, "the agent, or `branch:NAME`"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Reviews,
        name: "reviews",
        meaning: "Somebody reviews an agent.",
        origin: "edges that hold",
        columns: &[
            column("who", Text, "an agent, or `user:NAME`"),
            column("agent", Text, "the agent"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Edge,
        name: "edge",
        meaning: "Somebody asserted a relation, and it holds.",
        origin: "edges in the notes of agents, the latest event of each",
        columns: &[
            column("source", Text, "who relates"),
            column("relation", Text, "how"),
            column("target", Text, "to whom"),
            column("at", Instant, "since when"),
            column("cid", Cid, "the event"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::EdgeEvent,
        name: "edge_event",
        meaning: "Somebody asserted or retracted a relation.",
        origin: "edges in the notes of agents, every event",
        columns: &[
            column("cid", Cid, "the event"),
            column("source", Text, "who relates"),
            column("relation", Text, "how"),
            column("target", Text, "to whom"),
            column("event", Text, "assert or retract"),
            column("at", Instant, "when"),
            column("keeper", Text, "the agent whose notes have it"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Trace,
        name: "trace",
        meaning: "A trace is bound to a commit.",
        origin: "the notes of agents, as they are now",
        columns: &[
            column("cid", Cid, "the trace"),
            column("commit", Commit, "the commit"),
            column("agent", Text, "whose notes say so"),
            column("entries", Int, "how many entries it holds; null if it is not here"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Binding,
        name: "binding",
        meaning: "A trace was bound to a commit, or its note removed.",
        origin: "the history of the notes of agents",
        columns: &[
            column("commit", Commit, "the commit"),
            column("cid", Cid, "the trace; null if the note names none"),
            column("at", Instant, "when"),
            column("note", Commit, "the commit of the notes"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Entry,
        name: "entry",
        meaning: "A trace has an entry.",
        origin: "the objects of traces that are bound",
        columns: &[
            column("trace", Cid, "the trace"),
            column("n", Int, "its place, from 0"),
            column("kind", Text, "what sort of thing happened"),
            column("at", Instant, "when"),
            column("text", Text, "what it says; null of bytes and of what was taken out"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::PendingEntry,
        name: "pending_entry",
        meaning: "An entry is bound to no commit yet.",
        origin: "journals",
        columns: &[
            column("agent", Text, "the agent"),
            column("n", Int, "its place, from 0"),
            column("kind", Text, "what sort of thing happened"),
            column("at", Instant, "when"),
            column("text", Text, "what it says; null of bytes"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Kind,
        name: "kind",
        meaning: "There is a kind of commits or objects.",
        origin: "the built-in kinds and the registry",
        columns: &[
            column("name", Text, "the kind"),
            column("parent", Text, "the one that it specialises"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::IsA,
        name: "is_a",
        meaning: "A kind is another, or specialises it.",
        origin: "the built-in kinds and the registry",
        columns: &[
            column("kind", Text, "the kind"),
            column("ancestor", Text, "itself, or one above it"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Object,
        name: "object",
        meaning: "An agent keeps a typed object.",
        origin: "the notes of agents, the registry, and libraries",
        columns: &[
            column("cid", Cid, "the object"),
            column("type", Text, "its type"),
            column("agent", Text, "who keeps it; null for the registry and libraries"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::SubAgentOf,
        name: "sub_agent_of",
        meaning: "An agent was forked from another.",
        origin: "the genesis of the agent",
        columns: &[
            column("agent", Text, "the agent"),
            column("parent", Text, "the one it came from"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Work,
        name: "work",
        meaning: "What came of an agent of this space, counted once.",
        origin: "its own line of commits",
        columns: &[
            column("agent", Text, "the agent"),
            column("place", Text, "open or archived"),
            column(
                "origin",
                Text,
                "spawned; session, if a request of one asked for it; fork; import; or branch, \
                 without a genesis",
            ),
            column("person", Text, "the address of whoever spawned it"),
            column("began", Instant, "when its first commit was made"),
            column(
                "first",
                Commit,
                "its first commit that is work: no decision, no behaviour-change",
            ),
            column("first_at", Instant, "when that was made"),
            column("last_at", Instant, "when its newest commit was made"),
            column("commits", Int, "how many commits are work"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::WorkKind,
        name: "work_kind",
        meaning: "How many commits of a kind an agent of this space has.",
        origin: "its own line of commits",
        columns: &[
            column("agent", Text, "the agent"),
            column("kind", Text, "the kind, as far as it counts on this branch"),
            column("commits", Int, "how many"),
        ],
    },
    PredicateText {
        predicate: SpacePredicate::Pinned,
        name: "pinned",
        meaning: "An agent of this space worked with a behaviour, as its own line says.",
        origin: "its genesis, its changes of behaviour, and the stamps of its commits",
        columns: &[
            column("agent", Text, "the agent"),
            column("cid", Cid, "the behaviour"),
            column("commits", Int, "how many commits of work name it; 0 if nothing was done yet"),
        ],
    },
];
