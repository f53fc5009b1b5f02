//! `agentic flow translate`

use std::process::ExitCode;
use std::time::Duration;

use agentic_api::program::{pipeline_source_findings, read_registry};
use agentic_api::view::TranslateView;
use agentic_lang_pipeline::{REPAIRS_DEFAULT, TranslateError, translate};
use agentic_model::{Value, json};
use agentic_providers::executable::{Executable, OUTPUT_BYTES_MAX, ProgramOutcome as Ran};
use agentic_providers::host::CancelFlag;

use crate::commands::VerbOutcome;
use crate::context::{Context, read_stdin};
use crate::failure::CommandFailure;
use crate::program::{optional_text, show};

/// How long a completion may take.
const TIME_LIMIT: Duration = Duration::from_secs(600);
/// The most that a reply may be sent back.
const REPAIRS_MAX: u64 = 10;

/// Prose, and who completes texts.
#[derive(Debug, clap::Args)]
pub struct TranslateArgs {
    /// What the pipeline is to do, in words; - for standard input
    prose: String,
    /// A command line that completes a text
    #[arg(long, value_name = "CMD")]
    complete_cmd: Option<String>,
    /// The builtins that it may call, beyond the standard ones
    #[arg(long, value_name = "FILE")]
    registry: Option<String>,
    /// How often a reply that does not compile is sent back
    #[arg(long, value_name = "N", default_value_t = REPAIRS_DEFAULT as u64,
          value_parser = clap::value_parser!(u64).range(..=REPAIRS_MAX))]
    max_repairs: u64,
}

/// Runs the verb.
pub fn run(context: &Context, args: &TranslateArgs) -> VerbOutcome {
    let command = args.complete_cmd.as_deref().ok_or_else(|| {
        CommandFailure::usage(
            "nobody is named who completes texts",
            "name a command with `--complete-cmd`: it reads {\"system\",\"user\"} and prints a reply",
        )
    })?;
    let prose = match args.prose.as_str() {
        "-" => String::from_utf8(read_stdin()?).map_err(|_| {
            CommandFailure::refused("the prose is not UTF-8 text", "save it as UTF-8")
        })?,
        prose => prose.to_owned(),
    };
    let registry = optional_text(context, args.registry.as_deref())?;
    let registry = read_registry(registry.as_ref(), &context.surroundings())?;
    let mut complete = |system: &str, user: &str| ask(context, command, system, user);
    let repairs_max = usize::try_from(args.max_repairs).unwrap_or(REPAIRS_DEFAULT);
    match translate(&mut complete, &registry, &prose, repairs_max) {
        Ok(program) => {
            context.format.answer_program(&TranslateView { program }, |view| &view.program);
            Ok(ExitCode::SUCCESS)
        }
        Err(TranslateError::Complete(failure)) => Err(failure),
        Err(TranslateError::NotAProgram { source_text, findings }) => {
            show(&pipeline_source_findings("reply.as", source_text.as_bytes(), findings));
            Err(CommandFailure::refused(
                "the reply is not a program",
                "say more exactly what is wanted, or let it be mended more often with `--max-repairs`",
            ))
        }
    }
}

/// Lets the command complete a text.
fn ask(
    context: &Context,
    command: &str,
    system: &str,
    user: &str,
) -> Result<String, CommandFailure> {
    let question = Value::map([("system", Value::text(system)), ("user", Value::text(user))]);
    let executable = Executable {
        argv: ["sh", "-c", command].map(str::to_owned).to_vec(),
        folder: context.directory.clone(),
        input: format!("{}\n", json::to_text(&question)).into_bytes(),
        environment: Vec::new(),
        limit: TIME_LIMIT,
    };
    let reason = match executable.run(&CancelFlag::new()) {
        Ran::Done(printed) => match String::from_utf8(printed) {
            Ok(reply) => return Ok(reply),
            Err(_) => "it printed what is no UTF-8 text".to_owned(),
        },
        Ran::Crashed { status, complaint } => format!("{status}: {complaint}"),
        Ran::Lost(error) => error.to_string(),
        Ran::Flooded => format!("it printed more than {OUTPUT_BYTES_MAX} bytes"),
        Ran::TimedOut => format!("it took longer than {} s", TIME_LIMIT.as_secs()),
        Ran::Stopped => "it was stopped".to_owned(),
    };
    Err(CommandFailure::refused(
        &format!(
            "the command that completes texts failed: {}",
            reason.trim_end_matches([':', ' '])
        ),
        "run it by hand: it reads one line of JSON and prints its reply",
    ))
}
