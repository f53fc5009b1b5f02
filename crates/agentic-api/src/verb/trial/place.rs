//! Where the runs of a trial are while it goes on: each in a repository of its own, with the history that
//! it begins at and nothing else.
//!
//! How a step that was stopped stood before is kept beside those; all else its records say, which are
//! brought back. All of it goes when the trial is over.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use agentic_git::{GitEnd, Repository, run_git, run_git_with_input};
use agentic_model::{AgentName, Oid};
use agentic_session::{SessionOptions, SessionSpace};
use agentic_space::Space;

use crate::replacement::Replacement;
use crate::{Caller, Refusal};

/// The folder of trials, among what is kept beside git.
const TRIALS: &str = "trial";
/// Which of the settings of a repository hold for the runs, too: who commits, and what is configured of
/// us, such as capture.
const CARRIED_SETTINGS: &str = r"^(user|gpg|agentic)\.";
/// The configuration that people keep without git.
const CONFIGURATION: &str = "agentic.toml";
/// What git does to files as it writes them, and leaves out as it compares them: nothing.
const PLAIN_FILES: &str = "* !diff -text -eol -ident -filter -working-tree-encoding\n";
/// Who made the commits that scorers see, and when: nobody, never.
const NOBODY: &str = "trial <trial@localhost> 0 +0000";

/// Where the runs of a trial are.
#[derive(Debug)]
pub(super) struct TrialPlace {
    folder: PathBuf,
    trial: AgentName,
}

/// A repository of one run, or of one that is scored.
pub(super) struct SeparateRepository {
    /// Where it is checked out.
    pub folder: PathBuf,
}

impl TrialPlace {
    /// Returns the place of a trial, by the name of its agent.
    pub fn of(space: &SessionSpace, trial: &AgentName) -> TrialPlace {
        let root = space.repository().layout().root();
        TrialPlace { folder: root.join(TRIALS).join(trial.as_str()), trial: trial.clone() }
    }

    /// Returns the agent of the trial.
    pub fn trial(&self) -> &AgentName {
        &self.trial
    }

    /// Returns what is kept of what a step came to. A run may have written it: it proves nothing.
    pub fn told(&self, step: &AgentName) -> Option<String> {
        fs::read_to_string(self.folder.join(format!("{step}.json"))).ok()
    }

    /// Keeps what a step came to, and lets its repository go.
    pub fn tell(&self, step: &AgentName, told: &str) -> Result<(), Refusal> {
        let path = self.folder.join(format!("{step}.json"));
        let written = Replacement::begin(&path).and_then(|mut file| {
            file.write_all(told.as_bytes())?;
            file.commit()
        });
        written.map_err(|error| Refusal::io("keep what a run came to", &error))?;
        // What stays of it goes with the trial.
        let _ = fs::remove_dir_all(self.folder.join(step.as_str()));
        Ok(())
    }

    /// Lets everything go: the trial is over.
    pub fn remove(&self) {
        // Whoever looks at the trial next tries again.
        let _ = fs::remove_dir_all(&self.folder);
        // Where other trials go on, it is not empty, and stays.
        let _ = self.folder.parent().map(fs::remove_dir);
    }

    /// Finds the repository of a run, or makes it: checked out at a commit, with its history.
    pub fn at_commit(
        &self,
        caller: &Caller<'_>,
        run: &AgentName,
        base: Oid,
    ) -> Result<SeparateRepository, Refusal> {
        let folder = self.folder.join(run.as_str());
        if !folder.exists() {
            let fresh = self.fresh(caller, run)?;
            let own = caller.space.repository();
            pack(own, &fresh, &format!("{base}\n"))?;
            let shallow = own.common_dir().join("shallow");
            if shallow.exists() {
                let copied = fs::copy(&shallow, fresh.join(".git/shallow"));
                copied.map_err(|error| Refusal::io("copy where history ends", &error))?;
            }
            git(&fresh, &["checkout", "--quiet", "--detach", &base.to_string()])?;
            fs::rename(&fresh, &folder).map_err(|error| Refusal::io("place a run", &error))?;
        }
        Ok(SeparateRepository { folder })
    }

