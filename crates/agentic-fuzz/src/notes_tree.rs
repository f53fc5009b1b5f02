//! Notes trees that others have written, and ours put into them.
//!
//! - Of any bytes in place of a tree: reading ends in a value or an error.
//! - Of any tree of any fan-out: a note that is listed is found, and no other is. After an edit of ours
//!   all that it says is there, also to git; every other note and object is as before; every new
//!   tree is in git's order; and the same edit again changes nothing.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::process::Command;

use agentic_git::{NotesState, Repository};
use agentic_model::commit::CommitData;
use agentic_model::{Cid, Instant, Kind, Oid, Person, Signature};
use agentic_store::ground::Upkeep;
use agentic_store::journal::{
    Content, GitKind, GitObject, KeptObject, NotesEdit, StreamPin, TakenEntries, Transaction,
};

use crate::folder::folder_in_memory;
use crate::{take_byte, take_number};

const NOTES: &str = "refs/notes/agentic/x";
/// How many commits have notes, beside the bulk of alike ones.
const COMMITS: usize = 12;
/// After so many inputs the repository is made anew.
const USES_MAX: usize = 2000;
/// One input of so many is shown to git, which takes as long as all else for a hundred.
const GIT_EVERY: usize = 64;

/// Checks one input: what to do, the tree that is there, and the edit.
pub fn check(data: &[u8]) {
    // process: a target is one function that is called very often, and a folder is made once.
    thread_local! {
        static NOTES: RefCell<Option<NotesSandbox>> = const { RefCell::new(None) };
    }
    NOTES.with_borrow_mut(|slot| {
        let sandbox = slot.take_if(|sandbox| sandbox.n_uses < USES_MAX);
        let sandbox = slot.insert(sandbox.unwrap_or_else(NotesSandbox::new));
        sandbox.n_uses += 1;
        sandbox.check(data);
    });
}

/// A repository that lasts for a while, in memory where there is such a place.
struct NotesSandbox {
    folder: tempfile::TempDir,
    repository: Repository,
    n_uses: usize,
}

/// A file or folder of a tree under construction.
enum Node {
    Blob(Oid),
    Tree(BTreeMap<String, Node>),
}

/// What a state of the notes says.
#[derive(Debug, PartialEq)]
struct State {
    notes: BTreeMap<Oid, Option<String>>,
    objects: BTreeMap<Cid, Option<Vec<u8>>>,
}

impl NotesSandbox {
    fn new() -> NotesSandbox {
        let folder = folder_in_memory();
        gix::init_bare(folder.path()).expect("a new repository");
        std::fs::create_dir_all(folder.path().join("refs/notes/agentic")).expect("a folder");
        let repository = Repository::open(folder.path()).expect("it opens");
        NotesSandbox { folder, repository, n_uses: 0 }
    }

    fn check(&self, mut data: &[u8]) {
        let choice = take_byte(&mut data);
        if choice == 0xff {
            return self.check_any(data);
        }
        let root = self.foreign_tree(&mut data);
        let tip = self.commit(root);
        self.point(tip);
        let before = self.state(&self.repository.notes(NOTES).expect("a sound state"));
        let edit = self.edit(&mut data);
        let write = transaction(edit.clone());
        let applied = self.repository.apply_notes(&edit, &write, &Upkeep::NONE);
        let applied = applied.expect("the edit fits").tip;
        self.check_after(&before, &edit);
        self.check_order(root);
        let again = self.repository.apply_notes(&edit, &write, &Upkeep::NONE);
        assert_eq!(again.expect("it fits again").tip, applied, "a second time");
        if self.n_uses.is_multiple_of(GIT_EVERY) {
            self.check_by_git(&edit);
        }
    }

    /// A tree of any bytes.
    fn check_any(&self, bytes: &[u8]) {
        let root = self.write(GitKind::Tree, bytes.to_vec());
        self.point(self.commit(root));
        let notes = self.repository.notes(NOTES).expect("its commit is sound");
        let _ = (notes.all_notes(), notes.objects(None), notes.is_whole(None));
        let _ = notes.note(commit_of(0));
        let edit = self.edit(&mut &bytes[..bytes.len().min(8)]);
        let _ = self.repository.apply_notes(&edit, &transaction(edit.clone()), &Upkeep::NONE);
    }

    fn write(&self, kind: GitKind, bytes: Vec<u8>) -> Oid {
        self.repository.write_loose(&[GitObject { kind, bytes }]).expect("written")[0]
    }

    fn commit(&self, tree: Oid) -> Oid {
        let who = someone();
        let message = "theirs\n".to_owned();
        let data =
            CommitData { tree, parents: vec![], author: who.clone(), committer: who, message };
        self.write(GitKind::Commit, data.to_bytes())
    }

    fn point(&self, tip: Oid) {
        let path = self.folder.path().join(NOTES);
        std::fs::write(path, format!("{tip}\n")).expect("writable");
    }

