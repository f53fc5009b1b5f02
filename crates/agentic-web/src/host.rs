//! The name and the port under which a repository's page is reached.
//!
//! Browsers send cookies to every port of a host. A name of its own keeps ours from other servers on
//! this machine, and theirs from us; names below `localhost` always mean this machine.

/// The first port that is tried, and how many there are.
const PORTS: (u16, u16) = (42_000, 16_000);
/// How many characters of the key's hash the name has.
const NAME_CHARS: usize = 26;
/// The letters of names.
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// The name that the socket's requests are sent to.
pub const SOCKET_HOST: &str = "agentic";

/// Under which names requests are heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostNames {
    /// The page's, with its port.
    pub page: String,
    /// Names that programs use, with their port: no page is there.
    pub programs: [String; 2],
}

impl HostNames {
    /// Makes the names from a repository's key.
    pub fn new(key: &[u8], port: u16) -> HostNames {
        let hash = blake3::derive_key("agentic 2026 host name of a page", key);
        let letters = hash.iter().map(|byte| char::from(LETTERS[usize::from(byte & 31)]));
        let name: String = letters.take(NAME_CHARS).collect();
        HostNames {
            page: format!("a-{name}.localhost:{port}"),
            programs: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
        }
    }

    /// Returns the origin of the page, as browsers name it.
    pub fn origin(&self) -> String {
        format!("http://{}", self.page)
    }
}

/// Returns the ports that are tried for a repository, beginning with its own.
pub fn ports(key: &[u8]) -> impl Iterator<Item = u16> {
    let hash = blake3::derive_key("agentic 2026 port of a page", key);
    let own = u16::from_be_bytes([hash[0], hash[1]]) % PORTS.1;
    (0..PORTS.1).map(move |next| PORTS.0 + (own + next) % PORTS.1)
}

#[cfg(test)]
mod tests {
    use super::{HostNames, ports};

    #[test]
    fn names_and_ports_come_from_the_key_alone() {
        let names = HostNames::new(&[7; 32], 42_001);
        assert_eq!(names, HostNames::new(&[7; 32], 42_001));
        assert_ne!(names.page, HostNames::new(&[8; 32], 42_001).page);
        let (name, port) = names.page.split_once('.').expect("a name below localhost");
        assert_eq!((name.len(), port), (28, "localhost:42001"));
        let tried: Vec<u16> = ports(&[7; 32]).collect();
        assert_eq!(tried.len(), 16_000);
        assert!(tried.iter().all(|port| (42_000..58_000).contains(port)), "{tried:?}");
    }
}
