//! What an agent did: its own commits.

use agentic_model::{Kind, Oid};
use agentic_session::SessionSpace;
use agentic_space::AgentBranch;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::verb::{Reply, Verb};
use crate::view::{EntryView, LogView};
use crate::{Caller, Notice, Refusal};

/// List an agent's own commits, newest first.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListCommits {
    /// The agent, or `REMOTE/NAME` for a remote's; else the caller's.
    pub agent: Option<String>,
    /// Only commits of this kind, or of one that specialises it.
    pub kind: Option<String>,
    /// At most so many.
    pub limit: Option<usize>,
}

/// One commit of a log, with what its trace holds if that was asked for.
#[derive(Debug)]
pub struct LoggedCommit {
    /// The commit.
    pub view: LogView,
    /// Its trace entries, whole.
    pub trace: Vec<EntryView>,
    /// Why the trace could not be read, if it could not.
    pub notice: Option<Notice>,
}

/// Whether the traces of the commits are read too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogTraces {
    /// They are.
    Read,
    /// They are not.
    Left,
}

impl ListCommits {
    /// Reads the commits one by one, as far as they are asked for.
    ///
    /// # Errors
    /// Fails when there is no such agent or kind; an item fails when its commit cannot be read.
    pub fn commits<'s>(
        &self,
        caller: &Caller<'s>,
        traces: LogTraces,
    ) -> Result<impl Iterator<Item = Result<LoggedCommit, Refusal>> + use<'s>, Refusal> {
        let kind = self.kind.as_deref().map(kind_name).transpose()?;
        let branch = caller.branch(self.agent.as_deref())?;
        let space = caller.space;
        let logged = space.log(&branch, kind)?.take(self.limit.unwrap_or(usize::MAX));
        Ok(logged.map(move |commit| {
            let commit = commit?;
            let (trace, notice) = match (traces, commit.trace) {
                (LogTraces::Read, Some(cid)) => trace_of(space, &branch, cid, commit.info.oid),
                (LogTraces::Read, None) | (LogTraces::Left, _) => (Vec::new(), None),
            };
            let view = LogView::new(&commit, Some(branch.to_string()));
            Ok(LoggedCommit { view, trace, notice })
        }))
    }
}

impl Verb for ListCommits {
    type Answer = Vec<LogView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<LogView>>, Refusal> {
        let commits = self.commits(caller, LogTraces::Left)?;
        commits.map(|commit| Ok(commit?.view)).collect::<Result<_, _>>().map(Reply::plain)
    }
}

/// Reads the trace that a note names. Anybody may write notes, and the one does not keep the other
/// commits from being shown.
fn trace_of(
    space: &SessionSpace,
    branch: &AgentBranch,
    cid: agentic_model::Cid,
    commit: Oid,
) -> (Vec<EntryView>, Option<Notice>) {
    match space.trace_on_branch(branch, cid, commit) {
        Ok(shown) => (EntryView::whole(&shown.trace.entries), None),
        Err(why) => {
            let what = format!("the trace of commit {commit}: {why}");
            (Vec::new(), Some(Notice::Unreadable { what }))
        }
    }
}

/// Reads the name of a kind.
pub(super) fn kind_name(text: &str) -> Result<Kind, Refusal> {
    let hint = "`agentic kind list` shows the kinds";
    Kind::parse(text).map_err(|error| Refusal::usage(&error.to_string(), hint))
}
