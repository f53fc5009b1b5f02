//! What is read from the files of objects, beside what git says, and what damage does.

use std::fs;

use agentic_model::Oid;
use gix::hash::ObjectId;

use super::super::{Repository, run_git, run_git_with_input, to_id};
use super::*;
use agentic_store::file::Persistence;
use agentic_store::journal::{GitKind, GitObject};

mod damage;
mod loose;

/// How often git collects while others read.
const COLLECTIONS: usize = 12;

fn git(folder: &Path, arguments: &[&str]) -> String {
    let program = run_git(folder, arguments);
    program.and_then(|program| program.checked(arguments)).expect("git works").trim().to_owned()
}

fn repository(options: &[&str]) -> (tempfile::TempDir, Repository) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    git(folder.path(), &[&["init", "--quiet"], options].concat());
    for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.com"), ("gc.auto", "0")]
    {
        git(folder.path(), &["config", key, value]);
    }
    let repository = Repository::open(folder.path()).expect("just made");
    (folder, repository)
}

/// Commits versions of a file that differ a little, so that git packs differences.
fn commit_versions(folder: &Path, n_versions: usize) {
    let mut stream = String::new();
    for n in 0..n_versions {
        let lines = (0..200).map(|line| format!("{}\n", if line == n { 0 } else { line * line }));
        let text: String = lines.collect();
        let length = text.len();
        stream += &format!(
            "commit refs/heads/main\ncommitter Ada <ada@example.com> {n} +0000\ndata 2\nx\n\
             M 100644 inline d/file\ndata {length}\n{text}\n"
        );
    }
    let arguments = ["fast-import", "--quiet", "--force"];
    let program = run_git_with_input(folder, &arguments, stream.as_bytes());
    program.and_then(|program| program.checked(&arguments)).expect("git works");
}

fn all_objects(folder: &Path) -> Vec<ObjectId> {
    let format = "--batch-check=%(objectname)";
    let list = git(folder, &["cat-file", "--batch-all-objects", format]);
    list.lines().map(|line| line.parse().expect("an id")).collect()
}

fn files_of(repository: &Repository) -> ObjectFiles {
    let store = repository.inner.objects.store_ref();
    ObjectFiles::new(store.path(), repository.inner.object_hash())
}

/// Tells whether an object is read, and checks that it is the right one.
fn is_read(files: &mut ObjectFiles, id: &oid) -> bool {
    let mut bytes = Vec::new();
    let Some(kind) = files.read(id, &mut bytes) else { return false };
    let found = gix::objs::compute_hash(id.kind(), kind, &bytes).expect("hashable");
    assert_eq!(found, id, "other bytes than the id names");
    true
}

fn blob(text: &str) -> GitObject {
    GitObject { kind: GitKind::Blob, bytes: text.as_bytes().to_vec() }
}

fn write_pack(repository: &Repository, texts: &[String]) -> PathBuf {
    let objects: Vec<GitObject> = texts.iter().map(|text| blob(text)).collect();
    repository.pack_folder().write(&objects, Persistence::Lazy).expect("the disk has room")
}

fn name(repository: &Repository, text: &str) -> ObjectId {
    to_id(repository.name_object(&blob(text)))
}

/// Takes a pack away.
fn remove_pack(pack: &Path) {
    for extension in ["idx", "pack"] {
        fs::remove_file(pack.with_extension(extension)).expect("writable");
    }
}

#[test]
fn every_object_of_git_is_read_whatever_it_differs_from() {
    let by_id = "repack.useDeltaBaseOffset=false";
    for (options, setting) in [
        (&[][..], "pack.depth=50"),
        (&[], by_id),
        (&["--object-format=sha256"], "pack.depth=50"),
        (&["--object-format=sha256"], by_id),
    ] {
        let (folder, repository) = repository(options);
        commit_versions(folder.path(), 60);
        git(folder.path(), &["-c", setting, "repack", "-a", "-d", "-f", "-q", "--depth=50"]);
        let index = indices(&repository.pack_folder().placed).next().expect("there is a pack");
        let index = index.display().to_string();
        let verified = git(folder.path(), &["verify-pack", "-v", &index]);
        assert!(verified.contains("chain length = 2"), "{verified}");
        let ids = all_objects(folder.path());
        assert!(ids.len() >= 180);
        let mut files = files_of(&repository);
        assert!(ids.iter().all(|id| files.has(id) && is_read(&mut files, id)));
    }
}

#[test]
fn objects_are_found_in_any_of_many_packs() {
    let (_folder, repository) = repository(&[]);
    // More packs with large indices than are kept open, and small ones between them.
    let texts = |pack: usize, n: usize| (0..n).map(move |n| format!("{n} of pack {pack}\n"));
    let sizes = (0..2 * OPEN_MAX).map(|pack| if pack % 3 == 0 { 2 } else { 2400 });
    for (pack, size) in sizes.enumerate() {
        write_pack(&repository, &texts(pack, size).collect::<Vec<_>>());
    }
    let mut files = files_of(&repository);
    for turn in 0..3 {
        for pack in 0..2 * OPEN_MAX {
            let text = format!("{} of pack {pack}\n", turn % 2);
            assert!(is_read(&mut files, &name(&repository, &text)), "{text}");
        }
        assert!(!files.has(&name(&repository, "of no pack")));
    }
    let is_open =
        |pack: &&Pack| pack.opened.as_ref().is_some_and(|opened| opened.offsets.is_large());
    assert!(files.packs.list.iter().filter(is_open).count() <= OPEN_MAX);
    assert_eq!(files.packs.list.len(), 2 * OPEN_MAX);
}

