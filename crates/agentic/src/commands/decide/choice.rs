//! Holds of pipelines, as they are spoken of there: the node of a run, and a choice.

use agentic_model::Value;
use agentic_replay::{HOLD, Path};
use agentic_space::Space;
use agentic_space::decide::Action;
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
pub fn action_of(choice: &str) -> (Option<Action>, Option<Value>) {
    match choice {
        "accept" => (Some(Action::Approve), None),
        "reject" => (Some(Action::Reject), None),
        other => (Some(Action::Respond), Some(Value::text(other))),
    }
}
