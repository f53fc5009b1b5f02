//! Tokens: what programs that speak a protocol of their own show to be heard. The file has hashes only.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use agentic_store::Layout;
use agentic_store::file::{Persistence, make_private_folder, open_regular, read_whole, replace};
use serde::{Deserialize, Serialize};

use crate::error::{ResidentError, Result};
use crate::os::random_bytes;

/// How many tokens there may be.
const TOKENS_MAX: usize = 256;
/// The longest file of tokens that is read, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// What a token begins with, so that those who look for secrets find it.
const TOKEN_BEGIN: &str = "agentic_";

/// What a token lets a program do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TokenGrant {
    /// What the person called it.
    pub name: String,
    /// The agent that its writes are made as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Whether it only reads.
    pub read_only: bool,
}

/// A token as the file has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct KnownToken {
    #[serde(flatten)]
    grant: TokenGrant,
    hash: String,
}

/// The file.
#[derive(Debug, Clone)]
pub struct TokenBook {
    folder: PathBuf,
}

impl TokenBook {
    /// Names that of a repository.
    pub fn of(layout: &Layout) -> TokenBook {
        TokenBook { folder: layout.resident() }
    }

    /// Makes a token, in place of one of the same name, and returns it: nobody can read it again.
    ///
    /// # Errors
    /// Fails when there are too many, when the file cannot be replaced, and without randomness.
    pub fn issue(&self, grant: TokenGrant) -> Result<String> {
        let bytes = random_bytes::<32>().map_err(ResidentError::system("read random bytes"))?;
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let token = format!("{TOKEN_BEGIN}{digits}");
        let known = KnownToken { grant, hash: hash(&token) };
        self.change(|tokens| {
            tokens.retain(|other| other.grant.name != known.grant.name);
            tokens.push(known);
        })?;
        Ok(token)
    }

    /// Takes a token back. Says whether there was one of that name.
    ///
    /// # Errors
    /// Fails when the file cannot be replaced.
    pub fn revoke(&self, name: &str) -> Result<bool> {
        let mut was_there = false;
        self.change(|tokens| {
            let n_tokens = tokens.len();
            tokens.retain(|known| known.grant.name != name);
            was_there = tokens.len() < n_tokens;
        })?;
        Ok(was_there)
    }

    /// Returns what a token lets a program do. The file is read each time: what was taken back counts
    /// at once.
    pub fn find(&self, token: &str) -> Option<TokenGrant> {
        // Found by its hash: how long that takes tells nothing of it.
        let hash = hash(token);
        self.read().ok()?.into_iter().find(|known| known.hash == hash).map(|known| known.grant)
    }

    fn change(&self, change: impl FnOnce(&mut Vec<KnownToken>)) -> Result<()> {
        make_private_folder(&self.folder)?;
        let lock = self.folder.join("tokens.lock");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let held = open_regular(&lock, &mut options);
        let held = held.map_err(ResidentError::file("open", &lock))?;
        held.lock().map_err(ResidentError::file("lock", &lock))?;
        let path = self.path();
        let mut tokens = self.read().map_err(ResidentError::file("read", &path))?;
        change(&mut tokens);
        if tokens.len() > TOKENS_MAX {
            let full = std::io::Error::other("there are 256 tokens already");
            return Err(ResidentError::file("write", &path)(full));
        }
        let text = serde_json::to_vec_pretty(&tokens).expect("tokens have text keys");
        Ok(replace(&path, &text, Persistence::Lazy)?)
    }

    fn read(&self) -> std::io::Result<Vec<KnownToken>> {
        // Where anything but a file is, nobody waits for it.
        let bytes = match read_whole(&self.path(), FILE_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        serde_json::from_slice(&bytes).map_err(std::io::Error::other)
    }

    fn path(&self) -> PathBuf {
        Path::new(&self.folder).join("tokens")
    }
}

fn hash(token: &str) -> String {
    blake3::derive_key("agentic 2026 token of a program", token.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use agentic_store::Layout;
    use agentic_testkit::{Sandbox, Setup};

    use super::{TokenBook, TokenGrant};
    use crate::error::ResidentError;

    #[test]
    fn tokens_in_a_pipe_are_refused_and_not_waited_for() {
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        let layout = Layout::new(&sandbox.start().join(".git"));
        let book = TokenBook::of(&layout);
        let grant = TokenGrant { name: "editor".to_owned(), agent: None, read_only: true };
        let token = book.issue(grant.clone()).expect("writable");
        for name in ["tokens", "tokens.lock"] {
            let path = layout.resident().join(name);
            std::fs::remove_file(&path).expect("it is there");
            let mode = rustix::fs::Mode::RWXU;
            rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).expect("writable");
            let refused = book.issue(grant.clone());
            assert!(matches!(refused, Err(ResidentError::File { .. })), "{name}: {refused:?}");
            assert_eq!(book.find(&token), None, "{name}");
            std::fs::remove_file(&path).expect("it is there");
        }
    }

    #[test]
    fn a_token_is_known_by_its_hash_until_it_is_taken_back() {
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        let layout = Layout::new(&sandbox.start().join(".git"));
        let book = TokenBook::of(&layout);
        assert_eq!(book.find("agentic_"), None);
        let grant = |name: &str, read_only| TokenGrant {
            name: name.to_owned(),
            agent: Some("alice".to_owned()),
            read_only,
        };
        let token = book.issue(grant("editor", false)).expect("writable");
        let other = book.issue(grant("other", true)).expect("writable");
        assert_eq!(book.find(&token), Some(grant("editor", false)));
        let file = std::fs::read_to_string(layout.resident().join("tokens")).expect("a file");
        assert!(!file.contains(&token[8..]), "{file}");
        let again = book.issue(grant("editor", true)).expect("writable");
        assert_eq!((book.find(&token), book.find(&again)), (None, Some(grant("editor", true))));
        assert!(book.revoke("editor").expect("writable"));
        assert!(!book.revoke("editor").expect("writable"));
        assert_eq!((book.find(&again), book.find(&other)), (None, Some(grant("other", true))));
    }
}
