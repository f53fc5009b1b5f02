//! One file for each verb: its arguments, and what it does with them.

pub mod agents;
pub mod allow;
pub mod archive;
pub mod briefing;
pub mod check;
pub mod commit;
pub mod completions;
pub mod conformance;
pub mod credential;
pub mod decide;
pub mod demo;
pub mod doctor;
pub mod fetch;
pub mod flow;
pub mod fmt;
pub mod fork_point;
pub mod init;
pub mod kind;
pub mod log;
pub mod man;
pub mod mcp;
pub mod merge;
pub mod object;
pub mod pending;
pub mod providers;
pub mod push;
pub mod query;
pub mod relate;
pub mod relations;
pub mod repl;
pub mod rule;
pub mod run;
pub mod search;
pub mod serve;
pub mod session;
pub mod show;
pub mod spawn;
pub mod trace;
pub mod tree;
pub mod worktree;

use std::process::ExitCode;

use agentic_api::VerbCompletion;
use agentic_model::AgentName;

use crate::cli::{Cli, Verb};
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::output::talk;

/// What a verb gives.
pub type VerbOutcome = Result<ExitCode, CommandFailure>;

/// Runs the verb of a command line.
pub fn run(cli: Cli) -> VerbOutcome {
    let context = Context::new(&cli)?;
    match cli.verb {
        Verb::Init(args) => init::run(&context, args),
        Verb::Spawn(args) => spawn::run(&context, args),
        Verb::Commit(args) => commit::run(&context, args),
        Verb::Merge(args) => merge::run(&context, args),
        Verb::Trace(verb) => trace::run(&context, verb),
        Verb::Log(args) => log::run(&context, args),
        Verb::Show(args) => show::run(&context, args),
        Verb::Agents(args) => agents::run(&context, args),
        Verb::Archive(args) => archive::run(&context, args),
        Verb::Tree(args) => tree::run(&context, args),
        Verb::ForkPoint(args) => fork_point::run(&context, args),
        Verb::Briefing(args) => briefing::run(&context, args),
        Verb::Worktree(verb) => worktree::run(&context, verb),
        Verb::Object(verb) => object::run(&context, verb),
        Verb::Kind(verb) => kind::run(&context, verb),
        Verb::Relate(args) => relate::run(&context, args),
        Verb::Unrelate(args) => relate::run_unrelate(&context, args),
        Verb::Relations(args) => relations::run(&context, args),
        Verb::SubAgents(args) => relations::run_sub_agents(&context, args),
        Verb::Reviewers(args) => relations::run_reviewers(&context, args),
        Verb::Merged(args) => relations::run_merged(&context, args),
        Verb::Query(args) => query::run(&context, args),
        Verb::Search(args) => search::run(&context, args),
        Verb::Rule(verb) => rule::run(&context, verb),
        Verb::Providers(args) => providers::run(&context, args),
        Verb::Allow(args) => allow::run(&context, args),
        Verb::Push(args) => push::run(&context, args),
        Verb::Fetch(args) => fetch::run(&context, args),
        Verb::Run(args) => run::run(&context, *args),
        Verb::Repl(args) => repl::run(&context, args),
        Verb::Check(args) => check::run(&context, args),
        Verb::Fmt(args) => fmt::run(&context, args),
        Verb::Flow(verb) => flow::run(&context, verb),
        Verb::Session(verb) => session::run(&context, *verb),
        Verb::Pending(args) => pending::run(&context, args),
        Verb::Decide(args) => decide::run(&context, args),
        Verb::Mcp(args) => mcp::run(&context, args),
        Verb::Serve(args) => serve::run(&context, args),
        Verb::Doctor(args) => doctor::run(&context, args),
        Verb::Demo(args) => demo::run(&context, args),
        Verb::Credential(verb) => credential::run(&context, verb),
        Verb::Conformance(verb) => conformance::run(&context, verb),
        Verb::Completions(args) => completions::run(args),
        Verb::Man(args) => man::run(args),
    }
}

/// Ends a command as its verb ended.
pub fn ended(completion: VerbCompletion) -> VerbOutcome {
    match completion {
        VerbCompletion::Whole | VerbCompletion::Held | VerbCompletion::Over(_) => {
            Ok(ExitCode::from(completion.exit_code()))
        }
        VerbCompletion::Short(refusal) => Err(refusal.into()),
    }
}

/// Says in plain lines why an answer is a short one, and returns the exit code.
pub fn said(completion: &VerbCompletion) -> ExitCode {
    match completion {
        VerbCompletion::Whole | VerbCompletion::Held | VerbCompletion::Over(_) => {}
        VerbCompletion::Short(refusal) => {
            talk(&format!("error: {}", refusal.message));
            talk(&format!("hint: {}", refusal.hint));
        }
    }
    ExitCode::from(completion.exit_code())
}

/// Parses the name of an agent for clap.
pub fn agent_name(text: &str) -> Result<AgentName, String> {
    AgentName::parse(text).map_err(|error| error.to_string())
}
