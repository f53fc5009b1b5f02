//! `agentic fetch`

use std::process::ExitCode;

use agentic_api::view::FetchView;
use agentic_model::AgentName;

use super::push::remote;
use super::{Outcome, agent_name};
use crate::context::Context;

/// Fetch, unite notes, and move agents forward that have not diverged
///
/// Example: agentic fetch origin --adopt fix-auth
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The remote; the only one, or origin, without
    remote: Option<String>,
    /// Take an agent of the remote over
    #[arg(long, value_name = "NAME", value_parser = agent_name)]
    adopt: Vec<AgentName>,
}

/// Runs the verb.
pub fn run(context: &Context, args: Args) -> Outcome {
    let space = context.space()?;
    let remote = remote(&space, args.remote)?;
    let fetched = agentic_space::sync::fetch(&space, &remote, &args.adopt)?;
    context.format.answer(&FetchView::from(&fetched), |view| {
        let groups = [
            ("adopted", &view.adopted),
            ("moved forward", &view.fast_forwarded),
            ("took notes in", &view.notes_united),
            ("diverged", &view.diverged),
        ];
        let group = |(what, names): &(&str, &Vec<String>)| match names.is_empty() {
            true => String::new(),
            false => format!("{what}: {}\n", names.join(", ")),
        };
        groups.iter().map(group).collect()
    });
    Ok(ExitCode::SUCCESS)
}
