//! Announcements that only somebody with a key can make, and that are no step from the one before: signed for
//! somebody else, numbered otherwise, or silent about what they change. None of them leaves an object, a ref
//! or a fact.

mod first;
mod identity;
mod step;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use agentic_federation::announcement::SpaceAnnouncement;
use agentic_federation::fetch::{PeerOutcome, fetch_peers};
use agentic_federation::freshness::PeerFreshness;
use agentic_federation::id::announce_ref;
use agentic_federation::receive::SpaceResult;
use agentic_federation::verify::verify;
use agentic_model::{Cid, Oid, Value, canonical};

use crate::{FederatedPlace, git};

/// A place where `bob` has accepted what `ada` announced, and somebody signs something else.
pub struct ForgedPlace {
    pub place: FederatedPlace,
    /// The ref of the announcements of `ada`.
    pub name: String,
}

/// What `bob` has.
struct KeptState {
    /// His refs, but for what he heard of those whom he does not believe.
    refs: BTreeSet<String>,
    objects: BTreeSet<String>,
    /// The objects of what he heard.
    heard: BTreeSet<String>,
}

/// What has to become of a forgery.
#[derive(Debug, Clone, Copy)]
pub enum ForgeryEnd {
    /// It is refused, and the reason or the log of what is nothing has these words.
    Refused(&'static str),
    /// It proves that the space said two things.
    Frozen,
}

/// Runs git with something to read; returns what it prints.
pub fn git_reading(folder: &Path, arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut command = Command::new("git");
    command.current_dir(folder).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("git is installed");
    child.stdin.take().expect("it is piped").write_all(input).expect("git reads");
    let done = child.wait_with_output().expect("it ends");
    assert!(done.status.success(), "git {arguments:?}");
    done.stdout
}

/// Writes an object; returns its id.
pub fn write_object(folder: &Path, kind: &str, bytes: &[u8]) -> String {
    let named = git_reading(folder, &["hash-object", "-w", "-t", kind, "--stdin"], bytes);
    String::from_utf8(named).expect("an id").trim().to_owned()
}

/// Writes a tree of lines as `git ls-tree` prints them.
pub fn write_tree(folder: &Path, lines: &str) -> String {
    let named = git_reading(folder, &["mktree"], lines.as_bytes());
    String::from_utf8(named).expect("an id").trim().to_owned()
}

/// Signs what stands before an object and the object, as `ssh-keygen` does it for people.
pub fn sign(
    place: &FederatedPlace,
    key: &Path,
    [namespace, line]: [&str; 2],
    object: &[u8],
) -> String {
    let file = place.path("to-sign");
    std::fs::write(&file, [line.as_bytes(), object].concat()).expect("writable");
    let signature = place.path("to-sign.sig");
    let _absent_is_fine = std::fs::remove_file(&signature);
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-Y", "sign", "-n", namespace, "-f"]).arg(key).arg(&file);
    let done = command.output().expect("ssh-keygen is installed");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    std::fs::read_to_string(&signature).expect("it was made")
}

impl ForgedPlace {
    /// Begins with one announcement that `bob` has accepted.
    pub fn new() -> ForgedPlace {
        let place = FederatedPlace::new();
        let (peer, space) = place.ada();
        let forged = ForgedPlace { place, name: announce_ref(peer, space) };
        forged.place.work();
        forged.place.announce().expect("nothing fails");
        forged.place.fetch().expect("nothing fails");
        forged
    }

    /// The folder of `ada`.
    pub fn ada(&self) -> PathBuf {
        self.place.path("ada")
    }

    /// The key by which `ada` announces.
    pub fn key(&self) -> PathBuf {
        self.place.path("ada.key")
    }

    /// Returns what a commit announces, as bytes.
    fn announced_bytes(&self, commit: &str) -> Vec<u8> {
        git_reading(&self.ada(), &["cat-file", "blob", &format!("{commit}:announcement")], b"")
    }

