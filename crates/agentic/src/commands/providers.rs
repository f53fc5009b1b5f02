//! `agentic providers`

use agentic_api::LocalVerb as _;
use agentic_api::verb::ListProviders;
use agentic_api::view::ProviderView;

use super::{VerbOutcome, ended};
use crate::context::Context;

/// List the models and servers of tools that programs can use
///
/// They come from agentic.toml and the environment. With --probe each is asked for something that
/// costs nothing, and a server of tools is started; then it is an error if one does not answer that
/// agentic.toml or the command line names.
///
/// Example: agentic providers --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct ProvidersArgs {
    /// Only these: names of agentic.toml, or addresses like openai://NAME
    names: Vec<String>,
    /// See whether they answer
    #[arg(long)]
    probe: bool,
}

/// Runs the verb.
pub fn run(context: &Context, args: ProvidersArgs) -> VerbOutcome {
    let verb = ListProviders { names: args.names, probe: args.probe };
    let reply = verb.run_here(&context.surroundings())?;
    context.format.answer(reply.answer.as_slice(), |views| views.iter().map(line).collect());
    ended(reply.completion)
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
