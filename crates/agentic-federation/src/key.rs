//! Public keys, and the signatures that they make.
//!
//! A key is named by its two words, `ssh-ed25519 AAAA…`, without a remark, so that two spellings of
//! one key are one text. Whoever signs runs a program of the user's; a signature is verified in this
//! process, against keys that a document names, whatever files the user has.

use std::fmt;

use ssh_key::{Algorithm, HashAlg, PublicKey, SshSig};

use crate::fields::MalformedInput;

/// The purpose of the signature of an announcement.
pub const ANNOUNCEMENT_NAMESPACE: &str = "announcement@agentic";
/// The purpose of the signature of an identity document.
pub const IDENTITY_NAMESPACE: &str = "identity@agentic";
/// The purpose of the signature of a commit, as git has it.
pub const COMMIT_NAMESPACE: &str = "git";
/// The longest signature that is read, in bytes.
pub const SIGNATURE_BYTES_MAX: usize = 16 << 10;
/// The longest key that is read, in bytes.
const KEY_BYTES_MAX: usize = 4 << 10;

/// A public key that may stand in an identity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerKey(String);

/// What is signed, and what for.
#[derive(Debug, Clone, Copy)]
pub struct SignedText<'b> {
    /// The purpose, as `ssh-keygen -n` takes it.
    pub namespace: &'static str,
    /// The line that stands before the object.
    pub line: &'static str,
    /// The object.
    pub object: &'b [u8],
}

impl PeerKey {
    /// Reads a public key of OpenSSH: `ssh-ed25519`, or one on a device. A remark is left out.
    ///
    /// # Errors
    /// Fails on keys of other sorts, and on what is no key.
    pub fn parse(text: &str) -> Result<PeerKey, MalformedInput> {
        let text = text.trim().strip_prefix("key::").unwrap_or(text.trim());
        let shown: String = text.chars().take(40).collect();
        let wrong =
            |why: &str| MalformedInput(format!("`{shown}` is no key that signs here: {why}"));
        if text.len() > KEY_BYTES_MAX {
            return Err(wrong("it is too long"));
        }
        let key = PublicKey::from_openssh(text).map_err(|error| wrong(&error.to_string()))?;
        let algorithm = key.algorithm();
        if ![Algorithm::Ed25519, Algorithm::SkEd25519].contains(&algorithm) {
            let known = "only `ssh-ed25519` and `sk-ssh-ed25519@openssh.com` are";
            return Err(wrong(&format!("{known}, not `{algorithm}`")));
        }
        let words: Vec<&str> = text.split_ascii_whitespace().take(2).collect();
        Ok(PeerKey(words.join(" ")))
    }

    /// Reads a key as a document has it: in its one spelling.
    ///
    /// # Errors
    /// Fails as [`PeerKey::parse`] does, and when there is another spelling of it.
    pub fn exact(text: &str) -> Result<PeerKey, MalformedInput> {
        let key = PeerKey::parse(text)?;
        match key.0 == text {
            true => Ok(key),
            false => Err(MalformedInput::new("a key of a document is not in its plain spelling")),
        }
    }

    /// Returns the two words of the key.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns `SHA256:` and the hash, by which people compare keys.
    pub fn fingerprint(&self) -> String {
        let key = PublicKey::from_openssh(&self.0);
        key.map_or_else(|_| self.0.clone(), |key| key.fingerprint(HashAlg::Sha256).to_string())
    }

    /// Tells whether this key made a signature.
    fn made(&self, text: SignedText<'_>, signature: &SshSig) -> bool {
        let Ok(key) = PublicKey::from_openssh(&self.0) else { return false };
        key.verify(text.namespace, &text.bytes(), signature).is_ok()
    }
}

impl fmt::Display for PeerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl SignedText<'_> {
    /// Returns the bytes that are signed.
    pub fn bytes(&self) -> Vec<u8> {
        [self.line.as_bytes(), self.object].concat()
    }
}

/// Finds the key that made a signature, among those that count.
pub fn signer<'k>(
    text: SignedText<'_>,
    signature: &str,
    keys: impl IntoIterator<Item = &'k PeerKey>,
) -> Option<&'k PeerKey> {
    if signature.len() > SIGNATURE_BYTES_MAX {
        return None;
    }
    let signature = SshSig::from_pem(signature).ok()?;
    let is_for_this =
        signature.namespace() == text.namespace && signature.hash_alg() == HashAlg::Sha512;
    keys.into_iter().find(|key| is_for_this && key.made(text, &signature))
}
