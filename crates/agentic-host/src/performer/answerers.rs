//! What programs of the context language ask: models, tools and memories, made up or outside, and
//! what an input lacks.

use agentic_lang_context::provider::{self, EmptyModel, MockMemory, PreparedModel, mock_tool};
use agentic_lang_context::{
    INPUT_REQUEST, MEMORY_REQUEST, MODEL_REQUEST, ProgramAnswerers, ProgramModels, ProgramTools,
    TOOL_REQUEST,
};
use agentic_model::Value;
use agentic_providers::provider::Providers;
use agentic_replay::{ProgramFailure, ProgramFault, Request, RequestAnswer};

use super::{Carrier, Performer, PerformerSetting, RunTerms};
use crate::provision::Provision;

/// The code of the failure of a question for an input that nobody answers.
const NO_INPUT: &str = "no-input";

/// Makes the performer of a program of the context language.
///
/// # Errors
/// Fails when what is pinned is none.
pub fn performer(setting: &PerformerSetting<'_>) -> Result<Box<dyn Performer>, ProgramFault> {
    Ok(Box::new(AnswererPerformer::new(&ProgramAnswerers::of(setting.pinned.flow)?)))
}

/// Performs what a program of the context language asks.
#[derive(Debug)]
pub struct AnswererPerformer {
    model: Option<CastModel>,
    tools: ProgramTools,
    mock_memory: MockMemory,
}

/// Who makes up what models reply.
#[derive(Debug)]
enum CastModel {
    Mock(EmptyModel),
    Scripted(PreparedModel),
}

impl AnswererPerformer {
    /// Makes the performer of a program for those who answer it.
    pub fn new(answerers: &ProgramAnswerers) -> AnswererPerformer {
        let model = match &answerers.models {
            ProgramModels::Mock(version) => Some(CastModel::Mock(EmptyModel::new(*version))),
            ProgramModels::Script(replies) => {
                Some(CastModel::Scripted(PreparedModel::from_json(replies)))
            }
            ProgramModels::Configured => None,
        };
        AnswererPerformer { model, tools: answerers.tools, mock_memory: MockMemory::default() }
    }

    /// Says whether a request is performed by a provider outside.
    fn is_outside(&self, request: &Request) -> bool {
        match (request.kind.as_str(), self.tools) {
            (MODEL_REQUEST, _) => self.model.is_none(),
            (TOOL_REQUEST | MEMORY_REQUEST, ProgramTools::Mock) => false,
            (TOOL_REQUEST | MEMORY_REQUEST, ProgramTools::Real) => true,
            (TOOL_REQUEST | MEMORY_REQUEST, ProgramTools::Described(version)) => {
                provider::dry_run(request, version).is_none()
            }
            _ => false,
        }
    }

    /// Answers a request that is made up; nothing for one of a provider outside, and for a kind
    /// that is not of the language.
    fn answer(&mut self, request: &Request) -> Option<RequestAnswer> {
        let payload = &request.payload;
        match (request.kind.as_str(), self.tools) {
            (MODEL_REQUEST, _) => Some(match self.model.as_mut()? {
                CastModel::Scripted(script) => script.answer(payload),
                CastModel::Mock(mock) => mock.answer(payload),
            }),
            (TOOL_REQUEST, ProgramTools::Mock) => Some(mock_tool(payload)),
            (MEMORY_REQUEST, ProgramTools::Mock) => Some(self.mock_memory.answer(payload)),
            (TOOL_REQUEST | MEMORY_REQUEST, ProgramTools::Described(version)) => {
                provider::dry_run(request, version)
            }
            (INPUT_REQUEST, _) => {
                let message = "the input lacks it, and nobody can be asked";
                Some(RequestAnswer::Failed(ProgramFailure::new(NO_INPUT, message)))
            }
            _ => None,
        }
    }
}

impl Performer for AnswererPerformer {
    fn compute(&mut self, request: &Request) -> Option<RequestAnswer> {
        self.answer(request)
    }

    fn fold(&mut self, request: &Request, answer: &RequestAnswer) {
        if self.is_outside(request) {
            return;
        }
        match answer {
            RequestAnswer::Ok(_) | RequestAnswer::Failed(_) => drop(self.answer(request)),
            // What was withdrawn before it began took no reply.
            RequestAnswer::Cancelled(_) | RequestAnswer::TimedOut => {}
        }
    }

    fn carrier(&self, request: &Request) -> Carrier {
        if self.is_outside(request) {
            return Carrier::Provider(Provision::Effect);
        }
        let is_input = request.kind == INPUT_REQUEST;
        let field = is_input.then(|| request.payload.get("path").and_then(Value::as_text));
        field.flatten().map_or(Carrier::Nobody, |field| Carrier::Person(field.to_owned()))
    }

    fn terms(&self) -> RunTerms<'_> {
        let is_configured_early = self.model.is_none() || self.tools != ProgramTools::Mock;
        RunTerms { is_configured_early, ..RunTerms::default() }
    }

    fn remark(&self, providers: &Providers) -> Option<String> {
        if self.tools == ProgramTools::Real { providers.tools.plain_remark() } else { None }
    }
}
