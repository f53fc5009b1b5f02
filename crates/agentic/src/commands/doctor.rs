//! `agentic doctor`

use std::process::ExitCode;

use agentic_api::view::DoctorView;
use agentic_session::doctor::{Locks, Replay, Treatment, examine};

use super::Outcome;
use crate::context::Context;
use crate::output::{counted, talk};

/// Check and repair: unfinished writes, journals, notes, objects and stale locks
///
/// Exits with 6 when something is damaged and could not be mended.
///
/// Example: agentic doctor
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Remove locks of git on refs of agents; make sure that no git is running
    #[arg(long)]
    break_locks: bool,
    /// Replay every journal, as after a power cut or onto an older copy of the repository
    #[arg(long)]
    replay: bool,
}

/// Runs the verb.
pub fn run(context: &Context, args: Args) -> Outcome {
    let space = context.space_as_is()?;
    let treatment = Treatment {
        replay: if args.replay { Replay::Always } else { Replay::AsNeeded },
        locks: if args.break_locks { Locks::Broken } else { Locks::Reported },
    };
    let view = DoctorView::from(&examine(&space, treatment)?);
    context.format.answer(&view, text);
    if view.read_only {
        talk("note: nothing can be written here, so nothing was mended");
    }
    if view.sound {
        return Ok(ExitCode::SUCCESS);
    }
    talk(&format!("error: {} things are damaged", view.damaged.len()));
    talk(match args.replay {
        false => {
            "hint: `agentic doctor --replay` puts back what journals have; else `agentic fetch` from a clone"
        }
        true => {
            "hint: fetch them from a clone with `agentic fetch`, or restore the files from a backup"
        }
    });
    Ok(ExitCode::from(6))
}

fn text(view: &DoctorView) -> String {
    let mut text: String = view
        .mended
        .iter()
        .map(|mended| format!("mended {}: {}\n", mended.subject, mended.done))
        .collect();
    text.extend(view.locks.iter().map(|path| format!("lock {path}\n")));
    text.extend(view.questionable.iter().map(|what| format!("hold {what}\n")));
    text.extend(view.damaged.iter().map(|what| format!("damaged {what}\n")));
    text.push_str(&format!(
        "{} ({} cut), {}: {}\n",
        counted(view.journals, "journal"),
        view.cut,
        counted(view.objects, "object"),
        if view.sound { "sound" } else { "damaged" }
    ));
    text
}
