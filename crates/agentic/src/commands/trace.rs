//! `agentic trace …`

use std::process::ExitCode;

use agentic_api::view::{AttachView, BindingView, EntryView, TraceAddView, TraceView};
use agentic_model::{AgentName, Cid, Kind};
use agentic_session::SessionSpace;
use agentic_space::AgentBranch;
use agentic_space::trace::Shown;
use clap::Subcommand;

use super::{Outcome, agent_name};
use crate::context::{Context, read_stdin};
use crate::failure::Failure;
use crate::output::{tell_recovered, warn_deferred};

/// Keep what an agent saw and said
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Append one entry to the pending trace
    ///
    /// Example: agentic trace add --kind tool "cargo test: 12 passed"
    #[command(verbatim_doc_comment)]
    Add {
        /// The agent; else AGENTIC_AGENT, else the current branch
        #[arg(long, value_name = "NAME", value_parser = agent_name)]
        agent: Option<AgentName>,
        /// What sort of thing happened
        #[arg(long, value_name = "KIND", default_value = "log", value_parser = entry_kind)]
        kind: Kind,
        /// The text, or - for standard input
        text: String,
    },
    /// Show the entries that are bound to no commit yet
    ///
    /// Example: agentic trace pending --agent fix-auth
    #[command(verbatim_doc_comment)]
    Pending {
        /// The agent; else AGENTIC_AGENT, else the current branch
        #[arg(long, value_name = "NAME", value_parser = agent_name)]
        agent: Option<AgentName>,
    },
    /// Show the trace that is bound to a commit, or to an agent's newest commit that has one
    ///
    /// Example: agentic trace show fix-auth
    #[command(verbatim_doc_comment)]
    Show {
        /// A commit, an agent (REMOTE/NAME for a remote's) or the id of a trace
        id: String,
    },
    /// Bind the pending entries to a commit that was already made
    ///
    /// Example: agentic trace attach agents/fix-auth
    #[command(verbatim_doc_comment)]
    Attach {
        /// The commit
        commit: String,
        /// The agent; else AGENTIC_AGENT, else the current branch
        #[arg(long, value_name = "NAME", value_parser = agent_name)]
        agent: Option<AgentName>,
    },
    /// List the traces that a commit has had, newest first
    ///
    /// Example: agentic trace history agents/fix-auth
    #[command(verbatim_doc_comment)]
    History {
        /// The commit
        commit: String,
    },
}

/// Runs the verb.
pub fn run(context: &Context, verb: Verb) -> Outcome {
    let space = context.space()?;
    match verb {
        Verb::Add { agent, kind, text } => add(context, &space, agent.as_ref(), &kind, &text),
        Verb::Pending { agent } => {
            let agent = context.agent(&space, agent.as_ref())?;
            let mut entries = EntryView::whole(&space.pending_trace(&agent)?);
            let aside = space.pending_aside(&agent)?;
            entries.extend(aside.iter().flat_map(EntryView::of_aside));
            context.format.answer(entries.as_slice(), lines);
            Ok(ExitCode::SUCCESS)
        }
        Verb::Show { id } => {
            let view = TraceView::from(&find(&space, &id)?);
            context.format.answer(&view, |view| lines(&view.entries));
            Ok(ExitCode::SUCCESS)
        }
        Verb::Attach { commit, agent } => {
            let agent = context.agent(&space, agent.as_ref())?;
            let commit = space.repository().resolve_commit(&commit)?;
            let attached = space.attach_trace(&agent, commit)?;
            warn_deferred(&attached.written);
            context.format.answer(&AttachView::from(&attached), |view| view.cid.clone());
            Ok(ExitCode::SUCCESS)
        }
        Verb::History { commit } => history(context, &space, &commit),
    }
}

fn add(
    context: &Context,
    space: &SessionSpace,
    agent: Option<&AgentName>,
    kind: &Kind,
    text: &str,
) -> Outcome {
    let agent = context.agent(space, agent)?;
    let body = if text == "-" { read_stdin()? } else { text.as_bytes().to_vec() };
    let added = space.add_trace(&agent, kind, &body)?;
    tell_recovered(&space.take_found());
    let view = TraceAddView {
        agent: agent.to_string(),
        kind: kind.to_string(),
        at: added.at.to_string(),
        bytes: body.len(),
        pending: added.n_pending,
    };
    context.format.answer(&view, |_| String::new());
    Ok(ExitCode::SUCCESS)
}

fn history(context: &Context, space: &SessionSpace, commit: &str) -> Outcome {
    let commit = space.repository().resolve_commit(commit)?;
    let bindings: Vec<BindingView> =
        space.trace_history(commit)?.iter().map(BindingView::from).collect();
    context.format.answer(bindings.as_slice(), |bindings| {
        let line = |view: &BindingView| {
            format!("{} {}\n", view.at, view.cid.as_deref().unwrap_or("(none)"))
        };
        bindings.iter().map(line).collect()
    });
    Ok(ExitCode::SUCCESS)
}

/// Finds the trace that an id means: of an agent, by its own id, or of a commit.
fn find(space: &SessionSpace, id: &str) -> Result<Shown, Failure> {
    if let Ok(agent) = AgentName::parse(id)
        && space.head(&agent).is_ok()
    {
        return Ok(space.trace_of_branch(&AgentBranch::here(agent))?);
    }
    if let Some(branch) = space.remote_branch(id)? {
        return Ok(space.trace_of_branch(&branch)?);
    }
    if id.starts_with(Cid::PREFIX) {
        let cid = space.find_object(id)?;
        return Ok(space.trace_by_cid(cid, None)?);
    }
    let commit = space.repository().resolve_commit(id)?;
    Ok(space.trace_of_commit(commit)?)
}

fn lines(entries: &[EntryView]) -> String {
    let line = |entry: &EntryView| {
        let body = match (&entry.text, &entry.base64) {
            (Some(text), _) => text.replace('\n', "\n    "),
            (None, Some(base64)) => format!("(base64) {base64}"),
            (None, None) => String::new(),
        };
        let from = entry.from.iter().map(|from| format!("(from {from}) ")).collect::<String>();
        format!("{} {} {from}{}\n", entry.at, entry.kind, body.trim_end())
    };
    entries.iter().map(line).collect()
}

fn entry_kind(text: &str) -> Result<Kind, String> {
    Kind::parse(text).map_err(|error| error.to_string())
}
