//! `agentic pending`

use std::process::ExitCode;

use agentic_model::AgentName;
use agentic_space::Space;
use agentic_space::hold::{Filter, Overdue, Reach, pending};
use agentic_space::ticket::hand_out;
use agentic_view::{PendingView, interop};
use clap::ValueEnum;

use super::session::principal;
use super::{Outcome, agent_name};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::print_text;

/// List what waits for a human, oldest first
///
/// Example: agentic pending --overdue
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Only of this agent, and of those that descend from it
    #[arg(long, value_name = "A", value_parser = agent_name)]
    agent: Option<AgentName>,
    /// Only requests of this kind
    #[arg(long, value_name = "K")]
    kind: Option<String>,
    /// Only what this principal may decide, such as user:ada or role:lead
    #[arg(long, value_name = "P")]
    assignee: Option<String>,
    /// Only what is overdue
    #[arg(long)]
    overdue: bool,
    /// Another form than ours
    #[arg(long, value_name = "FORMAT")]
    format: Option<Form>,
    /// Who will answer in that form, such as user:ada
    #[arg(long, value_name = "PRINCIPAL", requires = "format")]
    by: Option<String>,
}

/// The forms of the list.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Form {
    /// Ours
    Json,
    /// An MCP result that requires input
    Mcp,
    /// A2A tasks that require input
    A2a,
}

/// Runs the verb.
pub fn run(context: &Context, args: Args) -> Outcome {
    let space = context.space()?;
    let filter = Filter {
        agent: args.agent,
        reach: Reach::Subtree,
        kind: args.kind,
        assignee: args.assignee,
        overdue_only: if args.overdue { Overdue::Only } else { Overdue::Any },
    };
    let found = pending(&space, &filter)?;
    let now = space.now();
    let views: Vec<PendingView> =
        found.iter().map(|pending| PendingView::new(pending, now)).collect();
    match args.format {
        Some(Form::Mcp) => {
            let ticket = hand_out(&space, &found, &who(&space, args.by)?)?;
            print_text(&interop::mcp(&found, &ticket).to_string());
        }
        Some(Form::A2a) => {
            let ticket = hand_out(&space, &found, &who(&space, args.by)?)?;
            print_text(&interop::a2a(&found, &ticket, now).to_string());
        }
        Some(Form::Json) => crate::output::Format::Json.answer(views.as_slice(), |_| String::new()),
        None => {
            context.format.answer(views.as_slice(), |views| views.iter().map(paragraph).collect())
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Who the answers will come from: whom the caller names, else who the caller is.
fn who(space: &Space, named: Option<String>) -> Result<String, Failure> {
    named.map_or_else(|| principal(space), Ok)
}

fn paragraph(view: &PendingView) -> String {
    let what = view.question.clone().unwrap_or_else(|| format!("{} {}", view.kind, view.payload));
    let mut text = format!("{} {} {}: {what}\n", view.request, view.agent, view.reason);
    if !view.waiting.is_empty() {
        let agents: Vec<&str> = view.waiting.iter().map(|one| one.agent.as_str()).collect();
        text.push_str(&format!("    {} waits for it\n", agents.join(", ")));
    }
    if let Some(deadline) = &view.deadline {
        let late = if view.overdue { ", overdue" } else { "" };
        text.push_str(&format!("    until {deadline}{late}\n"));
    }
    if !view.assignees.is_empty() {
        text.push_str(&format!("    for {}\n", view.assignees.join(", ")));
    }
    if view.escalated > 0 {
        text.push_str("    escalated, because nobody decided in time\n");
    }
    if let Some(votes) = &view.votes {
        text.push_str(&format!("    {} of {} approvals\n", votes.have, votes.need));
    }
    for claim in &view.unverified {
        text.push_str(&format!(
            "    unverified: {} by {}: `agentic decide {} --accept {}`\n",
            claim.action, claim.principal, view.request, claim.commit
        ));
    }
    text
}
