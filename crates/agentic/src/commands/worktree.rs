//! `agentic worktree …`

use std::path::PathBuf;
use std::process::ExitCode;

use agentic_api::Verb as _;
use agentic_api::verb::{WorktreeAdd, WorktreeList, WorktreeRemove, WorktreeSync};
use agentic_api::view::WorktreeView;
use agentic_model::AgentName;
use clap::Subcommand;

use super::{VerbOutcome, agent_name};
use crate::context::Context;

/// Check agents out into folders of their own
#[derive(Debug, Subcommand)]
pub enum WorktreeVerb {
    /// Check an agent's branch out in a folder, by default ../<repository>.agents/AGENT
    ///
    /// Example: agentic worktree add fix-auth
    #[command(verbatim_doc_comment)]
    Add {
        /// The agent; else AGENTIC_AGENT, else the current branch
        #[arg(value_parser = agent_name)]
        agent: Option<AgentName>,
        /// The folder
        dir: Option<PathBuf>,
    },
    /// List the worktrees of agents
    ///
    /// Example: agentic worktree list
    #[command(verbatim_doc_comment)]
    List,
    /// Bring a worktree to its agent's head; uncommitted changes are carried over
    ///
    /// Example: agentic worktree sync fix-auth
    #[command(verbatim_doc_comment)]
    Sync {
        /// The agent; else AGENTIC_AGENT, else the current branch
        #[arg(value_parser = agent_name)]
        agent: Option<AgentName>,
    },
    /// Remove an agent's worktree; the branch stays
    ///
    /// Example: agentic worktree remove fix-auth
    #[command(verbatim_doc_comment)]
    Remove {
        /// The agent
        #[arg(value_parser = agent_name)]
        agent: AgentName,
        /// Even if it has uncommitted work, which is then lost
        #[arg(long)]
        force: bool,
    },
}

/// Runs the verb.
pub fn run(context: &Context, verb: WorktreeVerb) -> VerbOutcome {
    let space = context.space()?;
    let caller = context.caller(&space);
    let named = |agent: Option<AgentName>| agent.map(|agent| agent.to_string());
    match verb {
        WorktreeVerb::Add { agent, dir } => {
            let added = WorktreeAdd { agent: named(agent), folder: dir }.run(&caller)?.answer;
            context.format.answer(&added, |view| view.path.clone());
        }
        WorktreeVerb::List => {
            let found = WorktreeList {}.run(&caller)?.answer;
            context.format.answer(found.as_slice(), |views| views.iter().map(line).collect());
        }
        WorktreeVerb::Sync { agent } => {
            let synced = WorktreeSync { agent: named(agent) }.run(&caller)?.answer;
            context.format.answer(&synced, |view| format!("{} {}", view.agent, &view.to[..10]));
        }
        WorktreeVerb::Remove { agent, force } => {
            let agent = agent.to_string();
            let removed = WorktreeRemove { agent, force }.run(&caller)?.answer;
            context.format.answer(&removed, |view| format!("removed {}", view.path));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn line(view: &WorktreeView) -> String {
    let state = match (view.clean, view.stale) {
        (true, false) => "clean",
        (false, false) => "changed",
        (true, true) => "stale",
        (false, true) => "changed, stale",
    };
    format!("{} {} {state}\n", view.agent, view.path)
}
