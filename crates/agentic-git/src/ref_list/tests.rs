use std::sync::atomic::{AtomicBool, Ordering};

use agentic_store::ground::PACKED_REFS;

use super::*;
use crate::{run_git, run_git_with_input};

/// A repository, and what git is asked in it.
struct RefPlace {
    folder: tempfile::TempDir,
    repository: Repository,
}

impl RefPlace {
    fn new() -> RefPlace {
        let folder = tempfile::tempdir().expect("a temporary folder");
        run_git(folder.path(), &["init", "-q"]).expect("git works");
        let repository = Repository::open(folder.path()).expect("just made");
        RefPlace { folder, repository }
    }

    fn git(&self, arguments: &[&str], input: &str) -> String {
        let done = run_git_with_input(self.folder.path(), arguments, input.as_bytes());
        let done = done.and_then(|done| done.checked(arguments));
        done.expect("git works").trim().to_owned()
    }

    /// Makes two commits.
    fn commits(&self) -> [String; 2] {
        let tree = self.git(&["write-tree"], "");
        let who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
        let make = |message| [&who[..], &["commit-tree", "-m", message, &tree]].concat();
        ["one", "two"].map(|message| self.git(&make(message), ""))
    }

    /// Lists as this crate does, and as git does.
    fn both(&self, prefix: &str) -> [Vec<String>; 2] {
        let listed = self.repository.list_refs(prefix).expect("sound");
        let ours = listed.iter().map(|found| format!("{} {}", found.target, found.name));
        let format = "--format=%(objectname) %(symref)%(refname)";
        let said = self.git(&["for-each-ref", format, prefix], "");
        let is_direct = |line: &&str| line.matches("refs/").count() == 1;
        [ours.collect(), said.lines().filter(is_direct).map(str::to_owned).collect()]
    }
}

#[test]
fn a_ref_with_the_name_of_a_folder_has_none_below_it() {
    let place = RefPlace::new();
    let [one, _] = place.commits();
    place.git(&["update-ref", "refs/heads/agents", &one], "");
    for prefix in ["refs/heads/agents/", "refs/heads/"] {
        let [ours, theirs] = place.both(prefix);
        assert_eq!(ours, theirs, "{prefix}");
    }
}

#[test]
fn a_listing_is_the_one_of_git() {
    let place = RefPlace::new();
    let [one, two] = place.commits();
    let update = |lines: &str| drop(place.git(&["update-ref", "--stdin"], lines));
    let create = |names: &[&str], at: &str| {
        let lines = names.iter().map(|name| format!("update refs/{name} {at}\n"));
        update(&lines.collect::<String>());
    };
    create(&["heads/agents/a", "heads/agents/b/c", "heads/agents/b-d", "heads/main"], &one);
    create(&["notes/agentic/a", "notes/agentic/z", "notes/commits", "tags/plain"], &one);
    let tag = ["-c", "user.name=Ada", "-c", "user.email=a@b.c", "tag", "-am", "x"];
    for name in ["heads", "zero"] {
        // What a tag leads to has a line of its own among packed refs.
        place.git(&[&tag[..], &[name, &one]].concat(), "");
        let target = place.git(&["rev-parse", &format!("refs/tags/{name}")], "");
        update(&format!("create refs/agentic/of-{name} {target}\n"));
    }
    let prefixes = [
        "refs/heads/",
        "refs/heads/agents/",
        "refs/heads/agents/b/",
        "refs/notes/agentic/",
        "refs/notes/",
        "refs/agentic/",
        "refs/heads/nothing/",
        "refs/tags/",
        "refs/",
    ];
    let check = |when: &str| {
        for prefix in prefixes {
            let [ours, gits] = place.both(prefix);
            assert_eq!(ours, gits, "{prefix} {when}");
        }
    };
    check("loose");
    place.git(&["pack-refs", "--all"], "");
    check("packed");
    create(&["heads/agents/a", "heads/agents/b/d", "heads/agents/zz", "notes/agentic/z"], &two);
    place.git(&["symbolic-ref", "refs/heads/agents/b-d", "refs/heads/main"], "");
    check("packed, and moved since");
    let odd = place.folder.path().join(".git/refs/heads/agents");
    std::fs::write(odd.join("a..b"), format!("{one}\n")).expect("writable");
    std::fs::write(odd.join("x.lock"), "").expect("writable");
    assert_eq!(place.both("refs/heads/agents/")[0].len(), 4, "what is no name is left out");
}

