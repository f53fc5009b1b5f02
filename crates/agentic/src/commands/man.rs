//! `agentic man`

use std::path::PathBuf;
use std::process::ExitCode;

use super::VerbOutcome;
use crate::failure::CommandFailure;
use crate::output::print_bytes;

/// Write the manual pages
///
/// Example: agentic man ~/.local/share/man/man1
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct ManArgs {
    /// A folder for all pages; without one, the first page is printed
    dir: Option<PathBuf>,
}

/// Runs the verb.
pub fn run(args: ManArgs) -> VerbOutcome {
    let command = crate::cli::command();
    match args.dir {
        None => {
            let mut page = Vec::new();
            let rendered = clap_mangen::Man::new(command).render(&mut page);
            rendered.map_err(|error| CommandFailure::io("write the manual page", &error))?;
            print_bytes(&page);
        }
        Some(dir) => {
            let write = || {
                std::fs::create_dir_all(&dir)?;
                clap_mangen::generate_to(command, &dir)
            };
            write().map_err(|error| {
                CommandFailure::io(&format!("write to `{}`", dir.display()), &error)
            })?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
