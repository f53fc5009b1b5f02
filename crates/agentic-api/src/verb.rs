//! What may be asked: one type for each verb.
//!
//! Names and ids are text here, as they come from outside, and are read when the verb runs. Fields
//! that are left out mean what the command line means without the flag.

mod agents;
mod archive;
mod commit;
mod decide;
mod log;
mod merge;
mod pending;
mod relate;
mod reply;
mod spawn;
mod trace;
mod value;

use agentic_space::Written;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::agents::{AgentLine, Agents, ForkPoint, Show, Tree};
pub use self::archive::{Archive, ListArchive, Restore};
pub use self::commit::{Commit, CommitSource};
pub use self::decide::SeenQuestion;
pub use self::decide::{AfterDecision, Decide, FollowedDecision, HoldAnswer, RecordedDecision};
pub use self::log::{Log, LogTraces, LoggedCommit};
pub use self::merge::Merge;
pub use self::pending::{HandOutHolds, HandedOut, HoldQuestion, PendingHolds};
pub use self::relate::{EdgeChange, Relate};
pub use self::reply::DecideFrom;
pub use self::spawn::{Beginning, BriefingSource, Place, Spawn};
pub use self::trace::{EntryBody, TraceAdd, TraceAttach, TraceHistory, TracePending, TraceShow};
use crate::view::{
    AnsweredView, ArchivedView, AttachView, BindingView, CommitView, DecideView, EdgeView,
    EntryView, FamilyView, ForkPointView, LogView, MergeView, PendingView, QuestionView, ShowView,
    SpawnView, TraceAddView, TraceView,
};
use crate::{Caller, Notice, Refusal};

/// Something that may be asked of a space.
pub trait Verb {
    /// What it answers.
    type Answer: Serialize;

    /// Does it. What it was asked with goes with it.
    ///
    /// # Errors
    /// Fails with why it was refused; what a refusal leaves behind, its own documentation says.
    fn run(self, caller: &Caller<'_>) -> Result<Reply<Self::Answer>, Refusal>;
}

/// An answer, with what its caller should be told besides.
#[derive(Debug)]
pub struct Reply<A> {
    /// The answer.
    pub answer: A,
    /// What did not keep the verb from being done.
    pub notices: Vec<Notice>,
    /// How much of what was asked for is done.
    pub completion: Completion,
}

/// How much of what was asked for is done, where there is an answer.
#[derive(Debug, Clone)]
pub enum Completion {
    /// All of it.
    Whole,
    /// It waits for a human, or for somebody who could not be reached.
    Held,
    /// Not all of it: why, and what to do next.
    Short(Refusal),
}

impl Completion {
    /// Returns the exit code of a command that ends so.
    pub fn exit_code(&self) -> u8 {
        match self {
            Completion::Whole => 0,
            Completion::Held => 4,
            Completion::Short(refusal) => refusal.class.exit_code(),
        }
    }
}

impl<A> Reply<A> {
    /// Answers without anything else to tell.
    pub fn plain(answer: A) -> Reply<A> {
        Reply { answer, notices: Vec::new(), completion: Completion::Whole }
    }

    /// Answers after a write.
    pub fn written(answer: A, written: &Written) -> Reply<A> {
        let notices = Notice::of(written).into_iter().collect();
        Reply { answer, notices, completion: Completion::Whole }
    }

