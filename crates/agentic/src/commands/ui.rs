//! `agentic ui`

use super::VerbOutcome;
use crate::context::Context;
#[cfg(not(feature = "tui"))]
use crate::failure::CommandFailure;

/// Look and answer in the terminal: what waits, the agents, and what they did, kept up to date
///
/// It works with and without `agentic serve`, and decides as `agentic decide` does. `?` shows the keys.
/// It is in builds with the feature `tui` alone.
///
/// Example: agentic ui || true
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct UiArgs {}

/// Runs the verb.
#[cfg(feature = "tui")]
pub fn run(context: &Context, _: UiArgs) -> VerbOutcome {
    let stop = context.listen()?;
    let space = context.space()?;
    space.repository().follow_configuration();
    let options = agentic_tui::UiOptions {
        here: context.surroundings(),
        folder: context.directory.clone(),
        stop,
        colours: colours(),
    };
    agentic_tui::run(space, options).map_err(|error| agentic_api::Refusal::of(&error))?;
    Ok(std::process::ExitCode::SUCCESS)
}

/// Says whether there are colours: as for everything that is printed.
#[cfg(feature = "tui")]
fn colours() -> agentic_tui::UiColours {
    match anstream::stdout().current_choice() {
        anstream::ColorChoice::Never => agentic_tui::UiColours::Off,
        anstream::ColorChoice::Auto
        | anstream::ColorChoice::Always
        | anstream::ColorChoice::AlwaysAnsi => agentic_tui::UiColours::On,
    }
}

/// Says how to build what has the verb.
#[cfg(not(feature = "tui"))]
pub fn run(_: &Context, _: UiArgs) -> VerbOutcome {
    Err(CommandFailure::usage(
        "this build of `agentic` has no `ui`",
        "build one that has: `cargo install --path crates/agentic --features tui`",
    ))
}
