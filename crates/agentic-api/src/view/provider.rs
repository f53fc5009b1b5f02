//! Providers as JSON.

use agentic_providers::listing::{KeyState, ListedProvider, Probe, ProviderEntry, ProviderOrigin};
use schemars::JsonSchema;
use serde::Serialize;

/// One provider of `agentic providers`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProviderView {
    /// The name under which it is asked for: that of its entry, or an address; `openai://*` stands
    /// for all models that OpenAI has.
    pub name: String,
    /// `model` or `mcp`.
    pub kind: String,
    /// `agentic.toml`, `environment` or `command line`.
    pub origin: String,
    /// Whether it is the model of those who name none.
    pub default: bool,
    /// How a model is spoken to: `openai`, `anthropic`, `ollama` or `mock`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// The address of its server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The name of the model there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The program of a server of tools, with its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// Whether its key is there: `none` if it needs none, `set` or `missing`.
    pub key: String,
    /// Why nobody can be reached under the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
    /// Whether it answered, if it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<ProbeView>,
}

/// Whether a provider answered.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProbeView {
    /// Whether it did.
    pub ok: bool,
    /// Why it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tools that a server of tools offers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
}

impl From<&ListedProvider> for ProviderView {
    fn from(listed: &ListedProvider) -> ProviderView {
        let mut view = ProviderView {
            name: listed.name.clone(),
            kind: "model".to_owned(),
            origin: origin(listed.origin).to_owned(),
            default: listed.is_default,
            protocol: None,
            server: None,
            model: None,
            command: None,
            key: key(listed.key()).to_owned(),
            broken: None,
            probe: None,
        };
        match &listed.provider {
            ProviderEntry::Mock => view.protocol = Some("mock".to_owned()),
            ProviderEntry::Endpoint(endpoint) => {
                view.protocol = Some(endpoint.protocol.scheme().to_owned());
                view.server = Some(endpoint.server.clone());
                view.model = Some(endpoint.name.clone()).filter(|name| name != "*");
            }
            ProviderEntry::Mcp(argv) => {
                view.kind = "mcp".to_owned();
                view.command = Some(argv.clone());
            }
            ProviderEntry::Broken(reason) => view.broken = Some(reason.clone()),
        }
        view
    }
}

impl From<Probe> for ProbeView {
    fn from(probe: Probe) -> ProbeView {
        match probe {
            Probe::Answers { tools } => {
                let tools = (!tools.is_empty()).then_some(tools);
                ProbeView { ok: true, reason: None, tools }
            }
            Probe::Fails { reason } => ProbeView { ok: false, reason: Some(reason), tools: None },
        }
    }
}

fn origin(origin: ProviderOrigin) -> &'static str {
    match origin {
        ProviderOrigin::File => "agentic.toml",
        ProviderOrigin::Environment => "environment",
        ProviderOrigin::Caller => "command line",
    }
}

fn key(state: KeyState) -> &'static str {
    match state {
        KeyState::NotNeeded => "none",
        KeyState::Set => "set",
        KeyState::Missing => "missing",
    }
}
