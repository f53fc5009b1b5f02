//! Bytes that change on a disk or on the way: `verify` finds each one in what is kept of a peer, and of a bundle
//! nothing is believed but what its peer has signed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use agentic_federation::accepted::read_accepted;
use agentic_federation::announce::AnnounceRequest;
use agentic_federation::bundle::write_bundle;
use agentic_federation::fetch::fetch_peers;
use agentic_federation::verify::verify;

use crate::forged::git_reading;
use crate::{FederatedPlace, git};

/// How many bytes are changed where nobody asks for all.
const FLIPS: usize = 240;
/// How many bytes of a bundle are; git is started several times for each.
const BUNDLE_FLIPS: usize = 60;
/// The code of what is damaged.
const DAMAGED: u8 = 6;
/// The refs of what is kept of others: records, what was heard, the policy.
const KEPT: [&str; 3] = ["refs/agentic/accepted", "refs/agentic/evidence", "refs/agentic/caps"];

/// An object that has a file of its own.
struct LooseObject {
    path: PathBuf,
    /// The bytes that are hashed: kind, length and content.
    bytes: Vec<u8>,
}

impl LooseObject {
    fn read(folder: &Path, oid: &str) -> LooseObject {
        let kind = git(folder, &format!("cat-file -t {oid}"));
        let content = git_reading(folder, &["cat-file", &kind, oid], b"");
        let head = format!("{kind} {}\0", content.len());
        let path = folder.join(".git/objects").join(&oid[..2]).join(&oid[2..]);
        assert!(path.exists(), "{oid} is in no file of its own");
        LooseObject { path, bytes: [head.as_bytes(), &content].concat() }
    }

    /// Writes bytes in its place, as a stream that is not compressed.
    fn write(&self, bytes: &[u8]) {
        let length = u16::try_from(bytes.len()).expect("it is short");
        let (mut low, mut high) = (1_u32, 0_u32);
        for byte in bytes {
            low = (low + u32::from(*byte)) % 65_521;
            high = (high + low) % 65_521;
        }
        let mut stream = vec![0x78, 0x01, 0x01];
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(bytes);
        stream.extend((high << 16 | low).to_be_bytes());
        std::fs::remove_file(&self.path).expect("it is there");
        std::fs::write(&self.path, stream).expect("writable");
    }
}

/// Gives every object a file of its own.
fn unpack(folder: &Path) {
    let packs = folder.join(".git/objects/pack");
    for file in std::fs::read_dir(&packs).expect("there are packs").flatten() {
        let pack = std::fs::read(file.path()).expect("readable");
        std::fs::remove_file(file.path()).expect("removable");
        if file.path().extension().is_some_and(|end| end == "pack") {
            git_reading(folder, &["unpack-objects", "-q"], &pack);
        }
    }
}

/// Lists the objects that records and chains consist of, without the work that they announce.
fn kept_objects(folder: &Path) -> BTreeSet<String> {
    let mut kept = BTreeSet::new();
    for under in KEPT {
        for tip in git(folder, &format!("for-each-ref --format=%(objectname) {under}")).lines() {
            for commit in git(folder, &format!("rev-list {tip}")).lines() {
                let subject = git(folder, &format!("log -1 --format=%s {commit}"));
                if subject.starts_with("agentic ") {
                    kept.insert(commit.to_owned());
                    kept.insert(git(folder, &format!("rev-parse {commit}^{{tree}}")));
                    let listed = git(folder, &format!("ls-tree -r -t --object-only {commit}"));
                    kept.extend(listed.lines().map(str::to_owned));
                }
            }
        }
    }
    kept
}

/// Changes bytes of what is kept, so many in all, and checks that each is found.
fn flip(n_flips: usize) {
    let place = FederatedPlace::new();
    for _ in 0..2 {
        place.work();
        place.announce().expect("nothing fails");
        place.fetch().expect("nothing fails");
    }
    let folder = place.path("bob");
    unpack(&folder);
    let objects: Vec<LooseObject> =
        kept_objects(&folder).iter().map(|oid| LooseObject::read(&folder, oid)).collect();
    let n_bytes: usize = objects.iter().map(|object| object.bytes.len()).sum();
    let stride = (n_bytes / n_flips).max(1);
    let (mut next, mut n_done) = (0, 0);
    for object in &objects {
        while next < object.bytes.len() {
            let mut bytes = object.bytes.clone();
            bytes[next] ^= 1 << (next % 8);
            object.write(&bytes);
            let told = || format!("byte {next} of {}", object.path.display());
            let report = verify(&place.open("bob"), None);
            let report = report.unwrap_or_else(|error| panic!("{}: {error}", told()));
            let is_found = report.findings.iter().any(|found| found.code == DAMAGED);
            assert!(is_found, "{} is not found: {:?}", told(), report.findings);
            assert!(report.findings.iter().all(|found| !found.place.is_empty()), "{}", told());
            next += stride;
            n_done += 1;
        }
        object.write(&object.bytes);
        next -= object.bytes.len();
    }
    println!("{n_done} of {n_bytes} bytes changed");
    assert!(n_done >= n_flips.min(n_bytes), "too few were changed");
    place.check("with everything as it was");
}

/// Changes bytes of a bundle, so many in all, and checks what is believed of it then.
fn flip_bundle(n_flips: usize) {
    let place = FederatedPlace::new();
    let (peer, of) = place.ada();
    place.work();
    let made = place.sign_at("ada", &AnnounceRequest::default()).expect("nothing fails");
    let path = place.path("bundle");
    write_bundle(&place.open("ada"), &made, &path, None).expect("writable");
    let good = std::fs::read(&path).expect("just written");
    let record = format!("refs/agentic/accepted/{peer}/{of}");
    let stride = (good.len() / n_flips).max(1);
    let (mut n_refused, mut n_same) = (0, 0);
    for at in (0..good.len()).step_by(stride) {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (at % 8);
        std::fs::write(&path, &bytes).expect("writable");
        let space = place.open("bob");
        let _refused_is_fine = fetch_peers(&space, &path.display().to_string(), &[]);
        let accepted = read_accepted(space.repository(), peer, of).expect("it is whole");
        match accepted {
            None => n_refused += 1,
            Some(accepted) => {
                let announced = accepted.acceptance.announcement;
                assert_eq!(announced, made.wrapped.signed.cid(), "byte {at}");
                n_same += 1;
                git(&place.path("bob"), &format!("update-ref -d {record}"));
            }
        }
    }
    println!("{n_refused} refused, {n_same} the same as without");
    assert!(n_refused > n_same, "git sums up what is in a bundle");
    std::fs::write(&path, &good).expect("writable");
    fetch_peers(&place.open("bob"), &path.display().to_string(), &[]).expect("it is whole");
    let accepted = read_accepted(place.open("bob").repository(), peer, of).expect("it is whole");
    let announced = accepted.map(|accepted| accepted.acceptance.announcement);
    assert_eq!(announced, Some(made.wrapped.signed.cid()));
    place.check("with everything as it was");
}

#[test]
fn a_byte_that_changed_in_what_is_kept_of_a_peer_is_found() {
    flip(FLIPS);
}

#[test]
fn a_byte_that_changed_in_a_bundle_brings_nothing_else() {
    flip_bundle(BUNDLE_FLIPS);
}

#[test]
#[ignore = "it takes minutes"]
fn each_byte_that_changed_in_what_is_kept_of_a_peer_is_found() {
    flip(usize::MAX);
}

#[test]
#[ignore = "it takes minutes"]
fn each_byte_that_changed_in_a_bundle_brings_nothing_else() {
    flip_bundle(usize::MAX);
}
