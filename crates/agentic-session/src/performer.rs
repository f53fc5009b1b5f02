//! Who performs the requests of a run.
//!
//! One [`Performer`] a language says of every request who carries it out: a program, an endpoint, a
//! provider, or itself because there is only something to compute. What it remembers is a fold over
//! the answered requests, so a replay that folds them again has the same state. Hosts, in memory and
//! durable, ask it and carry out what it says.

pub(super) mod agents;
pub(super) mod cast;
pub(super) mod roles;
pub(super) mod scripts;

use std::fmt::Debug;

use agentic_plan::AuthSource;
use agentic_providers::configuration::Configuration;
use agentic_providers::endpoint::Call;
use agentic_providers::model::Adapter;
use agentic_providers::provider::Providers;
use agentic_replay::{Answer, PinnedProgram, ProgramFault, Request};

use super::provision::Provision;
use super::reply::ReplyForm;

/// A program to be run for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// What it reads.
    pub stdin: String,
}

/// Makes the performer of a pinned program.
pub(crate) type NewPerformer =
    fn(&PerformerSetting<'_>) -> Result<Box<dyn Performer>, ProgramFault>;

/// What a performer is made of.
pub(crate) struct PerformerSetting<'a> {
    /// The program.
    pub pinned: PinnedProgram<'a>,
    /// The session that runs it; nothing for a run in memory.
    pub run: Option<RunSetting<'a>>,
}

/// What a performer may want to know of a session.
#[derive(Clone, Copy)]
pub(crate) struct RunSetting<'a> {
    /// Returns the run that agents are told they are called by.
    pub run_id: &'a dyn Fn() -> String,
    /// Says whether requests of a kind are performed without a human's leave.
    pub allows: &'a dyn Fn(&str) -> bool,
}

/// Performs the requests of one run of a program, or says who does.
pub(crate) trait Performer: Debug + Send {
    /// Answers a request that is only computed, or that nobody here performs. Nothing for those
    /// that somebody else carries out, and for those of the space.
    fn compute(&mut self, request: &Request) -> Option<Answer>;

    /// Takes note of a request that was answered before.
    fn fold(&mut self, _request: &Request, _answer: &Answer) {}

    /// Returns the program that performs a request.
    fn command(&self, _request: &Request) -> Option<CommandLine> {
        None
    }

    /// Returns the call of an endpoint that performs a request.
    fn call(&self, _request: &Request) -> Option<Call> {
        None
    }

    /// Says what is wanted of the providers for a request that one of them performs.
    fn provision(&self, _request: &Request) -> Option<Provision> {
        None
    }

    /// Takes the next answer to a request from a script, if the program is played from one.
    fn scripted(&mut self, _request: &Request) -> Option<Answer> {
        None
    }

    /// Says whether a request is answered from a script.
    fn is_scripted(&self, _request: &Request) -> bool {
        false
    }

    /// Names what a person at the terminal is asked for to answer a request.
    fn question<'r>(&self, _request: &'r Request) -> Option<&'r str> {
        None
    }

    /// Says how programs and endpoints reply.
    fn reply_form(&self) -> ReplyForm {
        ReplyForm::Json
    }

    /// Says whether the providers are configured before the first effect could change how.
    fn is_configured_early(&self) -> bool {
        false
    }

    /// Says what of a configuration counts.
    fn configured(&self, configuration: Configuration) -> Configuration {
        configuration
    }

    /// Returns what whoever runs the program should know of the providers before.
    fn remark(&self, _providers: &Providers) -> Option<String> {
        None
    }

    /// Returns who performs the tasks of agents, where the program has such.
    fn adapter(&self) -> Option<Adapter> {
        None
    }

    /// Returns what the call of a request needs to be let in.
    fn auth(&self, _request: &Request) -> AuthSource {
        AuthSource::default()
    }

    /// Returns in whose name calls are made.
    fn invoked_by(&self) -> Option<&str> {
        None
    }
}
