//! A repository that tests work in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use agentic_space::commit::{
    CommitDraft, CommitOutcome, Edit, Emptiness, FileMode, TraceBinding, TreeSource, commit,
};
use agentic_space::fault::failing_at;
use agentic_space::model::{AgentName, Briefing, Instant, Kind, Map, Object, Oid};
use agentic_space::spawn::{SpawnOrigin, SpawnOutcome, spawn};
use agentic_space::{Clock, Durability, Options, Result, Space};

/// Where Linux keeps files in memory.
const MEMORY_FOLDER: &str = "/dev/shm";
/// Who the user of a repository is.
const IDENTITY: &str = "[user]\n\tname = Ada\n\temail = ada@example.com\n[gc]\n\tauto = 0\n";
/// How many steps a verb may take that is broken off at each of them.
const STEPS_MAX: u64 = 400;

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
        behaviour: None,
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
    let plain = ["init", "--quiet", "--initial-branch=main", "--template="];
    git(folder, &[&plain, arguments].concat());
    let bare = folder.join("config");
    let config = if bare.exists() { bare } else { folder.join(".git/config") };
    let text = std::fs::read_to_string(&config).expect("it was just made");
    std::fs::write(&config, text + IDENTITY).expect("writable");
}

/// Makes a folder that goes with its handle, in memory where there is such: no test waits for a disk.
fn temporary_folder() -> tempfile::TempDir {
    tempfile::tempdir_in(MEMORY_FOLDER)
        .or_else(|_| tempfile::tempdir())
        .expect("a temporary folder")
}

/// Breaks something off at its first step, at its second and so on, each time in a place of its own,
/// until it comes through; then looks at what is left as another command finds it.
pub fn walk(prepare: impl Fn() -> Place, act: impl Fn(&Place), look: impl Fn(&Place, u64)) {
    for step in 1..=STEPS_MAX {
        let mut place = prepare();
        let ((), is_broken_off) = failing_at("*", step, || act(&place));
        place.space = place.open_again();
        look(&place, step);
        place.check_sound();
        if !is_broken_off {
            assert!(step > 1, "no step is marked: the walk would prove nothing");
            return;
        }
    }
    panic!("it never comes through");
}

/// Opens a repository at a fixed time.
pub fn open(folder: &Path) -> Space {
    let clock = Clock::Fixed(Instant::from_millis(1_700_000_000_000));
    let options = Options { clock, durability: Some(Durability::Git) };
    Space::open(folder, options).expect("it is a repository")
}

impl Place {
    /// Makes one with a worktree of its own and no commit.
    pub fn new() -> Place {
        let folder = temporary_folder();
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

    /// Makes a commit on a branch that no agent owns, with plain git and no worktree.
    pub fn commit_on(&self, branch: &str, message: &str) -> Oid {
        let tree = self.git(&["write-tree"]);
        let parent = format!("refs/heads/{branch}");
        let known = self.git(&["for-each-ref", "--format=%(objectname)", &parent]);
        let mut arguments = vec!["commit-tree", "-m", message, &tree];
        if !known.is_empty() {
            arguments.extend(["-p", &known]);
        }
        let commit = self.git(&arguments);
        self.git(&["update-ref", &parent, &commit]);
        Oid::parse(&commit).expect("git prints an id")
    }

    /// Sets something in git's configuration, and opens the handle again: it has read it before.
    pub fn configure(&mut self, key: &str, value: &str) {
        self.git(&["config", "--add", key, value]);
        self.space = self.open_again();
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
