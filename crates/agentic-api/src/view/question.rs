//! The text that a person is shown before deciding: the same on a terminal, on a page and for a
//! client of another protocol, so that one hash says what was seen.
//!
//! What we say stands first, what the program says last: whatever its payload holds, it cannot pose
//! as a line of ours.

use std::collections::BTreeMap;

use agentic_model::{Cid, Instant, Value, canonical};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use crate::view::PendingView;
use crate::view::difference;
use crate::view::visible::{visible, visible_line};

/// What shows a hold, as decisions name it.
pub const RENDERER: &str = "agentic-text/5";

/// One hold as it is put before whoever decides.
#[derive(Debug, Serialize, JsonSchema)]
pub struct QuestionView {
    /// The hold.
    pub hold: PendingView,
    /// The text that is shown.
    pub text: String,
    /// The hash of the text.
    pub shown: String,
    /// What made the text of it.
    pub renderer: String,
    /// When.
    pub at: String,
}

impl QuestionView {
    /// Shows a hold.
    pub fn new(hold: PendingView, at: Instant) -> QuestionView {
        let text = question(&hold);
        let (shown, at) = (text_hash(&text), at.to_string());
        QuestionView { hold, text, shown, renderer: RENDERER.to_owned(), at }
    }
}

/// Returns the hash of a text that was shown, as decisions name it.
pub fn text_hash(text: &str) -> String {
    let bytes = canonical::encode(&Value::text(text)).expect("a text has a canonical form");
    Cid::of(&bytes).to_string()
}

/// Writes who asks what, about what, until when, and what each answer would do. It says nothing that
/// changes by itself, such as an age.
pub fn question(view: &PendingView) -> String {
    let mut text = warning(view);
    text.push_str(&headline(view));
    policy(view, &mut text);
    for action in &view.actions {
        text.push_str(&format!("{action}: {}\n", meaning(&view.reason, &view.kind, action)));
    }
    if let Some(covered) = &view.rest_of_session {
        let covered = visible_line(covered);
        text.push_str(&format!(
            "approve --scope rest-of-session: run it, and {covered}, unasked\n"
        ));
    }
    if let Some(body) = own(view, "body") {
        text.push_str(&format!("{}\n", body.trim_end_matches('\n')));
    }
    text.push_str(&about(view));
    visible(&text)
}

/// Says what each action that is offered would do, by the action.
pub fn meanings(reason: &str, kind: &str, actions: &[String]) -> BTreeMap<String, String> {
    let meant =
        actions.iter().map(|action| (action.clone(), meaning(reason, kind, action).to_owned()));
    meant.collect()
}

fn meaning(reason: &str, kind: &str, action: &str) -> &'static str {
    match (reason, action) {
        ("in-doubt", "approve") => "run it again; if it happened before, it happens twice",
        ("in-doubt", "respond") => "it happened, and the value is its result; it is not run again",
        ("in-doubt", _) => "fail it; it is not run again, and the program is told",
        ("not-allowed", "approve") => "run it, as it is shown",
        ("not-allowed", "edit") => "run what the value says instead",
        ("not-allowed", _) => "do not run it; the program is told",
        (_, "approve") => "yes; the program gets the value, or what was offered",
        (_, "edit") => "yes, with the value in place of what was offered",
        (_, "respond") => "the value is the answer",
        _ if kind == "hold" => "no; the program is told",
        _ => "no; the request of the program fails",
    }
}

/// Says before all else what is wrong with what the program shows.
fn warning(view: &PendingView) -> String {
    let line = |warning: &String| format!("warning: {}\n", visible_line(warning));
    view.warning.as_ref().map(line).unwrap_or_default()
}

fn headline(view: &PendingView) -> String {
    let what = view.question.as_deref().unwrap_or(&view.kind);
    let why = match view.reason.as_str() {
        "asked" => "asks",
        "not-allowed" => "wants to do what it was not allowed",
        _ => "may have done before a crash",
    };
    // The further lines of a question stand apart from ours.
    let what = visible(what).replace('\n', "\n    ");
    let mut text = format!("{} {why}: {what}\n", view.agent);
    text.push_str(&format!("request {} since {}\n", view.request, view.asked_at));
    if !view.waiting.is_empty() {
        let agents: Vec<&str> = view.waiting.iter().map(|one| one.agent.as_str()).collect();
        text.push_str(&format!("{} waits for it\n", agents.join(", ")));
    }
    text
}

