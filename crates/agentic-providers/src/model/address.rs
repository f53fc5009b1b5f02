//! Where a model is: `openai://NAME`, `anthropic://NAME`, `ollama://[HOST:PORT/]NAME`.

use super::{FaultClass, ModelFault};

/// The way in which a model is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModelProtocol {
    /// Chat completions, as OpenAI and many others speak them.
    OpenAi,
    /// Messages, as Anthropic speaks them.
    Anthropic,
    /// The chat of Ollama.
    Ollama,
    /// Nobody is spoken to; see [`super::MockModel`].
    Mock,
}

/// The parsed address of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelAddress {
    /// How it is spoken to.
    pub protocol: ModelProtocol,
    /// Where its server is, if the address says so.
    pub server: Option<String>,
    /// Its name there.
    pub name: String,
}

impl ModelProtocol {
    /// Returns the scheme of addresses.
    pub fn scheme(self) -> &'static str {
        match self {
            ModelProtocol::OpenAi => "openai",
            ModelProtocol::Anthropic => "anthropic",
            ModelProtocol::Ollama => "ollama",
            ModelProtocol::Mock => "mock",
        }
    }

    /// Returns the environment variable with the key; nothing where none is used.
    pub fn key_variable(self) -> Option<&'static str> {
        match self {
            ModelProtocol::OpenAi => Some("OPENAI_API_KEY"),
            ModelProtocol::Anthropic => Some("ANTHROPIC_API_KEY"),
            ModelProtocol::Ollama | ModelProtocol::Mock => None,
        }
    }

    /// Returns the environment variable with the address of the server.
    pub fn server_variable(self) -> Option<&'static str> {
        match self {
            ModelProtocol::OpenAi => Some("OPENAI_BASE_URL"),
            ModelProtocol::Anthropic => Some("ANTHROPIC_BASE_URL"),
            ModelProtocol::Ollama => Some("OLLAMA_BASE_URL"),
            ModelProtocol::Mock => None,
        }
    }

    /// Returns the server that is spoken to unless something else is said.
    pub fn server_default(self) -> &'static str {
        match self {
            ModelProtocol::OpenAi => "https://api.openai.com/v1",
            ModelProtocol::Anthropic => "https://api.anthropic.com",
            ModelProtocol::Ollama => "http://localhost:11434",
            ModelProtocol::Mock => "",
        }
    }
}

impl ModelAddress {
    /// Reads an address. In that of Ollama a first part is a server if it has a port or is
    /// `localhost`; names of models may have slashes and colons.
    ///
    /// # Errors
    /// Fails on other schemes and without a name.
    pub fn parse(uri: &str) -> Result<ModelAddress, ModelFault> {
        let fault = |message: String| ModelFault::new(FaultClass::Unconfigured, message);
        let (scheme, rest) = uri.split_once("://").ok_or_else(|| {
            fault(format!("`{uri}` is neither a configured model nor an address"))
        })?;
        let protocols = [
            ModelProtocol::OpenAi,
            ModelProtocol::Anthropic,
            ModelProtocol::Ollama,
            ModelProtocol::Mock,
        ];
        let protocol = protocols.into_iter().find(|known| known.scheme() == scheme);
        let Some(protocol) = protocol else {
            return Err(fault(format!("no model is spoken to by `{scheme}://`")));
        };
        let (server, name) = match rest.split_once('/') {
            Some((host, name)) if protocol == ModelProtocol::Ollama && is_server(host) => {
                (Some(format!("http://{host}")), name)
            }
            Some(_) | None => (None, rest),
        };
        if name.is_empty() && protocol != ModelProtocol::Mock {
            return Err(fault(format!("the address `{uri}` names no model")));
        }
        Ok(ModelAddress { protocol, server, name: name.to_owned() })
    }
}

fn is_server(host: &str) -> bool {
    let port = host.rsplit_once(':').map(|(_, port)| port);
    host == "localhost" || port.is_some_and(|port| port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(uri: &str, wanted: Option<(ModelProtocol, Option<&str>, &str)>) {
        let found = ModelAddress::parse(uri).ok();
        let wanted = wanted.map(|(protocol, server, name)| ModelAddress {
            protocol,
            server: server.map(str::to_owned),
            name: name.to_owned(),
        });
        assert_eq!(found, wanted, "{uri}");
    }

    #[test]
    fn an_address_says_who_and_where() {
        use ModelProtocol::{Anthropic, Mock, Ollama, OpenAi};
        check("openai://gpt-5", Some((OpenAi, None, "gpt-5")));
        check("openai://org/model:free", Some((OpenAi, None, "org/model:free")));
        check("anthropic://claude", Some((Anthropic, None, "claude")));
        check("ollama://h:11434/llama3", Some((Ollama, Some("http://h:11434"), "llama3")));
        check("ollama://localhost/a/b:8b", Some((Ollama, Some("http://localhost"), "a/b:8b")));
        check("ollama://[::1]:1/m", Some((Ollama, Some("http://[::1]:1"), "m")));
        check("ollama://llama3:8b", Some((Ollama, None, "llama3:8b")));
        check("ollama://hf.co/a/b", Some((Ollama, None, "hf.co/a/b")));
        check("mock://", Some((Mock, None, "")));
        for bad in ["", "gpt-5", "openai://", "ollama://h:1/", "http://x/y", "OPENAI://x"] {
            check(bad, None);
        }
    }
}
