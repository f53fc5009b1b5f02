//! What an argument may be, for whoever has begun to type it.

use agentic_api::verb::{AgentLine, ListAgents, PendingHolds, SessionList};
use agentic_api::{Caller, Refusal, Verb as _};
use rmcp::model::CompletionInfo;

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
        match line? {
            AgentLine::Here(agent) => names.push(agent.agent),
            AgentLine::Remote(_) => {}
        }
    }
    Ok(names)
}