    /// Makes the repository of one that is scored, anew: two commits that say nothing but what files there
    /// were before and after. Returns them with it.
    pub fn of_trees(
        &self,
        caller: &Caller<'_>,
        step: &AgentName,
        shown: &ShownTrees<'_>,
    ) -> Result<(SeparateRepository, [Oid; 2]), Refusal> {
        let folder = self.folder.join(step.as_str());
        if folder.exists() {
            let removed = fs::remove_dir_all(&folder);
            removed.map_err(|error| Refusal::io("score a run anew", &error))?;
        }
        let fresh = self.fresh(caller, step)?;
        show_every_change(&fresh).map_err(|error| Refusal::io("place a score", &error))?;
        let (before, after) = (shown.before.to_string(), shown.after.to_string());
        pack(caller.space.repository(), &fresh, &format!("{before}\n{after}\n"))?;
        let tree = shown.set_back(&fresh)?;
        let base = commit_of(&fresh, &before, None)?;
        let commit = commit_of(&fresh, &tree, Some(base))?;
        git(&fresh, &["checkout", "--quiet", "--force", "--detach", &commit.to_string()])?;
        fs::rename(&fresh, &folder).map_err(|error| Refusal::io("place a score", &error))?;
        Ok((SeparateRepository { folder }, [base, commit]))
    }

    /// Begins a repository beside the place that it will have.
    fn fresh(&self, caller: &Caller<'_>, step: &AgentName) -> Result<PathBuf, Refusal> {
        let fresh = self.folder.join(format!("{step}.new"));
        let cannot = |error| Refusal::io("make a repository of a trial", &error);
        if fresh.exists() {
            fs::remove_dir_all(&fresh).map_err(cannot)?;
        }
        fs::create_dir_all(&fresh).map_err(cannot)?;
        let own = caller.space.repository();
        let format = match own.empty_tree().as_bytes().len() {
            32 => "--object-format=sha256",
            _ => "--object-format=sha1",
        };
        git(&fresh, &["init", "--quiet", "--template=", format, "."])?;
        let known = own.git(&["config", "--local", "--null", "--get-regexp", CARRIED_SETTINGS])?;
        for setting in known.stdout.split('\0').filter(|setting| !setting.is_empty()) {
            let (key, value) = setting.split_once('\n').unwrap_or((setting, "true"));
            git(&fresh, &["config", "--local", "--add", key, value])?;
        }
        carry_configuration(own, &fresh).map_err(cannot)?;
        Ok(fresh)
    }
}

impl SeparateRepository {
    /// Opens it, with the clock of the caller.
    pub fn open(&self, caller: &Caller<'_>) -> Result<SessionSpace, Refusal> {
        let (_, space) = Space::opener(caller.space);
        let screen = Some(agentic_capture::redaction::screen());
        let options = SessionOptions { space, screen, ..SessionOptions::default() };
        Ok(SessionSpace::open(&self.folder, options)?)
    }

    /// Returns what differs between two commits, as git tells it.
    pub fn changes(&self, [before, after]: [Oid; 2]) -> Result<String, Refusal> {
        let (before, after) = (before.to_string(), after.to_string());
        let diff = ["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames"];
        let commits = [before.as_str(), after.as_str(), "--"];
        git(&self.folder, &[&diff[..], &commits[..]].concat())
    }

    /// Checks an agent out: its programs find its files, and what it commits follows.
    pub fn check_out(&self, agent: &AgentName) -> Result<(), Refusal> {
        let branch = format!("agents/{agent}");
        git(&self.folder, &["checkout", "--quiet", &branch]).map(drop)
    }

    /// Brings an agent to the caller's repository, as git fetches and checks it: its branch, and its notes.
    pub fn bring_back(&self, caller: &Caller<'_>, agent: &AgentName) -> Result<(), Refusal> {
        let path = self.folder.to_string_lossy().into_owned();
        let refs = [agent.branch_ref(), agent.notes_ref()].map(|name| format!("{name}:{name}"));
        let mut arguments = vec![
            "-c",
            "fetch.fsckObjects=true",
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--no-recurse-submodules",
            "--refmap=",
            "--",
            &path,
        ];
        arguments.extend(refs.iter().map(String::as_str));
        let fetched = caller.space.repository().git(&arguments)?;
        fetched.checked(&["fetch"]).map_err(Refusal::from).map(drop)
    }
}

