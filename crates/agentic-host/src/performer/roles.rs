//! What pipelines ask: native functions, programs, endpoints, and models that play roles.

use std::collections::BTreeMap;

use agentic_lang_pipeline::native::Natives;
use agentic_lang_pipeline::run::{AgentCall, RequestKind, reply_schema};
use agentic_lang_pipeline::{PlannedRun, pinned_registry};
use agentic_model::{Value, json};
use agentic_plan::{AuthSource, Registry};
use agentic_providers::endpoint::EndpointCall;
use agentic_replay::{ProgramFailure, ProgramFault, Request, RequestAnswer};

use super::{Carrier, CommandLine, Performer, PerformerSetting, RunTerms};
use crate::provision::Provision;
use crate::script::Script;

/// The code of the failure of an agent that nobody performs.
const UNPERFORMED: &str = "AgentNotRegistered";

/// Performs what a pipeline asks.
#[derive(Debug)]
pub struct RolePerformer {
    natives: Natives,
    script: Script,
    /// The run that agents are told they are called by.
    run_id: String,
    /// In whose name agents are called.
    invoked_by: Option<String>,
    /// What the agents need that need a credential.
    auth: BTreeMap<String, AuthSource>,
}

/// Makes the performer of a program of the pipeline language.
///
/// # Errors
/// Fails when what is pinned is none.
pub fn performer(setting: &PerformerSetting<'_>) -> Result<Box<dyn Performer>, ProgramFault> {
    let map = setting.pinned.flow.map();
    let (auth, run_id) = match &setting.run {
        Some(run) => (auth_of(&pinned_registry(&setting.pinned)?), (run.run_id)()),
        None => (BTreeMap::new(), String::new()),
    };
    Ok(Box::new(RolePerformer {
        natives: Natives::default(),
        script: map.get("script").map(Script::read).transpose()?.unwrap_or_default(),
        run_id,
        invoked_by: map.get("invoked_by").and_then(Value::as_text).map(str::to_owned),
        auth,
    }))
}

impl RolePerformer {
    /// Makes the performer of a program that runs in memory: it is pinned nowhere, so it may be
    /// longer than an object.
    pub fn of_planned(run: &PlannedRun, run_id: String) -> Result<RolePerformer, ProgramFault> {
        Ok(RolePerformer {
            natives: Natives::default(),
            script: run.script.as_ref().map(Script::read).transpose()?.unwrap_or_default(),
            run_id,
            invoked_by: run.invoked_by.clone(),
            auth: auth_of(&run.compiled.registry),
        })
    }

    /// Returns what the agent of a request receives, as JSON on one line.
    fn received(&self, request: &Request) -> String {
        let input = AgentCall::of(request).map(|call| call.to_input(&self.run_id));
        json::to_text(&input.unwrap_or(Value::Null))
    }

    /// Performs a native function.
    fn perform_native(&self, request: &Request) -> RequestAnswer {
        let function = request.payload.get("function").and_then(Value::as_text).unwrap_or_default();
        let outcome = AgentCall::of(request).and_then(|call| self.natives.perform(function, &call));
        match outcome {
            Some(Ok(value)) => RequestAnswer::Ok(value),
            Some(Err(failure)) => RequestAnswer::Failed(failure),
            None => {
                let message = format!("there is no native function `{function}`");
                RequestAnswer::Failed(ProgramFailure::new(UNPERFORMED, message))
            }
        }
    }

    /// Returns the program that performs a request.
    fn command(&self, request: &Request) -> Option<CommandLine> {
        let argv = request.payload.get("argv")?.as_list()?;
        let argv: Option<Vec<String>> =
            argv.iter().map(|word| word.as_text().map(str::to_owned)).collect();
        let stdin = format!("{}\n", self.received(request));
        argv.map(|argv| CommandLine { argv, stdin })
    }

    /// Returns the call of an endpoint that performs a request.
    fn call(&self, request: &Request) -> Option<EndpointCall> {
        let text = |key: &str| request.payload.get(key).and_then(Value::as_text);
        Some(EndpointCall {
            url: text("url")?.to_owned(),
            method: text("method")?.to_owned(),
            body: self.received(request).into_bytes(),
        })
    }
}

impl Performer for RolePerformer {
    fn compute(&mut self, request: &Request) -> Option<RequestAnswer> {
        if let Some(answer) = self.script.next(request) {
            return Some(answer);
        }
        match RequestKind::of(request)? {
            RequestKind::Native => Some(self.perform_native(request)),
            RequestKind::Executable
            | RequestKind::Endpoint
            | RequestKind::Spawn
            | RequestKind::Model
            | RequestKind::Hold
            | RequestKind::Sleep => None,
            RequestKind::Agent => {
                let agent = AgentCall::of(request).map(|call| call.agent).unwrap_or_default();
                let message = format!("nothing here performs the agent `{agent}`");
                Some(RequestAnswer::Failed(ProgramFailure::new(UNPERFORMED, message)))
            }
        }
    }

    fn fold(&mut self, request: &Request, _answer: &RequestAnswer) {
        // What was answered from a script took its turn.
        let _ = self.script.next(request);
    }

    fn carrier(&self, request: &Request) -> Carrier {
        if self.script.knows(request) {
            return Carrier::Script;
        }
        let carrier = match RequestKind::of(request) {
            Some(RequestKind::Executable) => self.command(request).map(Carrier::Program),
            Some(RequestKind::Endpoint) => self.call(request).map(Carrier::Endpoint),
            Some(RequestKind::Model) => {
                let agent = AgentCall::of(request).map(|call| call.agent);
                let schema = agent.and_then(|agent| reply_schema(&agent));
                Some(Carrier::Provider(Provision::Role(schema)))
            }
            Some(
                RequestKind::Native
                | RequestKind::Agent
                | RequestKind::Spawn
                | RequestKind::Hold
                | RequestKind::Sleep,
            )
            | None => None,
        };
        carrier.unwrap_or(Carrier::Nobody)
    }

    fn terms(&self) -> RunTerms<'_> {
        let invoked_by = self.invoked_by.as_deref();
        RunTerms { is_configured_early: true, invoked_by, ..RunTerms::default() }
    }

    fn auth(&self, request: &Request) -> AuthSource {
        let agent = AgentCall::of(request).map(|call| call.agent);
        agent.and_then(|agent| self.auth.get(&agent)).cloned().unwrap_or_default()
    }
}

/// Collects which agents of a pipeline need which credential.
fn auth_of(registry: &Registry) -> BTreeMap<String, AuthSource> {
    let needing = registry.builtins().filter(|spec| spec.auth != AuthSource::None);
    needing.map(|spec| (spec.agent.to_string(), spec.auth.clone())).collect()
}
