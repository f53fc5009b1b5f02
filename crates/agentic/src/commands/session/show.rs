//! What `agentic session …` shows: how sessions stand, where two differ, what a replay found.

use std::collections::BTreeSet;
use std::process::ExitCode;

use agentic_api::view::{
    AttemptView, Attendance, ComparedView, DiffView, OvertakenView, RequestView, SessionView,
    VerdictView, VerifyView, VoteView, visible, visible_line,
};
use agentic_flow::limits::LIMIT;
use agentic_model::{AgentName, Object};
use agentic_replay::SessionId;
use agentic_session as session;
use agentic_session::error::SessionError;
use agentic_session::outlook::is_unattended;
use agentic_session::{SessionSpace, State, Summary, Verdict};

use crate::commands::Outcome;
use crate::commands::pending::age;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Format, talk, warn};

/// How many characters of a value people are shown.
const VALUE_CHARS_MAX: usize = 400;

/// A session with more records than this is named as a long one: each cold resume reads them all.
const RECORDS_MANY: u64 = 10_240;

/// What a person can do whose flow hit one of its bounds.
const LIMIT_HINT: &str = "hint: do less between two requests, and give parts of the work to sessions of their own: `spawn` with a `flow`";

/// Prints how a session stands, and returns its exit code.
pub fn answer(context: &Context, space: &SessionSpace, id: &SessionId) -> Outcome {
    let summary = space.session(id)?;
    space.take_mended().iter().for_each(|what| talk(what));
    let view = match context.format {
        Format::Json => SessionView::whole(&summary),
        Format::Text => SessionView::brief(&summary),
    };
    context.format.answer(&view, brief_line);
    for hold in &summary.holds {
        let request = summary.id.short_request(&hold.id);
        talk(&format!(
            "held: `agentic decide {request} approve` or `reject`; `agentic pending` shows what is asked"
        ));
    }
    if summary.n_records > RECORDS_MANY && !summary.state.is_over() {
        warn(&format!(
            "the session has {} records, and whoever takes it up reads them all; a flow goes on as a new session with `continue_with`",
            summary.n_records
        ));
    }
    if tell_unanswered(space, &summary) {
        return Ok(exit_code(space, &summary));
    }
    if let Some(failure) = &summary.failure {
        talk(&format!("error: {}: {}", failure.code, failure.message));
        talk(match failure.code.as_str() {
            LIMIT => LIMIT_HINT,
            _ => "hint: `agentic session show` shows every request and answer",
        });
    }
    Ok(exit_code(space, &summary))
}

/// Says why nobody could answer what a session asks, if that is so, and what to do about it.
pub(super) fn tell_unanswered(space: &SessionSpace, summary: &Summary) -> bool {
    let Some((asking, failure)) = session::unanswered(space, summary) else { return false };
    let child = match asking == summary.id {
        true => String::new(),
        false => format!("session {} waits: ", asking.short()),
    };
    talk(&format!("waiting: {child}{}", failure.message));
    talk(&format!(
        "hint: mend that, then `agentic session resume {}` goes on, and asks nothing again that has its answer; `agentic providers --probe` shows who answers",
        summary.id.short()
    ));
    true
}

/// A session that waits for a held child is held too.
fn exit_code(space: &SessionSpace, summary: &Summary) -> ExitCode {
    match summary.state {
        State::Done | State::Running => ExitCode::SUCCESS,
        State::Waiting if summary.until.is_none() && has_held_child(space, summary) => {
            ExitCode::from(4)
        }
        // Nobody could answer: a key is missing, or a server is gone.
        State::Waiting if session::unanswered(space, summary).is_some() => ExitCode::from(4),
        State::Waiting => ExitCode::SUCCESS,
        State::Held => ExitCode::from(4),
        State::Failed | State::Cancelled => ExitCode::from(1),
        State::Diverged => ExitCode::from(5),
    }
}

fn has_held_child(space: &SessionSpace, summary: &Summary) -> bool {
    let children = session::children(space, &summary.id).unwrap_or_default();
    let mut summaries = children.iter().filter_map(|id| space.session(id).ok());
    summaries.any(|child| exit_code(space, &child) == ExitCode::from(4))
}

pub(super) fn line(summary: &Summary) -> String {
    brief_line(&SessionView::brief(summary))
}

pub(super) fn brief_line(view: &SessionView) -> String {
    let result =
        view.result.as_ref().map(|result| format!(" {}", visible_line(&result.to_string())));
    let result = result.unwrap_or_default();
    let until = view.until.as_ref().map(|until| format!(" until {until}")).unwrap_or_default();
    let error = view.error.as_ref().map(|error| format!(" {}", visible_line(&error.message)));
    let error = error.unwrap_or_default();
    format!("{} {}{result}{until}{error}\n", &view.session[..12], view.state)
}

