//! Work that somebody outside does for a request: a program, an endpoint, a provider. Whoever hosts a
//! run, in memory or durably, has it done by this one body.

use std::path::PathBuf;
use std::time::Duration;

use agentic_providers::credential::CredentialCaller;
use agentic_providers::endpoint::{EndpointCall, Exchange};
use agentic_providers::executable::Executable;
use agentic_providers::host::CancelFlag;
use agentic_providers::model::Repeats;
use agentic_providers::provider::{CallStamp, ProviderResponse};
use agentic_replay::{Request, RequestAnswer};

use crate::observer::{self, Observer};
use crate::performer::CommandLine;
use crate::provision::ProviderCall;
use crate::reply::ReplyForm;

/// How long a program or an endpoint may take where nothing says otherwise.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// From where a host has work done.
pub struct OutsideSetting {
    /// The folder that programs run in, and whose configuration counts.
    pub folder: PathBuf,
    /// The run that asks.
    pub run: String,
    /// The key under which the work may be repeated.
    pub key: String,
    /// The stamp of the call of a provider, or the answer where it cannot be made.
    pub stamp: Result<(CallStamp, Repeats), RequestAnswer>,
}

/// Work that takes its time.
#[derive(Debug)]
pub struct OutsideWork {
    /// Who does it.
    pub doer: OutsideDoer,
    /// With what credential.
    pub caller: CredentialCaller,
    /// How programs and endpoints reply.
    pub reply_form: ReplyForm,
    /// The key under which it may be repeated.
    pub key: String,
    /// How long it may take.
    pub limit: Duration,
}

/// Who does the work.
#[derive(Debug)]
pub enum OutsideDoer {
    /// A program, in a folder.
    Program(CommandLine, PathBuf),
    /// An endpoint.
    Endpoint(EndpointCall),
    /// A provider, watched by whoever watches.
    Provider(Box<ProviderCall>, Option<Observer>),
}

/// Returns how long a request may take.
pub fn limit(request: &Request) -> Duration {
    request.timeout_ms.map_or(TIME_LIMIT, Duration::from_millis)
}

impl OutsideWork {
    /// Says whether it is a program of ours, which ends when it is told to.
    pub fn is_program(&self) -> bool {
        match &self.doer {
            OutsideDoer::Program(..) => true,
            OutsideDoer::Endpoint(_) | OutsideDoer::Provider(..) => false,
        }
    }

    /// Has it done, and tells what came of it.
    pub fn perform(self, cancel: &CancelFlag) -> ProviderResponse {
        let OutsideWork { doer, caller, reply_form, key, limit } = self;
        match doer {
            OutsideDoer::Program(command, folder) => {
                let program = command.argv.first().cloned().unwrap_or_default();
                let executable = Executable {
                    argv: command.argv,
                    folder,
                    input: command.stdin.into_bytes(),
                    environment: Vec::new(),
                    limit,
                };
                reply_form.printed(&program, caller.execute(executable, cancel))
            }
            OutsideDoer::Endpoint(call) => {
                let url = call.url.clone();
                let exchange = Exchange { call, key, headers: Vec::new(), limit };
                reply_form.responded(&url, caller.call(exchange, cancel))
            }
            OutsideDoer::Provider(call, observer) => {
                observer::perform(observer.as_ref(), &call, cancel)
            }
        }
    }
}
