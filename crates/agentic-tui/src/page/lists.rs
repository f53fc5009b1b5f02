//! The lists: what waits, who there is, what was found, what was done.

use agentic_api::roster::{RosterPage, RosterRow};
use agentic_api::view::{InboxHoldView, InboxView, SearchHitView, SearchView, StatisticsView};
use agentic_model::Instant;

use super::short;
use crate::age::{since, span, until};
use crate::line::{LineTarget, PaneLine, Tone};
use crate::state::ListRow;
use crate::wish::MadeDecision;

/// Deeper families are shown no deeper.
const DEPTH_MAX: usize = 8;

/// Lists what waits, in the order of the inbox.
pub fn inbox_rows(view: &InboxView, now: Instant) -> Vec<ListRow> {
    view.holds.iter().map(|hold| hold_row(hold, now)).collect()
}

fn hold_row(one: &InboxHoldView, now: Instant) -> ListRow {
    let hold = &one.hold;
    let mark = match (hold.overdue, one.mine) {
        (true, _) => "! ",
        (false, true) => "▌ ",
        (false, false) => "  ",
    };
    let why = match hold.reason.as_str() {
        "asked" => "",
        "not-allowed" => "not allowed: ",
        _ => "in doubt: ",
    };
    let due = match &hold.deadline {
        Some(_) if hold.overdue => " overdue".to_owned(),
        Some(deadline) => format!(" due {}", until(deadline, now)),
        None => String::new(),
    };
    let votes = hold.votes.as_ref().map(|votes| format!(" {} of {}", votes.have, votes.need));
    let what = hold.question.as_deref().unwrap_or(&hold.kind);
    let line = PaneLine::default()
        .say(if hold.overdue { Tone::Alarm } else { Tone::Kind }, mark)
        .say(Tone::Strong, &hold.agent)
        .say(Tone::Faint, &format!(" {}", since(&hold.asked_at, now)))
        .say(if hold.overdue { Tone::Alarm } else { Tone::Kind }, &due)
        .say(Tone::Kind, &votes.unwrap_or_default())
        .say(Tone::Alarm, &format!(" {why}"))
        .say(Tone::Plain, what);
    ListRow {
        key: hold.request.clone(),
        agent: hold.agent.clone(),
        session: Some(hold.session.clone()),
        line,
    }
}

/// Says how holds come, where there are none.
pub fn no_holds() -> Vec<PaneLine> {
    [
        "Nothing waits for a person.",
        "What a flow asks by hold(), what it is not allowed, and what is in doubt after a crash comes here.",
    ]
    .map(|text| PaneLine::default().say(Tone::Faint, text))
    .to_vec()
}

/// Lists agents by their families.
pub fn agent_rows(page: &RosterPage, now: Instant) -> Vec<ListRow> {
    page.rows.iter().map(|row| agent_row(row, now)).collect()
}

fn agent_row(row: &RosterRow, now: Instant) -> ListRow {
    let (family, newest) = (&row.family, &row.newest);
    let indent = "  ".repeat(row.depth.min(DEPTH_MAX));
    let state_tone = match family.state.as_str() {
        "held" | "diverged" => Tone::Alarm,
        _ => Tone::Kind,
    };
    let line = PaneLine::default()
        .say(Tone::Faint, &indent)
        .say(Tone::Strong, &family.agent)
        .say(state_tone, &format!(" {}", family.state))
        .say(Tone::Faint, &format!(" {} · {} ", family.commits, since(&newest.at, now)))
        .say(Tone::Plain, &newest.subject);
    ListRow { key: family.agent.clone(), agent: family.agent.clone(), session: None, line }
}

/// Writes what stands above the agents.
pub fn agents_title(page: &RosterPage, narrowed: &str) -> String {
    let shown = page.rows.len();
    let name = match narrowed {
        "" => "Agents".to_owned(),
        narrowed => format!("Agents with `{narrowed}`"),
    };
    let title = match shown == page.n_rows {
        true => format!("{name} · {}", page.n_agents),
        false => format!("{name} · the first {shown} of {}: n narrows", page.n_rows),
    };
    match page.left_out.len() {
        0 => title,
        n_damaged => format!("{title} · {n_damaged} damaged: agentic doctor"),
    }
}