    fn map<B>(self, convert: impl FnOnce(A) -> B) -> Reply<B> {
        let Reply { answer, notices, completion } = self;
        Reply { answer: convert(answer), notices, completion }
    }
}

/// Any verb, as a surface that speaks JSON sends it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(tag = "verb", rename_all = "kebab-case")]
pub enum Command {
    /// Make an agent.
    Spawn(Spawn),
    /// List the agents.
    Agents(Agents),
    /// Show the family of agents.
    Tree(Tree),
    /// Show a commit, an object or an agent.
    Show(Show),
    /// Find the best common ancestor of two agents.
    ForkPoint(ForkPoint),
    /// Commit what an agent did.
    Commit(Commit),
    /// List an agent's own commits.
    Log(Log),
    /// Merge an agent's work.
    Merge(Merge),
    /// Assert or retract a relation.
    Relate(Relate),
    /// Append an entry to the pending trace.
    TraceAdd(TraceAdd),
    /// Show the pending entries.
    TracePending(TracePending),
    /// Show a trace.
    TraceShow(TraceShow),
    /// Bind the pending entries to a commit.
    TraceAttach(TraceAttach),
    /// List the traces that a commit has had.
    TraceHistory(TraceHistory),
    /// List what waits for a human.
    Pending(PendingHolds),
    /// Show one open hold whole.
    Question(HoldQuestion),
    /// Hand out what waits for a human in the form of another protocol.
    HandOut(HandOutHolds),
    /// Answer a hold.
    Decide(Decide),
    /// Decide as a client of another protocol answered.
    DecideFrom(DecideFrom),
    /// Fold agents away.
    Archive(Archive),
    /// Bring agents back.
    Restore(Restore),
    /// List archived agents.
    ListArchive(ListArchive),
}

/// The answer of any verb.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Answer {
    /// Of `spawn`.
    Spawn(SpawnView),
    /// Of `agents`.
    Agents(Vec<AgentLine>),
    /// Of `tree`.
    Tree(Vec<FamilyView>),
    /// Of `show`.
    Show(ShowView),
    /// Of `fork-point`.
    ForkPoint(ForkPointView),
    /// Of `commit`.
    Commit(CommitView),
    /// Of `log`.
    Log(Vec<LogView>),
    /// Of `merge`.
    Merge(MergeView),
    /// Of `relate`.
    Relate(EdgeView),
    /// Of `trace-add`.
    TraceAdd(TraceAddView),
    /// Of `trace-pending`.
    TracePending(Vec<EntryView>),
    /// Of `trace-show`.
    TraceShow(TraceView),
    /// Of `trace-attach`.
    TraceAttach(AttachView),
    /// Of `trace-history`.
    TraceHistory(Vec<BindingView>),
    /// Of `pending`.
    Pending(Vec<PendingView>),
    /// Of `question`.
    Question(Box<QuestionView>),
    /// Of `hand-out`.
    HandOut(HandedOut),
    /// Of `decide`.
    Decide(DecideView),
    /// Of `decide-from`.
    DecideFrom(Vec<AnsweredView>),
    /// Of `archive`, `restore` and `list-archive`.
    Archive(Vec<ArchivedView>),
}

impl Verb for Command {
    type Answer = Answer;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Answer>, Refusal> {
        Ok(match self {
            Command::Spawn(verb) => verb.run(caller)?.map(Answer::Spawn),
            Command::Agents(verb) => verb.run(caller)?.map(Answer::Agents),
            Command::Tree(verb) => verb.run(caller)?.map(Answer::Tree),
            Command::Show(verb) => verb.run(caller)?.map(Answer::Show),
            Command::ForkPoint(verb) => verb.run(caller)?.map(Answer::ForkPoint),
            Command::Commit(verb) => verb.run(caller)?.map(Answer::Commit),
            Command::Log(verb) => verb.run(caller)?.map(Answer::Log),
            Command::Merge(verb) => verb.run(caller)?.map(Answer::Merge),
            Command::Relate(verb) => verb.run(caller)?.map(Answer::Relate),
            Command::TraceAdd(verb) => verb.run(caller)?.map(Answer::TraceAdd),
            Command::TracePending(verb) => verb.run(caller)?.map(Answer::TracePending),
            Command::TraceShow(verb) => verb.run(caller)?.map(Answer::TraceShow),
            Command::TraceAttach(verb) => verb.run(caller)?.map(Answer::TraceAttach),
            Command::TraceHistory(verb) => verb.run(caller)?.map(Answer::TraceHistory),
            Command::Pending(verb) => verb.run(caller)?.map(Answer::Pending),
            Command::Question(verb) => verb.run(caller)?.map(Box::new).map(Answer::Question),
            Command::HandOut(verb) => verb.run(caller)?.map(Answer::HandOut),
            Command::Decide(verb) => verb.run(caller)?.map(Answer::Decide),
            Command::DecideFrom(verb) => verb.run(caller)?.map(Answer::DecideFrom),
            Command::Archive(verb) => verb.run(caller)?.map(Answer::Archive),
            Command::Restore(verb) => verb.run(caller)?.map(Answer::Archive),
            Command::ListArchive(verb) => verb.run(caller)?.map(Answer::Archive),
        })
    }
}