#[test]
fn damage_is_told_and_never_passed_over() {
    let place = RefPlace::new();
    let [one, _] = place.commits();
    let path = place.folder.path().join(".git").join(PACKED_REFS);
    let head = "# pack-refs with: peeled fully-peeled sorted\n";
    let name = "refs/heads/agents/a";
    let list = |lines: String| {
        std::fs::write(&path, format!("{head}{lines}")).expect("writable");
        let repository = Repository::open(place.folder.path()).expect("there");
        repository.list_refs("refs/heads/agents/").map(|found| found.len()).ok()
    };
    assert_eq!(list(format!("{one} {name}\n")), Some(1));
    assert_eq!(list(format!("{one} {name}")), Some(1), "the end of the line is missing");
    assert_eq!(list(format!("{one} refs/heads/agentz\n")), Some(0));
    for wrong in [
        format!("{} {name}\n", &one[1..]),
        format!("{one}{one} {name}\n"),
        format!("{} {name}\n", one.replace(&one[..1], "g")),
        format!("{one} {name}\n\n"),
        format!("{one} {name}\nnonsense\n"),
    ] {
        assert_eq!(list(wrong.clone()), None, "{wrong}");
    }
    std::fs::write(&path, head).expect("writable");
    let loose = place.folder.path().join(".git").join(name);
    std::fs::create_dir_all(loose.parent().expect("in a folder")).expect("writable");
    std::fs::write(&loose, "nonsense\n").expect("writable");
    assert!(place.repository.list_refs("refs/heads/agents/").is_err());
    std::fs::write(&path, format!("{head}{one} {name}\n{one} {name}-sound\n")).expect("writable");
    let repository = Repository::open(place.folder.path()).expect("there");
    let take = |name: &str, _| Some(name.to_owned());
    let listed = repository.list_sound_refs_as("refs/heads/agents/", take).expect("readable");
    assert_eq!(listed.found, [format!("{name}-sound")], "what is packed does not stand in for it");
    assert_eq!(listed.damaged.iter().map(|it| &it.name).collect::<Vec<_>>(), [name]);
}

#[test]
fn a_mark_changes_with_every_ref_and_with_nothing_else() {
    let place = RefPlace::new();
    let [one, two] = place.commits();
    let mut marks = vec![place.repository.refs_mark().expect("sound")];
    let mut next = |arguments: &[&str]| {
        place.git(arguments, "");
        let mark = place.repository.refs_mark().expect("sound");
        assert_eq!(place.repository.refs_mark().expect("sound"), mark, "{arguments:?}");
        assert!(!marks.contains(&mark), "{arguments:?}");
        marks.push(mark);
    };
    next(&["update-ref", "refs/heads/agents/a", &one]);
    next(&["update-ref", "refs/heads/agents/a", &two]);
    next(&["update-ref", "refs/tags/b", &one]);
    next(&["pack-refs", "--all"]);
    next(&["update-ref", "refs/heads/agents/a", &one]);
    next(&["update-ref", "-d", "refs/tags/b"]);
    next(&["pack-refs", "--all"]);
}

/// How many refs there are, and how often they are made loose and packed again.
const N_REFS: usize = 40;
const N_ROUNDS: usize = 60;

#[test]
fn a_listing_has_every_ref_while_git_packs_them() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let git = |arguments: &[&str]| {
        let done = run_git(folder.path(), arguments).and_then(|done| done.checked(arguments));
        done.expect("git works").trim().to_owned()
    };
    git(&["init", "-q"]);
    let tree = git(&["write-tree"]);
    let who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
    let commits = ["one", "two"]
        .map(|message| git(&[&who[..], &["commit-tree", "-m", message, &tree]].concat()));
    let make_loose = |round: usize| {
        for number in 0..N_REFS {
            let path = folder.path().join(format!(".git/refs/heads/agents/{number}"));
            std::fs::create_dir_all(path.parent().expect("in a folder")).expect("writable");
            let fresh = folder.path().join(".git/fresh");
            std::fs::write(&fresh, format!("{}\n", commits[round % 2])).expect("writable");
            std::fs::rename(&fresh, &path).expect("writable");
        }
    };
    make_loose(0);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..N_ROUNDS {
                git(&["pack-refs", "--all"]);
                make_loose(round);
            }
            is_over.store(true, Ordering::Relaxed);
        });
        let repository = Repository::open(folder.path()).expect("just made");
        while !is_over.load(Ordering::Relaxed) {
            let listed = repository.list_refs("refs/heads/agents/").expect("sound");
            assert_eq!(listed.len(), N_REFS);
        }
    });
}
