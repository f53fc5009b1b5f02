//! Trials: a program runs once with each candidate of a choice, on sibling branches.

use std::process::ExitCode;

use agentic_lang_context::Module;
use agentic_lang_context::json::{self, Json};
use agentic_model::Value;
use agentic_replay::End;
use agentic_session::ContextFlow;

use super::context::pinned;
use super::durable::{self, DurableSetting, RunProgress};
use crate::commands::VerbOutcome;
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::output::print_raw;

/// What stands for every candidate of a choice.
pub const EVERY: &str = "*";

/// Finds the choice whose candidates are all tried. More than one cannot be.
pub fn site_of(flow: &ContextFlow) -> Result<Option<String>, CommandFailure> {
    let mut sites = flow.variant.iter().filter(|(_, name)| *name == EVERY);
    let (site, further) = (sites.next(), sites.next());
    match (site, further) {
        (Some(_), Some((other, _))) => Err(CommandFailure::usage(
            &format!("the candidates of `{other}` cannot be tried at the same time"),
            "try one choice after the other",
        )),
        (site, _) => Ok(site.map(|(site, _)| site.clone())),
    }
}

/// Runs a session for each candidate and prints what each came to.
pub fn run(
    context: &Context,
    module: &Module,
    flow: ContextFlow,
    site: String,
    input: &Value,
    setting: DurableSetting,
) -> VerbOutcome {
    let choices = module.choices();
    let found = choices.iter().find(|(known, _)| *known == site);
    let (_, candidates) = found.expect("unknown choices are refused before");
    let base = durable::base_key(context, &setting)?;
    let (mut trials, mut code) = (Vec::new(), ExitCode::SUCCESS);
    for candidate in candidates {
        let mut flow = flow.clone();
        flow.variant.insert(site.clone(), (*candidate).to_owned());
        let key = format!("{base}-{}", candidate.to_lowercase());
        let agent = durable::sibling(context, setting.agent.as_ref(), &key, &flow.source)?;
        let mut trial =
            vec![("candidate", Json::text(*candidate)), ("agent", Json::text(agent.as_str()))];
        let own = DurableSetting { agent: Some(agent), key: Some(format!("{base}-{candidate}")) };
        let object = pinned(&flow)?;
        let ran = durable::run(context, own, object, input.clone(), &flow.source)?;
        trial.push(("session", Json::text(ran.session.to_string())));
        match ran.reached {
            RunProgress::End(End::Done(value)) => {
                trial.push(("value", json::from_value(&value).unwrap_or_default()));
            }
            RunProgress::End(End::Failed(failure)) => {
                code = ExitCode::from(1);
                trial.push(("error", Json::text(failure.message.as_str())));
            }
            RunProgress::End(End::Cancelled) => {
                code = ExitCode::from(1);
                trial.push(("error", Json::text("cancelled")));
            }
            RunProgress::Waiting(waiting) => {
                code = waiting;
                trial.push(("waits", Json::Bool(true)));
            }
        }
        trials.push(Json::object(trial));
    }
    let answer = Json::object([("choice", Json::text(site)), ("trials", Json::List(trials))]);
    print_raw(&json::pretty(&answer));
    Ok(code)
}
