//! Which providers there are, and whether they answer.

use crate::configuration::{Configuration, MODEL_VARIABLE};
use crate::host::CancelFlag;
use crate::model::{Endpoint, ModelAddress, ModelProtocol, ResolvedModel, resolve};
use crate::secret::SecretSource;
use crate::tool::RunTools;

/// A provider that programs may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedProvider {
    /// The name under which it is asked for.
    pub name: String,
    /// Who it is.
    pub provider: ProviderEntry,
    /// Who says that it is there.
    pub origin: ProviderOrigin,
    /// Whether it is the model of those who name none.
    pub is_default: bool,
}

/// A model, or a server of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderEntry {
    /// A model that makes everything up.
    Mock,
    /// A model behind a server.
    Endpoint(Endpoint),
    /// A server of tools, by its program and arguments.
    Mcp(Vec<String>),
    /// A name that stands for nobody, and why.
    Broken(String),
}

/// Who says that a provider is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProviderOrigin {
    /// `agentic.toml`.
    File,
    /// The environment, or what is known without it.
    Environment,
    /// Whoever asks.
    Caller,
}

/// Whether the key of a provider is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// It needs none.
    NotNeeded,
    /// It can be had, as far as can be seen without using it.
    Set,
    /// It is not there.
    Missing,
}

/// Whether a provider answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// It does; a server of tools offers these.
    Answers {
        /// The names of the tools.
        tools: Vec<String>,
    },
    /// It does not.
    Fails {
        /// Why.
        reason: String,
    },
}

impl ListedProvider {
    /// Tells whether the key of the provider is there.
    pub fn key(&self) -> KeyState {
        let ProviderEntry::Endpoint(endpoint) = &self.provider else { return KeyState::NotNeeded };
        let is_there = match &endpoint.key {
            None => return KeyState::NotNeeded,
            Some(SecretSource::Environment(name)) => {
                std::env::var_os(name).is_some_and(|value| !value.is_empty())
            }
            Some(SecretSource::File(path)) => endpoint.folder.join(path).is_file(),
            Some(SecretSource::Command(argv)) => !argv.is_empty(),
        };
        if is_there { KeyState::Set } else { KeyState::Missing }
    }

    /// Asks the provider for something that costs nothing. A server of tools is started for it.
    pub fn probe(&self, configuration: &Configuration, cancel: &CancelFlag) -> Probe {
        let result = match &self.provider {
            ProviderEntry::Mock => Ok(Vec::new()),
            ProviderEntry::Endpoint(endpoint) => {
                let probed = endpoint.probe(cancel).map(|()| Vec::new());
                probed.map_err(|fault| fault.message)
            }
            ProviderEntry::Mcp(_) => {
                let offered = RunTools::configured(configuration).offered(&self.name, cancel);
                let names = offered.map(|tools| tools.into_iter().map(|tool| tool.name).collect());
                names.map_err(|fault| fault.message)
            }
            ProviderEntry::Broken(reason) => Err(reason.clone()),
        };
        match result {
            Ok(tools) => Probe::Answers { tools },
            Err(reason) => Probe::Fails { reason },
        }
    }
}

/// Lists the providers: those of the file by name, the default if it is none of them, those that
/// the environment reaches, and the servers of tools.
pub fn list(configuration: &Configuration) -> Vec<ListedProvider> {
    let default = configuration.default_model();
    let mut listed: Vec<ListedProvider> = Vec::new();
    for name in configuration.models.keys() {
        listed.push(model(configuration, name, ProviderOrigin::File));
    }
    if let Some(name) = default.filter(|name| !configuration.models.contains_key(*name)) {
        let is_chosen = configuration.variables.contains_key(MODEL_VARIABLE);
        let origin = if is_chosen { ProviderOrigin::Environment } else { ProviderOrigin::File };
        listed.push(model(configuration, name, origin));
    }
    for protocol in [ModelProtocol::Anthropic, ModelProtocol::Ollama, ModelProtocol::OpenAi] {
        listed.push(model(configuration, &any_model(protocol), ProviderOrigin::Environment));
    }
    listed.extend(configuration.mcp.iter().map(|(name, entry)| ListedProvider {
        name: name.clone(),
        provider: match configuration.withheld.check(&format!("mcp.{name}")) {
            Ok(()) => ProviderEntry::Mcp(entry.argv.clone()),
            Err(reason) => ProviderEntry::Broken(reason),
        },
        origin: ProviderOrigin::File,
        is_default: false,
    }));
    listed
}

/// Finds the provider that a name or an address stands for.
pub fn find(configuration: &Configuration, name: &str) -> Option<ListedProvider> {
    let known = list(configuration).into_iter().find(|listed| listed.name == name);
    known.or_else(|| {
        ModelAddress::parse(name)
            .is_ok()
            .then(|| model(configuration, name, ProviderOrigin::Caller))
    })
}

/// The address of whichever model a protocol reaches.
fn any_model(protocol: ModelProtocol) -> String {
    format!("{}://*", protocol.scheme())
}

fn model(configuration: &Configuration, name: &str, origin: ProviderOrigin) -> ListedProvider {
    let provider = match resolve(configuration, Some(name)) {
        Ok(ResolvedModel::Mock) => ProviderEntry::Mock,
        Ok(ResolvedModel::Endpoint(endpoint)) => ProviderEntry::Endpoint(endpoint),
        Err(fault) => ProviderEntry::Broken(fault.message),
    };
    let is_default = configuration.default_model() == Some(name);
    ListedProvider { name: name.to_owned(), provider, origin, is_default }
}
