//! What a caller should be told although the verb was done.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use agentic_model::AgentName;
use agentic_replay::SessionId;
use agentic_session::hold::book::BookedOutlook;
use agentic_session::outlook::Outlook;
use agentic_session::{SessionSpace, Summary, unanswered};
use agentic_space::WriteNotices;
use agentic_space::error::left_out_words;

/// How a notice is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeTone {
    /// Somebody should look at it.
    Warning,
    /// It says what can be done next.
    Hint,
    /// It is good to know.
    Remark,
}

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
    /// A new worktree has no gate, although others here have one.
    NoGate {
        /// Why.
        why: String,
    },
    /// An agent was made, and its worktree was not.
    NoWorktree {
        /// Why.
        why: String,
    },
    /// The decision stands, and its session could not go on.
    NotFollowed {
        /// Why.
        why: String,
    },
    /// A session has begun, or goes on.
    Begun {
        /// The session.
        session: String,
        /// The agent that it runs as.
        agent: String,
    },
    /// Something had to be mended on the way.
    Mended {
        /// What.
        what: String,
    },
    /// Nothing can be written here, so nothing was mended.
    NothingMended,
    /// Sessions can go on, and nobody drives them.
    Unattended {
        /// The first of them.
        session: String,
        /// Its agent.
        agent: String,
        /// How many there are.
        n_sessions: usize,
    },
    /// A hold waits for a human.
    Held {
        /// The request.
        request: String,
    },
    /// A session has many records.
    LongSession {
        /// How many.
        n_records: u64,
    },
    /// Nobody could answer what is asked.
    Unanswered {
        /// Why.
        why: String,
        /// The session that asks, where it is another one.
        child: Option<String>,
    },
    /// A session that nobody could answer can go on when that is mended.
    ResumeSession {
        /// The session.
        session: String,
    },
    /// A run that nobody could answer can go on when that is mended.
    ResumeRun {
        /// Its key.
        run: String,
    },
    /// Sessions of agents that only a remote has here.
    SessionsElsewhere {
        /// The agents.
        agents: BTreeSet<String>,
    },
    /// A secret was not written: a mark stands in its place.
    Redacted {
        /// The rule that found it.
        rule: String,
        /// What it stood in.
        place: String,
    },
    /// An engine has something to tell.
    Remark {
        /// What.
        what: String,
    },
    /// Part of what was asked for could not be read, and the rest is the answer.
    Unreadable {
        /// What, and why.
        what: String,
    },
}

impl Notice {
    /// Says that a ref which shows what is believed of a peer had been moved.
    pub(crate) fn put_back(name: &str) -> Notice {
        Notice::Remark { what: format!("`{name}` had been moved; it is again what is believed") }
    }

    /// Says what a list leaves out because it cannot be read.
    pub(crate) fn left_out(what: &impl fmt::Display) -> Notice {
        Notice::Unreadable { what: format!("{what}; `agentic doctor` looks for damage") }
    }

    /// Says what a write left to tell: nothing where everything is visible.
    pub fn of(written: &WriteNotices) -> Option<Notice> {
        written.deferred.clone().map(|why| Notice::Deferred { why })
    }

    /// Says what a worktree that did not follow its branch leaves to tell.
    pub fn left_behind(why: Option<&agentic_store::Error>) -> Option<Notice> {
        why.map(|why| Notice::LeftBehind { why: why.to_string() })
    }

    /// Takes what had to be mended on the way.
    pub(crate) fn mended(space: &SessionSpace) -> Vec<Notice> {
        space.take_mended().into_iter().map(|what| Notice::Mended { what }).collect()
    }

    /// Says why nobody could answer what a session asks, if that is so, and what to do about it.
    pub fn unanswered(space: &SessionSpace, summary: &Summary) -> Vec<Notice> {
        let Some((asking, failure)) = unanswered(space, summary) else { return Vec::new() };
        let child = (asking != summary.id).then(|| asking.short());
        let session = summary.id.short();
        vec![Notice::Unanswered { why: failure.message, child }, Notice::ResumeSession { session }]
    }

    /// Says which sessions only want somebody to drive them, for what a crash left behind a decision is no
    /// hold any more; and what of the holds cannot be read.
    pub(crate) fn of_outlook(outlook: &Outlook) -> Vec<Notice> {
        Notice::of_holds(&outlook.unattended, &outlook.left_out)
    }

