//! A glance at a folder: may what happens in it be captured at all?
//!
//! A hook that a user has installed for all projects runs in those that want nothing of it, too, and
//! must cost nothing there. So before a repository is opened, a few small files are read for the one
//! word that must stand in one of them. The glance says no only where the answer is no; whether it is
//! yes, git's configuration says.

use std::path::{Path, PathBuf};

use agentic_store::file;

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
pub(crate) fn git_folders(folder: &Path) -> Option<GitFolders> {
    folder.ancestors().take(FOLDERS_MAX).find_map(git_folders_at)
}

/// Tells whether something that happens in a folder may have to be captured.
pub(crate) fn may_be_captured(folder: &Path, environment: &HookEnvironment) -> bool {
    if TELLING.iter().any(|name| environment.has(name)) {
        return true;
    }
    let Some(git) = git_folders(folder) else { return false };
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
    files.push(PathBuf::from("/etc/gitconfig"));
    files.iter().any(|file| may_say_so(file))
}

fn git_folders_at(folder: &Path) -> Option<GitFolders> {
    let inside = folder.join(".git");
    let own = match inside.symlink_metadata() {
        Ok(found) if found.is_file() => {
            let text = read_start(&inside)?;
            let named = std::str::from_utf8(&text).ok()?.strip_prefix("gitdir:")?.trim();
            folder.join(named)
        }
        Ok(_) => inside,
        Err(_) if folder.join("HEAD").is_file() && folder.join("objects").is_dir() => {
            folder.to_owned()
        }
        Err(_) => return None,
    };
    let common = match read_start(&own.join("commondir")) {
        Some(text) => own.join(std::str::from_utf8(&text).ok()?.trim()),
        None => own.clone(),
    };
    Some(GitFolders { own, common })
}

/// Tells whether a configuration may switch capture on: it has the key, or takes in other files.
fn may_say_so(file: &Path) -> bool {
    let Some(text) = read_start(file) else { return false };
    let text = text.to_ascii_lowercase();
    let has = |word: &[u8]| text.windows(word.len()).any(|part| part == word);
    text.len() as u64 >= CONFIGURATION_BYTES_MAX || has(b"capture") || has(b"include")
}

fn read_start(path: &Path) -> Option<Vec<u8>> {
    file::read_small(path, CONFIGURATION_BYTES_MAX).ok()
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
        assert_eq!(may_be_captured(&root.path().join(folder), &none), may, "{config:?} {folder}");
        let told = HookEnvironment::of([("GIT_DIR", "x")]);
        assert!(may_be_captured(&root.path().join(folder), &told));
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
