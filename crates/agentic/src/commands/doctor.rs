//! `agentic doctor`

use agentic_api::Verb as _;
use agentic_api::verb::Doctor;
use agentic_api::view::DoctorView;

use super::{VerbOutcome, said};
use crate::context::Context;
use crate::output::{counted, warn_of};

/// Check and repair: unfinished writes, journals, notes, objects and stale locks
///
/// Exits with 6 when something is damaged and could not be mended.
///
/// Example: agentic doctor
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct DoctorArgs {
    /// Remove locks of git on refs of agents and on packed refs; make sure that no git is running
    #[arg(long)]
    break_locks: bool,
    /// Replay every journal, as after a power cut or onto an older copy of the repository
    #[arg(long)]
    replay: bool,
}

/// Runs the verb.
pub fn run(context: &Context, args: DoctorArgs) -> VerbOutcome {
    let space = context.space_as_is()?;
    let verb = Doctor { break_locks: args.break_locks, replay: args.replay };
    let reply = verb.run(&context.caller(&space))?;
    context.format.answer(&reply.answer, text);
    warn_of(&reply.notices);
    Ok(said(&reply.completion))
}

fn text(view: &DoctorView) -> String {
    let mut text: String = view
        .mended
        .iter()
        .map(|mended| format!("mended {}: {}\n", mended.subject, mended.done))
        .collect();
    text.extend(view.locks.iter().map(|path| format!("lock {path}\n")));
    text.extend(view.questionable.iter().map(|what| format!("hold {what}\n")));
    text.extend(view.passed.iter().map(|what| format!("passed {what}\n")));
    text.extend(view.gates.iter().map(|what| format!("gate {what}\n")));
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