fn policy(view: &PendingView, text: &mut String) {
    let mut line = |name: &str, what: &str| {
        text.push_str(&format!("{name} {}\n", visible_line(what)));
    };
    if let Some(deadline) = &view.deadline {
        line("until", deadline);
    }
    if let Some(value) = &view.on_expiry {
        line("without an answer until then:", &value.to_string());
    }
    if view.escalated > 0 {
        line("escalated, because nobody decided in time, steps:", &view.escalated.to_string());
    }
    if !view.assignees.is_empty() {
        line("for", &view.assignees.join(", "));
    }
    if let Some(role) = &view.role {
        line("only with", role);
    }
    if let Some(votes) = &view.votes {
        line(&format!("{} of {}", votes.have, votes.need), "approvals");
    }
    for vote in &view.voted {
        line(&format!("vote: {} by", vote.action), &vote.principal);
    }
    if !view.choices.is_empty() {
        line("choices:", &view.choices.join(", "));
    }
    if let Some(severity) = own(view, "severity") {
        line("severity", severity);
    }
}

/// Returns what a hold says of itself besides its question, as channels are told.
fn own<'v>(view: &'v PendingView, name: &str) -> Option<&'v str> {
    let said = view.payload.get(name).filter(|_| view.reason == "asked");
    said.and_then(Json::as_str)
}

/// Writes what a hold is about: a change as a difference, an effect part by part.
pub fn about(view: &PendingView) -> String {
    let subject = subject(view);
    let write: fn(&str, &Json) -> String = match view.reason.as_str() {
        "asked" => |name, value| format!("{}: {}\n", visible_line(name), pretty(value)),
        _ => part,
    };
    match (subject.get("before"), subject.get("after"), subject.as_object()) {
        (Some(before), Some(after), Some(map)) => {
            let rest = map.iter().filter(|(key, _)| *key != "before" && *key != "after");
            let rest: String = rest.map(|(key, value)| write(key, value)).collect();
            format!("{rest}{}", difference::lines(&pretty(before), &pretty(after)))
        }
        (_, _, Some(parts)) if view.reason != "asked" => {
            parts.iter().map(|(name, value)| write(name, value)).collect()
        }
        _ if subject.is_null() => String::new(),
        _ => format!("{}\n", pretty(subject)),
    }
}

/// Writes a part of an effect: each argument on a line of its own, of variables only the names.
fn part(name: &str, value: &Json) -> String {
    match (name, value) {
        ("argv", Json::Array(words)) => words
            .iter()
            .map(|word| format!("argument: {}\n", visible_line(&pretty(word))))
            .collect(),
        ("env", Json::Object(variables)) => {
            variables.keys().map(|name| format!("variable: {}\n", visible_line(name))).collect()
        }
        ("cwd", folder) => format!("folder: {}\n", visible_line(&pretty(folder))),
        ("stdin", input) => format!("input: {}\n", pretty(input).replace('\n', "\n    ")),
        (name, value) => {
            format!("{}: {}\n", visible_line(name), pretty(value).replace('\n', "\n    "))
        }
    }
}

/// Returns what a hold is about: what is to be approved, the input of a node, or the whole payload
/// of an effect.
pub fn subject(view: &PendingView) -> &Json {
    if view.reason != "asked" {
        return &view.payload;
    }
    let inner = view.payload.get("payload").or(view.payload.get("input"));
    inner.unwrap_or(&Json::Null)
}

/// Writes data for people: a text as it is, everything else as JSON over several lines.
pub fn pretty(value: &Json) -> String {
    if let Json::String(text) = value {
        text.clone()
    } else {
        serde_json::to_string_pretty(value).expect("views have text keys")
    }
}
