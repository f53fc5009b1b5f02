//! Signatures of commits, made and verified by the `git` program.
//!
//! Only SSH signatures are verified: the keys that count are then exactly those that the caller
//! names, whatever key rings the user has.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use agentic_model::commit::CommitData;
use agentic_model::{Oid, Signature};

use super::Repository;
use super::command::Environment;
use crate::{Error, Result};

/// The name that stands for the keys of the caller in the list that git reads.
const SIGNER: &str = "signer";
/// How the header of a commit with an SSH signature begins, whatever the hash of the repository.
const SSH_HEADERS: [&str; 2] =
    ["gpgsig -----BEGIN SSH SIGNATURE-----", "gpgsig-sha256 -----BEGIN SSH SIGNATURE-----"];

/// Two verifications at once have files of their own.
static VERIFICATIONS: AtomicU64 = AtomicU64::new(0);

impl Repository {
    /// Writes a commit with the signature that git's configuration says (`user.signingKey`,
    /// `gpg.format`) and returns its bytes. No ref names it.
    ///
    /// # Errors
    /// Fails with what git says when it cannot sign.
    pub fn sign_commit(&self, data: &CommitData) -> Result<Vec<u8>> {
        let (tree, parents) = (data.tree.to_string(), data.parents.iter().map(Oid::to_string));
        let parents: Vec<String> = parents.collect();
        let mut arguments = vec!["-c", "i18n.commitEncoding=UTF-8", "commit-tree", "-S"];
        for parent in &parents {
            arguments.extend(["-p", parent]);
        }
        arguments.push(&tree);
        let mut environment = person_of("AUTHOR", &data.author);
        environment.extend(person_of("COMMITTER", &data.committer));
        let program = self.git_with(&arguments, data.message.as_bytes(), environment)?;
        let oid = program.checked(&["commit-tree", "-S"])?;
        let bytes = self.raw_commit(oid.trim())?;
        let is_ours = bytes.starts_with(&format!("tree {tree}\n"))
            && bytes.split_once("\n\n").is_some_and(|(_, message)| message == data.message);
        if is_ours {
            return Ok(bytes.into_bytes());
        }
        let message = "git changed the commit while signing it".to_owned();
        Err(Error::GitProgram { command: "commit-tree -S".to_owned(), message })
    }

    /// Names the key that [`Repository::sign_commit`] signs with: `ssh:` and its fingerprint, or
    /// `gpg:` and its id as git's configuration has it. Only what it is as far as that can be told.
    pub fn signer(&self) -> String {
        let key = self.config("user.signingKey").unwrap_or_default();
        if self.config("gpg.format").is_none_or(|format| format != "ssh") {
            return format!("gpg:{key}");
        }
        format!("ssh:{}", self.fingerprint(&key).unwrap_or_default())
    }

    /// Asks `ssh-keygen` for the fingerprint of a key: one that stands in git's configuration, or
    /// the file that it names.
    fn fingerprint(&self, key: &str) -> Option<String> {
        let literal = key.strip_prefix("key::").or(key.starts_with("ssh-").then_some(key));
        let mut command = Command::new("ssh-keygen");
        command.args(["-l", "-f"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let child = match literal {
            Some(_) => command.arg("-").stdin(Stdio::piped()).spawn(),
            None => {
                let setting = ["config", "--type=path", "--get", "user.signingKey"];
                let path = self.git(&setting).ok()?.stdout;
                command.arg(path.trim_end()).stdin(Stdio::null()).spawn()
            }
        };
        let mut child = child.ok()?;
        if let (Some(key), Some(mut stdin)) = (literal, child.stdin.take()) {
            stdin.write_all(key.as_bytes()).ok()?;
        }
        let output = child.wait_with_output().ok()?;
        // It prints the bits, the fingerprint, the remark and the sort of key.
        let text = String::from_utf8(output.stdout).ok()?;
        text.split(' ').nth(1).map(str::to_owned)
    }

    /// Returns the message of a commit if one of these SSH public keys signed it.
    ///
    /// # Errors
    /// Fails when there is no `git` program or the list of keys cannot be written.
    pub fn message_signed_by(&self, oid: Oid, keys: &[String]) -> Result<Option<String>> {
        let name = oid.to_string();
        let Ok(raw) = self.raw_commit(&name) else { return Ok(None) };
        let Some((headers, message)) = raw.split_once("\n\n") else { return Ok(None) };
        let is_ssh = |line: &str| SSH_HEADERS.contains(&line);
        if keys.is_empty() || !headers.lines().any(is_ssh) {
            return Ok(None);
        }
        let list = self.write_signers(keys)?;
        let setting = format!("gpg.ssh.allowedSignersFile={}", list.display());
        let arguments = [
            "--no-replace-objects",
            "-c",
            &setting,
            "-c",
            "gpg.minTrustLevel=fully",
            "verify-commit",
            "--raw",
            &name,
        ];
        let program = self.git_with(&arguments, b"", Environment::new());
        // The list is of no use any more.
        let _ = std::fs::remove_file(&list);
        let program = program?;
        let is_good = format!("Good \"git\" signature for {SIGNER} with ");
        let is_good = program.stderr.lines().any(|line| line.starts_with(&is_good));
        Ok((program.success && is_good).then(|| message.to_owned()))
    }

    /// Reads a commit as it is stored, whatever takes its place for others.
    fn raw_commit(&self, name: &str) -> Result<String> {
        let arguments = ["--no-replace-objects", "cat-file", "commit", name];
        self.git_with(&arguments, b"", Environment::new())?.checked(&arguments[1..])
    }

    fn write_signers(&self, keys: &[String]) -> Result<PathBuf> {
        let n = VERIFICATIONS.fetch_add(1, Ordering::Relaxed);
        let name = format!("signers-{}-{n}", std::process::id());
        let path = self.layout().root().join(name);
        let lines = keys.iter().map(|key| format!("{SIGNER} namespaces=\"git\" {key}\n"));
        std::fs::create_dir_all(self.layout().root())
            .and_then(|()| std::fs::write(&path, lines.collect::<String>()))
            .map_err(Error::io("write", &path))?;
        Ok(path)
    }
}

fn person_of(role: &str, signature: &Signature) -> Environment {
    // The header ends in seconds and offset, which is how git takes a date.
    let header = signature.to_header();
    let date = header.rsplitn(3, ' ').take(2).collect::<Vec<_>>();
    let date = format!("@{} {}", date[1], date[0]);
    vec![
        (format!("GIT_{role}_NAME"), signature.person.name.clone().into()),
        (format!("GIT_{role}_EMAIL"), signature.person.email.clone().into()),
        (format!("GIT_{role}_DATE"), date.into()),
    ]
}
