//! Holds of pipelines, as they are spoken of there: the node of a run, and a choice.

use agentic_model::Value;
use agentic_replay::{HOLD, Path};
use agentic_space::Space;
use agentic_space::decide::Action;
use agentic_space::hold::Pending;
use agentic_space::session::find_run;

use crate::failure::Failure;

/// Finds the request of the hold that a run has at a node, open or decided.
pub fn request_at(space: &Space, run: &str, node: &str) -> Result<String, Failure> {
    let id = find_run(space, run)?;
    let summary = space.session(&id)?;
    let stands_there = |path: &Path| path.as_str().split('/').any(|part| part == node);
    let holds = summary.asked.iter().filter(|asked| asked.kind == HOLD);
    let found: Vec<String> = holds
        .filter(|asked| asked.path.as_str() == node || stands_there(&asked.path))
        .map(|asked| id.short_request(&asked.id))
        .collect();
    match found.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(Failure::refused(
            &format!("the run {} has no hold at `{node}`", id.short()),
            "`agentic flow status RUN` shows where it waits",
        )),
        several => Err(Failure::refused(
            &format!("`{node}` is not exact: it could be {}", several.join(", ")),
            "name one of them as `agentic pending` prints it",
        )),
    }
}

/// Returns the action of a choice, with its value.
pub fn action_of(choice: &str) -> (Action, Option<Value>) {
    match choice {
        "accept" => (Action::Approve, None),
        "reject" => (Action::Reject, None),
        other => (Action::Respond, Some(Value::text(other))),
    }
}

/// Refuses an answer that a hold does not offer, before anything is recorded.
pub fn refuse_not_offered(
    pending: &Pending,
    action: Action,
    value: Option<&Value>,
) -> Result<(), Failure> {
    let choices = pending.hold.payload.get("choices").and_then(Value::as_list);
    let Some(choices) = choices.filter(|_| pending.hold.ask.kind == HOLD) else { return Ok(()) };
    let is_offered =
        action != Action::Respond || value.is_some_and(|value| choices.contains(value));
    if is_offered {
        return Ok(());
    }
    let offered: Vec<&str> = choices.iter().filter_map(Value::as_text).collect();
    Err(Failure::not_allowed(
        "the answer is not one of the choices",
        &format!("the hold offers {}", offered.join(", ")),
    ))
}
