//! Which model answers which request.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use agentic_model::Value;

use super::{
    Endpoint, FaultClass, MockModel, Model, ModelAddress, ModelFault, ModelProtocol, Refusals,
    RetryRule,
};
use crate::configuration::loosening::DEFAULT_MODEL;
use crate::configuration::{Configuration, MODEL_VARIABLE, ModelEntry, check_server};
use crate::secret::SecretSource;

/// Of how many models a run remembers what they refused; a program may make names up.
const REMEMBERED_MAX: usize = 1_000;
/// The scheme of addresses that name a model of the configuration.
const NAMED: &str = "model://";

/// The models of a run.
#[derive(Clone)]
pub struct ModelRegistry {
    source: ModelSource,
    /// What each model has refused, by server and name.
    refusals: Arc<Mutex<BTreeMap<(String, String), Refusals>>>,
}

#[derive(Clone)]
enum ModelSource {
    /// One model answers everything.
    Every(Arc<dyn Model>),
    Configured(Arc<Configuration>),
}

/// A model that could be asked, and how it is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResolvedModel {
    /// One that makes everything up.
    Mock,
    /// One behind a server.
    Endpoint(Endpoint),
}

impl ModelRegistry {
    /// Lets one model answer everything, whichever is asked.
    pub fn every(model: impl Model + 'static) -> ModelRegistry {
        ModelRegistry { source: ModelSource::Every(Arc::new(model)), refusals: Arc::default() }
    }

    /// Lets the models answer that are configured, by name, and all others by their address.
    pub fn configured(configuration: Arc<Configuration>) -> ModelRegistry {
        ModelRegistry { source: ModelSource::Configured(configuration), refusals: Arc::default() }
    }

    /// Finds the model of a request of kind `model` by its `uri`.
    ///
    /// # Errors
    /// Fails when there is none.
    pub fn find(&self, payload: &Value) -> Result<Arc<dyn Model>, ModelFault> {
        self.named(payload.get("uri").and_then(Value::as_text))
    }

    /// Finds a model by its name or address, or that of those who name none.
    ///
    /// # Errors
    /// Fails when there is none.
    pub fn named(&self, wanted: Option<&str>) -> Result<Arc<dyn Model>, ModelFault> {
        match &self.source {
            ModelSource::Every(model) => Ok(Arc::clone(model)),
            ModelSource::Configured(configuration) => Ok(match resolve(configuration, wanted)? {
                ResolvedModel::Mock => Arc::new(MockModel),
                ResolvedModel::Endpoint(endpoint) => Arc::new(self.remembering(endpoint)),
            }),
        }
    }

    /// Lets a model know what it refused before.
    fn remembering(&self, endpoint: Endpoint) -> Endpoint {
        let key = (endpoint.server.clone(), endpoint.name.clone());
        let mut known = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED_MAX && !known.contains_key(&key) {
            return endpoint;
        }
        Endpoint { refusals: known.entry(key).or_default().clone(), ..endpoint }
    }

    /// Tells whether those who name no model have one.
    pub fn has_default(&self) -> bool {
        match &self.source {
            ModelSource::Every(_) => true,
            ModelSource::Configured(configuration) => configuration.default_model().is_some(),
        }
    }
}

impl Default for ModelRegistry {
    fn default() -> ModelRegistry {
        ModelRegistry::configured(Arc::default())
    }
}

impl fmt::Debug for ModelRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            ModelSource::Every(_) => f.write_str("Models(one)"),
            ModelSource::Configured(_) => f.write_str("Models(configured)"),
        }
    }
}

/// Finds out who a name or address stands for: an entry of that name, one with that address, else
/// the address itself.
///
/// # Errors
/// Fails when nobody can be reached under it.
pub fn resolve(
    configuration: &Configuration,
    wanted: Option<&str>,
) -> Result<ResolvedModel, ModelFault> {
    let wanted = wanted.filter(|name| !name.is_empty()).or(configuration.default_model());
    let Some(wanted) = wanted else {
        let message = format!(
            "no model is named, and neither `default_model` nor {MODEL_VARIABLE} names one"
        );
        return Err(ModelFault::new(FaultClass::Unconfigured, message));
    };
    let withheld = |reason: String| ModelFault::new(FaultClass::Unconfigured, reason);
    if configuration.default_model.as_deref() == Some(wanted) {
        configuration.withheld.check(DEFAULT_MODEL).map_err(withheld)?;
    }
    let name = wanted.strip_prefix(NAMED).unwrap_or(wanted);
    let mut entries = configuration.models.iter();
    let entry = configuration.models.get_key_value(name);
    match entry.or_else(|| entries.find(|(_, entry)| entry.uri == wanted)) {
        Some((name, entry)) => {
            configuration.withheld.check(&format!("models.{name}")).map_err(withheld)?;
            of_entry(configuration, entry)
        }
        None if wanted.starts_with(NAMED) => {
            let message = format!("there is no configured model `{name}`");
            Err(ModelFault::new(FaultClass::Unconfigured, message))
        }
        None => of_address(configuration, configuration.address(wanted)?),
    }
}

fn of_entry(
    configuration: &Configuration,
    entry: &ModelEntry,
) -> Result<ResolvedModel, ModelFault> {
    let plain = of_address(configuration, entry.address.clone())?;
    let ResolvedModel::Endpoint(endpoint) = plain else { return Ok(plain) };
    // The key of the environment is meant for the server of the environment, no other.
    let usual_key = if entry.server.is_some() { None } else { endpoint.key };
    Ok(ResolvedModel::Endpoint(Endpoint {
        server: entry.server.clone().unwrap_or(endpoint.server),
        key: entry.key.clone().or(usual_key),
        limit: entry.limit,
        retry: entry.retry.clone(),
        ..endpoint
    }))
}

fn of_address(
    configuration: &Configuration,
    address: ModelAddress,
) -> Result<ResolvedModel, ModelFault> {
    let protocol = address.protocol;
    if protocol == ModelProtocol::Mock {
        return Ok(ResolvedModel::Mock);
    }
    let variable = protocol.server_variable().filter(|_| address.server.is_none());
    let moved = variable.and_then(|variable| configuration.variables.get(variable));
    if let Some(server) = moved {
        check_server(server).map_err(|reason| ModelFault::new(FaultClass::Unconfigured, reason))?;
    }
    // Others who speak the protocol may do without a key.
    let is_optional = moved.is_some();
    let key = protocol.key_variable().filter(|name| !is_optional || is_set(name));
    let usual = || protocol.server_default().to_owned();
    Ok(ResolvedModel::Endpoint(Endpoint {
        protocol,
        server: moved.cloned().or(address.server).unwrap_or_else(usual),
        name: address.name,
        key: key.map(|name| SecretSource::Environment(name.to_owned())),
        folder: configuration.folder.clone(),
        limit: configuration.limit()?,
        retry: RetryRule::default(),
        refusals: Refusals::default(),
    }))
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}
