//! One file for each verb: its arguments, and what it does with them.

pub mod agent;
pub mod agents;
pub mod allow;
pub mod announce;
pub mod archive;
pub mod behaviour;
pub mod blame;
pub mod briefing;
pub mod capture;
pub mod check;
pub mod commit;
pub mod completions;
pub mod conformance;
pub mod credential;
pub mod decide;
pub mod demo;
pub mod doctor;
pub mod export;
pub mod fetch;
pub mod flow;
pub mod fmt;
pub mod fork_point;
pub mod grant;
pub mod hook;
pub mod import;
pub mod init;
pub mod kind;
pub mod log;
pub mod man;
pub mod mcp;
pub mod merge;
pub mod object;
pub mod peer;
pub mod pending;
pub mod providers;
pub mod purge;
pub mod push;
pub mod query;
pub mod redact;
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
pub mod stats;
pub mod trace;
pub mod tree;
pub mod ui;
pub mod verify;
pub mod worktree;

use std::process::ExitCode;

use agentic_api::VerbCompletion;
use agentic_model::AgentName;

use crate::cli::{Cli, VerbArguments};
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::output::talk;

/// What a verb gives.
pub type VerbOutcome = Result<ExitCode, CommandFailure>;

/// Runs the verb of a command line.
// size: an arm for each verb.
pub fn run(cli: Cli) -> VerbOutcome {
    if let VerbArguments::Hook(args) = &cli.verb {
        // It says nothing, whatever there is to say, such as that its folder is gone.
        return Ok(hook::run(args));
    }
    let context = Context::new(&cli)?;
    match cli.verb {
        VerbArguments::Init(args) => init::run(&context, args),
        VerbArguments::Import(args) => import::run(&context, args),
        VerbArguments::Spawn(args) => spawn::run(&context, args),
        VerbArguments::Commit(args) => commit::run(&context, args),
        VerbArguments::Merge(args) => merge::run(&context, args),
        VerbArguments::Trace(verb) => trace::run(&context, verb),
        VerbArguments::Log(args) => log::run(&context, args),
        VerbArguments::Blame(args) => blame::run(&context, args),
        VerbArguments::Export(args) => export::run(&context, args),
        VerbArguments::Show(args) => show::run(&context, args),
        VerbArguments::Agents(args) => agents::run(&context, args),
        VerbArguments::Agent(verb) => agent::run(&context, verb),
        VerbArguments::Archive(args) => archive::run(&context, args),
        VerbArguments::Stats(args) => stats::run(&context, *args),
        VerbArguments::Tree(args) => tree::run(&context, args),
        VerbArguments::ForkPoint(args) => fork_point::run(&context, args),
        VerbArguments::Briefing(args) => briefing::run(&context, args),
        VerbArguments::Worktree(verb) => worktree::run(&context, verb),
        VerbArguments::Object(verb) => object::run(&context, verb),
        VerbArguments::Kind(verb) => kind::run(&context, verb),
        VerbArguments::Purge(args) => purge::run(&context, *args),
        VerbArguments::Redact(args) => redact::run(&context, args),
        VerbArguments::Relate(args) => relate::run(&context, args),
        VerbArguments::Unrelate(args) => relate::run_unrelate(&context, args),
        VerbArguments::Relations(args) => relations::run(&context, args),
        VerbArguments::SubAgents(args) => relations::run_sub_agents(&context, args),
        VerbArguments::Reviewers(args) => relations::run_reviewers(&context, args),
        VerbArguments::Merged(args) => relations::run_merged(&context, args),
        VerbArguments::Query(args) => query::run(&context, args),
        VerbArguments::Search(args) => search::run(&context, args),
        VerbArguments::Rule(verb) => rule::run(&context, verb),
        VerbArguments::Behaviour(verb) => behaviour::run(&context, *verb),
        VerbArguments::Providers(args) => providers::run(&context, args),
        VerbArguments::Allow(args) => allow::run(&context, args),
        VerbArguments::Peer(verb) => peer::run(&context, *verb),
        VerbArguments::Announce(args) => announce::run(&context, args),
        VerbArguments::Grant(args) => grant::run(&context, args),
        VerbArguments::Revoke(args) => grant::run_revoke(&context, args),
        VerbArguments::Grants(args) => grant::run_list(&context, args),
        VerbArguments::Allowed(args) => grant::run_allowed(&context, args),
        VerbArguments::Verify(args) => verify::run(&context, args),
        VerbArguments::Push(args) => push::run(&context, args),
        VerbArguments::Fetch(args) => fetch::run(&context, args),
        VerbArguments::Run(args) => run::run(&context, *args),
        VerbArguments::Repl(args) => repl::run(&context, args),
        VerbArguments::Check(args) => check::run(&context, args),
        VerbArguments::Fmt(args) => fmt::run(&context, args),
        VerbArguments::Flow(verb) => flow::run(&context, verb),
        VerbArguments::Session(verb) => session::run(&context, *verb),
        VerbArguments::Pending(args) => pending::run(&context, args),
        VerbArguments::Decide(args) => decide::run(&context, args),
        VerbArguments::Mcp(args) => mcp::run(&context, args),
        VerbArguments::Hook(args) => Ok(hook::run(&args)),
        VerbArguments::Serve(args) => serve::run(&context, args),
        VerbArguments::Capture(verb) => capture::run(&context, verb),
        VerbArguments::Ui(args) => ui::run(&context, args),
        VerbArguments::Doctor(args) => doctor::run(&context, args),
        VerbArguments::Demo(args) => demo::run(&context, args),
        VerbArguments::Credential(verb) => credential::run(&context, verb),
        VerbArguments::Conformance(verb) => conformance::run(&context, verb),
        VerbArguments::Completions(args) => completions::run(args),
        VerbArguments::Man(args) => man::run(args),
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