    /// Makes the tree that is there: a bulk of alike notes, then one leaf after the other, wherever its
    /// bytes say.
    fn foreign_tree(&self, data: &mut &[u8]) -> Oid {
        let mut root = BTreeMap::new();
        let blob = self.write(GitKind::Blob, b"bulk\n".to_vec());
        let (n_bulk, fan_out) = (2 * usize::from(take_byte(data)), take_byte(data) / 128);
        // Folders of one note each take long to write.
        let n_bulk = if fan_out == 0 { n_bulk } else { n_bulk / 16 };
        for n in 0..n_bulk {
            put(&mut root, &note_path(commit_of(1000 + n), fan_out), Node::Blob(blob));
        }
        for _ in 0..take_byte(data) % 16 {
            let (which, style, text) = (take_byte(data), take_byte(data), take_byte(data));
            let bytes = vec![text; 1 + usize::from(text % 4)];
            let (path, bytes) = match which % 8 {
                0..=4 => {
                    (note_path(commit_of(usize::from(which / 8) % COMMITS), style % 24), bytes)
                }
                5 => (odd_path(which, style), bytes),
                _ => (object_path(&bytes, style), bytes),
            };
            let node = match style {
                0xf0..=0xff => Node::Tree(BTreeMap::from([("a".to_owned(), Node::Blob(blob))])),
                _ => Node::Blob(self.write(GitKind::Blob, bytes)),
            };
            put(&mut root, &path, node);
        }
        self.write_tree(&root)
    }

    fn write_tree(&self, entries: &BTreeMap<String, Node>) -> Oid {
        let mut lines: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for (name, node) in entries {
            let (mode, oid, end) = match node {
                Node::Blob(oid) => ("100644", *oid, ""),
                Node::Tree(inner) => ("40000", self.write_tree(inner), "/"),
            };
            let line = [format!("{mode} {name}\0").as_bytes(), oid.as_bytes()].concat();
            lines.push((format!("{name}{end}").into_bytes(), line));
        }
        lines.sort();
        self.write(GitKind::Tree, lines.into_iter().flat_map(|(_, line)| line).collect())
    }

    fn edit(&self, data: &mut &[u8]) -> NotesEdit {
        let mut edit = NotesEdit { name: NOTES.to_owned(), notes: Vec::new(), objects: Vec::new() };
        for _ in 0..take_byte(data) % 6 {
            let (which, text) = (take_byte(data), take_number(data));
            if which % 3 == 0 {
                let bytes = text.to_string().into_bytes();
                let kind = Kind::parse("thing").expect("a kind");
                let (cid, content) = (Cid::of(&bytes), Content::Inline(bytes));
                edit.objects.push(KeptObject { kind, cid, content });
            } else {
                let commit = commit_of(usize::from(which) % (COMMITS + 2));
                // A record never has two notes of one commit.
                if !edit.notes.iter().any(|(known, _)| *known == commit) {
                    let cid = Cid::of(&text.to_be_bytes());
                    edit.notes.push((commit, format!("trace {cid}\nentries 0 ()\n")));
                }
            }
        }
        edit
    }

    fn state(&self, notes: &NotesState<'_>) -> State {
        let listed = notes.all_notes().expect("a sound tree");
        let mut state = State {
            notes: listed.iter().cloned().map(|(commit, text)| (commit, Some(text))).collect(),
            objects: BTreeMap::new(),
        };
        for n in 0..COMMITS + 2 {
            let commit = commit_of(n);
            let texts: Vec<_> = listed.iter().filter(|(oid, _)| *oid == commit).collect();
            match notes.note(commit).expect("a sound tree") {
                Some(text) => {
                    assert!(texts.iter().any(|(_, other)| *other == text), "{n}: {text}");
                    // Of several places that say something of one commit, this is the one that counts.
                    state.notes.insert(commit, Some(text));
                }
                None => assert!(texts.is_empty(), "{n} is listed, but not found: {texts:?}"),
            }
        }
        for cid in notes.objects(None).expect("a sound tree") {
            state.objects.insert(cid, notes.object(cid).ok().flatten());
        }
        state
    }

    fn check_after(&self, before: &State, edit: &NotesEdit) {
        let after = self.state(&self.repository.notes(NOTES).expect("a sound state"));
        let mut expected = State { notes: before.notes.clone(), objects: before.objects.clone() };
        for (commit, ours) in &edit.notes {
            let text = match before.notes.get(commit).cloned().flatten() {
                Some(theirs) => agentic_model::trace::replace_in_note(&theirs, ours),
                None => ours.clone(),
            };
            expected.notes.insert(*commit, Some(text));
        }
        for object in &edit.objects {
            let Content::Inline(bytes) = &object.content else { continue };
            expected.objects.insert(object.cid, Some(bytes.clone()));
        }
        assert_eq!(after, expected);
    }

