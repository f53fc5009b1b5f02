//! What a sandbox holds before a test begins.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex};

use crate::{Error, Sandbox};

/// The bare repository between two spaces.
const HUB: &str = "hub.git";
/// The two spaces.
const SPACES: [&str; 2] = ["here", "there"];

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

    /// Returns the folder in which commands start.
    pub(crate) fn start(self) -> &'static str {
        match self {
            Setup::Repository => "repo",
            Setup::EmptyRepository => "empty",
            Setup::BareRepository => "repo.git",
            Setup::NoRepository => "plain",
            Setup::TwoSpaces => SPACES[0],
        }
    }

    /// Builds the repositories.
    pub(crate) fn build(self, sandbox: &Sandbox) -> Result<(), Error> {
        let work = sandbox.repositories();
        match self {
            Setup::Repository => started_repository(sandbox, self.start())?,
            Setup::EmptyRepository => repository(sandbox, self.start())?,
            Setup::BareRepository => bare_repository(sandbox, self.start())?,
            Setup::NoRepository => {
                fs::create_dir(work.join(self.start())).map_err(Error::file("make a folder"))?;
            }
            Setup::TwoSpaces => {
                bare_repository(sandbox, HUB)?;
                for space in SPACES {
                    sandbox.git(&work, &["clone", "--quiet", HUB, space])?;
                }
            }
        }
        Ok(())
    }

    /// Puts right what names the place of the repositories, after they were copied to another.
    pub(crate) fn settle(self, sandbox: &Sandbox) -> Result<(), Error> {
        if self == Setup::TwoSpaces {
            let hub = sandbox.repositories().join(HUB).to_string_lossy().into_owned();
            for space in SPACES {
                let folder = sandbox.repositories().join(space);
                sandbox.git(&folder, &["remote", "set-url", "origin", &hub])?;
            }
        }
        Ok(())
    }
}

fn bare_repository(sandbox: &Sandbox, name: &str) -> Result<(), Error> {
    let work = sandbox.repositories();
    started_repository(sandbox, "seed")?;
    sandbox.git(&work, &["clone", "--quiet", "--bare", "seed", name])?;
    sandbox.git(&work.join(name), &["remote", "remove", "origin"])?;
    fs::remove_dir_all(work.join("seed")).map_err(Error::file("remove `seed`"))
}

fn repository(sandbox: &Sandbox, name: &str) -> Result<(), Error> {
    sandbox.git(&sandbox.repositories(), &["init", "--quiet", "--template=", name])?;
    // An empty template leaves no `info` folder; tools may expect one.
    let info = sandbox.repositories().join(name).join(".git/info");
    fs::create_dir_all(&info).map_err(Error::file("make `info`"))
}

fn started_repository(sandbox: &Sandbox, name: &str) -> Result<(), Error> {
    repository(sandbox, name)?;
    let folder = sandbox.repositories().join(name);
    fs::write(folder.join("README.md"), "# Example\n").map_err(Error::file("write `README.md`"))?;
    sandbox.git(&folder, &["add", "README.md"])?;
    sandbox.git(&folder, &["commit", "--quiet", "-m", "Start"])?;
    Ok(())
}

/// Setups that are built once and then copied, which spares each sandbox a handful of processes.
#[derive(Debug, Default)]
pub struct Templates {
    built: Mutex<BTreeMap<Setup, Arc<Sandbox>>>,
}

impl Templates {
    /// Makes a sandbox with that setup.
    ///
    /// # Errors
    /// Fails as [`Sandbox::new`] does.
    pub fn sandbox(&self, setup: Setup) -> Result<Sandbox, Error> {
        Sandbox::copy_of(&*self.template(setup)?, setup)
    }

    fn template(&self, setup: Setup) -> Result<Arc<Sandbox>, Error> {
        let mut built = self.built.lock().expect("nobody panics while building a template");
        if let Some(template) = built.get(&setup) {
            return Ok(Arc::clone(template));
        }
        let template = Arc::new(Sandbox::new(setup)?);
        built.insert(setup, Arc::clone(&template));
        Ok(template)
    }
}
