//! What a sandbox holds before a test begins.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Error, Sandbox};

/// The repositories of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setup {
    /// `repo`: a repository whose branch `main` has one commit with `README.md`.
    Repository,
    /// `empty`: a repository without any commit.
    EmptyRepository,
    /// `repo.git`: a bare repository whose branch `main` has one commit.
    BareRepository,
    /// `plain`: a folder outside any repository.
    NoRepository,
    /// `here` and `there`: two clones of the bare repository `hub.git`, their remote `origin`.
    TwoSpaces,
}

impl Setup {
    /// Every setup with the words that name it in a case.
    pub const ALL: [(Setup, &'static str); 5] = [
        (Setup::Repository, "repo"),
        (Setup::EmptyRepository, "empty repo"),
        (Setup::BareRepository, "bare repo"),
        (Setup::NoRepository, "no repo"),
        (Setup::TwoSpaces, "two spaces"),
    ];

    /// Finds a setup by the words that name it.
    pub fn parse(words: &str) -> Option<Setup> {
        Setup::ALL.iter().find(|(_, name)| *name == words).map(|(setup, _)| *setup)
    }

    /// Builds the repositories and returns the folder in which commands start.
    pub(crate) fn build(self, sandbox: &Sandbox) -> Result<PathBuf, Error> {
        let work = sandbox.work();
        match self {
            Setup::Repository => started_repository(sandbox, "repo"),
            Setup::EmptyRepository => repository(sandbox, "empty"),
            Setup::BareRepository => {
                started_repository(sandbox, "repo")?;
                sandbox.git(&work, &["clone", "--quiet", "--bare", "repo", "repo.git"])?;
                fs::remove_dir_all(work.join("repo")).map_err(Error::file("remove `repo`"))?;
                let bare = work.join("repo.git");
                sandbox.git(&bare, &["remote", "remove", "origin"])?;
                Ok(bare)
            }
            Setup::NoRepository => {
                let plain = work.join("plain");
                fs::create_dir(&plain).map_err(Error::file("make `plain`"))?;
                Ok(plain)
            }
            Setup::TwoSpaces => {
                started_repository(sandbox, "here")?;
                sandbox.git(&work, &["clone", "--quiet", "--bare", "here", "hub.git"])?;
                sandbox.git(&work.join("hub.git"), &["remote", "remove", "origin"])?;
                fs::remove_dir_all(work.join("here")).map_err(Error::file("remove `here`"))?;
                for space in ["here", "there"] {
                    sandbox.git(&work, &["clone", "--quiet", "hub.git", space])?;
                }
                Ok(work.join("here"))
            }
        }
    }
}

fn repository(sandbox: &Sandbox, name: &str) -> Result<PathBuf, Error> {
    sandbox.git(&sandbox.work(), &["init", "--quiet", "--template=", name])?;
    let folder = sandbox.work().join(name);
    write_exclude(&folder)?;
    Ok(folder)
}

/// An empty template leaves no `info` folder; tools may expect one.
fn write_exclude(repository: &Path) -> Result<(), Error> {
    let info = repository.join(".git/info");
    fs::create_dir_all(&info).map_err(Error::file("make `info`"))
}

fn started_repository(sandbox: &Sandbox, name: &str) -> Result<PathBuf, Error> {
    let folder = repository(sandbox, name)?;
    fs::write(folder.join("README.md"), "# Example\n").map_err(Error::file("write `README.md`"))?;
    sandbox.git(&folder, &["add", "README.md"])?;
    sandbox.git(&folder, &["commit", "--quiet", "-m", "Start"])?;
    Ok(folder)
}
