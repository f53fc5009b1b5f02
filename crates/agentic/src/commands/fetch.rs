//! `agentic fetch`

use std::process::ExitCode;

use agentic_api::Verb as _;
use agentic_api::verb::Fetch;
use agentic_model::AgentName;

use super::{VerbOutcome, agent_name};
use crate::context::Context;
use crate::output::warn_of;

/// Fetch, unite notes, and move agents forward that have not diverged
///
/// Example: agentic fetch origin --adopt fix-auth
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct FetchArgs {
    /// The remote; the only one, or origin, without
    remote: Option<String>,
    /// Take an agent of the remote over
    #[arg(long, value_name = "NAME", value_parser = agent_name)]
    adopt: Vec<AgentName>,
}

/// Runs the verb.
pub fn run(context: &Context, args: FetchArgs) -> VerbOutcome {
    let adopt = args.adopt.iter().map(AgentName::to_string).collect();
    let space = context.space()?;
    let reply = Fetch { remote: args.remote, adopt }.run(&context.caller(&space))?;
    warn_of(&reply.notices);
    context.format.answer(&reply.answer, |view| {
        let groups = [
            ("adopted", &view.adopted),
            ("moved forward", &view.fast_forwarded),
            ("took notes in", &view.notes_united),
            ("diverged", &view.diverged),
            ("rules that changed here and there", &view.contested),
            ("behaviours adopted here and there", &view.contested_behaviours),
            ("behaviours adopted there, not in force here", &view.offered),
        ];
        let group = |(what, names): &(&str, &Vec<String>)| match names.is_empty() {
            true => String::new(),
            false => format!("{what}: {}\n", names.join(", ")),
        };
        groups.iter().map(group).collect()
    });
    Ok(ExitCode::SUCCESS)
}
