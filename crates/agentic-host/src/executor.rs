//! Who carries out what a run asks, in memory or durably.
//!
//! An [`RunExecutor`] has the [`Performer`] of the language and says of every request, by
//! [`RunExecutor::carrier`], who that is. What somebody outside does is an [`OutsideWork`], which
//! every host has done in the same way.

use std::path::{Path, PathBuf};

use agentic_model::{Cid, Value};
use agentic_providers::credential::{CredentialCaller, Keyring, Settings};
use agentic_providers::model::{Adapter, Repeats};
use agentic_providers::provider::CallStamp;
use agentic_replay::{Kinds, PATCH, Request, RequestAnswer, TRACED};

use crate::observer::Observer;
use crate::outside::{self, OutsideDoer, OutsideSetting, OutsideWork};
use crate::performer::{Carrier, Performer};
use crate::provision::{ProviderCall, RunProviders};

/// Performs the requests of one run.
#[derive(Debug)]
pub struct RunExecutor {
    kinds: Kinds,
    performer: Box<dyn Performer>,
    /// The models, tools and memories outside.
    provided: RunProviders,
    /// Who is asked for what an input lacks.
    observer: Option<Observer>,
}

impl RunExecutor {
    /// Makes the executor of a run that makes requests of these kinds.
    pub fn of(kinds: Kinds, performer: Box<dyn Performer>) -> RunExecutor {
        RunExecutor { kinds, performer, provided: RunProviders::default(), observer: None }
    }

    /// Lets whoever watches be asked for what an input lacks.
    pub fn watched_by(self, observer: Option<&Observer>) -> RunExecutor {
        RunExecutor { observer: observer.cloned(), ..self }
    }

    /// Returns who performs the tasks of agents, where the program has such.
    pub fn adapter(&self) -> Option<Adapter> {
        self.performer.terms().adapter
    }

    /// Returns the kinds of requests that the program makes.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// Says who carries a request out.
    pub fn carrier(&self, request: &Request) -> Carrier {
        self.performer.carrier(request)
    }

    /// Answers a request that is only computed, or that nobody here performs. Nothing for those
    /// that take a program, and for those of the space.
    pub fn compute(&mut self, request: &Request) -> Option<RequestAnswer> {
        let carrier = self.carrier(request);
        let is_scripted = carrier == Carrier::Script;
        let scripted = if is_scripted { self.performer.compute(request) } else { None };
        // A refused request takes its turn in the script all the same, as it will when it is folded.
        if let Some(failure) = self.kinds.refusal(request) {
            return Some(RequestAnswer::Failed(failure));
        }
        if is_scripted {
            return scripted;
        }
        if request.kind == PATCH {
            return Some(RequestAnswer::Ok(Value::Bool(true)));
        }
        if request.kind == TRACED {
            return Some(RequestAnswer::Ok(request.payload.clone()));
        }
        match self.asked(&carrier) {
            Some(line) => Some(RequestAnswer::Ok(Value::Text(line))),
            None => self.performer.compute(request),
        }
    }

    /// Asks whoever watches for a field that the input lacks.
    fn asked(&self, carrier: &Carrier) -> Option<String> {
        let Carrier::Person(field) = carrier else { return None };
        self.observer.as_ref()?.ask(field)
    }

    /// Says whether a request is answered from a script.
    pub fn is_scripted(&self, request: &Request) -> bool {
        self.carrier(request) == Carrier::Script
    }

    /// Takes note of a request that was answered before.
    pub fn fold(&mut self, request: &Request, answer: &RequestAnswer) {
        self.performer.fold(request, answer);
        if RunProviders::remembers(request) && matches!(self.carrier(request), Carrier::Provider(_))
        {
            self.provided.fold(request, answer);
        }
    }

    /// Reads what is configured in a folder, before the first effect. Returns what whoever runs the
    /// program should know before.
    pub fn configure(&self, folder: impl FnOnce() -> PathBuf) -> Option<String> {
        self.provided.configure(&*self.performer, folder)
    }

    /// Returns the digest of what is configured in a folder, where the program is known to need that.
    /// It is read once for both.
    pub fn pinned(&self, folder: impl FnOnce() -> PathBuf) -> Option<Cid> {
        self.provided.pinned(&*self.performer, folder)
    }

    /// Returns the call of a provider that performs a request; what it needs is configured in a
    /// folder. Nothing where no provider performs it.
    pub fn provided(
        &self,
        request: &Request,
        made: (CallStamp, Repeats),
        folder: &Path,
    ) -> Option<ProviderCall> {
        let Carrier::Provider(provision) = self.carrier(request) else { return None };
        Some(self.provided.call(&*self.performer, (request, provision), made, folder))
    }

    /// Returns the work that somebody outside does for a request, or the answer of one that cannot be
    /// asked for. Nothing for requests that nobody outside carries out.
    pub fn outside(
        &self,
        request: &Request,
        setting: impl FnOnce() -> OutsideSetting,
    ) -> Option<Result<OutsideWork, RequestAnswer>> {
        let carrier = self.carrier(request);
        if matches!(carrier, Carrier::Person(_) | Carrier::Script | Carrier::Nobody) {
            return None;
        }
        let OutsideSetting { folder, run, key, stamp } = setting();
        let doer = match carrier {
            Carrier::Program(command) => OutsideDoer::Program(command, folder.clone()),
            Carrier::Endpoint(call) => OutsideDoer::Endpoint(call),
            Carrier::Provider(_) => {
                let made = match stamp {
                    Ok(made) => made,
                    Err(answer) => return Some(Err(answer)),
                };
                let call = self.provided(request, made, &folder)?;
                OutsideDoer::Provider(Box::new(call), self.observer.clone())
            }
            Carrier::Person(_) | Carrier::Script | Carrier::Nobody => return None,
        };
        let terms = self.performer.terms();
        let keyring =
            Keyring::new(Settings::of_process(folder), terms.invoked_by.map(str::to_owned));
        let caller = CredentialCaller { keyring, auth: self.performer.auth(request), run };
        let (reply_form, limit) = (terms.reply_form, outside::limit(request));
        Some(Ok(OutsideWork { doer, caller, reply_form, key, limit }))
    }
}
