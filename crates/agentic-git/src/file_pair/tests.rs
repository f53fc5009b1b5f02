use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use agentic_model::Oid;

use super::{FilePair, Repository};
use crate::run_git;

/// A repository with files, whose trees are compared.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let place = Place { folder: tempfile::tempdir().expect("a temporary folder") };
        place.git(&["init", "--quiet"]);
        place
    }

    fn git(&self, arguments: &[&str]) -> String {
        let done = run_git(self.folder.path(), arguments).expect("git works");
        done.checked(arguments).expect("git does it")
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("it is below the folder")).expect("writable");
        fs::write(path, content).expect("writable");
    }

    /// Takes all files, and returns their tree.
    fn tree(&self) -> Oid {
        self.git(&["add", "--all"]);
        Oid::parse(self.git(&["write-tree"]).trim()).expect("an id")
    }

    /// Checks that trees differ by what git says, and returns that.
    fn check(&self, old: Oid, new: Oid) -> Vec<String> {
        let repository = Repository::open(self.path()).expect("it opens");
        let found = repository.file_pairs(old, new).expect("they are readable");
        let found: Vec<String> = found.iter().map(line).collect();
        let (old, new) = (old.to_string(), new.to_string());
        let said = self.git(&["diff-tree", "-r", "-M", "--raw", "--no-abbrev", &old, &new]);
        let mut said: Vec<String> = said.lines().map(of_git).collect();
        said.sort_by(|left, right| left.rsplit(' ').next().cmp(&right.rsplit(' ').next()));
        assert_eq!(found, said);
        found
    }
}

/// Writes what became of a file: modes, a letter, paths.
fn line(pair: &FilePair) -> String {
    let mode = |side: Option<&super::FileSide>| side.map_or("000000", |side| side.sort.mode());
    let path = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
    let (old, new) = (mode(pair.before()), mode(pair.after()));
    let is_other_sort = |one: &str, other: &str| one[..3] != other[..3];
    match pair {
        FilePair::Added(side) => format!("{old} {new} A {}", path(&side.path)),
        FilePair::Deleted(side) => format!("{old} {new} D {}", path(&side.path)),
        FilePair::Changed(side, _) if is_other_sort(old, new) => {
            format!("{old} {new} T {}", path(&side.path))
        }
        FilePair::Changed(side, _) => format!("{old} {new} M {}", path(&side.path)),
        FilePair::Moved(from, to, _) => {
            format!("{old} {new} R {} {}", path(&from.path), path(&to.path))
        }
    }
}

/// Reads the same from a line of git's: how much is alike it may count otherwise.
fn of_git(line: &str) -> String {
    let (head, paths) = line.split_once('\t').expect("a line of git's");
    let words: Vec<&str> = head.trim_start_matches(':').split(' ').collect();
    format!("{} {} {} {}", words[0], words[1], &words[4][..1], paths.replace('\t', " "))
}

fn lines(n: usize) -> String {
    (0..n).map(|n| format!("line {n} of many\n")).collect()
}

#[test]
fn files_that_come_go_change_and_move_are_told_apart() {
    let place = Place::new();
    place.write("gone", "it goes\n");
    place.write("stays", "it stays\n");
    place.write("changes", "before\n");
    place.write("runs", "#!/bin/sh\n");
    place.write("becomes-a-link", "text\n");
    place.write("empty", "");
    place.write("dir/moves", &lines(40));
    place.write("dir/moves-and-changes", &lines(30).replace("many", "few"));
    let old = place.tree();
    for name in ["gone", "becomes-a-link", "dir/moves", "dir/moves-and-changes"] {
        fs::remove_file(place.path().join(name)).expect("it is there");
    }
    place.write("changes", "after\n");
    place.write("new", "it is new, and like nothing else\n");
    place.write("other/moves", &lines(40));
    place.write("other/changed", &(lines(30).replace("many", "few") + "and one more\n"));
    let runs = fs::Permissions::from_mode(0o755);
    fs::set_permissions(place.path().join("runs"), runs).expect("writable");
    symlink("stays", place.path().join("becomes-a-link")).expect("writable");
    let new = place.tree();
    let found = place.check(old, new);
    assert_eq!(found.len(), 7, "{found:?}");
    assert!(place.check(new, new).is_empty());
    place.check(new, old);
}

#[test]
fn of_several_copies_that_of_the_same_name_has_moved() {
    let place = Place::new();
    place.write("a/one", "same\n");
    place.write("a/two", "same\n");
    place.write("a/three", "same\n");
    let old = place.tree();
    fs::remove_dir_all(place.path().join("a")).expect("it is there");
    place.write("b/three", "same\n");
    place.write("b/one", "same\n");
    place.write("b/two", "same\n");
    place.check(old, place.tree());
}

#[test]
fn what_is_little_alike_has_not_moved() {
    let place = Place::new();
    place.write("old", &lines(20));
    let old = place.tree();
    fs::remove_file(place.path().join("old")).expect("it is there");
    place.write("new", &(lines(8) + &lines(40).replace("line", "other")));
    let found = place.check(old, place.tree());
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn submodules_are_files_of_their_own_sort() {
    let place = Place::new();
    place.write("file", "x\n");
    let old = place.tree();
    let add = |commit: &str| {
        let entry = format!("160000,{},module", commit.repeat(40));
        place.git(&["update-index", "--add", "--cacheinfo", &entry]);
        Oid::parse(place.git(&["write-tree"]).trim()).expect("an id")
    };
    let (first, second) = (add("a"), add("b"));
    assert_eq!(place.check(old, first), ["000000 160000 A module"]);
    assert_eq!(place.check(first, second), ["160000 160000 M module"]);
    assert_eq!(place.check(second, old), ["160000 000000 D module"]);
}

#[test]
fn of_very_many_that_come_and_go_none_has_moved() {
    let place = Place::new();
    for n in 0..150 {
        place.write(&format!("old/{n}"), &format!("{n}\n{}", lines(5)));
    }
    let old = place.tree();
    fs::remove_dir_all(place.path().join("old")).expect("it is there");
    for n in 0..150 {
        place.write(&format!("new/{n}"), &format!("{n} is new\n{}", lines(5)));
    }
    let repository = Repository::open(place.path()).expect("it opens");
    let found = repository.file_pairs(old, place.tree()).expect("they are readable");
    assert_eq!(found.len(), 300);
}