    /// Makes what goes on from a commit without changing anything.
    pub fn next(&self, commit: &str) -> SpaceAnnouncement {
        let bytes = self.announced_bytes(commit);
        let mut said = SpaceAnnouncement::decode(&bytes).expect("ada made it");
        said.seq += 1;
        said.previous = Some(Cid::of(&bytes));
        said.parents = vec![Oid::parse(commit).expect("an id")];
        (said.rewinds, said.removed) = (Vec::new(), Vec::new());
        said
    }

    /// Signs the bytes of an announcement and wraps them as they would be; returns the commit.
    pub fn wrap_bytes(&self, said: &SpaceAnnouncement, bytes: &[u8], key: &Path) -> String {
        let folder = self.ada();
        let purpose = ["announcement@agentic", "agentic announcement 1\n"];
        let signature = sign(&self.place, key, purpose, bytes);
        let tree = format!(
            "100644 blob {}\tannouncement\n040000 tree {}\tbody\n100644 blob {}\tsignature\n",
            write_object(&folder, "blob", bytes),
            said.tree,
            write_object(&folder, "blob", signature.as_bytes()),
        );
        let parents: String =
            said.parents.iter().map(|parent| format!("parent {parent}\n")).collect();
        let who = format!("agentic <announcement@agents.invalid> {} +0000", said.time / 1_000);
        let commit = format!(
            "tree {}\n{parents}author {who}\ncommitter {who}\n\nagentic announcement {}\n",
            write_tree(&folder, &tree),
            said.seq
        );
        write_object(&folder, "commit", commit.as_bytes())
    }

    /// Signs and wraps an announcement.
    pub fn wrap(&self, said: &SpaceAnnouncement, key: &Path) -> String {
        self.wrap_bytes(said, &said.to_bytes(), key)
    }

    /// Puts a commit in the place of what `ada` announced.
    pub fn serve(&self, commit: &str) {
        git(&self.ada(), &format!("push -q --force origin {commit}:{}", self.name));
    }

    /// Where what `ada` announced last is.
    pub fn tip(&self) -> String {
        git(&self.ada(), &format!("rev-parse {}", self.name))
    }

    fn kept(&self) -> KeptState {
        let folder = self.place.path("bob");
        let refs = git(&folder, "for-each-ref --format=%(refname)%20%(objectname)");
        let is_kept = |line: &&str| !line.starts_with("refs/agentic/evidence/");
        let refs = refs.lines().filter(is_kept).map(str::to_owned).collect();
        let listed = |line: &str| git(&folder, line).lines().map(str::to_owned).collect();
        KeptState {
            refs,
            objects: listed("cat-file --batch-all-objects --batch-check=%(objectname)"),
            heard: listed("rev-list --objects --no-object-names --glob=refs/agentic/evidence"),
        }
    }

    /// Has `bob` fetch.
    pub fn receive(&self) -> PeerOutcome {
        let outcomes = fetch_peers(&self.place.open("bob"), "origin", &[]);
        let outcomes = outcomes.expect("the disk works");
        let [outcome] = outcomes.as_slice() else { panic!("one space is served: {outcomes:?}") };
        outcome.clone()
    }

    /// Serves a commit, and checks what becomes of it.
    pub fn check(&self, told: &str, commit: &str, end: ForgeryEnd) {
        let before = self.kept();
        self.serve(commit);
        let received = self.receive();
        let outcome = &received.outcome;
        match (end, &outcome.result) {
            (ForgeryEnd::Refused(words), SpaceResult::Refused(why)) => {
                let said = outcome.junk.iter().chain([why]);
                assert!(
                    said.clone().any(|why| why.contains(words)),
                    "{told}: {:?}",
                    said.collect::<Vec<_>>()
                );
                assert_eq!(
                    received.freshness,
                    PeerFreshness::Current,
                    "{told}: nobody has seen more"
                );
            }
            (ForgeryEnd::Frozen, SpaceResult::Frozen) => {}
            (_, result) => panic!("{told}: {result:?}, not {end:?}"),
        }
        let after = self.kept();
        assert_eq!(after.refs, before.refs, "{told}");
        let is_new = |oid: &&String| !before.objects.contains(*oid) && !after.heard.contains(*oid);
        assert_eq!(after.objects.iter().find(is_new), None, "{told}");
        let report = verify(&self.place.open("bob"), None).expect("the disk works");
        let is_frozen = matches!(end, ForgeryEnd::Frozen);
        assert_eq!(report.findings.is_empty(), !is_frozen, "{told}: {:?}", report.findings);
        git(&self.place.path("bob"), "fsck --strict");
    }

