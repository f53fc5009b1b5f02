//! What `agentic session …` shows: how sessions stand, where two differ, what a replay found.

use std::process::ExitCode;

use agentic_api::verb::{
    ReplaySessions, SessionDetail, SessionDiff, SessionList, SessionShow, SessionVerify,
    session_reply,
};
use agentic_api::view::{
    AttemptView, OvertakenView, RequestView, SessionView, VerdictView, VoteView, visible,
    visible_line,
};
use agentic_api::{Caller, Verb as _};
use agentic_replay::SessionId;
use agentic_session::SessionSpace;

use crate::commands::pending::age;
use crate::commands::{VerbOutcome, said};
use crate::context::Context;
use crate::output::{Format, warn_of};

/// How many characters of a value people are shown.
const VALUE_CHARS_MAX: usize = 400;

/// Prints how a session stands, and returns its exit code.
pub fn answer(context: &Context, space: &SessionSpace, id: &SessionId) -> VerbOutcome {
    let detail = match context.format {
        Format::Json => SessionDetail::Whole,
        Format::Text => SessionDetail::Brief,
    };
    let reply = session_reply(space, id, detail)?;
    context.format.answer(&reply.answer, brief_line);
    warn_of(&reply.notices);
    Ok(said(&reply.completion))
}

/// Shows in a line how a session stands.
pub fn brief_line(view: &SessionView) -> String {
    let result =
        view.result.as_ref().map(|result| format!(" {}", visible_line(&result.to_string())));
    let result = result.unwrap_or_default();
    let until = view.until.as_ref().map(|until| format!(" until {until}")).unwrap_or_default();
    let error = view.error.as_ref().map(|error| format!(" {}", visible_line(&error.message)));
    let error = error.unwrap_or_default();
    format!("{} {}{result}{until}{error}\n", &view.session[..12], view.state)
}

pub(super) fn show(context: &Context, caller: &Caller<'_>, verb: SessionShow) -> VerbOutcome {
    let reply = verb.run(caller)?;
    context.format.answer(&reply.answer, |view| {
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
    warn_of(&reply.notices);
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
    let engine = view.engine.as_ref().map(|engine| format!(" at {engine}")).unwrap_or_default();
    let question = question.unwrap_or_default();
    format!("{first} key {key}{engine}{since}{late}{question}{wanted}\n")
}

/// Shows a value to people, who read no more than its beginning.
pub(super) fn brief(value: &serde_json::Value) -> String {
    let text = visible_line(&value.to_string());
    match text.char_indices().nth(VALUE_CHARS_MAX) {
        Some((at, _)) => format!("{}… ({} bytes; `--json` shows all)", &text[..at], text.len()),
        None => text,
    }
}

pub(super) fn list(context: &Context, caller: &Caller<'_>, verb: SessionList) -> VerbOutcome {
    let reply = verb.run(caller)?;
    context.format.answer(reply.answer.as_slice(), |views| {
        let line = |view: &SessionView| format!("{} {}", view.agent, listed(view));
        views.iter().map(line).collect()
    });
    warn_of(&reply.notices);
    Ok(ExitCode::SUCCESS)
}

pub(super) fn diff(context: &Context, caller: &Caller<'_>, verb: SessionDiff) -> VerbOutcome {
    let found = verb.run(caller)?.answer;
    context.format.answer(&found, |view| match view.at {
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

pub(super) fn replay(context: &Context, caller: &Caller<'_>, verb: ReplaySessions) -> VerbOutcome {
    let reply = verb.run(caller)?;
    context.format.answer(reply.answer.as_slice(), |views| {
        let line = |view: &VerdictView| {
            let reason =
                view.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("{} {}{reason}\n", &view.session[..12], view.verdict)
        };
        views.iter().map(line).collect()
    });
    Ok(said(&reply.completion))
}

pub(super) fn verify(context: &Context, caller: &Caller<'_>, verb: SessionVerify) -> VerbOutcome {
    let proven = verb.run(caller)?.answer;
    context.format.answer(&proven, |view| {
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
