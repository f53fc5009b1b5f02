//! Taking a value out of everything that a repository keeps, and the proof of it.

mod accepted;
mod announced;

use agentic_capture::conversation::ConversationRecord;
use agentic_capture::purge::{
    BranchFate, ChainCut, PurgeAim, PurgeHit, PurgeRequest, RecordsCut, TombstoneScope,
    UnendedSessions, UnreachableObjects, VendorTranscripts, apply, plan, verify,
};
use agentic_capture::{ConversationId, HookEnvironment, Source, redaction};
use agentic_model::guidance::ErrorClass;
use agentic_model::{AgentName, Cid, Instant, Object};
use agentic_redact::{KNOWN_VALUE_BYTES_MIN, KnownValues, SOUGHT_BYTES_MAX};
use agentic_space::error::{AgentError, Error as SpaceError};
use agentic_space::purging::tombstone::{ForeignTombstone, TombstoneFate};
use agentic_space::signing::SigningChoice;

use self::accepted::PurgedRecords;
use self::announced::PurgedChain;
use crate::caller::agent_name;
use crate::redaction::CallerRedactor;
use crate::verb::{Reply, Verb, VerbCompletion};
use crate::view::{ProofSignatureView, PurgeProofView, PurgeView, TombstoneView};
use crate::{Caller, Notice, Refusal, principal};

/// What proofs are signed for, so that it is nothing else.
const PROOF_NAMESPACE: &str = "agentic-purge";

/// What is to go.
#[derive(Clone)]
pub enum PurgeChoice {
    /// A value.
    Value(Vec<u8>),
    /// What a rule of redaction finds today.
    Rule(String),
    /// All entries of a conversation, by `SOURCE:ID`.
    Conversation(String),
    /// What an agent's traces hold of before a day or an instant.
    Agent {
        /// The agent.
        agent: String,
        /// The day or instant.
        before: String,
    },
    /// All that one trace says, by its id.
    Object(String),
    /// What a tombstone from elsewhere names, by its id.
    Tombstone(String),
}

/// Take a value, or other things, out of everything that this repository keeps. A person's decision.
/// Without `apply` the answer is the plan.
#[derive(Debug, Clone)]
pub struct Purge {
    /// What is to go.
    pub choice: PurgeChoice,
    /// Whether it is done.
    pub apply: bool,
    /// Why, for the tombstones.
    pub reason: Option<String>,
    /// Who hears which ids are gone.
    pub scope: TombstoneScope,
    /// What becomes of branches of agents.
    pub branches: BranchFate,
    /// What becomes of objects that nothing reaches.
    pub unreachable: UnreachableObjects,
    /// What becomes of sessions that hold it and are not over.
    pub sessions: UnendedSessions,
    /// What becomes of transcripts of vendors.
    pub sources: VendorTranscripts,
    /// Where they are.
    pub environment: HookEnvironment,
}

/// Read every object and every file, and tell where a value is.
#[derive(Clone)]
pub struct PurgeVerify {
    /// The value.
    pub value: Vec<u8>,
}

/// List the tombstones that came from elsewhere and that nobody has decided on.
#[derive(Debug, Clone)]
pub struct ListTombstones;

/// Set a tombstone from elsewhere aside. A person's decision.
#[derive(Debug, Clone)]
pub struct IgnoreTombstone {
    /// Its id.
    pub tombstone: String,
}

impl std::fmt::Debug for PurgeChoice {
    /// Shows no value.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            PurgeChoice::Value(_) => "Value",
            PurgeChoice::Rule(_) => "Rule",
            PurgeChoice::Conversation(_) => "Conversation",
            PurgeChoice::Agent { .. } => "Agent",
            PurgeChoice::Object(_) => "Object",
            PurgeChoice::Tombstone(_) => "Tombstone",
        })
    }
}

impl std::fmt::Debug for PurgeVerify {
    /// Shows no value.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PurgeVerify")
    }
}

