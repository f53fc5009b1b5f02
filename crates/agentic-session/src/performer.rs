//! Who answers programs: mocks and scripts here, providers outside.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentic_lang_context::provider::{self, MockMemory, MockModel, ScriptedModel, mock_tool};
use agentic_lang_context::{INPUT_REQUEST, MEMORY_REQUEST, MODEL_REQUEST, TOOL_REQUEST};
use agentic_lang_pipeline::run::{AgentCall, RequestKind, reply_schema};
use agentic_model::{Cid, Value};
use agentic_providers::configuration::Configuration;
use agentic_providers::host::CancelFlag;
use agentic_providers::model::{Adapter, Piece, Repeats, TASK_REQUEST};
use agentic_providers::provider::{Providers, Response, Stamp};
use agentic_providers::tool::{AGENT_TOOL_REQUEST, reads_web};
use agentic_replay::{Answer, Failure, Request};

use super::context::{Cast, Models, Tools};

/// The code of the failure of a question for an input that nobody answers.
const NO_INPUT: &str = "no-input";
/// The code of the failure of a call that nothing is configured for.
const UNCONFIGURED: &str = "unconfigured";

/// The providers that are configured, or why there are none.
type Configured = Result<Arc<Providers>, String>;

/// A call of a provider, which takes its time.
#[derive(Debug)]
pub struct ProviderCall {
    providers: Configured,
    request: Request,
    part: Part,
}

/// What is wanted of the providers.
#[derive(Debug)]
enum Part {
    /// That they perform the request, whichever of them does.
    Effect(Stamp),
    /// That a model plays a role of a pipeline; its reply should match this schema.
    Role(Option<&'static str>, Repeats),
    /// That a model answers a script.
    Script,
}

impl ProviderCall {
    /// Performs the call; a listener hears the reply of a model piece by piece.
    pub fn perform<'a>(
        &self,
        cancel: &'a CancelFlag,
        listener: Option<&'a mut dyn FnMut(Piece<'_>)>,
    ) -> Response {
        let providers = match &self.providers {
            Ok(providers) => providers,
            Err(message) => {
                return Response::unanswered(Failure::new(self.part.broken(), message));
            }
        };
        let stamp = match &self.part {
            Part::Effect(stamp) => stamp,
            Part::Script => return providers.advise(&self.request, cancel, listener),
            Part::Role(schema, repeats) => {
                return providers.play(&self.request, (*schema, *repeats), cancel, listener);
            }
        };
        let response = providers.perform_heard(&self.request, stamp, cancel, listener);
        response.unwrap_or_else(|| {
            let message = format!("nothing here performs `{}`", self.request.kind);
            Answer::Failed(Failure::new("unknown-kind", message)).into()
        })
    }

    /// Looks at what the call will replace; nothing where it replaces nothing. Changes nothing.
    ///
    /// # Errors
    /// Fails with the answer of a call that cannot be made.
    pub fn look(&self) -> Result<Option<Value>, Answer> {
        match (&self.providers, &self.part) {
            (Ok(providers), Part::Effect(_)) => providers.look(&self.request),
            (Ok(_), Part::Role(..) | Part::Script) | (Err(_), _) => Ok(None),
        }
    }
}

impl Part {
    /// Returns the code of the failure when nobody is configured.
    fn broken(&self) -> &'static str {
        match self {
            Part::Effect(_) | Part::Script => UNCONFIGURED,
            Part::Role(..) => "ConfigurationError",
        }
    }
}

/// Answers the requests of one run.
#[derive(Debug)]
pub(super) struct Performer {
    company: Company,
    /// The models, tools and memories outside, once one was needed.
    providers: OnceCell<Configured>,
    /// What memories were asked before the providers were needed.
    recalled: Vec<(Request, Answer)>,
}

impl Performer {
    pub fn new(cast: &Cast) -> Performer {
        let (providers, recalled) = (OnceCell::new(), Vec::new());
        Performer { company: Company::Troupe(Troupe::new(cast)), providers, recalled }
    }

    /// Makes the performer of the tasks of agents in an AgentLang program.
    pub fn of_agents(adapter: Adapter) -> Performer {
        let (providers, recalled) = (OnceCell::new(), Vec::new());
        Performer { company: Company::Agents(adapter), providers, recalled }
    }