    /// Says the same of holds that were listed by what is known of them.
    pub(crate) fn of_booked(outlook: &BookedOutlook) -> Vec<Notice> {
        Notice::of_holds(&outlook.unattended, &outlook.left_out)
    }

    fn of_holds(unattended: &[(SessionId, AgentName)], left_out: &BTreeSet<String>) -> Vec<Notice> {
        let mut notices = Notice::of_unattended(unattended);
        notices.extend(left_out.iter().map(Notice::left_out));
        notices
    }

    /// Tells of sessions that nobody drives and that could go on.
    fn of_unattended(sessions: &[(SessionId, AgentName)]) -> Vec<Notice> {
        let n_sessions = sessions.len();
        let first = sessions.first();
        let unattended = first.map(|(id, agent)| {
            let (session, agent) = (id.short(), agent.to_string());
            Notice::Unattended { session, agent, n_sessions }
        });
        unattended.into_iter().collect()
    }

    /// Says how it is meant.
    pub fn tone(&self) -> NoticeTone {
        match self {
            Notice::Deferred { .. }
            | Notice::LeftBehind { .. }
            | Notice::LeftOut { .. }
            | Notice::NoWorktree { .. }
            | Notice::NoGate { .. }
            | Notice::NotFollowed { .. }
            | Notice::LongSession { .. }
            | Notice::Redacted { .. }
            | Notice::Remark { .. }
            | Notice::Unreadable { .. } => NoticeTone::Warning,
            Notice::Unattended { .. }
            | Notice::ResumeSession { .. }
            | Notice::ResumeRun { .. }
            | Notice::SessionsElsewhere { .. } => NoticeTone::Hint,
            Notice::Begun { .. }
            | Notice::Mended { .. }
            | Notice::NothingMended
            | Notice::Held { .. }
            | Notice::Unanswered { .. } => NoticeTone::Remark,
        }
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
            Notice::NoGate { why } => {
                format!("the worktree has no gate, so calls in it are not held: {why}")
            }
            Notice::NoWorktree { why } => format!("the agent exists, but has no worktree: {why}"),
            Notice::NotFollowed { why } => {
                format!("the decision stands; the session cannot go on: {why}")
            }
            Notice::Begun { session, agent } => format!("session {session} of {agent}"),
            Notice::NothingMended => {
                "note: nothing can be written here, so nothing was mended".to_owned()
            }
            Notice::Unattended { session, agent, n_sessions: 1 } => format!(
                "session {session} of {agent} can go on, and nobody drives it: `agentic session resume {session}`"
            ),
            Notice::Unattended { n_sessions, .. } => format!(
                "{n_sessions} sessions can go on, and nobody drives them: `agentic session tick` does, `agentic session list` names them"
            ),
            Notice::Held { request } => format!(
                "held: `agentic decide {request} approve` or `reject`; `agentic pending` shows what is asked"
            ),
            Notice::LongSession { n_records } => format!(
                "the session has {n_records} records, and whoever takes it up reads them all; a flow goes on as a new session with `continue_with`"
            ),
            Notice::Unanswered { why, child: None } => format!("waiting: {why}"),
            Notice::Unanswered { why, child: Some(child) } => {
                format!("waiting: session {child} waits: {why}")
            }
            Notice::Redacted { rule, place } => format!(
                "{place} has a secret, which was not written: `[redacted:{rule}:…]` stands in its place"
            ),
            Notice::ResumeSession { session } => format!(
                "mend that, then `agentic session resume {session}` goes on, and asks nothing again that has its answer; `agentic providers --probe` shows who answers"
            ),
            Notice::ResumeRun { run } => format!(
                "mend that, then `agentic flow worker {run}` goes on, or the same run again with its key; what has its answer is not asked again"
            ),
            Notice::SessionsElsewhere { agents } => {
                let names: Vec<&str> = agents.iter().map(String::as_str).collect();
                format!(
                    "sessions of {} are on a remote: `agentic fetch --adopt {}` brings an agent here with its sessions",
                    names.join(", "),
                    names.first().copied().unwrap_or_default()
                )
            }
            Notice::Mended { what } | Notice::Remark { what } | Notice::Unreadable { what } => {
                what.clone()
            }
        }
    }
}