impl Verb for Purge {
    type Answer = PurgeView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<PurgeView>, Refusal> {
        if self.apply {
            caller.require_person("purge")?;
        }
        let aim = aim(caller, &self.choice)?;
        let mut redactor = CallerRedactor::new(caller)?;
        let reason = self.reason.clone().unwrap_or_else(|| "purged".to_owned());
        if aim.is_in_text(reason.as_bytes()) {
            let hint = "tombstones keep the reason, and others get them: say it in other words";
            return Err(Refusal::usage("the reason holds what is to go", hint));
        }
        let reason = redactor.text("the reason", reason);
        if !self.apply {
            let planned = plan(caller.space, &aim, self.branches, &self.environment);
            let planned = planned.map_err(|error| Refusal::of(&error))?;
            self.choice.check_known(caller, &planned.hits)?;
            return Ok(Reply::plain(planned.into()));
        }
        let rule = match &self.choice {
            PurgeChoice::Rule(rule) => Some(rule.as_str()),
            PurgeChoice::Value(_)
            | PurgeChoice::Conversation(_)
            | PurgeChoice::Agent { .. }
            | PurgeChoice::Object(_)
            | PurgeChoice::Tombstone(_) => None,
        };
        let by = principal(caller.space)?;
        let announced = PurgedChain::of(caller);
        let request = PurgeRequest {
            aim: &aim,
            rule,
            reason: &reason,
            by: &by,
            scope: self.scope,
            branches: self.branches,
            unreachable: self.unreachable,
            sessions: self.sessions,
            sources: self.sources,
            environment: &self.environment,
            announced: &announced,
            accepted: &PurgedRecords(caller.space),
        };
        let done = apply(caller.space, &request).map_err(|error| Refusal::of(&error))?;
        self.choice.check_known(caller, &done.hits)?;
        if let PurgeAim::Tombstones(tombstones) = &aim {
            let objects = tombstones.iter().map(object).collect::<Result<Vec<_>, _>>()?;
            caller.space.decide_tombstones(&objects, TombstoneFate::Followed)?;
        }
        let completion = match done.left.is_empty() {
            true => VerbCompletion::Whole,
            false => VerbCompletion::Over(ErrorClass::Refused),
        };
        let mut notices = redactor.notices();
        if let ChainCut::Refused(why) = &done.announced {
            let what = format!(
                "what this space announced goes on reaching it, since its chain could not begin anew: {why}; \
                 `agentic announce --cut -m WHY` does that, or the same purge once more"
            );
            notices.push(Notice::Remark { what });
        }
        if let RecordsCut::Refused(why) = &done.accepted {
            let what = format!(
                "what was accepted of peers goes on reaching it, since its record could not begin anew: {why}"
            );
            notices.push(Notice::Remark { what });
        }
        Ok(Reply { completion, notices, ..Reply::plain(done.into()) })
    }
}

impl PurgeChoice {
    /// Refuses a conversation of which nobody here knows anything, and an object that nothing here names:
    /// the id may be mistyped.
    fn check_known(&self, caller: &Caller<'_>, hits: &[PurgeHit]) -> Result<(), Refusal> {
        if !hits.is_empty() {
            return Ok(());
        }
        match self {
            PurgeChoice::Object(id) => {
                let hint = "`agentic trace show` names the traces of a commit";
                Err(Refusal::refused(&format!("nothing here keeps the object `{id}`"), hint))
            }
            PurgeChoice::Conversation(id) => {
                let layout = caller.space.repository().layout();
                let record = conversation_id(id).map(|id| ConversationRecord::load(layout, &id));
                if record.flatten().is_some() {
                    return Ok(());
                }
                let hint = "`agentic capture status --json` lists conversations";
                let message = format!("nothing here is of the conversation `{id}`");
                Err(Refusal::refused(&message, hint))
            }
            PurgeChoice::Value(_)
            | PurgeChoice::Rule(_)
            | PurgeChoice::Agent { .. }
            | PurgeChoice::Tombstone(_) => Ok(()),
        }
    }
}

impl Verb for PurgeVerify {
    type Answer = PurgeProofView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<PurgeProofView>, Refusal> {
        let aim = PurgeAim::Value(sought(&self.value)?);
        let proof = verify(caller.space, &aim).map_err(|error| Refusal::of(&error))?;
        let completion = match proof.hits.is_empty() {
            true => VerbCompletion::Whole,
            false => VerbCompletion::Over(ErrorClass::Refused),
        };
        let mut view = PurgeProofView::from(&proof);
        view.signature = signature_of(caller, &view)?;
        Ok(Reply { completion, ..Reply::plain(view) })
    }
}

/// Signs a proof, if people sign here.
fn signature_of(
    caller: &Caller<'_>,
    view: &PurgeProofView,
) -> Result<Option<ProofSignatureView>, Refusal> {
    match SigningChoice::of_people(caller.space)? {
        SigningChoice::Plain => return Ok(None),
        SigningChoice::Signed => {}
    }
    let repository = caller.space.repository();
    let text = serde_json::to_string(view).expect("texts and numbers are JSON");
    let signature = repository.sign_text(&text, PROOF_NAMESPACE, None)?;
    let key = repository.signer()?.name();
    Ok(Some(ProofSignatureView { key, text, signature }))
}

impl Verb for ListTombstones {
    type Answer = Vec<TombstoneView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<TombstoneView>>, Refusal> {
        let found = all_foreign(caller)?;
        Ok(Reply::plain(found.iter().map(TombstoneView::from).collect()))
    }
}

impl Verb for IgnoreTombstone {
    type Answer = Vec<TombstoneView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<TombstoneView>>, Refusal> {
        caller.require_person("set a tombstone aside")?;
        let found = foreign(caller, &self.tombstone)?;
        let objects =
            found.iter().map(|one| object(&one.tombstone)).collect::<Result<Vec<_>, _>>()?;
        caller.space.decide_tombstones(&objects, TombstoneFate::Ignored)?;
        Ok(Reply::plain(found.iter().map(TombstoneView::from).collect()))
    }
}

