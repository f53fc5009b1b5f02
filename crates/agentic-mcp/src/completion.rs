//! What an argument may be, for whoever has begun to type it.

use agentic_api::verb::{AgentLine, ListAgents, PendingHolds, SessionList};
use agentic_api::{Caller, Refusal, Verb as _};
use rmcp::model::{CompletionInfo, Reference};

use crate::{prompt, resource};

/// Says why an argument of a prompt or a resource cannot be completed; nothing, if it can.
pub fn fault(of: &Reference, argument: &str) -> Option<String> {
    let (taken, what) = match of {
        Reference::Prompt(of) => (prompt::argument(&of.name), "prompt"),
        Reference::Resource(of) => (resource::placeholder(&of.uri), "resource template"),
        // What later revisions refer to.
        _ => (None, "prompt or resource template"),
    };
    match taken {
        None => Some(format!("there is no such {what}")),
        Some(taken) if taken != argument => Some(format!("it takes `{taken}`, not `{argument}`")),
        Some(_) => None,
    }
}

/// Lists what begins so, as an argument of that name.
///
/// # Errors
/// Fails when what there is cannot be read.
pub fn complete(
    caller: &Caller<'_>,
    argument: &str,
    begun: &str,
) -> Result<CompletionInfo, Refusal> {
    let mut found = match argument {
        "agent" | "name" => agents(caller)?,
        "request" => {
            let holds = PendingHolds::default().run(caller)?.answer;
            holds.into_iter().map(|hold| hold.request).collect()
        }
        "id" => {
            let sessions = SessionList::default().run(caller)?.answer;
            sessions.into_iter().map(|session| session.session).collect()
        }
        _ => Vec::new(),
    };
    found.retain(|one| one.starts_with(begun));
    let n_found = found.len();
    found.truncate(CompletionInfo::MAX_VALUES);
    let has_more = found.len() < n_found;
    let total = u32::try_from(n_found).ok();
    let page = CompletionInfo::with_pagination(found, total, has_more);
    Ok(page.expect("BUG: there are few enough"))
}

fn agents(caller: &Caller<'_>) -> Result<Vec<String>, Refusal> {
    let mut names = Vec::new();
    let lines = ListAgents {}.lines(caller)?;
    for line in lines {
        match line {
            Ok(AgentLine::Here(agent)) => names.push(agent.agent),
            // The tool `agents` says which are damaged.
            Ok(AgentLine::Remote(_)) | Err(_) => {}
        }
    }
    Ok(names)
}
