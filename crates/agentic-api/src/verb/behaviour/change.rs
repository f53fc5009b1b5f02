//! Giving an agent another behaviour. Nobody changes their own.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::behaviour::BEHAVIOUR_CHANGE;
use agentic_model::{AgentName, BehaviourForm, Kind, Map, Value};
use agentic_space::commit::{CommitDraft, Emptiness, TraceBinding, TreeSource, commit};
use schemars::JsonSchema;
use serde::Deserialize;

use super::filled;
use crate::behaviours::behaviour_to_use;
use crate::caller::agent_name;
use crate::redaction::CallerRedactor;
use crate::verb::{Reply, Verb};
use crate::view::BehaviourUseView;
use crate::{Caller, Refusal};

/// Give an agent another behaviour, by a commit that leaves its files as they are. What it commits later
/// says so. An agent does not change its own.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BehaviourUse {
    /// A name, `REMOTE/NAME`, `PEER/NAME`, or an id or its beginning.
    pub behaviour: String,
    /// The agent.
    pub agent: String,
    /// Why; may be empty.
    pub why: String,
}

/// Refuses what an agent asks for itself, or for one that does not work for it.
fn check_asker(caller: &Caller<'_>, agent: &AgentName) -> Result<(), Refusal> {
    let hint = "let a person, or the agent that it works for, do that";
    let Some(at_work) = caller.known_agent(None)?.filter(|at_work| at_work != agent) else {
        let message = format!("an agent does not change its own behaviour, here that of `{agent}`");
        return Err(Refusal::not_allowed(&message, hint));
    };
    if works_for(caller, agent, &at_work)? {
        return Ok(());
    }
    let message =
        format!("`{agent}` does not work for `{at_work}`, which may not change its behaviour");
    Err(Refusal::not_allowed(&message, hint))
}

/// Says whether an agent was spawned from another one, or from one that was.
fn works_for(caller: &Caller<'_>, agent: &AgentName, at_work: &AgentName) -> Result<bool, Refusal> {
    // Whose branch is put back may come round.
    let mut seen = BTreeSet::new();
    let mut below = agent.clone();
    while seen.insert(below.clone()) {
        let Some(above) = caller.space.parent_of(&below)? else { return Ok(false) };
        if above == *at_work {
            return Ok(true);
        }
        if caller.space.head(&above).is_err() {
            return Ok(false);
        }
        below = above;
    }
    Ok(false)
}

impl Verb for BehaviourUse {
    type Answer = BehaviourUseView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<BehaviourUseView>, Refusal> {
        let agent = agent_name(&self.agent)?;
        if caller.require_person("change a behaviour").is_err() {
            check_asker(caller, &agent)?;
        }
        let usable = behaviour_to_use(caller, &self.behaviour)?;
        let found = &usable.found;
        if found.read.form == BehaviourForm::Prompt {
            filled(found, caller.space.briefing(&agent)?.1.map())?;
        }
        let (cid, before) = (found.cid(), caller.space.pin(&agent)?);
        let mut view = BehaviourUseView {
            agent: agent.to_string(),
            cid: cid.to_string(),
            before: before.map(|cid| cid.to_string()),
            commit: None,
        };
        if before == Some(cid) {
            return Ok(Reply::plain(view));
        }
        let mut redactor = CallerRedactor::new(caller)?;
        let subject = match usable.is_of_peer() {
            // What a peer is called here stays here.
            true => format!("Use behaviour {cid}"),
            false => format!("Use behaviour {}", self.behaviour),
        };
        let message = match redactor.text("the message", self.why).trim() {
            "" => subject,
            why => format!("{subject}\n\n{why}"),
        };
        let text = |cid: Option<agentic_model::Cid>| {
            cid.map_or(Value::Null, |cid| Value::text(cid.to_string()))
        };
        let draft = CommitDraft {
            message,
            kind: Kind::parse(BEHAVIOUR_CHANGE).ok(),
            fields: Map::from([
                ("from".to_owned(), text(before)),
                ("to".to_owned(), text(Some(cid))),
            ]),
            source: TreeSource::Edits(BTreeMap::new()),
            capture: TraceBinding::Nothing,
            expect: None,
            emptiness: Emptiness::Allowed,
            asker: None,
            behaviour: Some(cid),
        };
        usable.keep(caller)?;
        let done = commit(caller.space, &agent, &draft)?;
        view.commit = Some(done.commit.to_string());
        let mut reply = Reply::written(view, &done.written);
        reply.notices.extend(redactor.notices());
        Ok(reply)
    }
}
