//! Where children of this process begin: in the folder that it began in, as long as that is there.
//!
//! A linked worktree or a folder below one may be removed while this process runs. Its repository stays,
//! and so do the sessions in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use agentic_git::Repository;
use agentic_providers::process::own_command;

/// The variable that names the git directory.
const GIT_DIR: &str = "GIT_DIR";

/// Where children begin.
#[derive(Debug, Clone)]
pub struct ChildPlace {
    folder: PathBuf,
    /// The main worktree, if there is one, and the git directory.
    repository: Vec<PathBuf>,
    /// What the environment says, which children have too.
    git_dir: Option<PathBuf>,
}

impl ChildPlace {
    /// Makes the place of a process that began in a folder.
    pub fn new(folder: &Path, repository: &Repository) -> ChildPlace {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let main = repository.main_worktree().map(|main| main.path);
        let common_dir = repository.common_dir().to_owned();
        ChildPlace {
            folder: absolute(folder),
            repository: main.into_iter().chain([common_dir]).collect(),
            git_dir: std::env::var_os(GIT_DIR).map(|_| absolute(repository.git_dir())),
        }
    }

    /// Makes a command that runs this program in the folder, or, once that is gone, in the repository.
    pub(crate) fn command(&self) -> std::io::Result<Command> {
        let mut command = own_command()?;
        let found = self.repository.iter().find(|folder| folder.is_dir());
        let folder = match found {
            Some(found) if !self.folder.is_dir() => {
                // What begins in a folder that is gone cannot tell where it is.
                command.current_dir(found);
                found
            }
            Some(_) | None => &self.folder,
        };
        command.arg("-C").arg(folder);
        if let Some(git_dir) = &self.git_dir {
            let is_there = git_dir.is_dir();
            let common_dir = self.repository.last().filter(|_| !is_there);
            // To a child that begins elsewhere a relative one would be another.
            command.env(GIT_DIR, common_dir.unwrap_or(git_dir));
        }
        Ok(command)
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use agentic_testkit::{Sandbox, Setup};

    use super::*;

    fn place_of(command: &Command) -> &Path {
        let arguments: Vec<&OsStr> = command.get_args().collect();
        assert_eq!(arguments[0], "-C");
        Path::new(arguments[1])
    }

    #[test]
    fn children_begin_in_the_repository_once_their_folder_is_gone() {
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        let folder = sandbox.start().join("below");
        std::fs::create_dir(&folder).expect("writable");
        let repository = Repository::open(sandbox.start()).expect("a repository");
        let place = ChildPlace::new(&folder, &repository);
        let command = place.command().expect("this program");
        assert_eq!((place_of(&command), command.get_current_dir()), (&*folder, None));
        std::fs::remove_dir(&folder).expect("it is empty");
        let command = place.command().expect("this program");
        let top = sandbox.start().canonicalize().expect("it is there");
        assert_eq!((place_of(&command), command.get_current_dir()), (&*top, Some(&*top)));
    }
}
