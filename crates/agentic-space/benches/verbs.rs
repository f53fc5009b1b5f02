//! The hot verbs beside the stock git commands that would do the same.
//!
//! `cargo bench -p agentic-space`. Repositories are made in the temporary folder of the system; set
//! `TMPDIR` to measure another disk. Medians of whole commands, interleaved, are in `bench/compare`.

use std::path::{Path, PathBuf};
use std::process::Command;

use agentic_space::commit::{
    CommitDraft, Edit, Emptiness, FileMode, TraceBinding, TreeSource, commit,
};
use agentic_space::model::{AgentName, Briefing, Kind, Map};
use agentic_space::spawn::{SpawnOrigin, spawn};
use agentic_space::{Options, Space};
use criterion::{Criterion, criterion_group, criterion_main};

/// How many files the trees have that verbs are measured on.
const TREE_FILES: [usize; 2] = [10, 10_000];

struct Place {
    _dir: tempfile::TempDir,
    repository: PathBuf,
    worktree: PathBuf,
    space: Space,
    n: usize,
}

fn place(n_files: usize) -> Place {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let repository = dir.path().join("repo");
    std::fs::create_dir(&repository).expect("writable");
    git(&repository, &["init", "--quiet", "--initial-branch=main"]);
    for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.com"), ("gc.auto", "0")]
    {
        git(&repository, &["config", key, value]);
    }
    for number in 0..n_files {
        let folder = repository.join(format!("d{}", number / 30));
        std::fs::create_dir_all(&folder).expect("writable");
        std::fs::write(folder.join(format!("f{number}")), format!("{number}\n")).expect("writable");
    }
    git(&repository, &["add", "-A"]);
    git(&repository, &["commit", "--quiet", "-m", "files"]);
    let space = Space::open(&repository, Options::default()).expect("a repository");
    let main = space.repository().resolve_commit("main").expect("made above");
    for agent in ["alice", "bob"] {
        let briefing = Briefing::of_text("bench").to_object().expect("short");
        spawn(&space, &name(agent), &briefing, &SpawnOrigin::Commit(main)).expect("free");
    }
    let worktree = dir.path().join("alice");
    agentic_space::worktree::add(&space, &name("alice"), &worktree).expect("free");
    Place { _dir: dir, repository, worktree, space, n: 0 }
}

fn git(folder: &Path, arguments: &[&str]) {
    let status = Command::new("git").current_dir(folder).args(arguments).status();
    assert!(status.is_ok_and(|status| status.success()), "git {arguments:?} works");
}

fn name(text: &str) -> AgentName {
    AgentName::parse(text).expect("valid")
}

impl Place {
    fn content(&mut self) -> Vec<u8> {
        self.n += 1;
        format!("edit {}\n", self.n).into_bytes()
    }

    fn draft(&mut self, source: TreeSource) -> CommitDraft {
        CommitDraft {
            behaviour: None,
            message: "edit".to_owned(),
            kind: None,
            fields: Map::new(),
            source,
            capture: TraceBinding::Nothing,
            expect: None,
            emptiness: Emptiness::Refused,
            asker: None,
        }
    }

    fn commit_edit(&mut self) {
        let write = Edit::Write { content: self.content(), mode: FileMode::Plain };
        let draft = self.draft(TreeSource::Edits([("d0/f1".to_owned(), write)].into()));
        commit(&self.space, &name("bob"), &draft).expect("bob is there");
    }

    fn commit_worktree(&mut self) {
        let content = self.content();
        std::fs::write(self.worktree.join("d0/f1"), content).expect("writable");
        let worktree = self.space.worktree_of(&name("alice")).expect("made");
        let draft = self.draft(TreeSource::Worktree(worktree));
        commit(&self.space, &name("alice"), &draft).expect("alice is there");
    }

    fn git_commit(&mut self) {
        let content = self.content();
        std::fs::write(self.repository.join("d0/f1"), content).expect("writable");
        git(&self.repository, &["add", "-A"]);
        git(&self.repository, &["commit", "--quiet", "-m", "edit"]);
    }

    fn spawn(&mut self) {
        self.n += 1;
        let briefing = Briefing::of_text("bench").to_object().expect("short");
        let origin = SpawnOrigin::Agent(name("bob"));
        spawn(&self.space, &name(&format!("s{}", self.n)), &briefing, &origin).expect("free");
    }

    fn git_branch(&mut self) {
        self.n += 1;
        git(&self.repository, &["branch", &format!("b{}", self.n), "main"]);
    }

    fn add_entry(&mut self) {
        let kind = Kind::parse("log").expect("valid");
        self.space.add_trace(&name("bob"), &kind, b"an entry").expect("bob is there");
    }

    fn git_note(&mut self) {
        git(&self.repository, &["notes", "append", "-m", "an entry"]);
    }
}

fn verbs(criterion: &mut Criterion) {
    type Verb = fn(&mut Place);
    let groups: [(&str, Verb, &str, Verb); 4] = [
        ("commit one file", Place::commit_edit, "git add, git commit", Place::git_commit),
        ("commit a worktree", Place::commit_worktree, "git add, git commit", Place::git_commit),
        ("trace add", Place::add_entry, "git notes append", Place::git_note),
        ("spawn", Place::spawn, "git branch", Place::git_branch),
    ];
    for n_files in TREE_FILES {
        let mut place = place(n_files);
        for (ours, verb, theirs, command) in groups {
            let mut group = criterion.benchmark_group(format!("{ours}, {n_files} files"));
            group.sample_size(20);
            group.bench_function("agentic", |bencher| bencher.iter(|| verb(&mut place)));
            group.bench_function(theirs, |bencher| bencher.iter(|| command(&mut place)));
            group.finish();
        }
    }
}

criterion_group!(benches, verbs);
criterion_main!(benches);
