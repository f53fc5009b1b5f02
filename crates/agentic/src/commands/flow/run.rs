//! `agentic flow run`

use std::process::ExitCode;

use agentic_lang_pipeline::PipelineLanguage;
use agentic_lang_pipeline::run::BlockOrder;
use agentic_model::AgentName;
use agentic_replay::engine::RunAttendance;

use crate::commands::run::pipeline::{PipelineRequest, RunPlace, prepare};
use crate::commands::run::{durable, input_text};
use crate::commands::{VerbOutcome, agent_name};
use crate::context::Context;
use crate::engine::Address;
use crate::output::{Format, talk};
use crate::program::ProgramFile;

/// A pipeline, and how it runs.
#[derive(Debug, clap::Args)]
pub struct FlowRunArgs {
    /// A file, or - for standard input
    pub file: String,
    /// In whose name it runs, such as user:alice
    #[arg(long = "as", value_name = "ID", value_parser = identity)]
    pub identity: Option<String>,
    #[command(flatten)]
    pub address: Address,
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
    /// The form of the result: json is the same as --json
    #[arg(long, value_name = "FORM", value_parser = ["json", "text"])]
    pub output: Option<String>,
    /// Write what became of each node and block as JSON; of a durable run, all since it was started
    #[arg(long, value_name = "PATH", conflicts_with = "detach")]
    pub output_trace: Option<String>,
    /// Let a durable run go on in a process of its own, and return as soon as it is recorded
    #[arg(long)]
    pub detach: bool,
}

/// Runs the verb.
pub fn run(context: &Context, args: FlowRunArgs) -> VerbOutcome {
    match args.output.as_deref() {
        Some("json") => run_as(&context.answering(Format::Json), args),
        Some(_) => run_as(&context.answering(Format::Text), args),
        None => run_as(context, args),
    }
}

fn run_as(context: &Context, args: FlowRunArgs) -> VerbOutcome {
    let program = ProgramFile::read(context, &args.file, Some(&PipelineLanguage))?;
    let wish = PipelineRequest {
        input: input_text(context, args.input.as_deref())?,
        registry: args.registry,
        place: RunPlace::AsDeclared,
        setting: durable::DurableSetting { agent: args.agent, key: args.run_id },
        invoked_by: args.identity,
        blocks: match args.parallel_blocks {
            true => BlockOrder::Parallel,
            false => BlockOrder::Sequential,
        },
        output_trace: args.output_trace,
    };
    let Some(ready) = prepare(context, &program, &wish)? else { return Ok(ExitCode::from(1)) };
    if !ready.has_durable_block() {
        if args.address.sibyl_addr.is_some() || args.detach {
            talk("note: no block is temporal, so the run is in memory and has no engine");
        }
        return ready.run_in_memory(context, RunPlace::AsDeclared);
    }
    let attendance = if args.detach { RunAttendance::Detached } else { RunAttendance::Attended };
    ready.run_durably(context, &args.address, (wish.setting, attendance))
}

/// Accepts `KIND:NAME`, such as `user:alice` or `slack:U123`.
pub fn identity(text: &str) -> Result<String, String> {
    match agentic_plan::is_identity(text) {
        true => Ok(text.to_owned()),
        false => Err("an identity is KIND:NAME, such as user:alice".to_owned()),
    }
}
