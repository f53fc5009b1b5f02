//! Trials: a program runs once with each candidate of a choice, on sibling branches.

use agentic_lang_context::json::{self, Json};
use agentic_model::guidance::ErrorClass;
use agentic_replay::End;
use agentic_session::ContextFlow;

use super::PreparedContext;
use crate::verb::run::RunReply;
use crate::verb::run::durable::{self, DurableSetting, RunProgress};
use crate::verb::{Reply, VerbCompletion};
use crate::view::{RunAnswer, RunResultView};
use crate::watcher::NoticeDesk;
use crate::{Caller, Refusal, VerbEvent};

/// What stands for every candidate of a choice.
pub(super) const EVERY: &str = "*";

/// Finds the choice whose candidates are all tried. More than one cannot be.
pub(super) fn site_of(flow: &ContextFlow) -> Result<Option<String>, Refusal> {
    let mut sites = flow.variant.iter().filter(|(_, name)| *name == EVERY);
    let (site, further) = (sites.next(), sites.next());
    match (site, further) {
        (Some(_), Some((other, _))) => Err(Refusal::usage(
            &format!("the candidates of `{other}` cannot be tried at the same time"),
            "try one choice after the other",
        )),
        (site, _) => Ok(site.map(|(site, _)| site.clone())),
    }
}

/// Runs a session for each candidate, and tells what each came to.
pub(super) fn run(
    caller: &Caller<'_>,
    desk: &NoticeDesk<'_>,
    prepared: &PreparedContext,
    site: &str,
    setting: DurableSetting,
) -> RunReply {
    let choices = prepared.module.choices();
    let found = choices.iter().find(|(known, _)| *known == site);
    let (_, candidates) = found.expect("unknown choices are refused before");
    durable::refuse_secrets(caller, &setting, &prepared.pinned(&prepared.flow)?)?;
    let base = durable::base_key(caller, &setting);
    let (mut trials, mut completion) = (Vec::new(), VerbCompletion::Whole);
    for candidate in candidates {
        let mut flow = prepared.flow.clone();
        flow.variant.insert(site.to_owned(), (*candidate).to_owned());
        let key = format!("{base}-{}", candidate.to_lowercase());
        let agent = durable::sibling(caller, setting.agent.as_deref(), &key, &flow.source)?;
        let mut trial =
            vec![("candidate", Json::text(*candidate)), ("agent", Json::text(agent.as_str()))];
        let key = Some(format!("{base}-{candidate}"));
        let own = DurableSetting { agent: Some(agent.to_string()), key };
        let ran = durable::run(caller, desk, own, prepared.pinned(&flow)?)?;
        trial.push(("session", Json::text(ran.session.to_string())));
        let failed = VerbCompletion::Over(ErrorClass::Refused);
        match ran.reached {
            RunProgress::End(End::Done(value)) => {
                trial.push(("value", json::from_value(&value).unwrap_or_default()));
            }
            RunProgress::End(End::Failed(failure)) => {
                completion = failed;
                trial.push(("error", Json::text(failure.message.as_str())));
            }
            RunProgress::End(End::Cancelled) => {
                completion = failed;
                trial.push(("error", Json::text("cancelled")));
            }
            RunProgress::Waiting(waiting) => {
                let Reply { answer, notices, completion: waits } = *waiting;
                completion = waits;
                // Whoever does not listen finds the session by its id.
                let _ = caller.watcher().tell(VerbEvent::Session(answer));
                notices.into_iter().for_each(|notice| desk.say(notice));
                trial.push(("waits", Json::Bool(true)));
            }
        }
        trials.push(Json::object(trial));
    }
    let answer = Json::object([("choice", Json::text(site)), ("trials", Json::List(trials))]);
    let json = format!("{}\n", json::pretty(&answer));
    let ended = RunResultView { text: json.clone(), json };
    Ok(Reply { completion, ..Reply::plain(RunAnswer::Ended(ended)) })
}