    /// Serves what an edit makes of an announcement that would be accepted.
    fn check_edited(&self, told: &str, edit: impl FnOnce(&mut SpaceAnnouncement), end: ForgeryEnd) {
        let mut said = self.next(&self.tip());
        edit(&mut said);
        self.check(told, &self.wrap(&said, &self.key()), end);
    }
}

#[test]
fn what_goes_on_as_it_should_is_accepted() {
    let forged = ForgedPlace::new();
    let commit = forged.wrap(&forged.next(&forged.tip()), &forged.key());
    forged.serve(&commit);
    assert_eq!(forged.receive().outcome.result, SpaceResult::Accepted);
}

#[test]
fn a_key_that_the_space_does_not_have_signs_nothing() {
    let forged = ForgedPlace::new();
    forged.place.make_key("other");
    for key in ["bob.key", "other.key"] {
        let key = forged.place.path(key);
        let commit = forged.wrap(&forged.next(&forged.tip()), &key);
        forged.check(
            &key.display().to_string(),
            &commit,
            ForgeryEnd::Refused("no key of that space"),
        );
    }
}

#[test]
fn a_number_that_does_not_follow_is_refused() {
    type ForgedEdit = fn(&mut SpaceAnnouncement);
    let edits: [(&str, ForgedEdit, ForgeryEnd); 10] = [
        ("one left out", |said| said.seq += 1, ForgeryEnd::Refused("its number is 2 after 0")),
        (
            "a hole",
            |said| said.seq = 1 << 62,
            ForgeryEnd::Refused("its number is 4611686018427387904"),
        ),
        ("the same again", |said| said.seq = 0, ForgeryEnd::Frozen),
        ("another one before", |said| said.previous = Some(Cid::of(b"other")), ForgeryEnd::Frozen),
        ("none before", |said| said.previous = None, ForgeryEnd::Refused("no descendant")),
        ("no parent", |said| said.parents.clear(), ForgeryEnd::Refused("no descendant")),
        ("earlier", |said| said.time -= 1_000_000, ForgeryEnd::Refused("goes back")),
        (
            "due before there were clocks",
            |said| said.next_by = Some(-1),
            ForgeryEnd::Refused("`next_by`"),
        ),
        ("an epoch that there is none of", |said| said.epoch = 1, ForgeryEnd::Refused("not known")),
        (
            "more agents",
            |said| said.entries += 1,
            ForgeryEnd::Refused("it counts 2 agents and has 1"),
        ),
    ];
    for (told, edit, end) in edits {
        ForgedPlace::new().check_edited(told, edit, end);
    }
}

#[test]
fn what_was_refused_counts_against_another_content_of_its_number() {
    let forged = ForgedPlace::new();
    let end = ForgeryEnd::Refused("it counts 2 agents and has 1");
    forged.check_edited("more agents", |said| said.entries += 1, end);
    forged.check_edited("as it should go on", |_| {}, ForgeryEnd::Frozen);
}

#[test]
fn what_another_version_means_is_not_guessed() {
    for version in [0, 2, i64::MAX] {
        let forged = ForgedPlace::new();
        let said = forged.next(&forged.tip());
        let Value::Map(mut map) = canonical::decode(&said.to_bytes()).expect("it is one") else {
            panic!("it is a map");
        };
        map.insert("v".to_owned(), Value::Int(version));
        let bytes = canonical::encode(&Value::Map(map)).expect("it is flat");
        let commit = forged.wrap_bytes(&said, &bytes, &forged.key());
        forged.check(&format!("version {version}"), &commit, ForgeryEnd::Refused("`v`"));
    }
}
