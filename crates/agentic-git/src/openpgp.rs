//! Signatures of OpenPGP by keys that come along, verified by `gpg`.
//!
//! The key ring is made for one signature and holds nothing but what the caller hands over, so that neither the
//! keys nor the trust of the user count. No agent is started, and nothing is asked of any network.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::process::Command;

use super::command::{GitEnd, run_program};
use agentic_store::file::unique_number;

/// The program. What the configuration names instead signs; it does not say what others signed.
const PROGRAM: &str = "gpg";
/// How a line begins in which it tells programs what it found.
const STATUS: &str = "[GNUPG:] ";
/// What it is always told.
const ALWAYS: [&str; 7] = [
    "--no-options",
    "--batch",
    "--no-tty",
    "--no-autostart",
    "--no-auto-key-retrieve",
    "--trust-model=always",
    "--status-fd=1",
];
/// The hashes that a signature may be over, by their numbers in OpenPGP: SHA-256, SHA-384 and SHA-512.
const HASHES: [&str; 3] = ["8", "9", "10"];
/// The sort of signature that is over bytes as they are.
const OVER_BYTES: &str = "00";

/// Who made a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenPgpSigner {
    /// The whole fingerprint of the primary key.
    pub fingerprint: String,
    /// Whether the key signs now: neither it nor the signature has expired, and nobody has revoked it.
    pub is_live: bool,
}

/// A folder for one key ring; it goes when dropped.
struct KeyRing {
    folder: PathBuf,
}

/// Finds who made a signature over bytes, among the keys of a public block. Nobody where there is no `gpg`, and
/// where there are several signatures.
pub fn openpgp_signer(bytes: &[u8], signature: &str, block: &str) -> Option<OpenPgpSigner> {
    let ring = KeyRing::make().ok()?;
    let _imports_what_it_can = ring.run(&["--import"], block.as_bytes())?;
    let place = ring.folder.join("sig");
    std::fs::write(&place, signature).ok()?;
    let told = ring.run(&["--verify", "--", &place.to_string_lossy(), "-"], bytes)?;
    signer_in(&told.stdout)
}

/// Tells whether there is a program that verifies.
pub fn has_openpgp() -> bool {
    let mut command = Command::new(PROGRAM);
    run_program(command.arg("--version"), b"").is_ok_and(|end| end.success)
}

/// Reads what `gpg` tells of one signature.
fn signer_in(status: &str) -> Option<OpenPgpSigner> {
    let lines: Vec<&str> = status.lines().filter_map(|line| line.strip_prefix(STATUS)).collect();
    let is_one = lines.iter().filter(|line| line.split(' ').next() == Some("NEWSIG")).count() == 1;
    let valid: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("VALIDSIG ")).collect();
    let [valid] = valid.as_slice() else { return None };
    let words: Vec<&str> = valid.split(' ').collect();
    let (hash, sort) = (words.get(7)?, words.get(8)?);
    if !is_one || !HASHES.contains(hash) || *sort != OVER_BYTES {
        return None;
    }
    let is_live = lines.iter().any(|line| line.starts_with("GOODSIG "));
    Some(OpenPgpSigner { fingerprint: (*words.get(9)?).to_owned(), is_live })
}

impl KeyRing {
    /// The path is short: sockets below it, if any, have room for a hundred bytes.
    fn make() -> std::io::Result<KeyRing> {
        let name = format!("agentic-{}-{}", std::process::id(), unique_number());
        let folder = std::env::temp_dir().join(name);
        DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(KeyRing { folder })
    }

    fn run(&self, arguments: &[&str], input: &[u8]) -> Option<GitEnd> {
        let mut command = Command::new(PROGRAM);
        command.env("LC_ALL", "C").env_remove("GNUPGHOME");
        command.arg("--homedir").arg(&self.folder).args(ALWAYS).args(arguments);
        run_program(&mut command, input).ok()
    }
}

impl Drop for KeyRing {
    fn drop(&mut self) {
        let _the_system_clears_it_too = std::fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIMARY: &str = "0123456789ABCDEF0123456789ABCDEF01234567";

    fn status(first: &str, hash: &str, sort: &str) -> String {
        let signing = "A".repeat(40);
        let valid = format!("VALIDSIG {signing} 2026-11-27 1 0 4 0 22 {hash} {sort} {PRIMARY}");
        ["NEWSIG", first, &valid].map(|line| format!("{STATUS}{line}\n")).concat()
    }

    #[test]
    fn what_gpg_tells_is_believed_of_one_good_signature_over_bytes() {
        let live = signer_in(&status("GOODSIG A Ada", "10", "00"));
        let fingerprint = PRIMARY.to_owned();
        assert_eq!(live, Some(OpenPgpSigner { fingerprint: fingerprint.clone(), is_live: true }));
        for first in ["EXPKEYSIG A Ada", "EXPSIG A Ada", "REVKEYSIG A Ada"] {
            let found = signer_in(&status(first, "10", "00"));
            let expected = OpenPgpSigner { fingerprint: fingerprint.clone(), is_live: false };
            assert_eq!(found, Some(expected), "{first}");
        }
        for wrong in [
            String::new(),
            "VALIDSIG".to_owned(),
            format!("{STATUS}NEWSIG\n{STATUS}BADSIG A Ada\n"),
            // SHA-1, a text with its lines changed, two signatures.
            status("GOODSIG A Ada", "2", "00"),
            status("GOODSIG A Ada", "10", "01"),
            status("GOODSIG A Ada", "10", "00").repeat(2),
        ] {
            assert_eq!(signer_in(&wrong), None, "{wrong}");
        }
    }
}
