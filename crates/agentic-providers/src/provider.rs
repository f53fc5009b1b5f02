//! Everything that answers the requests of a run: models, tools and memories.
//!
//! A host gives each request to [`Providers::perform`], with a [`CallStamp`] that says what
//! identifies the effect. The same effect performed again has the same stamp, in whatever process.

use std::sync::Arc;
use std::time::Duration;

use agentic_model::{Cid, Instant, Value};
use agentic_replay::{ProgramFailure, Request, RequestAnswer, RequestId};

use crate::configuration::Configuration;
use crate::host::{CancelFlag, HostExecutor, system_now};
use crate::memory::{self, MEMORY_REQUEST, Memories, MemoryCall};
use crate::model::{
    Completion, FaultClass, MODEL_REQUEST, ModelCall, ModelFault, ModelRegistry, Repeats,
    ReplyPart, TASK_REQUEST, answer_of, prompt_of, role_answer, role_prompt, script_answer,
    script_prompt, task_answer, task_prompt,
};
use crate::process::Charge;
use crate::tool::{
    self, AGENT_TOOL_REQUEST, RunTools, TOOL_REQUEST, ToolCall, ToolSetting, refused,
};

/// What identifies an effect: the same wherever and however often it is performed.
#[derive(Debug, Clone, PartialEq)]
pub struct CallStamp {
    /// What no other run has: the id of the session, or a key of a run in memory.
    pub session: String,
    /// The id of the request.
    pub request_id: RequestId,
    /// The time of the effect.
    pub at: Instant,
    /// What was found before the effect began for the first time; see [`Providers::look`].
    pub found: Option<Value>,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderResponse {
    /// The answer, as a run in memory takes it.
    pub answer: RequestAnswer,
    /// Why nobody could answer, where that tells nothing about the request: no key, no server. A run
    /// that can wait has no answer then.
    pub unanswered: Option<String>,
}

impl From<RequestAnswer> for ProviderResponse {
    fn from(answer: RequestAnswer) -> ProviderResponse {
        ProviderResponse { answer, unanswered: None }
    }
}

impl ProviderResponse {
    /// Makes the response of somebody who could not be asked.
    pub fn unanswered(failure: ProgramFailure) -> ProviderResponse {
        let unanswered = Some(failure.message.clone());
        ProviderResponse { answer: RequestAnswer::Failed(failure), unanswered }
    }
}

/// Says why a model that was to answer could not be asked.
fn unanswered(result: &Result<Completion, ModelFault>, limit: Option<Duration>) -> Option<String> {
    let fault = result.as_ref().err().filter(|fault| fault.is_passing(limit))?;
    Some(fault.message.clone())
}

/// The models, tools and memories of a run. Serves many threads at once.
#[derive(Debug, Clone, Default)]
pub struct Providers {
    /// Who answers requests of kind `model`.
    pub models: ModelRegistry,
    /// Who answers requests of kind `tool`.
    pub tools: Arc<RunTools>,
    /// Who answers requests of kind `memory`.
    pub memories: Arc<Memories>,
    /// The digest of what was configured.
    pub configuration: Option<Cid>,
}

impl Providers {
    /// Makes the providers of a configuration.
    pub fn configured(configuration: Configuration) -> Providers {
        let tools = Arc::new(RunTools::configured(&configuration));
        let memories = Arc::new(Memories::configured(&configuration));
        let digest = Some(configuration.digest());
        let models = ModelRegistry::configured(Arc::new(configuration));
        Providers { models, tools, memories, configuration: digest }
    }

    /// Performs a request; nothing for a kind that is not a provider's.
    pub fn perform(
        &self,
        request: &Request,
        stamp: &CallStamp,
        cancel: &CancelFlag,
    ) -> Option<RequestAnswer> {
        self.perform_heard(request, stamp, cancel, None).map(|response| response.answer)
    }

