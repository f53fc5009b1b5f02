//! `agentic flow check`, `agentic flow plan` and `agentic flow explain`

use std::process::ExitCode;

use agentic_api::program::{NamedText, ProgramSource};
use agentic_api::verb::{
    FlowCheck, FlowDiagnostics, FlowExplain, FlowExplainStored, FlowPlan, PlanForm,
};
use agentic_api::view::{ExplainAnswer, PlanAnswer, PlanView};
use agentic_api::{LocalVerb as _, Verb as _};
use agentic_model::Cid;
use clap::ValueEnum;

use crate::commands::{VerbOutcome, ended};
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::output::{Format, print_raw, print_text};
use crate::program::{optional_text, report, reported, source};

/// A program, and what it may call.
#[derive(Debug, clap::Args)]
pub struct FlowArgs {
    /// A file, or - for standard input
    file: String,
    /// The builtins that a pipeline may call, beyond the standard ones
    #[arg(long, value_name = "FILE")]
    registry: Option<String>,
}

/// The forms of plans.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum PlanFormat {
    /// The canonical one, which is stored and runs
    V1,
    /// For engines that know calls and joins only
    Sibyl,
    /// A drawing, for Graphviz
    Dot,
}

impl FlowArgs {
    /// Names the program, and what it may call.
    fn named(
        &self,
        context: &Context,
    ) -> Result<(ProgramSource, Option<NamedText>), CommandFailure> {
        let registry = optional_text(context, self.registry.as_deref())?;
        Ok((source(context, &self.file, None)?, registry))
    }
}

pub(super) fn check(context: &Context, args: &FlowArgs) -> VerbOutcome {
    let (program, registry) = args.named(context)?;
    reported(context, FlowCheck { program, registry }.run_here(&context.surroundings())?)
}

/// Prints one line of JSON for everything that is wrong with a pipeline.
pub(super) fn diagnose(context: &Context, args: &FlowArgs) -> VerbOutcome {
    let (program, registry) = args.named(context)?;
    let reply = FlowDiagnostics { program, registry }.run_here(&context.surroundings())?;
    for view in &reply.answer {
        print_raw(&serde_json::to_string(view).expect("views have text keys"));
    }
    ended(reply.completion)
}

/// Prints a line for each block; with `--json` one list.
pub(super) fn plan(context: &Context, args: &FlowArgs, format: PlanFormat) -> VerbOutcome {
    let (program, registry) = args.named(context)?;
    let form = match format {
        PlanFormat::V1 => PlanForm::V1,
        PlanFormat::Sibyl => PlanForm::Sibyl,
        PlanFormat::Dot => PlanForm::Dot,
    };
    let reply = FlowPlan { program, registry, form }.run_here(&context.surroundings())?;
    match (&reply.answer, context.format) {
        (PlanAnswer::Plans(plans), Format::Json) => {
            print_raw(&serde_json::to_string(plans).expect("views have text keys"));
        }
        (PlanAnswer::Plans(plans), Format::Text) => {
            plans.iter().map(PlanView::text).for_each(print_raw);
        }
        (PlanAnswer::Faulty(findings), _) => report(context, findings),
    }
    ended(reply.completion)
}

/// Prints words, which `--json` leaves as they are; of a stored plan where a file has the name of one.
pub(super) fn explain(context: &Context, args: FlowArgs) -> VerbOutcome {
    if args.file.starts_with(Cid::PREFIX) {
        let registry = optional_text(context, args.registry.as_deref())?;
        let space = context.space()?;
        let verb = FlowExplainStored { plan: args.file, registry };
        print_text(&verb.run(&context.caller(&space))?.answer.text);
        return Ok(ExitCode::SUCCESS);
    }
    let (program, registry) = args.named(context)?;
    let reply = FlowExplain { program, registry }.run_here(&context.surroundings())?;
    match &reply.answer {
        ExplainAnswer::Explained(view) => print_text(&view.text),
        ExplainAnswer::Faulty(findings) => report(context, findings),
    }
    ended(reply.completion)
}
