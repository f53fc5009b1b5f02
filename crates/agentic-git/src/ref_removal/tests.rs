use super::*;
use crate::{run_git, run_git_with_input};

const ONE: &str = "refs/heads/agents/a";
const OTHER: &str = "refs/notes/agentic/a";
const DEEP: &str = "refs/agentic/remotes/origin/a";

/// A repository whose three refs name the first of two commits, with a log each.
struct RemovalPlace {
    folder: tempfile::TempDir,
    repository: Repository,
    commits: [Oid; 2],
}

impl RemovalPlace {
    fn new() -> RemovalPlace {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let git = |arguments: &[&str]| {
            let done = run_git(folder.path(), arguments).and_then(|done| done.checked(arguments));
            done.expect("git works").trim().to_owned()
        };
        git(&["init", "-q", "-b", "main"]);
        git(&["config", "core.logAllRefUpdates", "always"]);
        let who = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
        let commits = ["one", "two"].map(|why| {
            git(&[&who[..], &["commit", "-q", "--allow-empty", "-m", why]].concat());
            Oid::parse(&git(&["rev-parse", "HEAD"])).expect("a commit")
        });
        for name in [ONE, OTHER, DEEP] {
            git(&[&who[..], &["update-ref", name, &commits[0].to_string()]].concat());
        }
        git(&[&who[..], &["tag", "-a", "-m", "kept", "v1"]].concat());
        let repository = Repository::open(folder.path()).expect("just made");
        RemovalPlace { folder, repository, commits }
    }

    fn git(&self, arguments: &[&str]) -> String {
        let done = run_git_with_input(self.folder.path(), arguments, &[]);
        let done = done.and_then(|done| done.checked(arguments)).expect("git works");
        done.trim().to_owned()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.repository.common_dir().join(name)
    }

    /// Deletes refs where the first commit is expected, without git.
    fn delete(&self, names: &[&str]) -> ShortWay {
        let refs: Vec<_> = names.iter().map(|name| (name.to_string(), self.commits[0])).collect();
        self.repository.delete_plain_refs(&refs).expect("the disk works")
    }

    /// Names the refs below those that are deleted here, as git sees them.
    fn names(&self) -> String {
        let format = "--format=%(refname:lstrip=1)";
        let roots = ["refs/heads/agents", "refs/notes", "refs/agentic", "refs/tags"];
        self.git(&[&["for-each-ref", format][..], &roots].concat()).replace('\n', " ")
    }

    /// Checks that nobody's lock is left.
    fn check_unlocked(&self) {
        for name in [ONE, OTHER, DEEP, PACKED_REFS] {
            assert!(!self.path(&format!("{name}.lock")).exists(), "{name}");
        }
    }
}

#[test]
fn refs_go_wherever_they_stand_and_others_stay() {
    for prepare in [
        &[][..],
        &["pack-refs --all"],
        &["pack-refs --all", "update-ref refs/heads/agents/a HEAD^", "gc -q"],
        &["tag -a -m new v0", "pack-refs --all"],
    ] {
        let place = RemovalPlace::new();
        for line in prepare {
            let who = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
            let arguments: Vec<&str> = who.into_iter().chain(line.split(' ')).collect();
            place.git(&arguments);
        }
        let tags = place.git(&["for-each-ref", "refs/tags"]);
        assert_eq!(place.delete(&[ONE, DEEP]), ShortWay::Moved, "{prepare:?}");
        let kept = place.names();
        assert!(kept.starts_with("notes/agentic/a tags/v"), "{prepare:?}: {kept}");
        assert_eq!(place.git(&["for-each-ref", "refs/tags"]), tags, "{prepare:?}");
        for name in [ONE, DEEP] {
            assert!(!place.path("logs").join(name).exists(), "{prepare:?}: {name}");
            assert_eq!(place.repository.find_ref(name).expect("sound"), None, "{prepare:?}");
        }
        assert!(place.path("logs").join(OTHER).exists(), "{prepare:?}");
        place.git(&["fsck", "--strict"]);
        place.git(&["pack-refs", "--all"]);
        place.check_unlocked();
    }
}

#[test]
fn a_file_over_what_is_packed_goes_with_it() {
    let place = RemovalPlace::new();
    place.git(&["update-ref", ONE, &place.commits[1].to_string()]);
    place.git(&["pack-refs", "--all"]);
    place.git(&["update-ref", ONE, &place.commits[0].to_string()]);
    assert_eq!(place.delete(&[ONE]), ShortWay::Moved);
    assert_eq!(place.names(), "agentic/remotes/origin/a notes/agentic/a tags/v1");
}

#[test]
fn what_is_not_as_expected_or_not_plain_is_left_to_git() {
    let cases: [(&str, &[&str]); 6] = [
        ("moved", &["update-ref refs/notes/agentic/a HEAD"]),
        ("moved and packed", &["update-ref refs/notes/agentic/a HEAD", "pack-refs --all"]),
        ("gone", &["update-ref -d refs/notes/agentic/a"]),
        ("symbolic", &["symbolic-ref refs/notes/agentic/a refs/heads/agents/a"]),
        ("checked out", &["checkout -q agents/a"]),
        ("moved over what is packed", &["pack-refs --all", "update-ref refs/notes/agentic/a HEAD"]),
    ];
    for (case, prepare) in cases {
        let place = RemovalPlace::new();
        for line in prepare {
            place.git(&line.split(' ').collect::<Vec<_>>());
        }
        let before = place.names();
        assert_eq!(place.delete(&[ONE, OTHER]), ShortWay::Closed, "{case}");
        assert_eq!(place.names(), before, "{case}");
        place.check_unlocked();
        // Git takes the one that is where it is expected, and leaves the other.
        let refs = [ONE, OTHER].map(|name| (name.to_owned(), place.commits[0]));
        let deleted = place.repository.delete_refs(&refs);
        if case != "symbolic" && case != "checked out" {
            deleted.expect("nothing is in the way");
            assert_eq!(place.repository.find_ref(ONE).expect("sound"), None, "{case}");
        }
    }
}

#[test]
fn locks_of_others_are_left_alone() {
    let place = RemovalPlace::new();
    for name in [OTHER, PACKED_REFS] {
        let lock = place.path(&format!("{name}.lock"));
        fs::write(&lock, "").expect("writable");
        assert_eq!(place.delete(&[ONE, OTHER]), ShortWay::Closed, "{name}");
        assert!(lock.exists(), "{name}");
        fs::remove_file(&lock).expect("it is there");
        place.check_unlocked();
        assert!(place.names().contains("agents/a"), "{name}");
    }
}

#[test]
fn refs_go_while_others_pack_them() {
    let place = RemovalPlace::new();
    for turn in 0..20 {
        std::thread::scope(|threads| {
            let folder = place.folder.path();
            threads.spawn(|| run_git(folder, &["pack-refs", "--all"]).expect("git works"));
            let refs = [(ONE.to_owned(), place.commits[0])];
            let opened = Repository::open(place.folder.path()).expect("it is there");
            opened.delete_refs(&refs).expect("git lets go of its locks");
        });
        assert_eq!(place.repository.find_ref(ONE).expect("sound"), None, "turn {turn}");
        assert!(!place.names().contains("heads"), "turn {turn}");
        place.git(&["update-ref", ONE, &place.commits[0].to_string()]);
    }
}
