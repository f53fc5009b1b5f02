//! Runs of programs, for whoever looks on: which one is meant, how far it came, what happened.

use agentic_model::{AgentName, Instant, Value};
use agentic_replay::record::{CancelMode, Outcome, Why};
use agentic_replay::{Body, By, Journal, Path, Record, Session, SessionId, Setting};

use super::folder::{Folder, Values};
use super::language::{self, Language, kinds_of};
use super::listing::newest_with_key;
use super::load::replay_error;
use super::recent::read_journal;
use super::summary::{self, State};
use super::{flow_of, source_of};
use crate::{Error, Result, Space};

/// One thing that happened in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Happening {
    /// Its position in the journal.
    pub seq: u64,
    /// When.
    pub at: Instant,
    /// What sort of thing: the name of its record.
    pub event: &'static str,
    /// Where in the program.
    pub path: Option<Path>,
    /// What was asked for, how it was answered, who stopped it and why.
    pub note: String,
}

/// Finds the run that a text names: by its session or agent, or by the key it was started with.
///
/// # Errors
/// Fails when there is none.
pub fn find_run(space: &Space, text: &str) -> Result<SessionId> {
    let unknown = match space.find_session(text) {
        Err(error @ Error::UnknownSession { .. }) => error,
        found => return found,
    };
    let own = AgentName::parse(&format!("run-{text}"));
    if let Some(id) = own.ok().and_then(|name| space.find_session(name.as_str()).ok()) {
        return Ok(id);
    }
    newest_with_key(space, text)?.ok_or(unknown)
}

/// Returns how far the blocks of a run came, as a list of `{"index","backend","mode","status",
/// "node_states", …}`. Runs the program over its records and performs nothing. Empty where the
/// program has no blocks.
///
/// # Errors
/// Fails when the records are damaged or the program diverges from them.
pub fn blocks(space: &Space, id: &SessionId) -> Result<Vec<Value>> {
    let standing = summary::read(space, id)?;
    let ended = match standing.state {
        State::Done => standing.result,
        State::Failed => standing.failure.map(|failure| failure.details),
        State::Running | State::Held | State::Waiting | State::Cancelled | State::Diverged => None,
    };
    if let Some(blocks) = ended.as_ref().and_then(|value| value.get("blocks")?.as_list()) {
        return Ok(blocks.to_vec());
    }
    let journal = read_journal(space, id)?;
    let flow = flow_of(space, &Folder::of(space, id), &journal.flow())?;
    if Language::of(&flow)? != Language::Pipeline {
        return Ok(Vec::new());
    }
    let before_cancel = before_cancel(&journal);
    let program = language::pipeline(&flow, source_of(&flow)?)?;
    let values = Values::of(space, &journal);
    let (engine, kinds) = (Language::Pipeline.engine(), kinds_of(&flow)?);
    let setting = Setting { engine: &engine, kinds: &kinds, objects: &values };
    let loaded = Session::load(&before_cancel, program, setting, &mut |_, _| {});
    let (session, _) = loaded.map_err(|error| replay_error(id, error))?;
    Ok(session.program().progress().iter().map(|block| block.to_value()).collect())
}

/// Cuts a journal where the run was stopped: what counts is how far it came until then.
fn before_cancel(journal: &Journal) -> Journal {
    let stop = journal.records().iter().find(|record| matches!(record.body, Body::Cancel(_)));
    let n_records = stop.map_or(journal.records().len() as u64, |record| record.seq);
    journal.up_to(n_records)
}

/// Tells what happened in a run, oldest first.
///
/// # Errors
/// Fails when there is no such session or its records are damaged.
pub fn history(space: &Space, id: &SessionId) -> Result<Vec<Happening>> {
    Ok(read_journal(space, id)?.records().iter().map(happening).collect())
}

fn happening(record: &Record) -> Happening {
    let told = |event, path: Option<&Path>, note: String| (event, path.cloned(), note);
    let (event, path, note) = match &record.body {
        Body::Start(start) => told("start", None, format!("as {}", start.agent)),
        Body::Ask(ask) => told("ask", Some(&ask.path), ask.kind.clone()),
        Body::Answer(answer) => {
            let note = format!("{} by {}", outcome(&answer.outcome), by(&answer.by));
            told("answer", Some(&answer.path), note)
        }
        Body::Attempt(attempt) => {
            let note = format!("{}: {}; again at {}", attempt.n, attempt.error, attempt.next_at);
            told("attempt", Some(&attempt.path), note)
        }
        Body::Signal(signal) => told("signal", None, signal.name.clone()),
        Body::Escalate(escalate) => {
            told("escalate", Some(&escalate.path), format!("to {}", escalate.to.join(", ")))
        }
        Body::Vote(vote) => {
            told("vote", Some(&vote.path), format!("{} by {}", vote.action, vote.principal))
        }
        Body::Publish(publish) => {
            told("publish", Some(&publish.path), format!("on {}", publish.head))
        }
        Body::Permit(permit) => {
            told("permit", Some(&permit.path), format!("by decision {}", permit.decision))
        }
        Body::Upgrade(upgrade) => told("upgrade", None, format!("to {}", upgrade.to)),
        Body::Withdraw(withdraw) => {
            let note = match withdraw.why {
                Why::Dropped => "nobody waits for it any more",
                Why::Ended => "the program ended",
            };
            told("withdraw", Some(&withdraw.path), note.to_owned())
        }
        Body::Cancel(cancel) => {
            let at_once = match cancel.mode {
                CancelMode::Cooperative => "",
                CancelMode::Kill => ", at once",
            };
            let colon = if cancel.why.is_empty() { "" } else { ": " };
            told("cancel", None, format!("by {}{at_once}{colon}{}", cancel.who, cancel.why))
        }
        Body::ScopeEnd(scope) => told("scope_end", Some(&scope.path), String::new()),
        Body::Continue(_) => told("continue", None, "as a new session".to_owned()),
        Body::End(end) => told("end", None, outcome(end)),
    };
    Happening { seq: record.seq, at: record.at, event, path, note }
}

fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Ok(_) => "ok".to_owned(),
        Outcome::Failed { code, message, .. } => format!("failed with {code}: {message}"),
        Outcome::TimedOut => "timed out".to_owned(),
        Outcome::Cancelled(_) => "cancelled".to_owned(),
    }
}

fn by(by: &By) -> String {
    match by {
        By::Executor => "executor".to_owned(),
        By::Decision(commit) => format!("decision {commit}"),
        By::Timer => "timer".to_owned(),
        By::Child(session) => format!("child {}", session.short()),
        By::Edited(who) => format!("edited {who}"),
        By::Signal(seq) => format!("signal {seq}"),
        By::System(what) => format!("system {what}"),
    }
}
