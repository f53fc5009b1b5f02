//! A glance at a folder: may what happens in it be captured at all?
//!
//! A hook that a user has installed for all projects runs in those that want nothing of it, too, and
//! must cost nothing there. So before a repository is opened, a few small files are read for the one
//! word that must stand in one of them. The glance says no only where the answer is no; whether it is
//! yes, git's configuration says. What is no file, where a configuration belongs, is an error: git would
//! wait for it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use agentic_store::{Error, Result, file};

use crate::HookEnvironment;

/// How much of a configuration is looked at, in bytes. A longer one is read in full by git's own rules.
const CONFIGURATION_BYTES_MAX: u64 = 1 << 20;
/// How many folders are looked at on the way up.
const FOLDERS_MAX: usize = 256;
/// Variables by which git is told of configuration, or of another repository.
const TELLING: [&str; 5] =
    ["GIT_DIR", "GIT_COMMON_DIR", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_SYSTEM"];

/// The git directories that a folder leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitFolders {
    /// That of the worktree.
    pub own: PathBuf,
    /// That of all worktrees.
    pub common: PathBuf,
}

/// Finds the git directories of the repository that a folder lies in, as far as files alone tell.
///
/// # Errors
/// Fails where something else stands in the place of a file of git's.
pub(crate) fn git_folders(folder: &Path) -> Result<Option<GitFolders>> {
    for folder in folder.ancestors().take(FOLDERS_MAX) {
        if let Some(found) = git_folders_at(folder)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Tells whether something that happens in a folder may have to be captured.
///
/// # Errors
/// Fails where something else stands in the place of a configuration of git's.
pub(crate) fn may_be_captured(folder: &Path, environment: &HookEnvironment) -> Result<bool> {
    let mut may = TELLING.iter().any(|name| environment.has(name));
    let Some(git) = git_folders(folder)? else { return Ok(may) };
    let mut files = vec![git.common.join("config"), git.own.join("config.worktree")];
    let home = environment.home();
    let xdg =
        environment.path("XDG_CONFIG_HOME").or(home.as_ref().map(|home| home.join(".config")));
    match environment.path("GIT_CONFIG_GLOBAL") {
        Some(global) => files.push(global),
        None => {
            files.extend(home.map(|home| home.join(".gitconfig")));
            files.extend(xdg.map(|folder| folder.join("git/config")));
        }
    }
    let system = environment.path("GIT_CONFIG_SYSTEM");
    files.push(system.unwrap_or(PathBuf::from("/etc/gitconfig")));
    // Whoever opens the repository reads all of them.
    for file in files {
        may |= may_say_so(&file)?;
    }
    Ok(may)
}

fn git_folders_at(folder: &Path) -> Result<Option<GitFolders>> {
    let inside = folder.join(".git");
    let own = match inside.metadata() {
        Ok(found) if found.is_dir() => inside,
        Ok(found) if found.is_file() => {
            let text = read_start(&inside)?.unwrap_or_default();
            let named = std::str::from_utf8(&text).ok().and_then(|it| it.strip_prefix("gitdir:"));
            let Some(named) = named else { return Ok(None) };
            folder.join(named.trim())
        }
        Err(_) if folder.join("HEAD").is_file() && folder.join("objects").is_dir() => {
            folder.to_owned()
        }
        Ok(_) | Err(_) => return Ok(None),
    };
    let common = match read_start(&own.join("commondir"))? {
        Some(text) => match std::str::from_utf8(&text) {
            Ok(named) => own.join(named.trim()),
            Err(_) => return Ok(None),
        },
        None => own.clone(),
    };
    Ok(Some(GitFolders { own, common }))
}

/// Tells whether a configuration may switch capture on: it has the key, or takes in other files, or only
/// git knows what becomes of it.
fn may_say_so(file: &Path) -> Result<bool> {
    let text = match read_start(file) {
        Err(Error::File(error)) if error.source.kind() == ErrorKind::PermissionDenied => {
            return Ok(true);
        }
        read => read?,
    };
    let Some(text) = text else { return Ok(false) };
    let text = text.to_ascii_lowercase();
    let has = |word: &[u8]| text.windows(word.len()).any(|part| part == word);
    Ok(text.len() as u64 >= CONFIGURATION_BYTES_MAX || has(b"capture") || has(b"include"))
}

/// Reads the beginning of a file; nothing if there is none.
fn read_start(path: &Path) -> Result<Option<Vec<u8>>> {
    match file::read_small(path, CONFIGURATION_BYTES_MAX) {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        // Thus people say that there is none.
        Err(_) if path.canonicalize().is_ok_and(|real| real == Path::new("/dev/null")) => Ok(None),
        Err(error) => Err(Error::io("read", path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(config: &str, folder: &str, may: bool) {
        let root = tempfile::tempdir().expect("a temporary folder");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("in a folder")).expect("writable");
            std::fs::write(path, text).expect("writable");
        };
        write("main/.git/config", config);
        write("main/.git/worktrees/w/commondir", "../..\n");
        write(
            "linked/.git",
            &format!("gitdir: {}\n", root.path().join("main/.git/worktrees/w").display()),
        );
        write("main/inner/.git/config", "[core]\n");
        write("bare/config", config);
        write("bare/HEAD", "ref: refs/heads/main\n");
        for path in ["bare/objects", "main/a/b", "linked/a", "main/inner/a", "outside"] {
            std::fs::create_dir_all(root.path().join(path)).expect("writable");
        }
        let none = HookEnvironment::of([("GIT_CONFIG_GLOBAL", "/nowhere")]);
        let at = root.path().join(folder);
        let glance = may_be_captured(&at, &none).expect("all are files");
        assert_eq!(glance, may, "{config:?} {folder}");
        let told = HookEnvironment::of([("GIT_DIR", "x")]);
        assert!(may_be_captured(&at, &told).expect("nothing is read"));
    }

    #[test]
    fn a_folder_may_be_captured_if_its_repository_says_so() {
        for folder in ["main", "main/a/b", "linked", "linked/a", "bare"] {
            check("[agentic]\n\tCapture = on\n", folder, true);
            check("[include]\n\tpath = x\n", folder, true);
            check("[core]\n\tbare = false\n", folder, false);
        }
        for folder in ["main/inner/a", "outside", "missing"] {
            check("[agentic]\n\tcapture = on\n", folder, false);
        }
    }
}
