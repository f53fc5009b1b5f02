//! Models as AgentLang programs name them: `gpt-4.1`, and not how it is spoken to. The adapter says
//! that.

use std::time::Duration;

use super::{FaultClass, ModelAddress, ModelFault, ModelProtocol, TIME_LIMIT_DEFAULT};
use crate::configuration::{Configuration, MODEL_VARIABLE};

/// The variable that names the adapter of those who name none.
pub const ADAPTER_VARIABLE: &str = "AGENTLANG_ADAPTER";
/// The variable that names the model of agents that name none.
pub const AGENT_MODEL_VARIABLE: &str = "AGENTLANG_DEFAULT_MODEL";
/// The variable that says how long a call may take, in seconds.
pub const TIMEOUT_VARIABLE: &str = "AGENTLANG_HTTP_TIMEOUT_S";
/// The model of agents that name none, where nothing names one for them.
const MODEL_DEFAULT: &str = "gpt-4.1-mini";
/// Models of OpenAI, and those of Anthropic that take their places.
const REPLACEMENTS: [(&str, &str); 4] = [
    ("gpt-4.1", "claude-sonnet-4-20250514"),
    ("gpt-4.1-mini", "claude-haiku-4-5-20251001"),
    ("gpt-4o", "claude-sonnet-4-20250514"),
    ("gpt-4o-mini", "claude-haiku-4-5-20251001"),
];

/// Who performs the tasks of agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adapter {
    /// Nobody: results are made up.
    Mock,
    /// Models. Plain names are those of OpenAI.
    Live,
    /// Models. Plain names are those of Anthropic, and four of OpenAI have others take their
    /// places.
    Anthropic,
}

impl Adapter {
    /// All adapters.
    pub const ALL: [Adapter; 3] = [Adapter::Mock, Adapter::Live, Adapter::Anthropic];

    /// Returns the name.
    pub fn as_str(self) -> &'static str {
        match self {
            Adapter::Mock => "mock",
            Adapter::Live => "live",
            Adapter::Anthropic => "anthropic",
        }
    }

    /// Finds the adapter of a name.
    pub fn parse(name: &str) -> Option<Adapter> {
        Adapter::ALL.into_iter().find(|adapter| adapter.as_str() == name)
    }

    /// Returns where the model of a plain name is.
    pub(super) fn address(self, name: &str) -> ModelAddress {
        let (protocol, name) = match self {
            Adapter::Mock => (ModelProtocol::Mock, ""),
            Adapter::Live => (ModelProtocol::OpenAi, name),
            Adapter::Anthropic => {
                let other = REPLACEMENTS.into_iter().find(|(replaced, _)| *replaced == name);
                (ModelProtocol::Anthropic, other.map_or(name, |(_, other)| other))
            }
        };
        ModelAddress { protocol, server: None, name: name.to_owned() }
    }
}

impl Configuration {
    /// Makes the configuration serve the tasks of agents: plain names mean what the adapter says,
    /// and who names no model gets that of `AGENTLANG_DEFAULT_MODEL`, else the configured one, else
    /// a small one.
    pub fn for_tasks(mut self, adapter: Adapter) -> Configuration {
        let chosen = self.variables.get(AGENT_MODEL_VARIABLE).cloned();
        let chosen = chosen.or_else(|| self.default_model().map(str::to_owned));
        let chosen = chosen.unwrap_or_else(|| MODEL_DEFAULT.to_owned());
        self.variables.insert(MODEL_VARIABLE.to_owned(), chosen);
        Configuration { adapter: Some(adapter), ..self }
    }

    /// Reads an address, or a plain name where an adapter says what it means.
    pub(super) fn address(&self, wanted: &str) -> Result<ModelAddress, ModelFault> {
        match self.adapter {
            Some(adapter) if !wanted.contains("://") => Ok(adapter.address(wanted)),
            Some(_) | None => ModelAddress::parse(wanted),
        }
    }

    /// Returns how long a call may take where no entry says so.
    pub(super) fn limit(&self) -> Result<Duration, ModelFault> {
        let given = self.variables.get(TIMEOUT_VARIABLE).filter(|_| self.adapter.is_some());
        let Some(given) = given else { return Ok(TIME_LIMIT_DEFAULT) };
        let seconds = given.trim().parse().ok().filter(|seconds: &f64| *seconds > 0.0);
        seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).ok_or_else(|| {
            let message = format!("`{TIMEOUT_VARIABLE}` is no number of seconds: `{given}`");
            ModelFault::new(FaultClass::Unconfigured, message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ResolvedModel, resolve};

    /// Compares where a model is found: `PROTOCOL NAME LIMIT-MS`, or why it is not.
    fn check(adapter: Adapter, variables: &[(&str, &str)], wanted: &str, found: &str) {
        let toml = "default_model = \"fast\"\n[models.fast]\nuri = \"ollama://h:1/small\"\n\
            [models.\"gpt-4.1\"]\nuri = \"ollama://h:1/big\"\ntimeout_ms = 7\n";
        let plain = Configuration::parse(toml, "agentic.toml".as_ref()).expect("it is right");
        let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let configuration = Configuration { variables: variables.collect(), ..plain };
        let resolved = resolve(&configuration.for_tasks(adapter), Some(wanted));
        let shown = match resolved {
            Ok(ResolvedModel::Mock) => "mock".to_owned(),
            Ok(ResolvedModel::Endpoint(endpoint)) => {
                let (protocol, name) = (endpoint.protocol.scheme(), endpoint.name);
                format!("{protocol} {name} {}", endpoint.limit.as_millis())
            }
            Err(fault) => fault.message,
        };
        assert_eq!(shown, found, "{adapter:?} {wanted:?}");
    }

    #[test]
    fn a_plain_name_means_what_the_adapter_says() {
        check(Adapter::Live, &[], "gpt-4o", "openai gpt-4o 300000");
        check(Adapter::Anthropic, &[], "gpt-4o", "anthropic claude-sonnet-4-20250514 300000");
        check(Adapter::Anthropic, &[], "claude-x", "anthropic claude-x 300000");
        check(Adapter::Mock, &[], "gpt-4o", "mock");
        check(Adapter::Live, &[], "anthropic://claude-x", "anthropic claude-x 300000");
        check(Adapter::Live, &[], "telepathy://x", "no model is spoken to by `telepathy://`");
    }

    #[test]
    fn what_is_configured_comes_first() {
        check(Adapter::Anthropic, &[], "gpt-4.1", "ollama big 7");
        check(Adapter::Live, &[], "", "ollama small 300000");
        check(Adapter::Live, &[(MODEL_VARIABLE, "gpt-4.1")], "", "ollama big 7");
        let both = [(MODEL_VARIABLE, "gpt-4.1"), (AGENT_MODEL_VARIABLE, "gpt-5")];
        check(Adapter::Live, &both, "", "openai gpt-5 300000");
        let nothing = Configuration::default().for_tasks(Adapter::Live);
        assert_eq!(nothing.default_model(), Some(MODEL_DEFAULT));
    }

    #[test]
    fn the_time_of_a_call_is_a_number_of_seconds() {
        check(Adapter::Live, &[(TIMEOUT_VARIABLE, "1.5")], "gpt-5", "openai gpt-5 1500");
        for bad in ["", "0", "-1", "inf", "NaN", "1e300", "soon"] {
            let message = format!("`{TIMEOUT_VARIABLE}` is no number of seconds: `{bad}`");
            check(Adapter::Live, &[(TIMEOUT_VARIABLE, bad)], "gpt-5", &message);
        }
    }
}