pub(super) fn show(
    context: &Context,
    space: &SessionSpace,
    session: &str,
    at: Option<u64>,
) -> Outcome {
    let id = space.find_session(session)?;
    let summary = match at {
        Some(at) => space.session_at(&id, at)?,
        None => space.session(&id)?,
    };
    let late = session::overtaken(space, &id)?;
    let decisions = session::decisions(space, &summary);
    let view = SessionView::whole(&summary)
        .with_overtaken(&summary, &late)
        .with_decisions(&summary, &decisions)
        .seen_at(&summary, space.now());
    // What was is not what somebody could do now.
    let view = match at {
        Some(_) => view,
        None => view
            .attended_by(attendance(space, &summary)?)
            .configured_by(session::configuration(space, &id)?),
    };
    context.format.answer(&view, |view| {
        let mut text = listed(view);
        for request in view.requests.iter().flatten() {
            text.push_str(&request_line(request));
            for attempt in &request.attempts {
                let AttemptView { n, error, next_at } = attempt;
                let again = match next_at {
                    Some(at) => format!("again at {at}"),
                    None => "again when somebody goes on".to_owned(),
                };
                text.push_str(&format!("    attempt {n} {error}, {again}\n"));
            }
            text.push_str(&decided_lines(request));
            for late in &request.overtaken {
                let OvertakenView { commit, action, principal } = late;
                text.push_str(&format!("    too late: {action} by {principal} {commit}\n"));
            }
        }
        text
    });
    tell_unanswered(space, &summary);
    Ok(ExitCode::SUCCESS)
}

/// Shows a request with its answer, who gave it, when it was asked and how long that took.
pub(super) fn request_line(request: &RequestView) -> String {
    let answer = request.answer.as_ref().map_or("open".to_owned(), brief);
    let RequestView { seq, path, kind, asked_at, .. } = request;
    let took = request.took_ms.map(|took| format!(" after {}", duration(took)));
    let by = request.by.as_ref().map(|by| format!(" by {}", visible_line(by)));
    let line = request.line.map(|line| format!(" line {line}")).unwrap_or_default();
    format!(
        "  {seq} {path} {kind} {} → {answer}\n    at {asked_at}{line}{}{}\n",
        brief(&request.payload),
        took.unwrap_or_default(),
        by.unwrap_or_default(),
    )
}

/// Shows who decided, when and why, and what was executed if that is not what was asked.
fn decided_lines(request: &RequestView) -> String {
    let mut text = String::new();
    for VoteView { commit, action, principal } in &request.votes {
        text.push_str(&format!("    vote: {action} by {} {commit}\n", visible_line(principal)));
    }
    if let Some(decision) = &request.decision {
        let at = decision.decided_at.as_ref().map(|at| format!(" at {at}")).unwrap_or_default();
        let who = visible_line(&decision.principal);
        let (action, commit) = (&decision.action, &decision.commit);
        let long = match (&decision.scope, &decision.given_for) {
            (Some(_), None) => ", for the rest of the session".to_owned(),
            (Some(_), Some(earlier)) => format!(", for the rest of the session, at {earlier}"),
            (None, _) => String::new(),
        };
        text.push_str(&format!("    {action} by {who}{at} {commit}{long}\n"));
        let why = visible(decision.why.trim()).replace('\n', "\n      ");
        if !why.is_empty() {
            text.push_str(&format!("      {why}\n"));
        }
    }
    if let Some(executed) = &request.executed {
        text.push_str(&format!("    executed {}\n", brief(executed)));
    }
    text
}

/// Writes how long something took.
pub(super) fn duration(millis: i64) -> String {
    match millis {
        ..=9_999 => format!("{millis} ms"),
        _ => age(millis),
    }
}

/// Shows a session in a list: with its key, since when, and what it asks.
pub(super) fn listed(view: &SessionView) -> String {
    let key = visible_line(&view.key);
    let since = view.age_ms.map(|millis| format!(" {} ago", age(millis))).unwrap_or_default();
    let late = if view.overdue { ", overdue" } else { "" };
    let question = view.question.as_ref().map(|question| format!(": {}", visible_line(question)));
    let first = brief_line(view);
    let first = first.trim_end();
    let wanted = match view.unattended {
        true => format!("; nobody drives it: `agentic session resume {}`", &view.session[..12]),
        false => String::new(),
    };
    format!("{first} key {key}{since}{late}{}{wanted}\n", question.unwrap_or_default())
}

/// Shows a value to people, who read no more than its beginning.
pub(super) fn brief(value: &serde_json::Value) -> String {
    let text = visible_line(&value.to_string());
    match text.char_indices().nth(VALUE_CHARS_MAX) {
        Some((at, _)) => format!("{}… ({} bytes; `--json` shows all)", &text[..at], text.len()),
        None => text,
    }
}

