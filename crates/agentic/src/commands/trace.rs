//! `agentic trace …`

use std::process::ExitCode;

use agentic_api::Verb as _;
use agentic_api::verb::{
    EntryBody, TraceAdd, TraceAttach, TraceHistory, TracePending, TraceRewrites, TraceShow,
};
use agentic_api::view::{BindingView, EntryView, RewritesView};
use agentic_model::{AgentName, Kind};
use clap::Subcommand;

use super::{VerbOutcome, agent_name};
use crate::context::{Context, read_file_or_stdin, read_stdin};
use crate::output::{tell_recovered, warn_of};

/// Keep what an agent saw and said
#[derive(Debug, Subcommand)]
pub enum TraceVerb {
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
    /// Keep which commits a history was rewritten to, as `git filter-repo` says it
    ///
    /// Traces are then found by the new commits: `trace show`, `blame` and `export`.
    ///
    /// Example: agentic trace rewrites .git/filter-repo/commit-map
    #[command(verbatim_doc_comment)]
    Rewrites {
        /// The map: an old and a new commit on each line; or - for standard input
        file: String,
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
pub fn run(context: &Context, verb: TraceVerb) -> VerbOutcome {
    let space = context.space()?;
    let caller = context.caller(&space);
    let named = |agent: Option<AgentName>| agent.map(|agent| agent.to_string());
    match verb {
        TraceVerb::Add { agent, kind, text } => {
            let body =
                if text == "-" { EntryBody::Bytes(read_stdin()?) } else { EntryBody::Text(text) };
            let add = TraceAdd { agent: named(agent), kind: Some(kind.to_string()), body };
            let added = add.run(&caller)?;
            tell_recovered(&space.take_found());
            warn_of(&added.notices);
            context.format.answer(&added.answer, |_| String::new());
        }
        TraceVerb::Pending { agent } => {
            let entries = TracePending { agent: named(agent) }.run(&caller)?.answer;
            context.format.answer(entries.as_slice(), lines);
        }
        TraceVerb::Show { id } => {
            let trace = TraceShow { id }.run(&caller)?.answer;
            context.format.answer(&trace, |view| lines(&view.entries));
        }
        TraceVerb::Attach { commit, agent } => {
            let reply = TraceAttach { commit, agent: named(agent) }.run(&caller)?;
            warn_of(&reply.notices);
            context.format.answer(&reply.answer, |view| view.cid.clone());
        }
        TraceVerb::Rewrites { file } => {
            let map = String::from_utf8_lossy(&read_file_or_stdin(&file)?).into_owned();
            let reply = TraceRewrites { map }.run(&caller)?;
            warn_of(&reply.notices);
            context.format.answer(reply.answer.as_slice(), |kept| {
                let line = |view: &RewritesView| format!("{} {}\n", view.agent, view.rewrites);
                kept.iter().map(line).collect()
            });
        }
        TraceVerb::History { commit } => {
            let bindings = TraceHistory { commit }.run(&caller)?.answer;
            context.format.answer(bindings.as_slice(), |bindings| {
                let line = |view: &BindingView| {
                    format!("{} {}\n", view.at, view.cid.as_deref().unwrap_or("(none)"))
                };
                bindings.iter().map(line).collect()
            });
        }
    }
    Ok(ExitCode::SUCCESS)
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