/// Says how agents come, where there are none.
pub fn no_agents(page: &RosterPage) -> Vec<PaneLine> {
    let text = match page.n_agents {
        0 => "There is no agent yet: agentic spawn NAME -m BRIEFING",
        _ => "No agent has such a name: n asks for another.",
    };
    vec![PaneLine::default().say(Tone::Faint, text)]
}

/// Says that a decision is durable.
pub fn decided(made: &MadeDecision) -> PaneLine {
    PaneLine::default()
        .say(Tone::Kind, &format!("{} ", made.action))
        .say(Tone::Id, &made.commit)
        .say(Tone::Faint, " · its session goes on by itself")
}

/// Lists what a search found.
pub fn found(query: &str, view: &SearchView, now: Instant) -> Vec<PaneLine> {
    let mut lines = vec![PaneLine::default().say(Tone::Strong, &format!("Found: {query}"))];
    lines.extend(view.items.iter().flat_map(|hit| hit_lines(hit, now)));
    let rest = match (view.items.is_empty(), view.partial, view.more) {
        (true, false, _) => "nothing found",
        (_, true, _) => "not everything was looked at: further words look at less",
        (false, false, true) => "there is more: further words find less",
        (false, false, false) => "",
    };
    lines.push(PaneLine::default().say(Tone::Faint, rest));
    lines
}

fn hit_lines(hit: &SearchHitView, now: Instant) -> [PaneLine; 2] {
    let target = match (hit.place.as_str(), &hit.commit) {
        _ if hit.pending => Some(LineTarget::PendingTrace(hit.agent.clone())),
        (_, Some(commit)) => Some(LineTarget::Commit(commit.clone())),
        ("commit" | "decision", None) => Some(LineTarget::Commit(hit.id.clone())),
        ("session", None) => Some(LineTarget::Session(hit.id.clone())),
        (_, None) => None,
    };
    let place = if hit.pending { "pending trace" } else { &hit.place };
    let head = PaneLine::default()
        .say(Tone::Id, &short(&hit.id))
        .say(Tone::Strong, &format!(" {} ", hit.agent))
        .say(Tone::Kind, &hit.kind)
        .say(Tone::Faint, &format!(" {place} {}", since(&hit.at, now)));
    let mut text = PaneLine::default().say(Tone::Plain, "    ");
    for (is_marked, piece) in hit.pieces() {
        text = text.say(if is_marked { Tone::Strong } else { Tone::Plain }, &piece);
    }
    match target {
        Some(target) => [head.to(target.clone()), text.to(target)],
        None => [head, text],
    }
}

/// Shows what was done, what people were waited for, and what came of sessions.
pub fn statistics(view: &StatisticsView) -> Vec<PaneLine> {
    let head = |text: &str| PaneLine::default().say(Tone::Strong, text);
    let day = |at: &str| at.chars().take(10).collect::<String>();
    let mut lines =
        vec![head(&format!("Statistics from {} to {}", day(&view.from), day(&view.to)))];
    lines.push(head("Commits"));
    lines.extend(view.commits.iter().map(|found| {
        PaneLine::of(&format!("  {} {:>6} ", found.bucket, found.count))
            .say(Tone::Kind, &found.kind)
    }));
    lines.push(head("How long decisions were waited for"));
    lines.extend(view.waits.iter().map(|wait| {
        let [half, most] = [wait.p50_ms, wait.p90_ms].map(span);
        PaneLine::of(&format!(
            "  {} {:>6} half within {half}, nine of ten within {most}",
            wait.bucket, wait.count
        ))
    }));
    lines.push(head("What came of sessions"));
    lines.extend(view.outcomes.iter().map(|outcome| {
        let name = outcome.name.clone().unwrap_or_else(|| short(&outcome.behaviour));
        let counts = [
            ("done", outcome.done),
            ("failed", outcome.failed),
            ("cancelled", outcome.cancelled),
            ("held", outcome.held),
            ("open", outcome.open),
            ("commits", outcome.commits),
        ];
        let counts = counts.iter().filter(|(_, n)| *n > 0);
        let counts: Vec<String> = counts.map(|(what, n)| format!("{what} {n}")).collect();
        PaneLine::of("  ")
            .say(Tone::Kind, &name)
            .say(Tone::Plain, &format!(" {}", counts.join(" · ")))
    }));
    lines.extend(view.left_out.iter().map(|what| PaneLine::default().say(Tone::Alarm, what)));
    lines
}
