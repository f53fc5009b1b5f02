//! Providers: the models, tools and memories outside, and the calls of them that a run makes.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentic_lang_context::MEMORY_REQUEST;
use agentic_model::{Cid, Value};
use agentic_providers::configuration::Configuration;
use agentic_providers::host::CancelFlag;
use agentic_providers::model::{Repeats, ReplyPart};
use agentic_providers::provider::{CallStamp, ProviderResponse, Providers};
use agentic_replay::{ProgramFailure, Request, RequestAnswer};

use crate::performer::Performer;

/// The code of the failure of a call that nothing is configured for.
const UNCONFIGURED: &str = "unconfigured";

/// The providers that are configured, or why there are none.
type ConfiguredProviders = Result<Arc<Providers>, String>;

/// What is wanted of the providers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provision {
    /// That they perform the request, whichever of them does.
    Effect,
    /// That a model plays a role of a pipeline; its reply should match this schema.
    Role(Option<&'static str>),
    /// That a model answers a script.
    Advice,
}

impl Provision {
    /// Returns the code of the failure when nobody is configured.
    fn broken(self) -> &'static str {
        match self {
            Provision::Effect | Provision::Advice => UNCONFIGURED,
            Provision::Role(_) => "ConfigurationError",
        }
    }
}

/// A call of a provider, which takes its time.
#[derive(Debug)]
pub struct ProviderCall {
    providers: ConfiguredProviders,
    request: Request,
    provision: Provision,
    stamp: CallStamp,
    /// Who makes the call of a role again that failed.
    repeats: Repeats,
}

impl ProviderCall {
    /// Performs the call; a listener hears the reply of a model piece by piece.
    pub fn perform<'a>(
        &self,
        cancel: &'a CancelFlag,
        listener: Option<&'a mut dyn FnMut(ReplyPart<'_>)>,
    ) -> ProviderResponse {
        let providers = match &self.providers {
            Ok(providers) => providers,
            Err(message) => {
                return ProviderResponse::unanswered(ProgramFailure::new(
                    self.provision.broken(),
                    message,
                ));
            }
        };
        match self.provision {
            Provision::Effect => {}
            Provision::Advice => return providers.advise(&self.request, cancel, listener),
            Provision::Role(schema) => {
                return providers.play(&self.request, schema, self.repeats, cancel, listener);
            }
        }
        let response = providers.perform_heard(&self.request, &self.stamp, cancel, listener);
        response.unwrap_or_else(|| {
            let message = format!("nothing here performs `{}`", self.request.kind);
            RequestAnswer::Failed(ProgramFailure::new("unknown-kind", message)).into()
        })
    }

    /// Looks at what the call will replace; nothing where it replaces nothing. Changes nothing.
    ///
    /// # Errors
    /// Fails with the answer of a call that cannot be made.
    pub fn look(&self) -> Result<Option<Value>, RequestAnswer> {
        match (&self.providers, self.provision) {
            (Ok(providers), Provision::Effect) => providers.look(&self.request),
            (Ok(_), Provision::Role(_) | Provision::Advice) | (Err(_), _) => Ok(None),
        }
    }
}

/// The providers of one run.
#[derive(Debug, Default)]
pub(crate) struct RunProviders {
    /// The models, tools and memories outside, once one was needed.
    providers: OnceCell<ConfiguredProviders>,
    /// What memories were asked before the providers were needed.
    recalled: Vec<(Request, RequestAnswer)>,
}

impl RunProviders {
    /// Makes the call of a provider; what it needs is configured in a folder.
    pub fn call(
        &self,
        performer: &dyn Performer,
        (request, provision): (&Request, Provision),
        (stamp, repeats): (CallStamp, Repeats),
        folder: &Path,
    ) -> ProviderCall {
        let providers = self.providers.get_or_init(|| self.configured(performer, folder)).clone();
        ProviderCall { providers, request: request.clone(), provision, stamp, repeats }
    }

    /// Reads which models, tools and memories there are, before anything is done that could change
    /// it. What is wrong with it is told to those who need it. Returns what whoever runs the program
    /// should know before.
    pub fn configure(
        &self,
        performer: &dyn Performer,
        folder: impl FnOnce() -> PathBuf,
    ) -> Option<String> {
        performer.remark(self.needed(performer, folder)?)
    }

    /// Returns the digest of what is configured, where that is read before the first effect.
    pub fn pinned(
        &self,
        performer: &dyn Performer,
        folder: impl FnOnce() -> PathBuf,
    ) -> Option<Cid> {
        self.needed(performer, folder)?.configuration
    }

    /// Returns the providers where the run is known to need them, and they are configured.
    fn needed(
        &self,
        performer: &dyn Performer,
        folder: impl FnOnce() -> PathBuf,
    ) -> Option<&Providers> {
        if !performer.terms().is_configured_early {
            return None;
        }
        let providers = self.providers.get_or_init(|| self.configured(performer, &folder()));
        providers.as_ref().ok().map(Arc::as_ref)
    }

    /// Reads which models, tools and memories there are.
    fn configured(&self, performer: &dyn Performer, folder: &Path) -> ConfiguredProviders {
        let configuration = Configuration::find(folder).map_err(|error| error.to_string())?;
        let providers = Providers::configured(performer.configured(configuration));
        for (request, answer) in &self.recalled {
            providers.recall(request, answer);
        }
        Ok(Arc::new(providers))
    }

    /// Says whether providers remember a request that was answered before: memories do.
    pub fn remembers(request: &Request) -> bool {
        request.kind == MEMORY_REQUEST
    }

    /// Takes note of a request that a provider answered before.
    pub fn fold(&mut self, request: &Request, answer: &RequestAnswer) {
        match self.providers.get() {
            Some(Ok(providers)) => providers.recall(request, answer),
            None => self.recalled.push((request.clone(), answer.clone())),
            Some(Err(_)) => {}
        }
    }
}