#[test]
fn packs_that_come_are_found_and_those_that_went_are_not_missed() {
    let (_folder, repository) = repository(&[]);
    let large: Vec<String> = (0..2400).map(|n| format!("large {n}\n")).collect();
    for first in [vec!["small".to_owned()], large] {
        let (known, other) = (name(&repository, &first[0]), name(&repository, "other"));
        let old = write_pack(&repository, &first);
        let mut files = files_of(&repository);
        // Its index is open now, itself it is not.
        assert!(!files.has(&other));
        let both: Vec<String> = first.iter().cloned().chain(["other".to_owned()]).collect();
        let new = write_pack(&repository, &both);
        remove_pack(&old);
        assert!(is_read(&mut files, &known), "the new pack has it");
        assert!(is_read(&mut files, &other));
        // What is open stays readable, for those who are on the way to it.
        remove_pack(&new);
        assert!(is_read(&mut files, &known) && is_read(&mut files, &other));
        assert!(!files_of(&repository).has(&known));
        assert!(!is_read(&mut files, &name(&repository, "never written")));
        assert!(!files.has(&known), "whoever misses one has looked anew");
    }
}

#[test]
fn nothing_is_missed_while_git_collects_whole_histories() {
    let (folder, repository) = repository(&[]);
    commit_versions(folder.path(), 30);
    let ids = all_objects(folder.path());
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let missed: Vec<String> = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut missed = Vec::new();
            while !is_over.load(std::sync::atomic::Ordering::Acquire) {
                let repository = Repository::open(folder.path()).expect("it is there");
                for id in ids.iter().chain(&ids) {
                    let oid = Oid::parse(&id.to_string()).expect("an id");
                    let read = repository.verify_object(oid);
                    missed.extend(read.err().map(|error| format!("{error:?}")));
                    if !repository.has_object(oid) {
                        missed.push(format!("{oid} is not there"));
                    }
                }
            }
            missed
        });
        for round in 0..COLLECTIONS {
            // Each time other packs, and loose objects on their way into one.
            let text = format!("{round}\n");
            let tree = Oid::parse(&git(folder.path(), &["rev-parse", "main^{tree}"]));
            let tree = tree.expect("an id").to_string();
            let commit = git(folder.path(), &["commit-tree", "-p", "main", "-m", &text, &tree]);
            git(folder.path(), &["update-ref", "refs/heads/main", &commit]);
            git(folder.path(), &["gc", "--prune=now", "--quiet"]);
        }
        is_over.store(true, std::sync::atomic::Ordering::Release);
        reader.join().expect("no panic")
    });
    drop(repository);
    assert_eq!(missed, Vec::<String>::new());
}

#[test]
fn objects_of_a_repository_that_this_one_borrows_from_are_found() {
    let (lender, _) = repository(&[]);
    commit_versions(lender.path(), 5);
    git(lender.path(), &["repack", "-a", "-d", "-q"]);
    let above = tempfile::tempdir().expect("a temporary folder");
    let (from, to) = (lender.path().display().to_string(), "clone");
    git(above.path(), &["clone", "--quiet", "--bare", "--shared", "-b", "main", &from, to]);
    let borrower = Repository::open(&above.path().join(to)).expect("just made");
    let mut files = files_of(&borrower);
    assert!(all_objects(lender.path()).iter().all(|id| is_read(&mut files, id)));
}

#[test]
fn what_git_would_read_in_place_of_an_object_is_not_read() {
    let (folder, repository) = repository(&[]);
    write_pack(&repository, &["plain".to_owned(), "in its place".to_owned()]);
    let plain = repository.name_object(&blob("plain"));
    assert_eq!(repository.read_blob(plain).expect("it is there"), b"plain");
    let other = repository.name_object(&blob("in its place")).to_string();
    git(folder.path(), &["replace", &plain.to_string(), &other]);
    let repository = Repository::open(folder.path()).expect("it is there");
    assert_eq!(repository.read_blob(plain).expect("it is there"), b"plain");
}

#[test]
fn the_tree_of_a_commit_is_read_from_its_beginning() {
    let (folder, repository) = repository(&[]);
    commit_versions(folder.path(), 40);
    // One that names many others, and says much.
    let tree = git(folder.path(), &["rev-parse", "main~3^{tree}"]);
    let heads = git(folder.path(), &["rev-list", "main"]);
    let mut arguments = vec!["commit-tree", &tree, "-F", "-"];
    heads.lines().for_each(|head| arguments.extend(["-p", head]));
    let message: Vec<u8> =
        (0..60_000_u32).map(|n| b"0123456789abcdef\n"[n as usize % 17]).collect();
    let many = run_git_with_input(folder.path(), &arguments, &message).expect("git starts");
    let many = many.checked(&arguments).expect("git works");
    git(folder.path(), &["branch", "many", many.trim()]);
    for is_packed in [false, true] {
        if is_packed {
            git(folder.path(), &["repack", "-a", "-d", "-f", "-q"]);
        }
        let list = git(folder.path(), &["log", "--all", "--format=%H %T"]);
        assert_eq!(list.lines().count(), 41);
        let mut files = files_of(&repository);
        for (commit, tree) in list.lines().filter_map(|line| line.split_once(' ')) {
            let oid = Oid::parse(commit).expect("an id");
            assert_eq!(repository.tree_of(oid).expect("it is there").to_string(), tree);
            assert!(files.read_begin(&to_id(oid)).is_none_or(|begin| begin.len() < 200));
        }
        let blob = Oid::parse(&git(folder.path(), &["rev-parse", "main:d/file"]));
        assert!(repository.tree_of(blob.expect("an id")).is_err());
        assert!(repository.tree_of(Oid::parse(&tree).expect("an id")).is_err());
    }
}