    /// Makes the performer of what scripts ask models. `expected` says whether they are to be asked
    /// without a human's leave.
    pub fn of_scripts(expected: Expected) -> Performer {
        let (providers, recalled) = (OnceCell::new(), Vec::new());
        Performer { company: Company::Scripts(expected), providers, recalled }
    }

    /// Makes the performer of the roles in a pipeline.
    pub fn of_roles() -> Performer {
        let (providers, recalled) = (OnceCell::new(), Vec::new());
        Performer { company: Company::Roles, providers, recalled }
    }

    /// Answers a request that is made up; nothing for any other.
    pub fn answer(&mut self, request: &Request) -> Option<Answer> {
        match &mut self.company {
            Company::Troupe(troupe) => troupe.answer(request),
            Company::Agents(_) | Company::Roles | Company::Scripts(_) => None,
        }
    }

    /// Says whether a provider performs a request.
    pub fn is_outside(&self, request: &Request) -> bool {
        match &self.company {
            Company::Troupe(troupe) => troupe.is_outside(request),
            Company::Agents(Adapter::Mock) => false,
            Company::Agents(Adapter::Live | Adapter::Anthropic) => {
                let is_web = request.kind == AGENT_TOOL_REQUEST && reads_web(&request.payload);
                request.kind == TASK_REQUEST || is_web
            }
            Company::Roles => RequestKind::of(request) == Some(RequestKind::Model),
            Company::Scripts(_) => request.kind == MODEL_REQUEST,
        }
    }

    /// Returns the call of a provider that performs a request; what it needs is configured in a
    /// folder. `repeats` says who makes the call of a role again that failed.
    pub fn call(
        &self,
        request: &Request,
        (stamp, repeats): (Stamp, Repeats),
        folder: &Path,
    ) -> Option<ProviderCall> {
        self.is_outside(request).then(|| ProviderCall {
            providers: self.providers.get_or_init(|| self.configured(folder)).clone(),
            request: request.clone(),
            part: match self.company {
                Company::Troupe(_) | Company::Agents(_) => Part::Effect(stamp),
                Company::Scripts(_) => Part::Script,
                Company::Roles => {
                    let agent = AgentCall::of(request).map(|call| call.agent);
                    Part::Role(agent.and_then(|agent| reply_schema(&agent)), repeats)
                }
            },
        })
    }

    /// Reads which models, tools and memories there are, before anything is done that could change
    /// it. What is wrong with it is told to those who need it. Returns what whoever runs the program
    /// should know before.
    pub fn configure(&self, folder: impl FnOnce() -> PathBuf) -> Option<String> {
        let providers = self.needed(folder)?;
        match &self.company {
            Company::Troupe(troupe) if troupe.tools == Tools::Real => {
                providers.tools.plain_remark()
            }
            Company::Troupe(_) | Company::Agents(_) | Company::Roles | Company::Scripts(_) => None,
        }
    }

    /// Returns the digest of what is configured, where that is read before the first effect.
    pub fn pinned(&self, folder: impl FnOnce() -> PathBuf) -> Option<Cid> {
        self.needed(folder)?.configuration
    }

    /// Returns the providers where the run is known to need them, and they are configured.
    fn needed(&self, folder: impl FnOnce() -> PathBuf) -> Option<&Providers> {
        let is_needed = match &self.company {
            Company::Troupe(troupe) => troupe.model.is_none() || troupe.tools != Tools::Mock,
            Company::Agents(Adapter::Mock) => false,
            Company::Agents(Adapter::Live | Adapter::Anthropic) | Company::Roles => true,
            Company::Scripts(expected) => *expected == Expected::Yes,
        };
        if !is_needed {
            return None;
        }
        let providers = self.providers.get_or_init(|| self.configured(&folder()));
        providers.as_ref().ok().map(Arc::as_ref)
    }