    /// Walks all trees of the new state, and tells whether git would take them.
    fn check_order(&self, known: Oid) {
        let tip = self.repository.notes(NOTES).expect("a sound state").tip().expect("a tip");
        let mut next = vec![self.repository.tree_of(tip).expect("a sound commit")];
        while let Some(oid) = next.pop() {
            let bytes = self.repository.verify_object(oid).expect("it was written").bytes;
            let mut rest = &bytes[..];
            let mut last: Option<Vec<u8>> = None;
            while let Some(end) = rest.iter().position(|byte| *byte == 0).filter(|_| oid != known) {
                let line = std::str::from_utf8(&rest[..end]).expect("names are text here");
                let (mode, name) = line.split_once(' ').expect("a mode and a name");
                let (id, further) = rest[end + 1..].split_at(20);
                let is_tree = mode == "40000";
                let key = format!("{name}{}", if is_tree { "/" } else { "" }).into_bytes();
                assert!(last.is_none_or(|last| last < key), "{oid} is not in order at {name}");
                last = Some(key);
                rest = further;
                next.extend(is_tree.then(|| Oid::from_bytes(id).expect("an id")));
            }
        }
    }

    /// Compares with what git finds for every commit of the edit.
    fn check_by_git(&self, edit: &NotesEdit) {
        let notes = self.repository.notes(NOTES).expect("a sound state");
        let listed = notes.all_notes().expect("a sound tree");
        for (commit, _) in &edit.notes {
            // Git joins what several places say of one commit.
            if listed.iter().filter(|(other, _)| other == commit).count() != 1 {
                continue;
            }
            let ours = notes.note(*commit).expect("a sound tree").expect("it was set");
            let output = Command::new("git")
                .arg("--git-dir")
                .arg(self.folder.path())
                .args(["notes", "--ref=agentic/x", "show", &commit.to_string()])
                .env("GIT_CONFIG_NOSYSTEM", "1")
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .output()
                .expect("git is here");
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(String::from_utf8_lossy(&output.stdout), ours, "{commit}: {said}");
        }
    }
}

/// Makes the id of a commit. Git asks for no more than the id.
fn commit_of(n: usize) -> Oid {
    let digest = Cid::of(&n.to_be_bytes());
    let mut bytes = [0; 20];
    bytes.copy_from_slice(&digest.digest()[..20]);
    // Some share their first digits.
    if n < COMMITS / 2 {
        bytes[..4].copy_from_slice(&[0xab, 0xcd, (n % 2) as u8, 0]);
    }
    Oid::from_bytes(&bytes).expect("twenty bytes")
}

/// Cuts an id into so many folders of two digits, and the rest.
fn note_path(commit: Oid, n_folders: u8) -> Vec<String> {
    let hex = commit.to_string();
    let n = usize::from(n_folders).min(19);
    let mut path: Vec<String> = (0..n).map(|at| hex[2 * at..2 * at + 2].to_owned()).collect();
    path.push(hex[2 * n..].to_owned());
    path
}

/// Names that nobody's notes have.
fn odd_path(which: u8, style: u8) -> Vec<String> {
    let hex = commit_of(usize::from(which) % COMMITS).to_string();
    let parts: &[&str] = match style % 8 {
        0 => &[&hex[..3], &hex[3..]],
        1 => &[&hex.to_uppercase()],
        2 => &["README"],
        3 => &["objects"],
        4 => &["objects", "thing"],
        5 => &[&hex[..2]],
        6 => &["objects", "thing", &hex[..2]],
        _ => &[&hex[..39]],
    };
    parts.iter().map(|part| (*part).to_owned()).collect()
}

fn object_path(bytes: &[u8], style: u8) -> Vec<String> {
    let cid = Cid::of(bytes);
    let hex: String = cid.digest().iter().map(|byte| format!("{byte:02x}")).collect();
    let mut path = vec!["objects".to_owned(), "thing".to_owned()];
    path.extend((0..usize::from(style % 5)).map(|at| hex[2 * at..2 * at + 2].to_owned()));
    path.push(cid.to_string());
    path
}

/// Puts a leaf into a tree; whatever is in its way goes.
fn put(tree: &mut BTreeMap<String, Node>, path: &[String], leaf: Node) {
    match path {
        [] => {}
        [name] => drop(tree.insert(name.clone(), leaf)),
        [name, rest @ ..] => {
            let inner = tree.entry(name.clone()).or_insert_with(|| Node::Tree(BTreeMap::new()));
            if let Node::Blob(_) = inner {
                *inner = Node::Tree(BTreeMap::new());
            }
            if let Node::Tree(inner) = inner {
                put(inner, rest, leaf);
            }
        }
    }
}

fn someone() -> Signature {
    let person = Person::new("Someone", "someone@example.invalid");
    Signature { person, at: Instant::from_millis(1_000_000), offset_minutes: 0 }
}

fn transaction(edit: NotesEdit) -> Transaction {
    Transaction {
        verb: "commit".to_owned(),
        objects: Vec::new(),
        branch: None,
        notes: Some(edit),
        taken: TakenEntries::default(),
        follow: None,
        fold: None,
        pin: StreamPin::Unknown,
        author: someone(),
        committer: someone(),
    }
}
