//! Signing commits with the program that git's configuration names.
//!
//! Git signs only a commit that it writes itself, and writes one only where its tree is stored. Ours
//! are in memory until they are decided, so their program is run from here, in the way git runs it.
//! It may wait for a passphrase or for a key to be touched: nobody signs while holding a lock.

use std::path::{Path, PathBuf};
use std::process::Command;

use agentic_model::commit::CommitData;

use super::Repository;
use super::command::{GitEnd, run_program};
use super::handout::Handout;
use super::signature::OPENPGP;
use agentic_store::error::GitError;
use agentic_store::{Error, Result};

/// How a key begins that stands in the configuration itself.
const LITERAL_KEYS: [&str; 2] = ["key::", "ssh-"];
/// How a line begins in which GnuPG tells programs what it did.
const GPG_STATUS: &str = "[GNUPG:] ";
/// What git signs commits for.
const COMMITS: &str = "git";
/// The longest signature that is taken, in bytes.
pub(super) const SIGNATURE_BYTES_MAX: usize = 64 << 10;

/// Whoever signs commits here, as git's configuration says (`gpg.format`, `user.signingKey`).
pub struct Signer<'a> {
    repository: &'a Repository,
    means: SigningMethod,
}

/// What signs, and with which key.
enum SigningMethod {
    /// GnuPG, or what takes the same arguments.
    Gpg { program: PathBuf, key: String },
    /// OpenSSH, or what takes the same arguments.
    Ssh { program: PathBuf, key: SshKey },
}

/// A key of OpenSSH.
enum SshKey {
    /// A public key; an agent holds the private one.
    Literal(String),
    /// The file that holds it.
    File(PathBuf),
}

