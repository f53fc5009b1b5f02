//! `agentic export`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use agentic_api::verb::Export;
use agentic_api::view::ExportView;
use agentic_api::{Refusal, Verb as _};
use agentic_model::guidance::ErrorClass;
use agentic_store::file::{self, Persistence};

use super::VerbOutcome;
use crate::context::Context;
use crate::output::{Format, print_bytes, warn_of};

/// Tell of commits in the form of another tool
///
/// agent-trace (agent-trace.dev), git-ai (its notes), otlp (spans of OpenTelemetry) or in-toto
/// (statements, in an envelope of DSSE where `agentic.sign` is set). Only what is proved is told; the
/// same commit gives the same bytes. Without a choice it tells of HEAD.
///
/// Example: agentic export agent-trace --agent fix-auth --out traces
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct ExportArgs {
    /// agent-trace, git-ai, otlp or in-toto
    #[arg(value_parser = ["agent-trace", "git-ai", "otlp", "in-toto"])]
    format: String,
    /// The commits of this agent
    #[arg(long, value_name = "AGENT", conflicts_with_all = ["commit", "range"])]
    agent: Option<String>,
    /// This commit
    #[arg(long, value_name = "COMMIT", conflicts_with = "range")]
    commit: Option<String>,
    /// The commits of a range, as `git rev-list` takes it
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
    /// Write a file for each text into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write notes of git-ai, never over one that is there
    #[arg(long)]
    write_notes: bool,
    /// Spans of otlp carry what was said, too
    #[arg(long)]
    content: bool,
}

/// Runs the verb.
pub fn run(context: &Context, args: ExportArgs) -> VerbOutcome {
    let space = context.space()?;
    let is_note = args.format == "git-ai";
    let verb = Export {
        format: args.format,
        agent: args.agent,
        commit: args.commit,
        range: args.range,
        content: args.content,
        write_notes: args.write_notes,
    };
    let reply = verb.run(&context.caller(&space))?;
    warn_of(&reply.notices);
    let texts = reply.answer;
    if let Some(folder) = &args.out {
        write_all(folder, &texts)?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.write_notes {
        return Ok(ExitCode::SUCCESS);
    }
    if is_note && texts.len() > 1 {
        return Err(Refusal::usage(
            &format!("these are the notes of {} commits", texts.len()),
            "have them written with --out DIR or --write-notes",
        )
        .into());
    }
    if texts.is_empty() && context.format == Format::Json {
        // What is read as JSON is told that there is none of it.
        print_bytes(b"[]\n");
    }
    for text in &texts {
        print_bytes(text.text.as_bytes());
    }
    Ok(ExitCode::SUCCESS)
}

fn write_all(folder: &Path, texts: &[ExportView]) -> Result<(), Refusal> {
    let refused = |error: &dyn std::fmt::Display| {
        let message = format!("cannot write into `{}`: {error}", folder.display());
        Refusal::new(ErrorClass::Refused, &message, "name a folder that you can write into")
    };
    std::fs::create_dir_all(folder).map_err(|error| refused(&error))?;
    for text in texts {
        let written =
            file::replace(&folder.join(&text.name), text.text.as_bytes(), Persistence::Lazy);
        written.map_err(|error| refused(&error))?;
    }
    Ok(())
}