/// What a scorer is shown of a run.
pub(super) struct ShownTrees<'a> {
    /// The files that there were.
    pub before: Oid,
    /// Those that the run left.
    pub after: Oid,
    /// What is shown as it was, whatever the run did to it.
    pub protect: &'a [String],
}

impl ShownTrees<'_> {
    /// Makes the tree that is shown: that of the run, with what is protected set back.
    fn set_back(&self, folder: &Path) -> Result<String, Refusal> {
        git(folder, &["read-tree", &self.after.to_string()])?;
        let paths = || self.protect.iter().map(String::as_str);
        let mut remove = vec!["--literal-pathspecs", "rm", "-r", "--cached", "--quiet"];
        remove.extend(["--ignore-unmatch", "--"].into_iter().chain(paths()));
        git(folder, &remove)?;
        let before = self.before.to_string();
        let mut list = vec!["--literal-pathspecs", "ls-tree", "-r", "-z", &before, "--"];
        list.extend(paths());
        let were = git(folder, &list)?;
        let update = ["update-index", "--replace", "-z", "--index-info"];
        checked(run_git_with_input(folder, &update, were.as_bytes())?, &update)?;
        Ok(git(folder, &["write-tree"])?.trim().to_owned())
    }
}

/// Makes a commit that tells nothing but its files.
fn commit_of(folder: &Path, tree: &str, parent: Option<Oid>) -> Result<Oid, Refusal> {
    let parent = parent.map_or_else(String::new, |parent| format!("parent {parent}\n"));
    let text = format!("tree {tree}\n{parent}author {NOBODY}\ncommitter {NOBODY}\n\nfiles\n");
    let write = ["hash-object", "-t", "commit", "-w", "--stdin"];
    let made = checked(run_git_with_input(folder, &write, text.as_bytes())?, &write)?;
    Oid::parse(made.trim()).map_err(|error| Refusal::refused(&error.to_string(), "look at git"))
}

/// Copies objects with all that they reach.
fn pack(own: &Repository, target: &Path, wanted: &str) -> Result<(), Refusal> {
    let place = target.join(".git/objects/pack/pack");
    let folder = place.parent().unwrap_or(target);
    fs::create_dir_all(folder).map_err(|error| Refusal::io("make a folder of packs", &error))?;
    let place = place.to_string_lossy().into_owned();
    let arguments = ["pack-objects", "--revs", "--quiet", "--delta-base-offset", &place];
    checked(own.git_reading(&arguments, wanted.as_bytes())?, &arguments).map(drop)
}

/// Copies the configuration that a person keeps without git: what it says of models holds for runs, too.
fn carry_configuration(own: &Repository, target: &Path) -> std::io::Result<()> {
    let Some(here) = own.work_dir().map(|folder| folder.join(CONFIGURATION)) else { return Ok(()) };
    let tracked = own.git(&["ls-files", "--error-unmatch", "--", CONFIGURATION]);
    if !here.is_file() || tracked.is_ok_and(|end| end.success) {
        return Ok(());
    }
    fs::copy(&here, target.join(CONFIGURATION))?;
    let info = target.join(".git/info");
    fs::create_dir_all(&info)?;
    fs::write(info.join("exclude"), format!("/{CONFIGURATION}\n"))
}

/// Has files as git keeps them, and every change told: a run may have left attributes that have them
/// written in another way, or hide what changed.
fn show_every_change(repository: &Path) -> std::io::Result<()> {
    let info = repository.join(".git/info");
    fs::create_dir_all(&info)?;
    fs::write(info.join("attributes"), PLAIN_FILES)
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String, Refusal> {
    checked(run_git(folder, arguments)?, arguments)
}

fn checked(end: GitEnd, arguments: &[&str]) -> Result<String, Refusal> {
    Ok(end.checked(arguments)?)
}