impl Repository {
    /// Finds out who signs commits here. No program is run, except one that tells the key.
    ///
    /// # Errors
    /// Fails when the configuration names no key, or a format that there is none of.
    pub fn signer(&self) -> Result<Signer<'_>> {
        let means = match self.config("gpg.format").as_deref() {
            None | Some("openpgp") => self.gpg(self.gpg_program()?)?,
            Some("x509") => self.gpg(self.program(&["gpg.x509.program"], "gpgsm")?)?,
            Some("ssh") => {
                SigningMethod::Ssh { program: self.ssh_program()?, key: self.ssh_key()? }
            }
            Some(format) => {
                return Err(not_signed(format!("git knows no `gpg.format` `{format}`")));
            }
        };
        Ok(Signer { repository: self, means })
    }

    /// Makes one that signs commits by a key that is named as for [`Repository::sign_bytes`].
    ///
    /// # Errors
    /// Fails when the program that signs may not be named here.
    pub fn signer_by(&self, key: &str) -> Result<Signer<'_>> {
        let means = match key.strip_prefix(OPENPGP) {
            Some(key) => SigningMethod::Gpg { program: self.gpg_program()?, key: key.to_owned() },
            None => SigningMethod::Ssh { program: self.ssh_program()?, key: self.named_key(key) },
        };
        Ok(Signer { repository: self, means })
    }

    fn gpg_program(&self) -> Result<PathBuf> {
        self.program(&["gpg.openpgp.program", "gpg.program"], "gpg")
    }

    fn gpg(&self, program: PathBuf) -> Result<SigningMethod> {
        let key = match self.config("user.signingKey").filter(|key| !key.is_empty()) {
            Some(key) => key,
            None => {
                let person = self.committer()?;
                format!("{} <{}>", person.name, person.email)
            }
        };
        Ok(SigningMethod::Gpg { program, key })
    }

    /// Finds a program that the configuration may name; a path is relative to the top folder.
    fn program(&self, settings: &[&str], default: &str) -> Result<PathBuf> {
        for setting in settings {
            if let Some(path) = self.configured_path(setting)? {
                let is_name = path.components().count() == 1;
                return Ok(if is_name { path } else { self.top().join(path) });
            }
        }
        Ok(PathBuf::from(default))
    }

    /// Returns the program that signs and verifies by keys of SSH.
    pub(super) fn ssh_program(&self) -> Result<PathBuf> {
        self.program(&["gpg.ssh.program"], "ssh-keygen")
    }

    /// Signs a text by a key of SSH, for a purpose of its own: what is signed so is no commit.
    ///
    /// # Errors
    /// Fails with what the program says when it does not sign, and without a key.
    pub fn sign_text(&self, text: &str, namespace: &str, key: Option<&Path>) -> Result<String> {
        let key = match key {
            Some(path) => SshKey::File(path.to_owned()),
            None if self.config("gpg.format").as_deref() == Some("ssh") => self.ssh_key()?,
            None => return Err(not_signed("git's configuration names no key of SSH")),
        };
        self.sign_with_ssh(&self.ssh_program()?, &key, text.as_bytes(), namespace)
    }

    /// Signs bytes by a key of SSH, for a purpose of its own, or by one of OpenPGP, which knows no purposes.
    /// The key is a public one, whose private half an agent holds, the path of its file, or `gpg:` and a
    /// fingerprint.
    ///
    /// # Errors
    /// Fails with what the program says when it does not sign.
    pub fn sign_bytes(&self, bytes: &[u8], namespace: &str, key: &str) -> Result<String> {
        let signature = match key.strip_prefix(OPENPGP) {
            Some(key) => self.sign_with_gpg(&self.gpg_program()?, key, bytes)?,
            None => {
                self.sign_with_ssh(&self.ssh_program()?, &self.named_key(key), bytes, namespace)?
            }
        };
        Ok(signature.replace('\r', ""))
    }

    /// Reads the public half of a key of OpenPGP from the key ring of whoever runs this, as an armoured block with
    /// what the key needs alone.
    ///
    /// # Errors
    /// Fails when the ring has no such key.
    pub fn public_openpgp_key(&self, fingerprint: &str) -> Result<String> {
        let program = self.gpg_program()?;
        let mut command = Command::new(&program);
        command.args(["--batch", "--armor", "--export-options", "export-minimal", "--export"]);
        let told = self.run_signer(command.arg(fingerprint), b"")?;
        match told.success && told.stdout.starts_with("-----BEGIN PGP PUBLIC KEY BLOCK-----") {
            true => Ok(told.stdout.replace('\r', "")),
            false => Err(refused(&program, told.stderr.lines())),
        }
    }

    /// Tells the key of SSH by which people sign here: a public key, or the path of its file.
    ///
    /// # Errors
    /// Fails when git's configuration names none.
    pub fn default_ssh_key(&self) -> Result<String> {
        if self.config("gpg.format").as_deref() != Some("ssh") {
            return Err(not_signed("git's configuration names no key of SSH"));
        }
        Ok(match self.ssh_key()? {
            SshKey::Literal(key) => key,
            SshKey::File(path) => path.to_string_lossy().into_owned(),
        })
    }

    /// Reads the public half of a key of SSH that is named as for [`Repository::sign_bytes`].
    ///
    /// # Errors
    /// Fails when there is no such file, or no public half beside it.
    pub fn public_ssh_key(&self, key: &str) -> Result<String> {
        let path = match self.named_key(key) {
            SshKey::Literal(key) => return Ok(key),
            SshKey::File(path) => path,
        };
        let is_public = path.extension().is_some_and(|end| end == "pub");
        let public = if is_public { path } else { path.with_added_extension("pub") };
        std::fs::read_to_string(&public).map_err(Error::io("read", &public))
    }

    fn sign_with_ssh(
        &self,
        program: &Path,
        key: &SshKey,
        plain: &[u8],
        namespace: &str,
    ) -> Result<String> {
        let bytes = Handout::write(self, plain)?;
        let mut command = Command::new(program);
        command.args(["-Y", "sign", "-n", namespace, "-f"]);
        let _public_key = match key {
            SshKey::File(path) => {
                command.arg(path);
                None
            }
            SshKey::Literal(key) => {
                let key = key.strip_prefix(LITERAL_KEYS[0]).unwrap_or(key);
                let file = Handout::write(self, format!("{key}\n").as_bytes())?;
                command.arg(file.path()).arg("-U");
                Some(file)
            }
        };
        let done = self.run_signer(command.arg(bytes.path()), b"")?;
        match std::fs::read_to_string(bytes.answer()) {
            Ok(signature) if done.success => Ok(signature),
            _ => Err(refused(program, done.stderr.lines())),
        }
    }

    fn sign_with_gpg(&self, program: &Path, key: &str, plain: &[u8]) -> Result<String> {
        let mut command = Command::new(program);
        command.args(["--status-fd=2", "-bsau", key]);
        let done = self.run_signer(&mut command, plain)?;
        let status = done.stderr.lines().filter_map(|line| line.strip_prefix(GPG_STATUS));
        let is_signed = status.clone().any(|line| line.starts_with("SIG_CREATED "));
        if done.success && is_signed {
            return Ok(done.stdout);
        }
        let said = done.stderr.lines().filter(|line| !line.starts_with(GPG_STATUS));
        Err(refused(program, said))
    }

    fn named_key(&self, key: &str) -> SshKey {
        match LITERAL_KEYS.iter().chain(&["sk-ssh-"]).any(|begin| key.starts_with(begin)) {
            true => SshKey::Literal(key.to_owned()),
            false => SshKey::File(self.top().join(key)),
        }
    }

    fn ssh_key(&self) -> Result<SshKey> {
        let literal = |key: &str| LITERAL_KEYS.iter().any(|begin| key.starts_with(begin));
        match self.config("user.signingKey").filter(|key| !key.is_empty()) {
            Some(key) if literal(&key) => Ok(SshKey::Literal(key)),
            Some(_) => {
                let path = self.configured_path("user.signingKey")?;
                let path = path.ok_or_else(|| not_signed("nobody may name that key here"))?;
                Ok(SshKey::File(self.top().join(path)))
            }
            None => {
                let command = self.configured_path("gpg.ssh.defaultKeyCommand")?;
                let command = command.ok_or_else(|| not_signed("no key is configured"))?;
                let told = self.run_signer(Command::new("sh").arg("-c").arg(&command), b"")?;
                let key = told.stdout.lines().next().filter(|key| told.success && literal(key));
                let key =
                    key.ok_or_else(|| not_signed(format!("`{}` tells no key", command.display())))?;
                Ok(SshKey::Literal(key.to_owned()))
            }
        }
    }

    /// Returns the folder in which git runs the programs of its configuration.
    fn top(&self) -> &Path {
        self.work_dir().unwrap_or(self.common_dir())
    }

    fn run_signer(&self, command: &mut Command, input: &[u8]) -> Result<GitEnd> {
        let name = Path::new(command.get_program()).to_owned();
        run_program(command.current_dir(self.top()), input).map_err(Error::io("run", &name))
    }
}

