//! `agentic flow run`

use agentic_api::verb::RunPipeline;
use agentic_api::view::RunAnswer;
use agentic_lang_agent::TraceCapture;
use agentic_model::AgentName;

use super::detach::go_on_elsewhere;
use crate::commands::run::{answered, carried_out};
use crate::commands::{VerbOutcome, agent_name};
use crate::context::Context;
use crate::engine::Address;
use crate::live::RunDisplay;
use crate::output::{Format, talk};
use crate::program::{self, input_text, optional_text};

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
    let (is_named, is_detached) = (args.address.sibyl_addr.is_some(), args.detach);
    let address = args.address.or_configured(context)?;
    let verb = RunPipeline {
        program: program::source(context, &args.file, None)?,
        input: input_text(context, args.input.as_deref())?,
        identity: args.identity,
        key: args.run_id,
        agent: args.agent.map(|agent| agent.to_string()),
        registry: optional_text(context, args.registry.as_deref())?,
        parallel_blocks: args.parallel_blocks,
        output_trace: args.output_trace,
        detached: is_detached,
    };
    let prepare = |here: &_| {
        let prepared = verb.prepare(here)?;
        let has_engine = prepared.is_durable() || prepared.is_answered();
        if !has_engine && (is_named || is_detached) {
            talk("note: no block is temporal, so the run is in memory and has no engine");
        }
        Ok(prepared)
    };
    let live = RunDisplay::of(context.format, TraceCapture::Off);
    let reply = carried_out(context, live, prepare, |prepared, here| {
        let reached = address.reach(context)?;
        Ok(prepared.run(&reached.caller_at(context, here))?)
    })?;
    if let (RunAnswer::Standing(view), true) = (&reply.answer, is_detached)
        && !view.is_over()
        && address.remote().is_none()
    {
        go_on_elsewhere(context, &address, &view.session)?;
    }
    answered(context, reply)
}

/// Accepts `KIND:NAME`, such as `user:alice` or `slack:U123`.
pub fn identity(text: &str) -> Result<String, String> {
    match agentic_plan::is_identity(text) {
        true => Ok(text.to_owned()),
        false => Err("an identity is KIND:NAME, such as user:alice".to_owned()),
    }
}