fn aim(caller: &Caller<'_>, choice: &PurgeChoice) -> Result<PurgeAim, Refusal> {
    Ok(match choice {
        PurgeChoice::Value(value) => PurgeAim::Value(sought(value)?),
        PurgeChoice::Rule(rule) => {
            let redactor = redaction::redactor(caller.space, caller.space.repository().work_dir());
            let redactor = redactor.map_err(|error| {
                let hint = "mend the rules, or take them out of `agentic.toml`";
                Refusal::refused(&error.to_string(), hint)
            })?;
            if !redactor.has_rule(rule) {
                let hint = "`agentic redact --explain` names the rule of what it finds";
                return Err(Refusal::refused(&format!("there is no rule `{rule}`"), hint));
            }
            PurgeAim::Rule { redactor: Box::new(redactor), rule: rule.clone() }
        }
        PurgeChoice::Conversation(id) if conversation_id(id).is_none() => {
            let names: Vec<&str> = Source::ALL.iter().map(|source| source.as_str()).collect();
            let hint = format!("write SOURCE:ID, where SOURCE is one of {}", names.join(", "));
            return Err(Refusal::usage(&format!("`{id}` names no conversation"), &hint));
        }
        PurgeChoice::Conversation(id) => PurgeAim::Conversation(id.clone()),
        PurgeChoice::Agent { agent, before } => {
            let instant = Instant::parse(before)
                .or_else(|| Instant::parse(&format!("{before}T00:00:00Z")))
                .ok_or_else(|| {
                    let message = format!("`{before}` is no day and no instant");
                    Refusal::usage(&message, "name a day like 2026-11-21, or 2026-11-21T22:40:01Z")
                })?;
            PurgeAim::Agent { agent: known_agent(caller, agent)?, before: instant }
        }
        PurgeChoice::Object(id) => PurgeAim::Object(cid(id)?),
        PurgeChoice::Tombstone(id) => {
            let found = foreign(caller, id)?;
            PurgeAim::Tombstones(found.into_iter().map(|one| one.tombstone).collect())
        }
    })
}

/// Reads the id of a conversation as entries have it.
fn conversation_id(text: &str) -> Option<ConversationId> {
    let (source, native) = text.split_once(':').filter(|(_, native)| !native.is_empty())?;
    let source = Source::parse(source).ok()?;
    Some(ConversationId { source, native: native.to_owned() })
}

/// Finds an agent of which there is anything: a branch, notes, or what the archive keeps.
fn known_agent(caller: &Caller<'_>, name: &str) -> Result<AgentName, Refusal> {
    let (space, agent) = (caller.space, agent_name(name)?);
    match space.head(&agent) {
        Ok(_) | Err(SpaceError::Agent(AgentError::Archived { .. })) => Ok(agent),
        // One whose branch was deleted has notes still.
        Err(error @ SpaceError::Agent(AgentError::Unknown { .. })) => {
            match space.repository().find_ref(&agent.notes_ref())? {
                Some(_) => Ok(agent),
                None => Err(error.into()),
            }
        }
        Err(error) => Err(error.into()),
    }
}

/// Makes a value that can be looked for. What is said of one that cannot says nothing of it.
fn sought(value: &[u8]) -> Result<KnownValues, Refusal> {
    KnownValues::sought(value).ok_or_else(|| {
        let message = format!(
            "a value has {KNOWN_VALUE_BYTES_MIN} to {SOUGHT_BYTES_MAX} bytes: a shorter one stands everywhere"
        );
        Refusal::usage(&message, "give the whole secret on standard input")
    })
}

fn all_foreign(caller: &Caller<'_>) -> Result<Vec<ForeignTombstone>, Refusal> {
    let mut found = Vec::new();
    for (agent, _) in caller.space.agent_names()? {
        found.extend(caller.space.foreign_tombstones(&agent)?);
    }
    Ok(found)
}

fn foreign(caller: &Caller<'_>, id: &str) -> Result<Vec<ForeignTombstone>, Refusal> {
    let wanted = cid(id)?;
    let mut found = all_foreign(caller)?;
    found.retain(|one| one.cid == wanted);
    match found.is_empty() {
        false => Ok(found),
        true => Err(Refusal::refused(
            &format!("no tombstone {id} from elsewhere waits for a decision"),
            "`agentic purge tombstones` lists those that do",
        )),
    }
}

fn object(tombstone: &agentic_model::Tombstone) -> Result<Object, Refusal> {
    tombstone.to_object().map_err(|error| Refusal::of(&error))
}

fn cid(text: &str) -> Result<Cid, Refusal> {
    Cid::parse(text).map_err(|error| Refusal::usage(&error.to_string(), "give the whole id"))
}
