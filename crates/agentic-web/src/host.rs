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

/// The port that an address without one means, and that clients leave out of what they ask for.
pub const UNSAID_PORT: u16 = 80;
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
    /// The page's, with its port as clients say it.
    pub page: String,
    /// Which of its names that is.
    pub kind: PageHost,
    /// Names that programs use, with their port: no page is there.
    pub programs: [String; 2],
    /// What may stand behind a name, and mean no other one.
    unsaid: Option<String>,
}

impl HostNames {
    /// Makes the names of a page that listens on a port; its own comes from a repository's key.
    pub fn new(kind: PageHost, key: &[u8], port: u16) -> HostNames {
        let unsaid = (port == UNSAID_PORT).then(|| format!(":{port}"));
        let programs = [PLAIN_NAME, "localhost"].map(|name| name_with_port(name, port));
        let page = match kind {
            PageHost::Own => name_with_port(&format!("a-{}.localhost", own_name(key)), port),
            PageHost::Plain => programs[0].clone(),
        };
        HostNames { page, kind, programs, unsaid }
    }

    /// Tells whether a name, as a client says it, is the page's.
    pub fn is_page(&self, name: &str) -> bool {
        self.without_unsaid(name) == self.page
    }

    /// Tells whether it is one that programs use.
    pub fn is_of_programs(&self, name: &str) -> bool {
        let name = self.without_unsaid(name);
        self.programs.iter().any(|known| known == name)
    }

    fn without_unsaid<'n>(&self, name: &'n str) -> &'n str {
        self.unsaid.as_deref().and_then(|port| name.strip_suffix(port)).unwrap_or(name)
    }

    /// Returns the origin of the page, as browsers name it.
    pub fn origin(&self) -> String {
        format!("http://{}", self.page)
    }
}

/// Returns a name with its port as clients say it: without, where every address means that one.
pub fn name_with_port(name: &str, port: u16) -> String {
    match port {
        UNSAID_PORT => name.to_owned(),
        port => format!("{name}:{port}"),
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
    fn a_port_that_clients_leave_out_is_no_part_of_the_name() {
        for kind in [PageHost::Own, PageHost::Plain] {
            let names = HostNames::new(kind, &[7; 32], 80);
            assert!(!names.page.contains(':'), "{}", names.page);
            assert_eq!(names.origin(), format!("http://{}", names.page));
            assert!(names.is_page(&names.page) && names.is_page(&format!("{}:80", names.page)));
            assert!(names.is_of_programs("localhost") && names.is_of_programs("localhost:80"));
            for other in ["", ":80", "localhost:8080", "localhost:80:80", "a.localhost"] {
                assert!(!names.is_page(other) && !names.is_of_programs(other), "{other}");
            }
        }
    }

    #[test]
    fn names_and_ports_come_from_the_key_alone() {
        let own = |key: u8| HostNames::new(PageHost::Own, &[key; 32], 42_001);
        let names = own(7);
        assert_eq!(names, own(7));
        assert_ne!(names.page, own(8).page);
        let plain = HostNames::new(PageHost::Plain, &[7; 32], 42_001);
        assert_eq!((plain.page.as_str(), &plain.programs), ("127.0.0.1:42001", &names.programs));
        for (name, is_page, is_of_programs) in [
            (names.page.as_str(), true, false),
            ("127.0.0.1:42001", false, true),
            ("localhost:42001", false, true),
            ("localhost", false, false),
            ("localhost:80", false, false),
            (names.page.trim_end_matches(":42001"), false, false),
            (&format!("{}:80", names.page), false, false),
        ] {
            let found = (names.is_page(name), names.is_of_programs(name));
            assert_eq!(found, (is_page, is_of_programs), "{name}");
        }
        let (name, port) = names.page.split_once('.').expect("a name below localhost");
        assert_eq!((name.len(), port), (28, "localhost:42001"));
        let tried: Vec<u16> = ports(&[7; 32]).collect();
        assert_eq!(tried.len(), 16_000);
        assert!(tried.iter().all(|port| (42_000..58_000).contains(port)), "{tried:?}");
    }
}
