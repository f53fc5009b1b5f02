//! The dialog of `agentic decide` on a terminal: what is asked, then the questions.
//!
//! It speaks to a reader and a writer, so that cases can play it without a terminal.

use std::io::{BufRead, Write};

use agentic_api::view::question::{pretty, subject};
use agentic_api::view::{QuestionView, difference, visible};
use agentic_model::{Value, json};
use agentic_session::decide::Action;

use crate::failure::CommandFailure;

/// How often a question is asked again after an answer that is none.
const TRIES_MAX: usize = 3;

/// What a person said.
#[derive(Debug, PartialEq)]
pub struct PromptAnswer {
    /// What to do.
    pub action: Action,
    /// The value, where the action takes one.
    pub value: Option<Value>,
    /// Why.
    pub why: String,
}

/// Shows a hold and asks what to do. What is typed is never taken for more than it says: an end of
/// the input, or answers that are none, decide nothing.
///
/// # Errors
/// Fails when the person does not decide.
pub fn ask(
    question: &QuestionView,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> Result<PromptAnswer, CommandFailure> {
    let view = &question.hold;
    say(output, &question.text);
    let actions = format!("{}? ", view.actions.join(", "));
    let offered = |text: &str| {
        Action::parse(text).filter(|action| view.actions.iter().any(|name| name == action.name()))
    };
    let action = again(input, output, &actions, offered)?;
    let value = match action {
        Action::Approve | Action::Reject => None,
        Action::Edit | Action::Respond | Action::Expire | Action::Withdrawn => {
            Some(again(input, output, "value, as JSON? ", |text| json::from_text(text).ok())?)
        }
    };
    if let (Action::Edit, Some(value)) = (action, &value) {
        let after = pretty(&json::to_json(value));
        say(output, &visible(&difference::lines(&pretty(subject(view)), &after)));
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
    Ok(PromptAnswer { action, value, why })
}

/// Asks until the answer is one, so often and no oftener.
fn again<T>(
    input: &mut dyn BufRead,
    output: &mut dyn Write,
    question: &str,
    read_answer: impl Fn(&str) -> Option<T>,
) -> Result<T, CommandFailure> {
    for _ in 0..TRIES_MAX {
        say(output, question);
        let Some(line) = read(input)? else { break };
        if let Some(answer) = read_answer(&line) {
            return Ok(answer);
        }
    }
    Err(nothing())
}

fn nothing() -> CommandFailure {
    CommandFailure::usage("nothing was decided", "the hold stays open; `agentic pending` shows it")
}

fn say(output: &mut dyn Write, text: &str) {
    // Who cannot see the question does not answer it either.
    let _ = output.write_all(text.as_bytes()).and_then(|()| output.flush());
}

/// Reads a line; nothing at the end of the input.
fn read(input: &mut dyn BufRead) -> Result<Option<String>, CommandFailure> {
    let mut line = String::new();
    let n_read = input.read_line(&mut line);
    let n_read = n_read.map_err(|error| CommandFailure::io("read the answer", &error))?;
    Ok((n_read > 0).then(|| line.trim().to_owned()))
}

#[cfg(test)]
mod tests;
