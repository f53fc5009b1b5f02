//! Identities whose keys are of OpenPGP, with the `gpg` that is there: announced, believed, expired, extended.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use agentic_federation::accepted::read_accepted;
use agentic_federation::caps::{GrantPreset, add_peer};
use agentic_federation::changes::{Rotation, rotate};
use agentic_federation::contact::find_peer;
use agentic_federation::fetch::fetch_peers;
use agentic_federation::id::Petname;
use agentic_federation::key::PeerKey;
use agentic_federation::own::{InitRequest, OwnIdentity, init, require_own};
use agentic_federation::policy::{FollowedPeer, PeerTrust};
use agentic_federation::receive::SpaceResult;
use agentic_federation::verify::verify;
use agentic_git::has_openpgp;

use crate::{FederatedPlace, git};

/// A key ring of somebody, which goes with it.
struct SomebodysRing {
    /// Below a short path: the sockets of its agent have room for a hundred bytes.
    folder: tempfile::TempDir,
}

impl SomebodysRing {
    fn new() -> SomebodysRing {
        let folder = tempfile::Builder::new().prefix("g").tempdir_in("/tmp").expect("writable");
        let mode = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(folder.path(), mode).expect("ours");
        SomebodysRing { folder }
    }

    fn gpg(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("gpg");
        command.arg("--homedir").arg(self.folder.path()).args(["--batch", "--quiet", "--yes"]);
        command.args(["--pinentry-mode", "loopback", "--passphrase", ""]).args(arguments);
        let done = command.output().expect("gpg is there");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// Makes a key that certifies, with one below it that signs; returns its name.
    fn make_key(&self, user: &str) -> String {
        self.gpg(&["--quick-gen-key", user, "ed25519", "cert", "never"]);
        let listed = self.gpg(&["--with-colons", "--list-secret-keys", user]);
        let line = listed.lines().find(|line| line.starts_with("fpr:")).expect("it was made");
        let fingerprint = line.split(':').nth(9).expect("a fingerprint").to_owned();
        self.gpg(&["--quick-add-key", &fingerprint, "ed25519", "sign", "never"]);
        format!("gpg:{fingerprint}")
    }

    /// Lets everything of a key end after so many seconds, or never.
    fn set_expiry(&self, key: &str, when: &str) {
        let primary = key.strip_prefix("gpg:").expect("a name of OpenPGP");
        let listed = self.gpg(&["--with-colons", "--list-secret-keys", primary]);
        let lines = listed.lines().filter(|line| line.starts_with("fpr:"));
        let below: Vec<&str> = lines.skip(1).filter_map(|line| line.split(':').nth(9)).collect();
        self.gpg(&["--quick-set-expire", primary, when]);
        self.gpg(&[&["--quick-set-expire", primary, when][..], &below].concat());
    }

    /// Has a repository sign with this ring.
    fn use_in(&self, folder: &Path) {
        let program: PathBuf = self.folder.path().join("gpg-here");
        let ring = self.folder.path().display();
        let script = format!("#!/bin/sh\nexec gpg --homedir '{ring}' \"$@\"\n");
        std::fs::write(&program, script).expect("writable");
        let mode = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(&program, mode).expect("ours");
        git(folder, &format!("config gpg.program {}", program.display()));
    }
}

impl Drop for SomebodysRing {
    fn drop(&mut self) {
        let mut command = Command::new("gpgconf");
        let _gone =
            command.arg("--homedir").arg(self.folder.path()).args(["--kill", "all"]).status();
    }
}

/// A place where `ada` has an identity of OpenPGP, which `bob` follows; nothing where there is no `gpg`.
fn openpgp_place(ring: &SomebodysRing) -> (FederatedPlace, String) {
    let place = FederatedPlace::new();
    // The identity of SSH goes: this repository begins anew.
    for name in ["identity", "project"] {
        git(&place.path("ada"), &format!("update-ref -d refs/agentic/{name}"));
    }
    git(&place.path("ada"), "config --unset-all agentic.controlKey");
    ring.use_in(&place.path("ada"));
    let key = ring.make_key("Ada <ada@example.com>");
    let own = begin(&place, &key).expect("it signs");
    let name = Petname::parse("gada").expect("a name");
    let followed = FollowedPeer {
        peer: own.peer(),
        trust: PeerTrust::Track,
        principal: None,
        remote: None,
        at: None,
    };
    let bob = place.open("bob");
    let us = require_own(&bob).expect("it was begun");
    add_peer(&bob, &us, &name, &followed, GrantPreset::Track).expect("the name is free");
    (place, key)
}

fn begin(place: &FederatedPlace, key: &str) -> agentic_federation::Result<OwnIdentity> {
    let project = Some(require_own(&place.open("bob"))?.project);
    let request = InitRequest { key: Some(key.to_owned()), project, ..InitRequest::default() };
    init(&place.open("ada"), &request)
}

fn received(place: &FederatedPlace) -> SpaceResult {
    let name = Petname::parse("gada").expect("a name");
    let outcomes = fetch_peers(&place.open("bob"), "origin", &[name]).expect("the disk works");
    let [outcome] = outcomes.as_slice() else { panic!("one space is served: {outcomes:?}") };
    outcome.outcome.result.clone()
}

/// Says that a test was not run, where it was not.
fn skipped(what: &str) -> bool {
    let skipped = !has_openpgp();
    if skipped {
        eprintln!("SKIPPED {what}: there is no `gpg` here");
    }
    skipped
}

#[test]
fn a_key_of_openpgp_announces_until_it_expires_and_goes_on_once_it_signs_for_longer() {
    if skipped("identities of OpenPGP") {
        return;
    }
    let ring = SomebodysRing::new();
    let (place, key) = openpgp_place(&ring);
    place.work();
    place.announce().expect("it signs");
    let found = find_peer(&place.open("bob"), "origin", &PeerKey::parse(&key).expect("a name"));
    let (peer, of) = place.ada();
    assert_eq!(found.expect("ada has it"), peer);
    assert_eq!(received(&place), SpaceResult::Accepted);
    place.check("with a key of OpenPGP");

    // What it signed while it could is refused once the key that the identity has is over.
    ring.set_expiry(&key, "seconds=4");
    let rotation = Rotation { add: vec![key.clone()], ..Rotation::default() };
    rotate(&place.open("ada"), &rotation).expect("it signs");
    place.work();
    let made = place.announce().expect("it signs for a moment");
    while !is_over(&ring) {
        std::thread::yield_now();
    }
    assert_eq!(
        received(&place),
        SpaceResult::Refused("the key that signed it has expired, or was revoked".to_owned())
    );
    let before = read_accepted(place.open("bob").repository(), peer, of).expect("whole");
    assert_ne!(
        before.map(|before| before.acceptance.announcement),
        Some(made.wrapped.signed.cid())
    );
    // What was accepted stays, and is whole.
    let report = verify(&place.open("bob"), None).expect("the disk works");
    assert_eq!(report.findings, []);
    place.work();
    let refused = place.announce().expect_err("gpg does not sign with it");
    assert!(refused.to_string().contains("gpg"), "{refused}");

    ring.set_expiry(&key, "never");
    rotate(&place.open("ada"), &rotation).expect("it signs again");
    place.announce().expect("it signs again");
    assert_eq!(received(&place), SpaceResult::Accepted);
    place.check("with a key that signs for longer");
}

/// Tells whether the key of a ring has expired.
fn is_over(ring: &SomebodysRing) -> bool {
    ring.gpg(&["--with-colons", "--list-keys"]).lines().any(|line| line.starts_with("pub:e"))
}

#[test]
fn a_key_of_openpgp_is_named_by_its_whole_fingerprint_and_is_in_the_key_ring() {
    if skipped("names of keys of OpenPGP") {
        return;
    }
    let ring = SomebodysRing::new();
    let (place, key) = openpgp_place(&ring);
    git(&place.path("ada"), "update-ref -d refs/agentic/identity");
    for (wrong, why) in [
        (key[..20].to_owned(), "it takes all 40 digits"),
        (format!("{key}0"), "it takes all 40 digits"),
        (format!("gpg:{}", "A".repeat(40)), "there is no key `gpg:AAAA"),
        ("gpg:".to_owned(), "it takes all 40 digits"),
    ] {
        let refused = begin(&place, &wrong).expect_err(&wrong);
        assert!(refused.to_string().contains(why), "{wrong}: {refused}");
    }
    let small = format!("gpg:{}", key["gpg:".len()..].to_lowercase());
    assert_eq!(
        begin(&place, &small).expect("it is the same key").chain.newest().spaces[0].keys[0]
            .as_str(),
        key
    );
}
