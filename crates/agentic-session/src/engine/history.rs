//! What happened in a run, as its records tell it.

use agentic_replay::engine::RunEvent;
use agentic_replay::record::{CancelMode, Outcome, PermitScope, Why};
use agentic_replay::{AnswerSource, Body, Path, Record, SessionId};

use crate::folder::Folder;
use crate::own::read_journal;
use crate::shelf::Shelf;
use crate::shelf::flow_of;
use crate::{Result, SessionSpace};

/// Tells what happened in a run, oldest first.
///
/// # Errors
/// Fails when there is no such session or its records are damaged.
pub(super) fn of(space: &SessionSpace, id: &SessionId) -> Result<Vec<RunEvent>> {
    let journal = read_journal(space, id)?;
    let folder = Folder::of(space, id);
    let flow = flow_of(space, &folder, &journal.flow())?;
    let place = Shelf { space, folder: &folder, given: &[] }.places(&flow)?;
    let told = |record: &Record| {
        let event = happening(record);
        let place = event.path.as_ref().and_then(&place);
        RunEvent { place, ..event }
    };
    Ok(journal.records().iter().map(told).collect())
}

/// Tells what one record says happened.
pub(super) fn happening(record: &Record) -> RunEvent {
    let told = |event, path: Option<&Path>, note: String| (event, path.cloned(), note);
    let (event, path, note) = match &record.body {
        Body::Start(start) => told("start", None, format!("as {}", start.agent)),
        Body::Ask(ask) => told("ask", Some(&ask.path), ask.kind.clone()),
        Body::Answer(answer) => {
            let note = format!("{} by {}", outcome(&answer.outcome), by(&answer.by));
            told("answer", Some(&answer.path), note)
        }
        Body::Attempt(attempt) => {
            let again = match attempt.next_at {
                Some(at) => format!("again at {at}"),
                None => "again when somebody goes on".to_owned(),
            };
            let note = format!("{}: {}; {again}", attempt.n, attempt.error);
            told("attempt", Some(&attempt.path), note)
        }
        Body::Found(found) => told("found", Some(&found.path), "what it replaces".to_owned()),
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
            let for_how_long = match permit.scope {
                PermitScope::Once => String::new(),
                PermitScope::RestOfSession => ", for the rest of the session".to_owned(),
                PermitScope::Under(seq) => format!(", as record {seq} says"),
            };
            let note = format!("by decision {}{for_how_long}", permit.decision);
            told("permit", Some(&permit.path), note)
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
    RunEvent { seq: record.seq, at: record.at, event, path, place: None, note }
}

fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Ok(_) => "ok".to_owned(),
        Outcome::Failed { code, message, .. } => format!("failed with {code}: {message}"),
        Outcome::TimedOut => "timed out".to_owned(),
        Outcome::Cancelled(_) => "cancelled".to_owned(),
    }
}

fn by(by: &AnswerSource) -> String {
    match by {
        AnswerSource::Executor => "executor".to_owned(),
        AnswerSource::Decision(commit) => format!("decision {commit}"),
        AnswerSource::Timer => "timer".to_owned(),
        AnswerSource::Child(session) => format!("child {}", session.short()),
        AnswerSource::Edited(who) => format!("edited {who}"),
        AnswerSource::Signal(seq) => format!("signal {seq}"),
        AnswerSource::System(what) => format!("system {what}"),
    }
}
