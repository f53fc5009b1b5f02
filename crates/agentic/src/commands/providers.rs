//! `agentic providers`

use std::process::ExitCode;

use agentic_api::view::ProviderView;
use agentic_providers::configuration::Configuration;
use agentic_providers::host::CancelFlag;
use agentic_providers::listing::{self, Listed, Origin};

use super::Outcome;
use crate::context::Context;
use crate::failure::Failure;

/// List the models and servers of tools that programs can use
///
/// They come from agentic.toml and the environment. With --probe each is asked for something that
/// costs nothing, and a server of tools is started; then it is an error if one does not answer that
/// agentic.toml or the command line names.
///
/// Example: agentic providers --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Only these: names of agentic.toml, or addresses like openai://NAME
    names: Vec<String>,
    /// See whether they answer
    #[arg(long)]
    probe: bool,
}

/// Runs the verb.
pub fn run(context: &Context, args: Args) -> Outcome {
    let configuration = Configuration::find(&context.directory)?;
    let chosen = choose(&configuration, &args.names)?;
    let mut failed = None;
    let mut views = Vec::new();
    for listed in &chosen {
        let mut view = ProviderView::from(listed);
        if args.probe {
            let probe = listed.probe(&configuration, &CancelFlag::new());
            view.probe = Some(probe.into());
            let is_wanted = listed.origin != Origin::Environment || listed.is_default;
            let is_bad = view.probe.as_ref().is_some_and(|probe| !probe.ok);
            if is_wanted && is_bad && failed.is_none() {
                failed = Some(listed.name.clone());
            }
        }
        views.push(view);
    }
    context.format.answer(views.as_slice(), |views| views.iter().map(line).collect());
    match failed {
        None => Ok(ExitCode::SUCCESS),
        Some(name) => Err(Failure::refused(
            &format!("`{name}` does not answer"),
            "the list says why; keys and addresses stand in `agentic.toml` and the environment",
        )),
    }
}

fn choose(configuration: &Configuration, names: &[String]) -> Result<Vec<Listed>, Failure> {
    if names.is_empty() {
        return Ok(listing::list(configuration));
    }
    let one = |name: &String| {
        listing::find(configuration, name).ok_or_else(|| {
            Failure::refused(
                &format!("there is no provider `{name}`"),
                "`agentic providers` lists them; an address is like `openai://NAME`",
            )
        })
    };
    names.iter().map(one).collect()
}

/// Writes a provider on one line, and why it does not answer on a second.
fn line(view: &ProviderView) -> String {
    let place = match (&view.server, &view.command) {
        (Some(server), _) => format!(" at {server}"),
        (None, Some(command)) => format!(" runs {}", command.join(" ")),
        (None, None) => String::new(),
    };
    let protocol = view.protocol.as_deref().unwrap_or(&view.kind);
    let model = view.model.as_ref().map(|model| format!(" {model}")).unwrap_or_default();
    let key = match view.key.as_str() {
        "none" => String::new(),
        state => format!(", key {state}"),
    };
    let default = if view.default { ", default" } else { "" };
    let (state, reason) = match (&view.broken, &view.probe) {
        (Some(reason), _) => (", broken", Some(reason)),
        (None, Some(probe)) if probe.ok => (", answers", None),
        (None, Some(probe)) => (", does not answer", probe.reason.as_ref()),
        (None, None) => ("", None),
    };
    let reason = reason.map(|reason| format!("  {reason}\n")).unwrap_or_default();
    let tools = view.probe.as_ref().and_then(|probe| probe.tools.as_ref());
    let tools = tools.map(|tools| format!("  offers {}\n", tools.join(", "))).unwrap_or_default();
    format!("{} {protocol}{model}{place}{key}{default}{state}\n{reason}{tools}", view.name)
}
