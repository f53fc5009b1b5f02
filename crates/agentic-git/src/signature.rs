//! Signatures of commits, verified by the `git` program.
//!
//! The keys that count are exactly those that the caller names, whatever key rings and trust the
//! user has.

use std::process::Command;

use agentic_model::Oid;

use super::Repository;
use super::command::{GitEnd, run_program};
use super::handout::Handout;
use super::signer::SIGNATURE_BYTES_MAX;
use agentic_store::{Error, Result};

/// The name that stands for the keys of the caller in the list that git reads.
const SIGNER: &str = "signer";
/// How the header of a signature is called, by the hash of the repository.
const HEADERS: [&str; 2] = ["gpgsig ", "gpgsig-sha256 "];
/// How a key of OpenPGP is named: by this and its whole fingerprint.
pub(super) const OPENPGP: &str = "gpg:";
/// How many digits the fingerprint of a key of OpenPGP has, by the version of the key.
const FINGERPRINT_DIGITS: [usize; 2] = [40, 64];
/// How the line begins in which GnuPG names the keys of a good signature.
const VALID: &str = "[GNUPG:] VALIDSIG ";

/// The sorts of signatures that are verified.
#[derive(Debug, Clone, Copy)]
enum SignatureSort {
    Ssh,
    OpenPgp,
}

impl Repository {
    /// Returns the message of a commit if one of these keys signed it. A key is a public key of SSH,
    /// or `gpg:` and the fingerprint of one of OpenPGP that the user's key ring holds.
    ///
    /// # Errors
    /// Fails when there is no `git` program or the list of keys cannot be written.
    pub fn message_signed_by(&self, oid: Oid, keys: &[String]) -> Result<Option<String>> {
        let name = oid.to_string();
        let Ok(raw) = self.raw_commit(&name) else { return Ok(None) };
        let Some((headers, message)) = raw.split_once("\n\n") else { return Ok(None) };
        let is_signed = match sort_of(headers) {
            None => false,
            Some(SignatureSort::Ssh) => self.is_signed_by_ssh(&name, keys)?,
            Some(SignatureSort::OpenPgp) => self.is_signed_by_openpgp(&name, keys)?,
        };
        Ok(is_signed.then(|| message.to_owned()))
    }

    /// Returns the fingerprint of the key that signed a text for a purpose, if it is one of these keys
    /// of SSH.
    ///
    /// # Errors
    /// Fails when there is no program that verifies, and when it cannot be handed the text.
    pub fn text_signed_by(
        &self,
        text: &str,
        namespace: &str,
        signature: &str,
        keys: &[String],
    ) -> Result<Option<String>> {
        let keys = keys.iter().filter(|key| !key.starts_with(OPENPGP));
        let lines = keys.map(|key| format!("{SIGNER} namespaces=\"{namespace}\" {key}\n"));
        let lines: String = lines.collect();
        if lines.is_empty() || signature.len() > SIGNATURE_BYTES_MAX {
            return Ok(None);
        }
        let list = Handout::write(self, lines.as_bytes())?;
        let signature = Handout::write(self, signature.as_bytes())?;
        let program = self.ssh_program()?;
        let mut command = Command::new(&program);
        command.args(["-Y", "verify", "-I", SIGNER, "-n", namespace, "-f"]).arg(list.path());
        command.arg("-s").arg(signature.path());
        let done =
            run_program(&mut command, text.as_bytes()).map_err(Error::io("run", &program))?;
        let begin = format!("Good \"{namespace}\" signature for {SIGNER} with ");
        let good = done.stdout.lines().find_map(|line| line.strip_prefix(&begin));
        let fingerprint = good.and_then(|key| key.split(' ').next_back());
        Ok(fingerprint.filter(|_| done.success).map(str::to_owned))
    }

    fn is_signed_by_ssh(&self, name: &str, keys: &[String]) -> Result<bool> {
        let keys = keys.iter().filter(|key| !key.starts_with(OPENPGP));
        let lines = keys.map(|key| format!("{SIGNER} namespaces=\"git\" {key}\n"));
        let lines: String = lines.collect();
        if lines.is_empty() {
            return Ok(false);
        }
        let list = Handout::write(self, lines.as_bytes())?;
        let list = format!("gpg.ssh.allowedSignersFile={}", list.path().display());
        // Only a key of that list has more trust than none.
        let program = self.verify_commit(&[&list, "gpg.minTrustLevel=fully"], name)?;
        let is_good = format!("Good \"git\" signature for {SIGNER} with ");
        Ok(program.success && program.stderr.lines().any(|line| line.starts_with(&is_good)))
    }

    fn is_signed_by_openpgp(&self, name: &str, keys: &[String]) -> Result<bool> {
        let keys = keys.iter().filter_map(|key| key.strip_prefix(OPENPGP));
        let keys: Vec<String> = keys.filter_map(fingerprint).collect();
        if keys.is_empty() {
            return Ok(false);
        }
        // Whoever names a fingerprint trusts that key.
        let program = self.verify_commit(&["gpg.minTrustLevel=undefined"], name)?;
        let valid = program.stderr.lines().filter_map(|line| line.strip_prefix(VALID));
        // The line begins with the key that signed and ends with the one that it belongs to.
        let mut named = valid
            .flat_map(|line| line.split(' ').next().into_iter().chain(line.split(' ').next_back()));
        Ok(program.success && named.any(|named| keys.iter().any(|key| key == named)))
    }

    fn verify_commit(&self, settings: &[&str], name: &str) -> Result<GitEnd> {
        let mut arguments = vec!["--no-replace-objects"];
        arguments.extend(settings.iter().flat_map(|setting| ["-c", setting]));
        arguments.extend(["verify-commit", "--raw", name]);
        self.git(&arguments)
    }

    /// Reads a commit as it is stored, whatever takes its place for others.
    fn raw_commit(&self, name: &str) -> Result<String> {
        let arguments = ["--no-replace-objects", "cat-file", "commit", name];
        self.git(&arguments)?.checked(&arguments[1..])
    }
}

fn sort_of(headers: &str) -> Option<SignatureSort> {
    let begins =
        headers.lines().find_map(|line| HEADERS.iter().find_map(|name| line.strip_prefix(name)));
    match begins? {
        "-----BEGIN SSH SIGNATURE-----" => Some(SignatureSort::Ssh),
        "-----BEGIN PGP SIGNATURE-----" => Some(SignatureSort::OpenPgp),
        _ => None,
    }
}

/// Writes a fingerprint as GnuPG does. A shorter id is none: others can make a key that has it.
fn fingerprint(text: &str) -> Option<String> {
    let digits: String = text.split_whitespace().collect();
    let is_whole = FINGERPRINT_DIGITS.contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_whole.then(|| digits.to_ascii_uppercase())
}

#[cfg(test)]
mod tests;
