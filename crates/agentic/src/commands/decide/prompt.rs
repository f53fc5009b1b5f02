//! The dialog of `agentic decide` on a terminal: what is asked, then the questions.
//!
//! It speaks to a reader and a writer, so that cases can play it without a terminal.

use std::io::{BufRead, Write};

use agentic_model::{Cid, Value, canonical, json};
use agentic_space::decide::Action;
use agentic_view::PendingView;

use crate::diff;
use crate::failure::Failure;

/// What shows a hold on a terminal, as decisions name it.
pub const RENDERER: &str = "agentic-terminal/1";
/// How often a question is asked again after an answer that is none.
const TRIES_MAX: usize = 3;

/// What a person said.
#[derive(Debug, PartialEq)]
pub struct Said {
    /// What to do.
    pub action: Action,
    /// The value, where the action takes one.
    pub value: Option<Value>,
    /// Why.
    pub why: String,
    /// The hash of what was shown.
    pub shown: String,
}

/// Shows a hold and asks what to do. What is typed is never taken for more than it says: an end of
/// the input, or answers that are none, decide nothing.
///
/// # Errors
/// Fails when the person does not decide.
pub fn ask(
    view: &PendingView,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> Result<Said, Failure> {
    let shown = describe(view);
    say(output, &shown);
    let question = format!("{}? ", view.actions.join(", "));
    let offered = |text: &str| {
        Action::parse(text).filter(|action| view.actions.iter().any(|name| name == action.name()))
    };
    let action = again(input, output, &question, offered)?;
    let value = match action {
        Action::Approve | Action::Reject => None,
        Action::Edit | Action::Respond | Action::Expire | Action::Withdrawn => {
            Some(again(input, output, "value, as JSON? ", |text| json::from_text(text).ok())?)
        }
    };
    if let (Action::Edit, Some(value)) = (action, &value) {
        let after = pretty(&json::to_json(value));
        say(output, &diff::lines(&pretty(subject(view)), &after));
        again(input, output, "decide so (yes, no)? ", |text| match text {
            "yes" | "y" => Some(true),
            "no" | "n" | "" => Some(false),
            _ => None,
        })?
        .then_some(())
        .ok_or_else(nothing)?;
    }
    say(output, "why (may be empty)? ");
    let why = read(input)?.unwrap_or_default();
    let shown = canonical::encode(&Value::Text(shown)).map(|bytes| Cid::of(&bytes).to_string());
    let shown = shown.map_err(|_| nothing())?;
    Ok(Said { action, value, why, shown })
}

/// Tells who asks, what is asked and what it is about.
fn describe(view: &PendingView) -> String {
    let what = view.question.as_deref().unwrap_or(&view.kind);
    let why = match view.reason.as_str() {
        "asked" => "asks",
        "not-allowed" => "wants to do what it was not allowed",
        _ => "may have done before a crash",
    };
    let mut text = format!("{} {why}: {what}\n", view.agent);
    text.push_str(&format!("request {} since {}\n", view.request, view.asked_at));
    if let Some(deadline) = &view.deadline {
        text.push_str(&format!("until {deadline}\n"));
    }
    if !view.assignees.is_empty() {
        text.push_str(&format!("for {}\n", view.assignees.join(", ")));
    }
    if let Some(votes) = &view.votes {
        text.push_str(&format!("{} of {} approvals\n", votes.have, votes.need));
    }
    text.push_str(&about(subject(view)));
    printable(&text)
}

/// Shows data; a change as the difference of what was and what will be.
fn about(subject: &serde_json::Value) -> String {
    match (subject.get("before"), subject.get("after")) {
        (Some(before), Some(after)) => {
            let rest = subject.as_object().map(|map| {
                let rest = map.iter().filter(|(key, _)| *key != "before" && *key != "after");
                let rest = rest.map(|(key, value)| format!("{key}: {}\n", pretty(value)));
                rest.collect::<String>()
            });
            let change = diff::lines(&pretty(before), &pretty(after));
            format!("{}{change}", rest.unwrap_or_default())
        }
        _ if subject.is_null() => String::new(),
        _ => format!("{}\n", pretty(subject)),
    }
}

/// Returns what a hold is about: what is to be approved, the input of a node, or the whole payload
/// of an effect.
fn subject(view: &PendingView) -> &serde_json::Value {
    if view.reason != "asked" {
        return &view.payload;
    }
    let inner = view.payload.get("payload").or(view.payload.get("input"));
    inner.unwrap_or(&serde_json::Value::Null)
}

/// Writes data for people: a text as it is, everything else as JSON over several lines.
fn pretty(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        value => serde_json::to_string_pretty(value).expect("views have text keys"),
    }
}

/// Takes out what could make a terminal show something else than what is asked.
fn printable(text: &str) -> String {
    let shown = |c: char| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c };
    text.chars().map(shown).collect()
}

/// Asks until the answer is one, so often and no oftener.
fn again<T>(
    input: &mut dyn BufRead,
    output: &mut dyn Write,
    question: &str,
    read_answer: impl Fn(&str) -> Option<T>,
) -> Result<T, Failure> {
    for _ in 0..TRIES_MAX {
        say(output, question);
        let Some(line) = read(input)? else { break };
        if let Some(answer) = read_answer(&line) {
            return Ok(answer);
        }
    }
    Err(nothing())
}

fn nothing() -> Failure {
    Failure::usage("nothing was decided", "the hold stays open; `agentic pending` shows it")
}

fn say(output: &mut dyn Write, text: &str) {
    // Who cannot see the question does not answer it either.
    let _ = output.write_all(text.as_bytes()).and_then(|()| output.flush());
}

/// Reads a line; nothing at the end of the input.
fn read(input: &mut dyn BufRead) -> Result<Option<String>, Failure> {
    let mut line = String::new();
    let n_read = input.read_line(&mut line);
    let n_read = n_read.map_err(|error| Failure::io("read the answer", &error))?;
    Ok((n_read > 0).then(|| line.trim().to_owned()))
}

#[cfg(test)]
mod tests;
