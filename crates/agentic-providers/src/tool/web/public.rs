//! The public web: what a model may have read without being asked about each address.
//!
//! An address is looked at twice: as it is written, and once more when its name has become the
//! addresses that are really connected to, so that a name cannot lead into a private network. Where
//! a proxy of the environment stands between, the proxy finds the names and says where they may
//! lead.

use std::io::{Error as IoError, ErrorKind};
use std::net::{IpAddr, ToSocketAddrs as _};

use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

use crate::configuration::check_server;

/// The public web, and the hosts beyond it that are configured: names, or names with ports.
#[derive(Debug, Clone, Default)]
pub(super) struct PublicWeb {
    pub hosts: Vec<String>,
}

impl PublicWeb {
    /// Refuses an address that by its looks is not one of them.
    pub fn check(&self, url: &str) -> Result<(), String> {
        check_server(url)?;
        let uri: Uri = url.parse().map_err(|_| format!("`{url}` is no address"))?;
        let host = uri.host().unwrap_or_default();
        let name = host.trim_matches(['[', ']']).trim_end_matches('.');
        let is_near = name == "localhost" || written_out(name).any(|address| !is_public(address));
        if is_near && !self.is_named(&uri) {
            return Err(not_public(host));
        }
        Ok(())
    }

    fn is_named(&self, uri: &Uri) -> bool {
        let authority = uri.authority().map(|it| it.as_str()).unwrap_or_default();
        let host = uri.host().unwrap_or_default();
        self.hosts.iter().any(|known| known == host || known == authority)
    }
}

impl Resolver for PublicWeb {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let found = DefaultResolver::default().resolve(uri, config, timeout)?;
        let is_proxy = config.proxy().is_some_and(|proxy| proxy.uri() == uri);
        let is_public = found.iter().all(|address| is_public(address.ip()));
        if is_public || is_proxy || self.is_named(uri) {
            return Ok(found);
        }
        let reason = not_public(uri.host().unwrap_or_default());
        Err(Error::Io(IoError::new(ErrorKind::PermissionDenied, reason)))
    }
}

fn not_public(host: &str) -> String {
    format!("`{host}` is not of the public web; `tools.hosts` of `agentic.toml` does not name it")
}

/// Returns the addresses that a name stands for which is one itself, in any way of writing it; no
/// name of the public web ends in a part that begins with a digit.
fn written_out(name: &str) -> impl Iterator<Item = IpAddr> {
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_number = name.contains(':') || last.starts_with(|first: char| first.is_ascii_digit());
    let found = is_number.then(|| (name, 0).to_socket_addrs().ok()).flatten();
    found.into_iter().flatten().map(|address| address.ip())
}

/// Tells whether an address is one of the public web.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => {
            let [first, second, ..] = it.octets();
            let is_shared = first == 100 && second & 0xc0 == 64;
            !(it.is_loopback()
                || it.is_private()
                || it.is_link_local()
                || it.is_broadcast()
                || it.is_multicast()
                || first == 0
                || is_shared)
        }
        IpAddr::V6(it) => match it.to_ipv4_mapped() {
            Some(inner) => is_public(IpAddr::V4(inner)),
            None => {
                !(it.is_loopback()
                    || it.is_unspecified()
                    || it.is_multicast()
                    || it.is_unique_local()
                    || it.is_unicast_link_local())
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::CancelFlag;
    use crate::http::{Client, HttpFault, HttpMessage};
    use std::time::Duration;

    #[test]
    fn only_the_public_web_is_read_unasked() {
        let web = PublicWeb { hosts: vec!["10.0.0.1".into(), "[::1]:80".into()] };
        let refused = [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://127.0.0.1./",
            "http://localhost:1/",
            "http://10.0.0.2/",
            "http://192.168.1.1/",
            "http://169.254.169.254/latest",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://0.0.0.0/",
            "http://100.64.0.1/",
            "http://2130706433/",
            "http://0x7f000001/",
            "ftp://1.1.1.1/",
            "http://a@1.1.1.1/",
            "file:///etc/passwd",
            "",
            "/x",
        ];
        for url in refused {
            assert!(web.check(url).is_err(), "{url}");
        }
        for url in [
            "http://1.1.1.1/",
            "https://[2606:4700::1]/x",
            "http://10.0.0.1:8/",
            "http://[::1]:80/",
            "http://example.com/",
        ] {
            assert_eq!(web.check(url), Ok(()), "{url}");
        }
    }

    #[test]
    fn a_name_that_leads_to_this_machine_is_not_connected_to() {
        let message =
            HttpMessage { method: "GET", url: "http://localhost:1/", headers: &[], body: None };
        let send = |hosts: &[&str]| {
            let web = PublicWeb { hosts: hosts.iter().map(|host| (*host).to_owned()).collect() };
            let client = Client::by(web, Duration::from_secs(5), &CancelFlag::new());
            match client.send(&message) {
                Err(HttpFault::Unreachable(reason) | HttpFault::Transport(reason)) => reason,
                Err(other) => panic!("{other}"),
                Ok(received) => panic!("status {}", received.status),
            }
        };
        assert!(send(&[]).contains("not of the public web"));
        assert!(send(&["localhost"]).contains("refused"), "nobody listens there");
    }
}
