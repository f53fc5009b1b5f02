//! What an agent runs: its sessions, and one of them request by request.

use agentic_api::view::{RequestView, SessionPageView, SessionView};
use agentic_model::Instant;
use serde_json::Value as Json;

use super::{clip, short};
use crate::age::{since, span, until};
use crate::line::{LineTarget, PaneLine, Tone};

/// How many requests are shown, the newest.
const REQUESTS_MAX: usize = 200;
/// How much of a value.
const VALUE_CHARS_MAX: usize = 300;

/// Lists sessions, newest first.
pub fn sessions(agent: &str, page: &SessionPageView, now: Instant) -> Vec<PaneLine> {
    let mut lines = vec![
        PaneLine::default().say(Tone::Strong, agent).say(Tone::Faint, " · sessions · o opens one"),
    ];
    if page.items.is_empty() {
        lines.push(PaneLine::default().say(Tone::Faint, "It has run nothing yet."));
    }
    lines.extend(page.items.iter().map(|session| {
        let question = session.question.as_ref().map(|question| format!(" {question}"));
        PaneLine::default()
            .say(Tone::Id, &short(&session.session))
            .say(state_tone(&session.state), &format!(" {}", session.state))
            .say(Tone::Faint, &format!(" {} ", since(&session.started_at, now)))
            .say(Tone::Plain, &format!("key {}", session.key))
            .say(Tone::Plain, &question.unwrap_or_default())
            .to(LineTarget::Session(session.session.clone()))
    }));
    if page.next.is_some() {
        let more = format!("there are more: `agentic session list --agent {agent}`");
        lines.push(PaneLine::default().say(Tone::Faint, &more));
    }
    lines
}

/// Shows a session with what it asked, the newest requests last.
pub fn session(view: &SessionView, now: Instant) -> Vec<PaneLine> {
    let mut lines = vec![
        PaneLine::default()
            .say(Tone::Strong, "Session ")
            .say(Tone::Id, &short(&view.session))
            .say(state_tone(&view.state), &format!(" {}", view.state))
            .say(Tone::Strong, &format!(" {}", view.agent))
            .say(Tone::Plain, &format!(" key {}", view.key))
            .say(
                Tone::Faint,
                &format!(" · {} records, {}", view.records, since(&view.started_at, now)),
            ),
    ];
    if let Some(error) = &view.error {
        let text = format!("{}: {}", error.code, error.message);
        lines.extend(PaneLine::many(Tone::Alarm, &text));
    }
    if let Some(at) = &view.until {
        lines.push(PaneLine::default().say(Tone::Faint, &format!("waits, due {}", until(at, now))));
    }
    if view.unattended {
        let text = format!("nobody drives it: `agentic session resume {}`", short(&view.session));
        lines.push(PaneLine::default().say(Tone::Alarm, &text));
    }
    if let Some(result) = &view.result {
        lines.push(PaneLine::default().say(Tone::Faint, "gave ").say(Tone::Plain, &value(result)));
    }
    if let Some(parent) = &view.parent {
        let line = PaneLine::default().say(Tone::Faint, "from session ").say(Tone::Id, parent);
        lines.push(line.to(LineTarget::Session(parent.clone())));
    }
    let requests = view.requests.as_deref().unwrap_or_default();
    let n_left = requests.len().saturating_sub(REQUESTS_MAX);
    if n_left > 0 {
        let text = format!("{n_left} earlier requests: `agentic session show {}`", view.session);
        lines.push(PaneLine::default().say(Tone::Faint, &text));
    }
    lines.extend(requests.iter().skip(n_left).flat_map(|asked| {
        let is_open = view.pending.contains(&asked.request);
        let decided = asked.decision.as_ref().map(|it| LineTarget::Commit(it.commit.clone()));
        let target = if is_open { Some(LineTarget::Hold(asked.request.clone())) } else { decided };
        request(asked, target.as_ref(), now)
    }));
    lines
}

fn request(asked: &RequestView, target: Option<&LineTarget>, now: Instant) -> Vec<PaneLine> {
    let leads = |line: PaneLine| match target {
        Some(target) => line.to(target.clone()),
        None => line,
    };
    let head = PaneLine::default()
        .say(Tone::Faint, &format!("{:>4} ", asked.seq))
        .say(Tone::Id, &asked.path)
        .say(Tone::Kind, &format!(" {} ", asked.kind))
        .say(Tone::Plain, &value(&asked.payload));
    let took = asked.took_ms.map(|took| format!(" after {}", duration(took))).unwrap_or_default();
    let by = asked.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
    let came = match &asked.answer {
        Some(answer) => PaneLine::default().say(Tone::Plain, &format!("     → {}", value(answer))),
        None => {
            let waits = format!("     waits since {}", since(&asked.asked_at, now));
            let keys = if matches!(target, Some(LineTarget::Hold(_))) { " · a r e p" } else { "" };
            PaneLine::default().say(Tone::Alarm, &waits).say(Tone::Faint, keys)
        }
    };
    let mut lines = vec![leads(head), leads(came.say(Tone::Faint, &format!("{took}{by}")))];
    lines.extend(asked.attempts.iter().map(|attempt| {
        let text =
            format!("     attempt {} failed: {}", attempt.n, clip(&attempt.error, VALUE_CHARS_MAX));
        PaneLine::default().say(Tone::Alarm, &text)
    }));
    if let Some(given) = asked.decision.as_ref().filter(|given| !given.why.trim().is_empty()) {
        let why = format!("     {}", clip(given.why.trim(), VALUE_CHARS_MAX).replace('\n', " "));
        lines.push(leads(PaneLine::default().say(Tone::Faint, &why)));
    }
    lines
}

fn duration(millis: i64) -> String {
    match millis {
        ..=9_999 => format!("{millis} ms"),
        _ => span(millis),
    }
}

fn value(value: &Json) -> String {
    clip(&value.to_string(), VALUE_CHARS_MAX)
}

fn state_tone(state: &str) -> Tone {
    match state {
        "held" | "failed" | "diverged" | "corrupt" => Tone::Alarm,
        _ => Tone::Kind,
    }
}