impl Signer<'_> {
    /// Writes a commit with its signature and returns its bytes; nothing is stored.
    ///
    /// # Errors
    /// Fails with what the program says when it does not sign.
    pub fn sign(&self, data: &CommitData) -> Result<Vec<u8>> {
        let plain = data.to_bytes();
        let signature = match &self.means {
            SigningMethod::Gpg { program, key } => {
                self.repository.sign_with_gpg(program, key, &plain)?
            }
            SigningMethod::Ssh { program, key } => {
                self.repository.sign_with_ssh(program, key, &plain, COMMITS)?
            }
        };
        let signature = signature.replace('\r', "");
        let signature = signature.trim_end();
        let is_text = |byte: u8| byte == b'\n' || (b' '..=b'~').contains(&byte);
        let is_armoured = signature.starts_with("-----BEGIN ") && signature.ends_with("-----");
        if !is_armoured || !signature.bytes().all(is_text) || signature.len() > SIGNATURE_BYTES_MAX
        {
            return Err(not_signed("what the signing program made is no signature"));
        }
        let header = match data.tree.as_bytes().len() {
            32 => "gpgsig-sha256",
            _ => "gpgsig",
        };
        Ok(data.to_signed_bytes(header, signature))
    }

    /// Names the key: `ssh:` or `gpg:` and its fingerprint. Where that cannot be told, what the
    /// configuration has.
    pub fn name(&self) -> String {
        match &self.means {
            SigningMethod::Gpg { program, key } => {
                let found = self.gpg_fingerprint(program, key);
                format!("gpg:{}", found.unwrap_or_else(|| key.clone()))
            }
            SigningMethod::Ssh { key, .. } => {
                let found = self.ssh_fingerprint(key);
                format!("ssh:{}", found.unwrap_or_default())
            }
        }
    }

    fn gpg_fingerprint(&self, program: &Path, key: &str) -> Option<String> {
        let mut command = Command::new(program);
        command.args(["--batch", "--with-colons", "--list-secret-keys", key]);
        let listed = self.repository.run_signer(&mut command, b"").ok()?;
        let line = listed.stdout.lines().find(|line| line.starts_with("fpr:"))?;
        line.split(':').nth(9).map(str::to_owned)
    }

    fn ssh_fingerprint(&self, key: &SshKey) -> Option<String> {
        let mut command = Command::new("ssh-keygen");
        command.args(["-l", "-f"]);
        let told = match key {
            SshKey::File(path) => self.repository.run_signer(command.arg(path), b""),
            SshKey::Literal(key) => {
                let key = key.strip_prefix(LITERAL_KEYS[0]).unwrap_or(key);
                self.repository.run_signer(command.arg("-"), key.as_bytes())
            }
        };
        // It prints the bits, the fingerprint, the remark and the sort of key.
        told.ok()?.stdout.split(' ').nth(1).map(str::to_owned)
    }
}

fn not_signed(reason: impl Into<String>) -> Error {
    Error::Git(GitError::NotSigned { reason: reason.into() })
}

fn refused<'a>(program: &Path, said: impl Iterator<Item = &'a str>) -> Error {
    let said = said.collect::<Vec<_>>().join("\n");
    not_signed(format!("`{}` says: {}", program.display(), said.trim()))
}
