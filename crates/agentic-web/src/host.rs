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

/// The name of this machine that every browser knows.
const PLAIN_NAME: &str = "127.0.0.1";

/// The name that the socket's requests are sent to.
pub const SOCKET_HOST: &str = "agentic";

/// Under which name a page is had.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PageHost {
    /// Under one of its own, below `localhost`.
    #[default]
    Own,
    /// At `127.0.0.1`, for browsers that do not know such names. Whatever else this machine serves there
    /// is sent its cookies, so logins may only read.
    Plain,
}

/// Under which names requests are heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostNames {
    /// The page's, with its port.
    pub page: String,
    /// Which of its names that is.
    pub kind: PageHost,
    /// Names that programs use, with their port: no page is there.
    pub programs: [String; 2],
}

impl HostNames {
    /// Makes the names of a page that listens on a port; its own comes from a repository's key.
    pub fn new(kind: PageHost, key: &[u8], port: u16) -> HostNames {
        let programs = [format!("{PLAIN_NAME}:{port}"), format!("localhost:{port}")];
        let page = match kind {
            PageHost::Own => format!("a-{}.localhost:{port}", own_name(key)),
            PageHost::Plain => programs[0].clone(),
        };
        HostNames { page, kind, programs }
    }

    /// Returns the origin of the page, as browsers name it.
    pub fn origin(&self) -> String {
        format!("http://{}", self.page)
    }
}

fn own_name(key: &[u8]) -> String {
    let hash = blake3::derive_key("agentic 2026 host name of a page", key);
    let letters = hash.iter().map(|byte| char::from(LETTERS[usize::from(byte & 31)]));
    letters.take(NAME_CHARS).collect()
}

/// Returns the ports that are tried for a repository, beginning with its own.
pub fn ports(key: &[u8]) -> impl Iterator<Item = u16> {
    let hash = blake3::derive_key("agentic 2026 port of a page", key);
    let own = u16::from_be_bytes([hash[0], hash[1]]) % PORTS.1;
    (0..PORTS.1).map(move |next| PORTS.0 + (own + next) % PORTS.1)
}

#[cfg(test)]
mod tests {
    use super::{HostNames, PageHost, ports};

    #[test]
    fn names_and_ports_come_from_the_key_alone() {
        let own = |key: u8| HostNames::new(PageHost::Own, &[key; 32], 42_001);
        let names = own(7);
        assert_eq!(names, own(7));
        assert_ne!(names.page, own(8).page);
        let plain = HostNames::new(PageHost::Plain, &[7; 32], 42_001);
        assert_eq!((plain.page.as_str(), &plain.programs), ("127.0.0.1:42001", &names.programs));
        let (name, port) = names.page.split_once('.').expect("a name below localhost");
        assert_eq!((name.len(), port), (28, "localhost:42001"));
        let tried: Vec<u16> = ports(&[7; 32]).collect();
        assert_eq!(tried.len(), 16_000);
        assert!(tried.iter().all(|port| (42_000..58_000).contains(port)), "{tried:?}");
    }
}
