//! Making agents.

use std::path::PathBuf;

use agentic_git::PrivacyChange;
use agentic_model::guidance::ErrorClass;
use agentic_model::{AgentName, BehaviourForm, Briefing, Object, Value, json};
use agentic_space::error::AgentError;
use agentic_space::privacy::change_privacy;
use agentic_space::spawn::{SpawnDraft, SpawnOrigin, SpawnOutcome, spawn_draft};
use agentic_space::{Error, Space, worktree};
use agentic_store::Patience;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::behaviours::{FoundBehaviour, UsableBehaviour, behaviour_to_use};
use crate::caller::{agent_name, new_agent_name};
use crate::redaction::CallerRedactor;
use crate::verb::behaviour::filled;
use crate::verb::gate::carry_gates;
use crate::verb::{Reply, Verb};
use crate::view::SpawnView;
use crate::{Caller, Notice, Refusal};

/// Make an agent: a branch `agents/NAME` with a stored briefing. A refusal leaves nothing.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spawn {
    /// The name: lower-case letters, digits, `.`, `_` and `-`.
    pub name: String,
    /// What it is to do.
    pub briefing: BriefingSource,
    /// Where it begins.
    #[serde(default)]
    pub beginning: SpawnBeginning,
    /// Whether it is checked out, and where.
    #[serde(default)]
    pub worktree: CheckoutPlace,
    /// The behaviour that it has: a name, `REMOTE/NAME`, `PEER/NAME`, an id, or `inherit` for that of the agent where
    /// it begins.
    #[serde(default)]
    pub behaviour: Option<String>,
    /// Whether pushes that name nobody leave it out, from its first commit on.
    #[serde(default)]
    pub private: bool,
}

/// A briefing as it comes from outside.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BriefingSource {
    /// Text, whatever it says.
    Text(String),
    /// What a file holds: text, or a JSON object with `"type": "briefing"`.
    Document(String),
}

/// Where a new agent begins.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpawnBeginning {
    /// Where the caller stands: at the head of the current agent, as its sub-agent, else at the
    /// commit that is checked out, else with nothing.
    #[default]
    Here,
    /// At the head of another agent, as its sub-agent.
    Agent(String),
    /// At a commit, by any name that git knows.
    Commit(String),
    /// With nothing: no parent commit and an empty tree.
    Empty,
}

/// Where something is checked out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckoutPlace {
    /// Nowhere.
    #[default]
    Nowhere,
    /// In `../<repository>.agents/NAME`.
    Beside,
    /// In this folder.
    Folder(PathBuf),
}

impl Verb for Spawn {
    type Answer = SpawnView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<SpawnView>, Refusal> {
        let (space, name) = (caller.space, new_agent_name(&self.name)?);
        let mut redactor = CallerRedactor::new(caller)?;
        redactor.refuse_text("the name", name.as_str())?;
        let briefing = self.briefing.redacted(&mut redactor).object()?;
        let origin = self.beginning.origin(caller)?;
        let behaviour = match &self.behaviour {
            Some(named) => Some(behaviour_of(caller, named, &origin, &briefing)?),
            None => None,
        };
        let place = match &self.worktree {
            CheckoutPlace::Nowhere => None,
            CheckoutPlace::Beside => Some(worktree::default_path(space, &name)),
            CheckoutPlace::Folder(path) => Some(caller.path(path)),
        };
        if let Some(path) = &place {
            worktree::check_place(space, path)?;
        }
        let pin = behaviour.as_ref().map(|usable| usable.found.cid());
        let patience = Patience::Endless;
        let draft = SpawnDraft {
            briefing: &briefing,
            origin: &origin,
            behaviour: pin,
            asker: None,
            patience,
        };
        let spawned = match self.private {
            true => spawn_private(space, &name, draft)?,
            false => spawn_draft(space, &name, draft)?,
        };
        if let Some(usable) = &behaviour {
            // After the agent: a refusal leaves nothing. What a crash leaves out is still with the peer.
            usable.keep(caller)?;
        }
        let mut reply = Reply::written(SpawnView::from(&spawned), &spawned.written);
        reply.answer.behaviour = pin.map(|cid| cid.to_string());
        reply.notices.extend(redactor.notices());
        if let Some(path) = place {
            match worktree::add(space, &name, &path) {
                Ok(worktree) => {
                    let gate = carry_gates(caller, &worktree.path);
                    reply.notices.extend(gate.map(|why| Notice::NoGate { why }));
                    reply.answer.worktree = Some(worktree.path.display().to_string());
                }
                Err(error) => {
                    reply.notices.insert(0, Notice::NoWorktree { why: error.to_string() });
                }
            }
        }
        Ok(reply)
    }
}

