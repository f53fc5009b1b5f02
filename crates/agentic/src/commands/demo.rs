//! `agentic demo`

use std::path::PathBuf;
use std::process::ExitCode;

use super::Outcome;
use crate::context::Context;
use crate::failure::Failure;

/// Tell the whole story on a small real repository
///
/// Example: agentic demo --keep /tmp/agentic-demo
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Keep the repository in this folder, which must not exist
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// Runs the verb.
pub fn run(_: &Context, _: Args) -> Outcome {
    Err(Failure::refused("not written yet", "wait"))
}