    /// Does the same, and tells if nobody could answer; a `listener` hears the reply of a model piece
    /// by piece.
    pub fn perform_heard<'a>(
        &self,
        request: &Request,
        stamp: &CallStamp,
        cancel: &'a CancelFlag,
        listener: Option<&'a mut dyn FnMut(ReplyPart<'_>)>,
    ) -> Option<ProviderResponse> {
        let (kind, path) = (&request.kind, &request.path);
        tracing::debug!(kind, %path, session = %stamp.session, "calling a provider");
        let response = self.respond(request, stamp, cancel, listener);
        // Words of the answer may be secret.
        tracing::debug!(kind, %path, "a provider answered, or nobody is there");
        response
    }

    fn respond<'a>(
        &self,
        request: &Request,
        stamp: &CallStamp,
        cancel: &'a CancelFlag,
        listener: Option<&'a mut dyn FnMut(ReplyPart<'_>)>,
    ) -> Option<ProviderResponse> {
        let payload = &request.payload;
        let limit = request.timeout_ms.map(Duration::from_millis);
        match request.kind.as_str() {
            MODEL_REQUEST => {
                let mut call = ModelCall { limit, listener, ..ModelCall::new(cancel) };
                let model = self.models.find(payload);
                let result = model.and_then(|it| it.complete(&prompt_of(payload), &mut call));
                let unanswered = unanswered(&result, limit);
                Some(ProviderResponse { answer: answer_of(result), unanswered })
            }
            TASK_REQUEST => {
                let mut call = ModelCall { limit, ..ModelCall::new(cancel) };
                let model = self.models.named(payload.get("model").and_then(Value::as_text));
                let result = model.and_then(|it| it.complete(&task_prompt(payload), &mut call));
                let unanswered = unanswered(&result, limit);
                let answer = match result {
                    // The program set the time, and knows what to do when it is over.
                    Err(fault) if limit.is_some() && fault.class == FaultClass::TimedOut => {
                        RequestAnswer::TimedOut
                    }
                    result => task_answer(payload, result),
                };
                Some(ProviderResponse { answer, unanswered })
            }
            TOOL_REQUEST => {
                let key = stamp.request_id.to_string();
                let (session, found) = (&stamp.session, stamp.found.as_ref());
                let setting = ToolSetting { session, key: &key, limit, found, cancel };
                let call = ToolCall::of(payload);
                let result = self.tools.call(&call, &setting);
                let unanswered = result.as_ref().err().filter(|fault| fault.reached_nobody());
                let unanswered =
                    unanswered.map(|fault| format!("`{}`: {}", call.uri, fault.message));
                Some(ProviderResponse { answer: tool::answer_of(result), unanswered })
            }
            AGENT_TOOL_REQUEST => {
                let is_web = tool::reads_web(payload);
                is_web.then(|| self.tools.read_web(payload, limit, cancel).into())
            }
            MEMORY_REQUEST => {
                let call = MemoryCall::of(payload);
                let found = self.memories.call(&call, &stamp.request_id, stamp.at);
                Some(memory::answer_of(found).into())
            }
            _ => None,
        }
    }

    /// Looks at what a request will replace, so that it can be kept before it is gone: what a file
    /// holds that is written. Nothing for requests that replace nothing. Changes nothing.
    ///
    /// # Errors
    /// Fails with the answer of a request that cannot be performed.
    pub fn look(&self, request: &Request) -> Result<Option<Value>, RequestAnswer> {
        if request.kind != TOOL_REQUEST {
            return Ok(None);
        }
        let found = self.tools.look(&ToolCall::of(&request.payload));
        found.map_err(|fault| tool::answer_of(Err(fault)))
    }

    /// Lets a model play a role of a pipeline. `schema` tells what the reply should be, `repeats` who
    /// makes a call again that failed.
    pub fn play<'a>(
        &self,
        request: &Request,
        schema: Option<&str>,
        repeats: Repeats,
        cancel: &'a CancelFlag,
        listener: Option<&'a mut dyn FnMut(ReplyPart<'_>)>,
    ) -> ProviderResponse {
        let limit = request.timeout_ms.map(Duration::from_millis);
        let mut call = ModelCall { cancel, limit, listener, repeats };
        let model = self.models.named(request.payload.get("model").and_then(Value::as_text));
        let prompt = role_prompt(&request.payload, schema);
        let result = model.and_then(|it| it.complete(&prompt, &mut call));
        let unanswered = unanswered(&result, limit);
        ProviderResponse { answer: role_answer(result), unanswered }
    }

    /// Lets a model answer a script.
    pub fn advise<'a>(
        &self,
        request: &Request,
        cancel: &'a CancelFlag,
        listener: Option<&'a mut dyn FnMut(ReplyPart<'_>)>,
    ) -> ProviderResponse {
        let prompt = match script_prompt(&request.payload) {
            Ok(prompt) => prompt,
            Err(failure) => return RequestAnswer::Failed(failure).into(),
        };
        let limit = request.timeout_ms.map(Duration::from_millis);
        let mut call = ModelCall { limit, listener, ..ModelCall::new(cancel) };
        let model = self.models.named(request.payload.get("model").and_then(Value::as_text));
        let result = model.and_then(|it| it.complete(&prompt, &mut call));
        let unanswered = unanswered(&result, limit);
        let answer = match result {
            Err(fault) if limit.is_some() && fault.class == FaultClass::TimedOut => {
                RequestAnswer::TimedOut
            }
            result => script_answer(&prompt, result),
        };
        ProviderResponse { answer, unanswered }
    }

    /// Takes in a request that was answered in an earlier process of the same run: what lasts as
    /// long as the run is then as it was. Answers come in the order in which they were recorded.
    pub fn recall(&self, request: &Request, answer: &RequestAnswer) {
        if request.kind == MEMORY_REQUEST {
            self.memories.recall(&MemoryCall::of(&request.payload), answer);
        }
    }

    /// Makes the executor of one run in memory. `session` must be a key that no other run has.
    pub fn executor(self, session: impl Into<String>) -> ProviderExecutor {
        ProviderExecutor { providers: self, session: session.into() }
    }
}

/// Performs the requests of one run in memory.
#[derive(Debug)]
pub struct ProviderExecutor {
    providers: Providers,
    session: String,
}

impl ProviderExecutor {
    /// Performs a request; nothing for a kind that is not a provider's.
    pub fn answer(&self, request: &Request, cancel: &CancelFlag) -> Option<RequestAnswer> {
        let hash = match request.hash() {
            Ok(hash) => hash,
            Err(error) => return Some(refused(error.to_string())),
        };
        let request_id = RequestId::derive(&self.session, &request.path, &hash);
        let charge = Charge { request: Some(request_id.to_string()), ..Charge::default() };
        let cancel = &cancel.in_charge(charge);
        let stamp =
            CallStamp { session: self.session.clone(), request_id, at: system_now(), found: None };
        self.providers.perform(request, &stamp, cancel)
    }
}

impl HostExecutor for ProviderExecutor {
    fn perform(&self, request: &Request, cancel: &CancelFlag) -> RequestAnswer {
        let answer = self.answer(request, cancel);
        answer.unwrap_or_else(|| refused(format!("nothing here performs `{}`", request.kind)))
    }
}