/// Makes an agent that is private before there is anything that a push could take along.
fn spawn_private(
    space: &Space,
    name: &AgentName,
    draft: SpawnDraft<'_>,
) -> Result<SpawnOutcome, Refusal> {
    let is_free = || matches!(space.head(name), Err(Error::Agent(AgentError::Unknown { .. })));
    let was_private = space.repository().is_private(name)?;
    // One that is there already is refused and stays as it is.
    if is_free() {
        change_privacy(space, std::slice::from_ref(name), PrivacyChange::Private)?;
    }
    let spawned = spawn_draft(space, name, draft);
    if spawned.is_err() && !was_private && is_free() {
        change_privacy(space, std::slice::from_ref(name), PrivacyChange::Public)?;
    }
    Ok(spawned?)
}

/// The word for the behaviour of the agent where a new one begins.
const INHERIT: &str = "inherit";

/// Finds the behaviour of a new agent. A prompt must find its fields in the briefing.
fn behaviour_of(
    caller: &Caller<'_>,
    named: &str,
    origin: &SpawnOrigin,
    briefing: &Object,
) -> Result<UsableBehaviour, Refusal> {
    let usable = if named == INHERIT {
        let parent = match origin {
            SpawnOrigin::Agent(parent) => Some(parent),
            SpawnOrigin::Root | SpawnOrigin::Commit(_) => None,
        };
        let pin = parent.map(|parent| caller.space.pin(parent)).transpose()?.flatten();
        let cid = pin.ok_or_else(|| {
            let message = "there is no behaviour to inherit";
            Refusal::refused(message, "begin at an agent that has one: `--from AGENT`")
        })?;
        UsableBehaviour::here(FoundBehaviour::of(caller.space.object(cid)?)?)
    } else {
        behaviour_to_use(caller, named)?
    };
    match usable.found.read.form {
        BehaviourForm::Flow => {}
        BehaviourForm::Prompt => drop(filled(&usable.found, briefing.map())?),
    }
    Ok(usable)
}

impl BriefingSource {
    /// Takes secrets out of it. The texts of an object are its leaves, each with its key as context.
    fn redacted(self, redactor: &mut CallerRedactor) -> BriefingSource {
        match self {
            BriefingSource::Text(text) => BriefingSource::Text(redactor.text("the briefing", text)),
            BriefingSource::Document(text) => match json::from_text(&text) {
                Ok(Value::Map(map)) if map.contains_key("type") => {
                    let clean = Value::Map(redactor.map("the briefing", map));
                    BriefingSource::Document(json::to_json(&clean).to_string())
                }
                Ok(_) | Err(_) => BriefingSource::Document(redactor.text("the briefing", text)),
            },
        }
    }

    fn object(&self) -> Result<Object, Refusal> {
        let refused = |error| Refusal::of(&error);
        match self {
            BriefingSource::Text(text) => Briefing::of_text(text).to_object().map_err(refused),
            BriefingSource::Document(text) => {
                if let Ok(value) = json::from_text(text)
                    && value.get("type").and_then(Value::as_text) == Some("briefing")
                {
                    let object = Object::from_value(value).map_err(refused)?;
                    Briefing::from_object(&object).map_err(refused)?;
                    return Ok(object);
                }
                Briefing::of_text(text.trim_end()).to_object().map_err(refused)
            }
        }
    }

    /// Reads a document that may be no text.
    ///
    /// # Errors
    /// Fails when it is not UTF-8.
    pub fn of_bytes(bytes: Vec<u8>) -> Result<BriefingSource, Refusal> {
        let text = String::from_utf8(bytes).map_err(|_| {
            let message = "the briefing is not UTF-8 text";
            Refusal::new(ErrorClass::Schema, message, "save the file as UTF-8")
        })?;
        Ok(BriefingSource::Document(text))
    }
}

impl SpawnBeginning {
    fn origin(&self, caller: &Caller<'_>) -> Result<SpawnOrigin, Refusal> {
        let repository = caller.space.repository();
        match self {
            SpawnBeginning::Agent(agent) => Ok(SpawnOrigin::Agent(agent_name(agent)?)),
            SpawnBeginning::Commit(revision) => {
                Ok(SpawnOrigin::Commit(repository.resolve_commit(revision)?))
            }
            SpawnBeginning::Empty => Ok(SpawnOrigin::Root),
            SpawnBeginning::Here => match caller.known_agent(None)? {
                Some(agent) => Ok(SpawnOrigin::Agent(agent)),
                // A repository without a commit has nowhere else to begin.
                None => {
                    Ok(repository.head_commit()?.map_or(SpawnOrigin::Root, SpawnOrigin::Commit))
                }
            },
        }
    }
}