    /// Reads which models, tools and memories there are.
    fn configured(&self, folder: &Path) -> Configured {
        let configuration = Configuration::find(folder).map_err(|error| error.to_string())?;
        let configuration = match self.company {
            Company::Troupe(_) | Company::Roles | Company::Scripts(_) => configuration,
            Company::Agents(adapter) => configuration.for_tasks(adapter),
        };
        let providers = Providers::configured(configuration);
        for (request, answer) in &self.recalled {
            providers.recall(request, answer);
        }
        Ok(Arc::new(providers))
    }

    /// Takes note of a request that was answered before.
    pub fn fold(&mut self, request: &Request, answer: &Answer) {
        match (self.is_outside(request), self.providers.get()) {
            (false, _) => match &mut self.company {
                Company::Troupe(troupe) => troupe.fold(request, answer),
                Company::Agents(_) | Company::Roles | Company::Scripts(_) => {}
            },
            (true, Some(Ok(providers))) => providers.recall(request, answer),
            (true, None) if request.kind == MEMORY_REQUEST => {
                self.recalled.push((request.clone(), answer.clone()));
            }
            (true, Some(Err(_)) | None) => {}
        }
    }
}

/// Whose requests are answered.
#[derive(Debug)]
enum Company {
    /// Those of a program of the context language.
    Troupe(Troupe),
    /// Those of an AgentLang program whose agents this adapter serves.
    Agents(Adapter),
    /// Those of a pipeline, some of whose agents are models.
    Roles,
    /// Those of a script.
    Scripts(Expected),
}

/// Whether a run is known beforehand to need what is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// It is: the configuration is read before the first effect could change it.
    Yes,
    /// It is not. Nobody waits for a configuration that is not needed.
    No,
}

/// Answers the requests of one run that are made up.
#[derive(Debug)]
struct Troupe {
    model: Option<Model>,
    tools: Tools,
    mock_memory: MockMemory,
}

#[derive(Debug)]
enum Model {
    Mock(MockModel),
    Scripted(ScriptedModel),
}

impl Troupe {
    fn new(cast: &Cast) -> Troupe {
        let model = match &cast.models {
            Models::Mock(version) => Some(Model::Mock(MockModel::new(*version))),
            Models::Script(replies) => Some(Model::Scripted(ScriptedModel::from_json(replies))),
            Models::Configured => None,
        };
        Troupe { model, tools: cast.tools, mock_memory: MockMemory::default() }
    }

    /// Says whether a request is performed by a provider outside.
    fn is_outside(&self, request: &Request) -> bool {
        match (request.kind.as_str(), self.tools) {
            (MODEL_REQUEST, _) => self.model.is_none(),
            (TOOL_REQUEST | MEMORY_REQUEST, Tools::Mock) => false,
            (TOOL_REQUEST | MEMORY_REQUEST, Tools::Real) => true,
            (TOOL_REQUEST | MEMORY_REQUEST, Tools::Described(version)) => {
                provider::dry_run(request, version).is_none()
            }
            _ => false,
        }
    }

    /// Answers a request that is made up; nothing for one of a provider outside, and for a kind
    /// that is not of the language.
    fn answer(&mut self, request: &Request) -> Option<Answer> {
        let payload = &request.payload;
        match (request.kind.as_str(), self.tools) {
            (MODEL_REQUEST, _) => Some(match self.model.as_mut()? {
                Model::Scripted(script) => script.answer(payload),
                Model::Mock(mock) => mock.answer(payload),
            }),
            (TOOL_REQUEST, Tools::Mock) => Some(mock_tool(payload)),
            (MEMORY_REQUEST, Tools::Mock) => Some(self.mock_memory.answer(payload)),
            (TOOL_REQUEST | MEMORY_REQUEST, Tools::Described(version)) => {
                provider::dry_run(request, version)
            }
            (INPUT_REQUEST, _) => {
                let message = "the input lacks it, and nobody can be asked";
                Some(Answer::Failed(Failure::new(NO_INPUT, message)))
            }
            _ => None,
        }
    }

    /// Takes note of a request that was answered before.
    fn fold(&mut self, request: &Request, answer: &Answer) {
        match answer {
            Answer::Ok(_) | Answer::Failed(_) => drop(self.answer(request)),
            // What was withdrawn before it began took no reply.
            Answer::Cancelled(_) | Answer::TimedOut => {}
        }
    }
}
