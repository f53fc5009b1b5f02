//! Where a server is, and how it is spoken to.

use std::str::FromStr as _;
use std::time::Duration;

use temporalio_client::{Client, ClientOptions, Connection, ConnectionOptions, Url};

use crate::error::whole;
use crate::{Error, Result};

/// The namespace where none is named.
const NAMESPACE: &str = "default";
/// How an address begins that names its namespace.
const SCHEME: &str = "temporal://";
/// How long a server may take to answer for the first time.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// The address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAddress {
    /// The host and the port.
    authority: String,
    /// The namespace.
    namespace: String,
}

impl ServerAddress {
    /// Reads `HOST:PORT` or `temporal://HOST:PORT/NAMESPACE`.
    ///
    /// # Errors
    /// Fails when it is neither.
    pub fn parse(text: &str) -> Result<ServerAddress> {
        let bad = |reason: &str| Error::BadAddress {
            address: text.to_owned(),
            reason: reason.to_owned(),
        };
        let (authority, namespace) = match text.strip_prefix(SCHEME) {
            None => (text, NAMESPACE),
            Some(rest) => match rest.split_once('/') {
                None | Some((_, "")) => (rest.trim_end_matches('/'), NAMESPACE),
                Some((authority, namespace)) => (authority, namespace),
            },
        };
        let (host, port) = authority.rsplit_once(':').ok_or(bad("it names no port"))?;
        if host.is_empty() {
            return Err(bad("it names no host"));
        }
        port.parse::<u16>().map_err(|_| bad("its port is no number"))?;
        let url = Url::parse(&format!("http://{authority}")).map_err(|_| bad("it is no host"))?;
        let is_plain = url.username().is_empty() && url.path() == "/" && url.query().is_none();
        if !is_plain || namespace.contains(['/', '?', '#']) {
            return Err(bad("it is HOST:PORT, or temporal://HOST:PORT/NAMESPACE"));
        }
        Ok(ServerAddress { authority: authority.to_owned(), namespace: namespace.to_owned() })
    }

    /// Connects to the server.
    ///
    /// # Errors
    /// Fails when nobody answers in five seconds, or nobody who speaks this protocol.
    pub(crate) async fn connect(&self) -> Result<Client> {
        let unreachable = |reason: String| Error::Unreachable { address: self.to_string(), reason };
        let url = Url::from_str(&format!("http://{}", self.authority));
        let url = url.map_err(|error| unreachable(error.to_string()))?;
        let options = ConnectionOptions::new(url)
            .identity(format!("agentic-{}", std::process::id()))
            .connect_timeout(CONNECT_WITHIN)
            .build();
        let connected = tokio::time::timeout(CONNECT_WITHIN, Connection::connect(options)).await;
        let connected = connected.map_err(|_| unreachable("it does not answer".to_owned()))?;
        let connection = connected.map_err(|error| unreachable(whole(&error)))?;
        let options = ClientOptions::new(self.namespace.as_str()).build();
        Client::new(connection, options).map_err(|error| unreachable(whole(&error)))
    }
}

impl std::fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.namespace.as_str() {
            NAMESPACE => f.write_str(&self.authority),
            namespace => write!(f, "{SCHEME}{}/{namespace}", self.authority),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ServerAddress;

    #[test]
    fn addresses_are_read_and_printed() {
        let check = |text: &str, printed: &str| {
            let read = ServerAddress::parse(text).expect("an address");
            assert_eq!(read.to_string(), printed);
        };
        check("127.0.0.1:7233", "127.0.0.1:7233");
        check("[::1]:7233", "[::1]:7233");
        check("temporal://host:7233", "host:7233");
        check("temporal://host:7233/", "host:7233");
        check("temporal://host:7233/default", "host:7233");
        check("temporal://host:7233/mine", "temporal://host:7233/mine");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "host",
            ":7233",
            "host:",
            "host:x",
            "host:99999",
            "user@host:7233",
            "host:7233/x",
            "temporal://host:7233/a/b",
            "temporal://",
            "a b:7233",
        ] {
            assert!(ServerAddress::parse(text).is_err(), "{text}");
        }
    }
}
