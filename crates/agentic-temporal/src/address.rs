//! Where a server is.

use std::net::IpAddr;

use temporalio_client::Url;

use crate::{Error, Result};

/// The namespace where none is named.
const NAMESPACE: &str = "default";
/// How an address begins that names its namespace.
const SCHEME: &str = "temporal://";
/// The address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAddress {
    /// The host and the port.
    authority: String,
    /// The namespace, where it is named.
    namespace: Option<String>,
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
            None => (text, None),
            Some(rest) => match rest.split_once('/') {
                None | Some((_, "")) => (rest.trim_end_matches('/'), None),
                Some((authority, namespace)) => (authority, Some(namespace)),
            },
        };
        let (host, port) = authority.rsplit_once(':').ok_or(bad("it names no port"))?;
        if host.is_empty() {
            return Err(bad("it names no host"));
        }
        port.parse::<u16>().map_err(|_| bad("its port is no number"))?;
        let url = Url::parse(&format!("http://{authority}")).map_err(|_| bad("it is no host"))?;
        let is_plain = url.username().is_empty() && url.path() == "/" && url.query().is_none();
        if !is_plain || namespace.is_some_and(|name| name.contains(['/', '?', '#'])) {
            return Err(bad("it is HOST:PORT, or temporal://HOST:PORT/NAMESPACE"));
        }
        Ok(ServerAddress {
            authority: authority.to_owned(),
            namespace: namespace.map(str::to_owned),
        })
    }

    /// Returns the host and the port.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Returns the namespace.
    pub fn namespace(&self) -> &str {
        self.namespace.as_deref().unwrap_or(NAMESPACE)
    }

    /// Returns the namespace, where it is named.
    pub(crate) fn named_namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// Names the namespace, unless that is named.
    ///
    /// # Errors
    /// Fails when the name is none.
    pub(crate) fn within(self, namespace: &str) -> Result<ServerAddress> {
        match self.namespace {
            Some(_) => Ok(self),
            None => ServerAddress::parse(&format!("{SCHEME}{}/{namespace}", self.authority)),
        }
    }

    /// Says whether both are the same server, whatever the namespace.
    pub(crate) fn is_at(&self, other: &ServerAddress) -> bool {
        self.authority.eq_ignore_ascii_case(&other.authority)
    }

    /// Says whether it is this very machine.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.authority.rsplit_once(':').map_or("", |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let is_own = host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        is_own || host.eq_ignore_ascii_case("localhost")
    }
}

impl std::fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.namespace() {
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