pub(super) fn list(context: &Context, space: &SessionSpace, agent: Option<&AgentName>) -> Outcome {
    let mut views = summaries(space, &space.sessions()?)?;
    views.retain(|view| agent.is_none_or(|agent| view.agent == agent.as_str()));
    context.format.answer(views.as_slice(), |views| {
        let line = |view: &SessionView| format!("{} {}", view.agent, listed(view));
        views.iter().map(line).collect()
    });
    if views.is_empty() {
        hint_remote(space, agent)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Says how to get sessions of agents that only a remote has here.
fn hint_remote(space: &SessionSpace, agent: Option<&AgentName>) -> Result<(), Failure> {
    let remote = space.remote_agents()?;
    let is_meant = |name: &AgentName| agent.is_none_or(|agent| agent == name);
    let names: BTreeSet<&str> =
        remote.iter().filter(|one| is_meant(&one.name)).map(|one| one.name.as_str()).collect();
    if let Some(name) = names.first() {
        talk(&format!(
            "hint: sessions of {} are on a remote: `agentic fetch --adopt {name}` brings an agent here with its sessions",
            names.iter().copied().collect::<Vec<_>>().join(", ")
        ));
    }
    Ok(())
}

pub(super) fn summaries(
    space: &SessionSpace,
    ids: &[SessionId],
) -> Result<Vec<SessionView>, Failure> {
    let mut views = Vec::new();
    for id in ids {
        match space.session(id) {
            Ok(summary) => {
                let view = SessionView::brief(&summary).seen_at(&summary, space.now());
                views.push(view.attended_by(attendance(space, &summary)?));
            }
            Err(error) => views.push(SessionView::corrupt(id, &error.to_string())),
        }
    }
    Ok(views)
}

fn attendance(space: &SessionSpace, summary: &Summary) -> Result<Attendance, Failure> {
    Ok(match is_unattended(space, summary)? {
        true => Attendance::Wanted,
        false => Attendance::NotWanted,
    })
}

pub(super) fn diff(context: &Context, space: &SessionSpace, left: &str, right: &str) -> Outcome {
    let (left, right) = (space.find_session(left)?, space.find_session(right)?);
    let found = session::diff(space, &left, &right)?;
    context.format.answer(&DiffView::new(found.as_ref()), |view| match view.at {
        None => "same".to_owned(),
        Some(at) => {
            let side = |side: &Option<serde_json::Value>| {
                side.as_ref().map_or("(nothing)".to_owned(), |side| visible_line(&side.to_string()))
            };
            format!("record {at} differs\n- {}\n+ {}\n", side(&view.left), side(&view.right))
        }
    });
    Ok(ExitCode::SUCCESS)
}

pub(super) fn replay(
    context: &Context,
    space: &SessionSpace,
    ids: &[SessionId],
    flow: Option<&Object>,
) -> Outcome {
    let mut views = Vec::new();
    let mut code = 0;
    for id in ids {
        let verdict = session::replay(space, id, flow)?;
        code = code.max(match &verdict {
            Verdict::Same => 0,
            Verdict::Diverged(_) => 5,
            Verdict::Corrupt(_) => 6,
        });
        views.push(VerdictView::new(id.to_string(), &verdict));
    }
    context.format.answer(views.as_slice(), |views| {
        let line = |view: &VerdictView| {
            let reason =
                view.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("{} {}{reason}\n", &view.session[..12], view.verdict)
        };
        views.iter().map(line).collect()
    });
    if code == 5 {
        talk("error: a program does something else than was recorded");
        talk(
            "hint: keep the pinned program, or fork before the record that differs with `agentic session fork --at N --flow F`",
        );
    }
    Ok(ExitCode::from(code))
}

pub(super) fn verify(
    context: &Context,
    space: &SessionSpace,
    session: &str,
    rebuild: bool,
) -> Outcome {
    let id = space.find_session(session)?;
    let summary = space.session(&id)?;
    match session::replay(space, &id, None)? {
        Verdict::Same => {}
        Verdict::Diverged(divergence) => {
            return Err(agentic_session::Error::Session(SessionError::Diverged {
                id: id.short(),
                divergence,
            })
            .into());
        }
        Verdict::Corrupt(reason) => {
            let what = format!("session {}", id.short());
            return Err(agentic_store::Error::corrupt(what, reason).into());
        }
    }
    let proof = session::prove(space, &id)?;
    let rebuilt = match rebuild {
        false => None,
        true => {
            let folder =
                std::env::temp_dir().join(format!("agentic-rebuild-{}", std::process::id()));
            let made = session::rebuild(space, &id, &folder);
            // What was made for the comparison alone goes with it.
            let _ = std::fs::remove_dir_all(&folder);
            Some(made?.iter().map(ToString::to_string).collect())
        }
    };
    let view = VerifyView {
        session: id.to_string(),
        records: summary.n_records,
        chain: summary.chain.to_string(),
        compared: ComparedView::from(&proof),
        uncompared: proof.uncompared,
        rebuilt,
    };
    context.format.answer(&view, |view| {
        let rebuilt = view.rebuilt.as_ref().map(|made| format!(", {} commits rebuilt", made.len()));
        let mut text = format!(
            "{} {} records sound{}",
            &view.session[..12],
            view.records,
            rebuilt.unwrap_or_default()
        );
        text.extend(view.uncompared.iter().map(|what| format!("\n    not compared: {what}")));
        text
    });
    Ok(ExitCode::SUCCESS)
}
