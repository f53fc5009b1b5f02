//! What somebody has allowed files of a repository to do.
//!
//! An allowance names the repository, the file and what it held. It is kept with the user, outside of
//! every repository, in a folder that no tool reaches (`tool/guard.rs`).

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use agentic_model::Cid;
use serde::{Deserialize, Serialize};

use super::tracked::TrackedPlace;

/// The variable with the hashes that a machine allows, with blanks or commas between them.
pub const ALLOW_VARIABLE: &str = "AGENTIC_ALLOW";
/// The variable that tells a program that a session runs it.
const REQUEST_VARIABLE: &str = "AGENTIC_REQUEST";
/// The folder among the user's data; tools reach nothing whose name begins so.
const FOLDER: &str = "agentic/.agentic-allowed";
/// The longest allowance, in bytes.
const BYTES_MAX: u64 = 64 << 10;

/// What was allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    /// The hash of what the file holds.
    pub hash: String,
    /// The folder of the repository that all its worktrees share.
    pub repository: PathBuf,
    /// The file, from the top of a worktree.
    pub file: String,
}

/// The allowances of the user.
#[derive(Debug, Clone)]
pub struct Allowances {
    folder: PathBuf,
}

/// Makes the hash of what a file holds.
pub fn hash_of(content: &[u8]) -> String {
    Cid::of(content).to_string()
}

impl Allowance {
    /// Says what would be allowed.
    pub fn of(tracked: &TrackedPlace, hash: &str) -> Allowance {
        let TrackedPlace { repository, file } = tracked;
        Allowance { hash: hash.to_owned(), repository: repository.clone(), file: file.clone() }
    }

    fn name(&self) -> String {
        let repository = self.repository.to_string_lossy();
        let parts = format!(
            "{}:{repository}{}:{}{}",
            repository.len(),
            self.file.len(),
            self.file,
            self.hash
        );
        Cid::of(parts.as_bytes()).to_string()
    }

    /// Tells whether it counts: the machine or the user says so.
    pub fn counts(&self) -> bool {
        is_allowed_here(&self.hash)
            || Allowances::of_user().is_some_and(|allowances| allowances.contains(self))
    }
}

/// Tells whether the environment allows a hash. A program that a session runs does not speak for
/// the machine.
fn is_allowed_here(hash: &str) -> bool {
    if std::env::var_os(REQUEST_VARIABLE).is_some_and(|request| !request.is_empty()) {
        return false;
    }
    let given = std::env::var(ALLOW_VARIABLE).unwrap_or_default();
    given.split([',', ' ', '\n']).any(|word| word == hash)
}

impl Allowances {
    /// Finds where the user keeps them; nothing where there is no home.
    pub fn of_user() -> Option<Allowances> {
        let named = |name: &str| {
            let folder = std::env::var_os(name).map(PathBuf::from);
            // A path that begins where we stand would begin in the repository.
            folder.filter(|folder| folder.is_absolute())
        };
        let data = named("XDG_DATA_HOME");
        let data = data.or_else(|| named("HOME").map(|home| home.join(".local/share")))?;
        Some(Allowances { folder: data.join(FOLDER) })
    }

    fn contains(&self, allowance: &Allowance) -> bool {
        // A repository that holds our folder could bring allowances of its own.
        let top = allowance.repository.parent().unwrap_or(&allowance.repository);
        let is_inside = self.folder.canonicalize().is_ok_and(|folder| folder.starts_with(top));
        !is_inside && read(&self.folder.join(allowance.name())).as_ref() == Some(allowance)
    }

    /// Keeps an allowance.
    ///
    /// # Errors
    /// Fails when it cannot be written.
    pub fn add(&self, allowance: &Allowance) -> std::io::Result<()> {
        let mut folder = fs::DirBuilder::new();
        folder.recursive(true).mode(0o700).create(&self.folder)?;
        let name = allowance.name();
        let fresh = self.folder.join(format!("{name}.{}.new", std::process::id()));
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&fresh)?;
        let text = serde_json::to_string(allowance).map_err(std::io::Error::other)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&fresh, self.folder.join(name))?;
        fs::File::open(&self.folder)?.sync_all()
    }

    /// Lists all allowances, by repository and file.
    ///
    /// # Errors
    /// Fails when the folder cannot be read.
    pub fn list(&self) -> std::io::Result<Vec<Allowance>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = entry?.path();
            // What somebody else put there, or what a crash left, allows nothing.
            let allowance = read(&path).filter(|it| path.ends_with(it.name()));
            found.extend(allowance);
        }
        found.sort_by(|one, other| {
            (&one.repository, &one.file, &one.hash).cmp(&(
                &other.repository,
                &other.file,
                &other.hash,
            ))
        });
        Ok(found)
    }

    /// Takes an allowance back.
    ///
    /// # Errors
    /// Fails when it cannot be removed.
    pub fn remove(&self, allowance: &Allowance) -> std::io::Result<()> {
        match fs::remove_file(self.folder.join(allowance.name())) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            removed => removed.and_then(|()| fs::File::open(&self.folder)?.sync_all()),
        }
    }
}

fn read(path: &Path) -> Option<Allowance> {
    use std::io::Read as _;
    let mut text = String::new();
    fs::File::open(path).ok()?.take(BYTES_MAX).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}
