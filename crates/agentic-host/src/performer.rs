//! Who performs the requests of a run.
//!
//! One [`Performer`] a language says of every request who carries it out: a program, an endpoint, a
//! provider, or itself because there is only something to compute. What it remembers is a fold over
//! the answered requests, so a replay that folds them again has the same state. Hosts, in memory and
//! durable, ask it and carry out what it says.

pub mod agents;
pub mod answerers;
pub mod roles;
pub mod scripts;

use std::fmt::Debug;

use agentic_plan::AuthSource;
use agentic_providers::configuration::Configuration;
use agentic_providers::endpoint::EndpointCall;
use agentic_providers::model::Adapter;
use agentic_providers::provider::Providers;
use agentic_replay::{PinnedProgram, ProgramFault, Request, RequestAnswer};

use crate::provision::Provision;
use crate::reply::ReplyForm;

/// A program to be run for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// What it reads.
    pub stdin: String,
}

/// Makes the performer of a pinned program.
pub type NewPerformer = fn(&PerformerSetting<'_>) -> Result<Box<dyn Performer>, ProgramFault>;

/// What a performer is made of.
pub struct PerformerSetting<'a> {
    /// The program.
    pub pinned: PinnedProgram<'a>,
    /// The session that runs it; nothing for a run in memory.
    pub run: Option<RunSetting<'a>>,
}

/// What a performer may want to know of a session.
#[derive(Clone, Copy)]
pub struct RunSetting<'a> {
    /// Returns the run that agents are told they are called by.
    pub run_id: &'a dyn Fn() -> String,
    /// Says whether requests of a kind are performed without a human's leave.
    pub allows: &'a dyn Fn(&str) -> bool,
}

/// Who carries a request out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carrier {
    /// A program.
    Program(CommandLine),
    /// An endpoint.
    Endpoint(EndpointCall),
    /// A provider, of which this is wanted.
    Provider(Provision),
    /// The person who watches, who is asked for a field; the performer where nobody sits there.
    Person(String),
    /// The script that the program is played from: the performer has it.
    Script,
    /// Nobody outside: the performer computes it, or the space performs it.
    Nobody,
}

/// What holds for all requests of a run.
#[derive(Debug)]
pub struct RunTerms<'p> {
    /// How programs and endpoints reply.
    pub reply_form: ReplyForm,
    /// Whether the providers are configured before the first effect could change how.
    pub is_configured_early: bool,
    /// Who performs the tasks of agents, where the program has such.
    pub adapter: Option<Adapter>,
    /// In whose name calls are made.
    pub invoked_by: Option<&'p str>,
}

impl Default for RunTerms<'_> {
    fn default() -> Self {
        let (is_configured_early, adapter, invoked_by) = (false, None, None);
        RunTerms { reply_form: ReplyForm::Json, is_configured_early, adapter, invoked_by }
    }
}

/// Performs the requests of one run of a program, or says who does.
pub trait Performer: Debug + Send {
    /// Says who carries a request out.
    fn carrier(&self, _request: &Request) -> Carrier {
        Carrier::Nobody
    }

    /// Answers a request that is only computed, that a script answers, or that nobody here performs.
    /// Nothing for those that somebody else carries out, and for those of the space.
    fn compute(&mut self, request: &Request) -> Option<RequestAnswer>;

    /// Takes note of a request that was answered before.
    fn fold(&mut self, _request: &Request, _answer: &RequestAnswer) {}

    /// Returns what holds for all requests of the run.
    fn terms(&self) -> RunTerms<'_> {
        RunTerms::default()
    }

    /// Says what of a configuration counts.
    fn configured(&self, configuration: Configuration) -> Configuration {
        configuration
    }

    /// Returns what whoever runs the program should know of the providers before.
    fn remark(&self, _providers: &Providers) -> Option<String> {
        None
    }

    /// Returns what the call of a request needs to be let in.
    fn auth(&self, _request: &Request) -> AuthSource {
        AuthSource::default()
    }
}
