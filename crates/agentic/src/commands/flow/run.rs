//! `agentic flow run`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use agentic_lang_pipeline::run::BlockOrder;
use agentic_model::AgentName;

use crate::commands::run::pipeline::{Place, Wish, prepare};
use crate::commands::run::{durable, input_text, pipeline};
use crate::commands::{Outcome, agent_name};
use crate::context::Context;
use crate::failure::Failure;
use crate::language::Language;
use crate::output::talk;
use crate::program::Program;

/// What the embedded engine is called.
const LOCAL: &str = "local:";

/// A pipeline, and how it runs.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A file, or - for standard input
    pub file: String,
    /// In whose name it runs, such as user:alice
    #[arg(long = "as", value_name = "ID", value_parser = identity)]
    pub identity: Option<String>,
    /// Where durable blocks run: local: for this repository, local:DIR for another
    #[arg(long, value_name = "ADDRESS")]
    pub sibyl_addr: Option<String>,
    /// The input, as JSON or as a file with JSON
    #[arg(long, value_name = "JSON|@FILE")]
    pub input: Option<String>,
    /// The key of a durable run: the same agent, program, input and key give the same run
    #[arg(long, value_name = "KEY")]
    pub run_id: Option<String>,
    /// The agent of a durable run; else the current one, else a new one named `run-KEY`
    #[arg(long, value_name = "NAME", value_parser = agent_name)]
    pub agent: Option<AgentName>,
    /// The builtins that it may call, beyond the standard ones
    #[arg(long, value_name = "FILE")]
    pub registry: Option<String>,
    /// Run all blocks at once instead of one after the other
    #[arg(long)]
    pub parallel_blocks: bool,
    /// Let a durable run go on in a process of its own, and return as soon as it is recorded
    #[arg(long)]
    pub detach: bool,
}

/// Where durable blocks run.
enum Engine {
    /// In the repository of the current folder.
    Here,
    /// In another repository.
    In(PathBuf),
    /// Nowhere that this program knows.
    Elsewhere(String),
}

/// Runs the verb.
pub fn run(context: &Context, args: Args) -> Outcome {
    let program = Program::read(context, &args.file, Some(Language::Pipeline))?;
    let wish = Wish {
        input: input_text(context, args.input.as_deref())?,
        registry: args.registry.clone(),
        place: Place::AsDeclared,
        setting: durable::Setting { agent: args.agent.clone(), key: args.run_id.clone() },
        invoked_by: args.identity.clone(),
        blocks: match args.parallel_blocks {
            true => BlockOrder::Parallel,
            false => BlockOrder::Sequential,
        },
    };
    let Some(ready) = prepare(context, &program, &wish)? else { return Ok(ExitCode::from(1)) };
    if !ready.has_durable_block() {
        if args.sibyl_addr.is_some() || args.detach {
            talk("note: no block is temporal, so the run is in memory and has no engine");
        }
        return pipeline::run_ready(
            context,
            ready,
            Wish { setting: durable::Setting::default(), ..wish },
        );
    }
    let engine = match Engine::parse(args.sibyl_addr.as_deref()) {
        Engine::Here => context.at(context.directory.clone()),
        Engine::In(folder) => context.at(context.directory.join(folder)),
        Engine::Elsewhere(address) => return Err(unreachable(&address)),
    };
    if args.detach {
        return super::detach::run(&engine, context, (args, program), (ready, wish));
    }
    pipeline::run_ready(&engine, ready, wish)
}

impl Engine {
    fn parse(address: Option<&str>) -> Engine {
        match address {
            None | Some(LOCAL) => Engine::Here,
            Some(address) => match address.strip_prefix(LOCAL) {
                Some(folder) => Engine::In(Path::new(folder).to_owned()),
                None => Engine::Elsewhere(address.to_owned()),
            },
        }
    }
}

fn unreachable(address: &str) -> Failure {
    Failure::unreachable(
        &format!("there is no engine at `{address}`"),
        "this program has the embedded engine only: use `--sibyl-addr local:`, or leave it out",
    )
}

/// Accepts `KIND:NAME`, such as `user:alice` or `slack:U123`.
pub fn identity(text: &str) -> Result<String, String> {
    let is_name =
        |name: &str| !name.is_empty() && !name.chars().any(|c| c.is_control() || c == ' ');
    match text.split_once(':') {
        Some((kind, name)) if is_name(kind) && is_name(name) => Ok(text.to_owned()),
        _ => Err("an identity is KIND:NAME, such as user:alice".to_owned()),
    }
}
