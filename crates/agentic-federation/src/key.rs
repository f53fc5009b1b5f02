//! Public keys, and the signatures that they make.
//!
//! A key of SSH is named by its two words, `ssh-ed25519 AAAA…`, without a remark, so that two spellings of
//! one key are one text. Whoever signs runs a program of the user's; a signature is verified in this
//! process, against keys that a document names, whatever files the user has.
//!
//! A key of OpenPGP is named by `gpg:` and its fingerprint. The document that names it has its public block, and
//! `gpg` verifies with a key ring that holds nothing else. Such a key may expire or be revoked in its block. Then
//! it makes nothing new; what it had signed stays signed.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use agentic_git::{OpenPgpSigner, openpgp_signer};
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

/// The longest public block of a key of OpenPGP that is read, in bytes.
pub const BLOCK_BYTES_MAX: usize = 32 << 10;
/// How the name of a key of OpenPGP begins.
pub const OPENPGP: &str = "gpg:";
/// How many digits its fingerprint has, by the version of the key.
const FINGERPRINT_DIGITS: [usize; 2] = [40, 64];
/// How a signature of OpenPGP begins.
const OPENPGP_SIGNATURE: &str = "-----BEGIN PGP SIGNATURE-----";

/// A public key that may stand in an identity. It is its name: what the block of one of OpenPGP has beside the
/// key may change.
#[derive(Debug, Clone)]
pub struct PeerKey {
    name: String,
    /// The public block of a key of OpenPGP, where somebody has said it.
    block: Option<Arc<str>>,
}

/// Whether a key that has expired since counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyMoment {
    /// It does: something was signed.
    Ever,
    /// It does not: something is signed.
    Now,
}

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
    /// Reads a public key of OpenSSH: `ssh-ed25519`, or one on a device. A remark is left out. Or the name of one
    /// of OpenPGP, by its whole fingerprint; others can make a key that has the same short id.
    ///
    /// # Errors
    /// Fails on keys of other sorts, and on what is no key.
    pub fn parse(text: &str) -> Result<PeerKey, MalformedInput> {
        let text = text.trim().strip_prefix("key::").unwrap_or(text.trim());
        if let Some(fingerprint) = text.strip_prefix(OPENPGP) {
            return PeerKey::of_fingerprint(fingerprint);
        }
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
        Ok(PeerKey { name: words.join(" "), block: None })
    }

    fn of_fingerprint(text: &str) -> Result<PeerKey, MalformedInput> {
        let digits: String = text.split_ascii_whitespace().collect();
        let is_whole = FINGERPRINT_DIGITS.contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_whole {
            let shown: String = text.chars().take(70).collect();
            let why = "it takes all 40 digits, or 64";
            return Err(MalformedInput(format!("`{shown}` is no fingerprint of OpenPGP: {why}")));
        }
        Ok(PeerKey { name: format!("{OPENPGP}{}", digits.to_ascii_uppercase()), block: None })
    }

    /// Returns the fingerprint, if it is a key of OpenPGP.
    pub fn openpgp(&self) -> Option<&str> {
        self.name.strip_prefix(OPENPGP)
    }

    /// Returns the public block that came with a key of OpenPGP.
    pub fn block(&self) -> Option<&str> {
        self.block.as_deref()
    }

    /// Returns the key with its public block.
    ///
    /// # Errors
    /// Fails when the block is no armoured text, and when it is too long.
    pub fn with_block(self, block: &str) -> Result<PeerKey, MalformedInput> {
        let begin = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n";
        let is_text = block.bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte));
        if block.len() > BLOCK_BYTES_MAX || !is_text || !block.starts_with(begin) {
            let why = "its public block is too long, or none";
            return Err(MalformedInput(format!("`{self}` cannot be verified: {why}")));
        }
        Ok(PeerKey { block: Some(block.into()), ..self })
    }

    /// Reads a key as a document has it: in its one spelling.
    ///
    /// # Errors
    /// Fails as [`PeerKey::parse`] does, and when there is another spelling of it.
    pub fn exact(text: &str) -> Result<PeerKey, MalformedInput> {
        let key = PeerKey::parse(text)?;
        match key.name == text {
            true => Ok(key),
            false => Err(MalformedInput::new("a key of a document is not in its plain spelling")),
        }
    }

    /// Returns the two words of the key.
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// Returns `SHA256:` and the hash, by which people compare keys of SSH; those of OpenPGP are their fingerprint.
    pub fn fingerprint(&self) -> String {
        let key = PublicKey::from_openssh(&self.name);
        key.map_or_else(|_| self.name.clone(), |key| key.fingerprint(HashAlg::Sha256).to_string())
    }

    /// Tells whether this key made a signature.
    fn made(&self, text: SignedText<'_>, signature: &SshSig) -> bool {
        let Ok(key) = PublicKey::from_openssh(&self.name) else { return false };
        key.verify(text.namespace, &text.bytes(), signature).is_ok()
    }

    /// Tells whether this key of OpenPGP made a signature.
    fn made_openpgp(&self, text: SignedText<'_>, signature: &str, moment: KeyMoment) -> bool {
        let (Some(fingerprint), Some(block)) = (self.openpgp(), self.block()) else { return false };
        match openpgp_signer(&text.bytes(), signature, block) {
            Some(OpenPgpSigner { fingerprint: found, is_live }) => {
                found == fingerprint && (is_live || moment == KeyMoment::Ever)
            }
            None => false,
        }
    }
}

impl PartialEq for PeerKey {
    fn eq(&self, other: &PeerKey) -> bool {
        self.name == other.name
    }
}

impl Eq for PeerKey {}

impl PartialOrd for PeerKey {
    fn partial_cmp(&self, other: &PeerKey) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PeerKey {
    fn cmp(&self, other: &PeerKey) -> Ordering {
        self.name.cmp(&other.name)
    }
}

impl Hash for PeerKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Display for PeerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl SignedText<'_> {
    /// Returns the bytes that are signed.
    pub fn bytes(&self) -> Vec<u8> {
        [self.line.as_bytes(), self.object].concat()
    }
}

/// Finds the key that made a signature, among those that count, whether or not it has expired since.
pub fn signer<'k>(
    text: SignedText<'_>,
    signature: &str,
    keys: impl IntoIterator<Item = &'k PeerKey>,
) -> Option<&'k PeerKey> {
    find_signer(KeyMoment::Ever, text, signature, keys)
}

/// Finds the key that made a signature, among those that have not expired.
pub fn live_signer<'k>(
    text: SignedText<'_>,
    signature: &str,
    keys: impl IntoIterator<Item = &'k PeerKey>,
) -> Option<&'k PeerKey> {
    find_signer(KeyMoment::Now, text, signature, keys)
}

fn find_signer<'k>(
    moment: KeyMoment,
    text: SignedText<'_>,
    signature: &str,
    keys: impl IntoIterator<Item = &'k PeerKey>,
) -> Option<&'k PeerKey> {
    if signature.len() > SIGNATURE_BYTES_MAX {
        return None;
    }
    if signature.starts_with(OPENPGP_SIGNATURE) {
        return keys.into_iter().find(|key| key.made_openpgp(text, signature, moment));
    }
    let signature = SshSig::from_pem(signature).ok()?;
    let is_for_this =
        signature.namespace() == text.namespace && signature.hash_alg() == HashAlg::Sha512;
    keys.into_iter().find(|key| is_for_this && key.made(text, &signature))
}
