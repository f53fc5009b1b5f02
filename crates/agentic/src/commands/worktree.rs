//! `agentic worktree …`

use std::path::PathBuf;
use std::process::ExitCode;

use agentic_api::view::{WorktreeAddView, WorktreeRemoveView, WorktreeSyncView, WorktreeView};
use agentic_model::AgentName;
use agentic_space::worktree::{self, Work};
use clap::Subcommand;

use super::{Outcome, agent_name};
use crate::context::Context;

/// Check agents out into folders of their own
#[derive(Debug, Subcommand)]
pub enum Verb {
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
pub fn run(context: &Context, verb: Verb) -> Outcome {
    let space = context.space()?;
    match verb {
        Verb::Add { agent, dir } => {
            let agent = context.agent(&space, agent.as_ref())?;
            let path = dir.map(|dir| context.directory.join(dir));
            let path = path.unwrap_or_else(|| worktree::default_path(&space, &agent));
            let added = worktree::add(&space, &agent, &path)?;
            let view = WorktreeAddView {
                agent: agent.to_string(),
                path: added.path.display().to_string(),
                base: space.head(&agent)?.to_string(),
            };
            context.format.answer(&view, |view| view.path.clone());
        }
        Verb::List => list(context, &space)?,
        Verb::Sync { agent } => {
            let agent = context.agent(&space, agent.as_ref())?;
            let synced = worktree::sync(&space, &agent)?;
            let view = WorktreeSyncView {
                agent: agent.to_string(),
                path: synced.path.display().to_string(),
                from: synced.from.to_string(),
                to: synced.to.to_string(),
            };
            context.format.answer(&view, |view| format!("{} {}", view.agent, &view.to[..10]));
        }
        Verb::Remove { agent, force } => {
            let work = if force { Work::Discarded } else { Work::Kept };
            let path = worktree::remove(&space, &agent, work)?;
            let view =
                WorktreeRemoveView { agent: agent.to_string(), path: path.display().to_string() };
            context.format.answer(&view, |view| format!("removed {}", view.path));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(
    context: &Context,
    space: &agentic_session::SessionSpace,
) -> Result<(), crate::failure::Failure> {
    let mut views = Vec::new();
    for found in space.agent_worktrees()? {
        views.push(WorktreeView {
            agent: found.agent.to_string(),
            path: found.worktree.path.display().to_string(),
            base: found.base.to_string(),
            head: found.head.to_string(),
            clean: found.worktree.is_pristine()?,
            stale: found.base != found.head,
        });
    }
    context.format.answer(views.as_slice(), |views| {
        let line = |view: &WorktreeView| {
            let state = match (view.clean, view.stale) {
                (true, false) => "clean",
                (false, false) => "changed",
                (true, true) => "stale",
                (false, true) => "changed, stale",
            };
            format!("{} {} {state}\n", view.agent, view.path)
        };
        views.iter().map(line).collect()
    });
    Ok(())
}
