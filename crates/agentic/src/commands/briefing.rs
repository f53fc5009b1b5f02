//! `agentic briefing`

use std::process::ExitCode;

use agentic_model::{AgentName, Briefing, Value, json};

use super::{Outcome, agent_name};
use crate::context::Context;
use crate::output::{Format, print_raw, print_text};

/// Print what an agent was asked to do
///
/// Example: agentic briefing fix-auth
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The agent; else AGENTIC_AGENT, else the current branch
    #[arg(value_parser = agent_name)]
    agent: Option<AgentName>,
}

/// Runs the verb.
pub fn run(context: &Context, args: Args) -> Outcome {
    let space = context.space()?;
    let agent = context.agent(&space, args.agent.as_ref())?;
    let (cid, object) = space.briefing(&agent)?;
    match context.format {
        Format::Json => {
            let mut map = object.map().clone();
            map.insert("cid".to_owned(), Value::text(cid.to_string()));
            print_raw(&json::to_text(&Value::Map(map)));
        }
        Format::Text => {
            let briefing = Briefing::from_object(&object).map_err(agentic_session::Error::from)?;
            print_text(&briefing.text);
        }
    }
    Ok(ExitCode::SUCCESS)
}
