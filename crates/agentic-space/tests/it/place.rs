//! A repository that tests work in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use agentic_space::commit::{
    CommitDraft, CommitOutcome, Edit, Emptiness, FileMode, TraceBinding, TreeSource, commit,
};
use agentic_space::model::{AgentName, Briefing, Instant, Kind, Map, Object, Oid};
use agentic_space::spawn::{SpawnOrigin, SpawnOutcome, spawn};
use agentic_space::{Clock, Durability, Options, Result, Space};

/// A new repository, which goes with its folder.
pub struct Place {
    folder: tempfile::TempDir,
    /// The handle on it.
    pub space: Space,
}

/// Returns the name of an agent.
pub fn name(text: &str) -> AgentName {
    AgentName::parse(text).expect("a flat name")
}

/// Returns a kind.
pub fn kind(text: &str) -> Kind {
    Kind::parse(text).expect("a valid kind")
}

/// Returns a briefing.
pub fn briefing(text: &str) -> Object {
    Briefing::of_text(text).to_object().expect("it is short")
}

/// Returns the changes that set files; one without content goes.
pub fn edits(files: &[(&str, Option<&str>)]) -> BTreeMap<String, Edit> {
    let edit = |content: &Option<&str>| match content {
        Some(text) => Edit::Write { content: text.as_bytes().to_vec(), mode: FileMode::Plain },
        None => Edit::Delete,
    };
    files.iter().map(|(path, content)| ((*path).to_owned(), edit(content))).collect()
}

/// Returns a draft of some changes.
pub fn draft(message: &str, files: &[(&str, Option<&str>)]) -> CommitDraft {
    CommitDraft {
        message: message.to_owned(),
        kind: None,
        fields: Map::new(),
        source: TreeSource::Edits(edits(files)),
        capture: TraceBinding::Nothing,
        expect: None,
        emptiness: Emptiness::Refused,
        asker: None,
    }
}

/// Runs git in a folder and returns what it prints.
pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").current_dir(folder).args(arguments).output();
    let output = output.expect("git is installed");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

/// Makes a repository in a folder.
fn init(folder: &Path, arguments: &[&str]) {
    std::fs::create_dir(folder).expect("writable");
    git(folder, &[&["init", "--quiet", "--initial-branch=main"], arguments].concat());
    for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.com"), ("gc.auto", "0")]
    {
        git(folder, &["config", key, value]);
    }
}

/// Opens a repository at a fixed time.
fn open(folder: &Path) -> Space {
    let clock = Clock::Fixed(Instant::from_millis(1_700_000_000_000));
    let options = Options { clock, durability: Some(Durability::Git) };
    Space::open(folder, options).expect("it is a repository")
}

impl Place {
    /// Makes one with a worktree of its own and no commit.
    pub fn new() -> Place {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let repository = folder.path().join("repo");
        init(&repository, &[]);
        let space = open(&repository);
        Place { folder, space }
    }

    /// Makes one with these agents, who have nothing yet.
    pub fn with(agents: &[&str]) -> Place {
        let place = Place::new();
        for agent in agents {
            place.spawn(agent, &SpawnOrigin::Root).expect("the name is free");
        }
        place
    }

    /// Returns the folder of the repository.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    /// Returns a folder beside the repository, which is not made.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes a bare repository beside this one, as its remote `origin`.
    pub fn make_remote(&mut self) -> PathBuf {
        let path = self.beside("origin");
        init(&path, &["--bare"]);
        self.add_remote(&path);
        path
    }

    /// Names a remote `origin`. The handle is opened again: it has read the configuration before.
    pub fn add_remote(&mut self, path: &Path) {
        self.git(&["remote", "add", "origin", &path.to_string_lossy()]);
        self.space = self.open_again();
    }

    /// Opens the repository again, as another command does.
    pub fn open_again(&self) -> Space {
        open(&self.path())
    }

    /// Asks git.
    pub fn git(&self, arguments: &[&str]) -> String {
        git(&self.path(), arguments)
    }

    /// Spawns an agent.
    pub fn spawn(&self, agent: &str, origin: &SpawnOrigin) -> Result<SpawnOutcome> {
        spawn(&self.space, &name(agent), &briefing(agent), origin)
    }

    /// Commits some files of an agent.
    pub fn commit(&self, agent: &str, files: &[(&str, Option<&str>)]) -> Result<CommitOutcome> {
        commit(&self.space, &name(agent), &draft("Change files", files))
    }

    /// Returns the head of an agent.
    pub fn head(&self, agent: &str) -> Oid {
        self.space.head(&name(agent)).expect("it exists")
    }

    /// Reads a file of an agent's branch as git has it.
    pub fn file(&self, agent: &str, path: &str) -> String {
        self.git(&["show", &format!("agents/{agent}:{path}")])
    }

    /// Lists the files of an agent's branch.
    pub fn files(&self, agent: &str) -> Vec<String> {
        let listed = self.git(&["ls-tree", "-r", "--name-only", &format!("agents/{agent}")]);
        listed.lines().map(str::to_owned).collect()
    }

    /// Checks that git finds everything in order.
    pub fn check_sound(&self) {
        self.git(&["fsck", "--strict", "--no-dangling"]);
    }
}
