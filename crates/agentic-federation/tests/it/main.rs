//! Announcing and receiving with every step made to fail: nothing is half done, no number is signed
//! twice, and refs never say more than records.

mod chosen;
mod drawn;
mod flipped;
mod forged;
mod judged;
mod model;
mod openpgp;
mod reply;
mod silent;

use std::path::{Path, PathBuf};
use std::process::Command;

use agentic_federation::accepted::read_accepted;
use agentic_federation::announce::{AnnounceRequest, MadeAnnouncement, announce, own_announcement};
use agentic_federation::backup::require_newest;
use agentic_federation::caps::{GrantPreset, add_peer};
use agentic_federation::exchange::push_announcement;
use agentic_federation::fetch::fetch_peers;
use agentic_federation::id::{PeerId, Petname, SpaceId};
use agentic_federation::leaving::LeavingRules;
use agentic_federation::own::{InitRequest, OwnIdentity, init, require_own};
use agentic_federation::policy::{FollowedPeer, PeerTrust};
use agentic_federation::tracking::{misplaced, settle_all, tracked_spaces};
use agentic_federation::verify::verify;
use agentic_model::Cid;
use agentic_redact::{KnownValues, RedactAllowances, RedactRules, SecretRedactor, TagKey};
use agentic_session::{SessionOptions, SessionSpace};
use agentic_store::fault::failing_at;

/// How many steps a verb may take; none has nearly as many.
const STEPS_MAX: u64 = 200;

/// Two spaces, `ada` and `bob`, and the bare repository `hub` between them.
struct FederatedPlace {
    folder: tempfile::TempDir,
}

fn git(folder: &Path, line: &str) -> String {
    let done = Command::new("git").current_dir(folder).args(line.split(' ')).output();
    let done = done.expect("git is installed");
    assert!(done.status.success(), "git {line}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

fn redactor() -> SecretRedactor {
    let allowances = RedactAllowances::new(Vec::<String>::new()).expect("there are none");
    let (rules, known) = (RedactRules::built_in(), KnownValues::default());
    SecretRedactor::new(rules, known, allowances, TagKey::new([7; 32]))
}

impl FederatedPlace {
    /// Makes the repositories and identities; `bob` follows `ada`.
    fn new() -> FederatedPlace {
        let place = FederatedPlace { folder: tempfile::tempdir().expect("a temporary folder") };
        git(place.folder.path(), "init -q --bare hub");
        for name in ["ada", "bob"] {
            git(place.folder.path(), &format!("init -q -b main {name}"));
            let folder = place.path(name);
            for setting in ["user.name A", "user.email a@example.com", "commit.gpgsign false"] {
                git(&folder, &format!("config {setting}"));
            }
            git(&folder, "commit -q --allow-empty -m one");
            git(&folder, "remote add origin ../hub");
            place.make_key(name);
        }
        let ada = place.begin("ada", None);
        let bob = place.begin("bob", Some(ada.project));
        let followed = FollowedPeer {
            peer: ada.peer(),
            trust: PeerTrust::Track,
            principal: None,
            remote: None,
            at: None,
        };
        let name = Petname::parse("ada").expect("a name");
        add_peer(&place.open("bob"), &bob, &name, &followed, GrantPreset::Track)
            .expect("the name is free");
        place
    }

    /// Makes a key of that name.
    fn make_key(&self, name: &str) {
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(self.path(&format!("{name}.key")))
            .status();
        assert!(made.expect("ssh-keygen is installed").success());
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn open(&self, name: &str) -> SessionSpace {
        SessionSpace::open(&self.path(name), SessionOptions::default()).expect("just made")
    }

    fn begin(&self, name: &str, project: Option<Cid>) -> OwnIdentity {
        let key = self.path(&format!("{name}.key")).display().to_string();
        let request = InitRequest { key: Some(key), project, ..InitRequest::default() };
        init(&self.open(name), &request).expect("the key signs")
    }

    /// Makes a commit on the agent `x` of `ada`.
    fn work(&self) {
        let folder = self.path("ada");
        let tree = git(&folder, "rev-parse main^{tree}");
        let known = Command::new("git")
            .current_dir(&folder)
            .args(["rev-parse", "--quiet", "--verify", "refs/heads/agents/x"])
            .output()
            .expect("git is installed");
        let parent = match known.status.success() {
            true => "refs/heads/agents/x",
            false => "main",
        };
        let commit = git(&folder, &format!("commit-tree -m more -p {parent} {tree}"));
        git(&folder, &format!("update-ref refs/heads/agents/x {commit}"));
    }

    fn announce(&self) -> agentic_federation::Result<MadeAnnouncement> {
        self.announce_at("ada")
    }

    fn announce_at(&self, name: &str) -> agentic_federation::Result<MadeAnnouncement> {
        let space = self.open(name);
        let seen = require_newest(&space, "origin")?;
        let made = self.sign_at(name, &AnnounceRequest::default())?;
        push_announcement(&space, &seen, &made)?;
        Ok(made)
    }

    /// Signs what there is, and pushes nothing.
    fn sign_at(
        &self,
        name: &str,
        request: &AnnounceRequest,
    ) -> agentic_federation::Result<MadeAnnouncement> {
        let redactor = redactor();
        let rules = LeavingRules { redactor: &redactor, allow: &[], remote: Some("origin") };
        announce(&self.open(name), request, rules)
    }

    fn fetch(&self) -> agentic_federation::Result<()> {
        self.fetch_at("bob")
    }

    fn fetch_at(&self, name: &str) -> agentic_federation::Result<()> {
        fetch_peers(&self.open(name), "origin", &[]).map(drop)
    }

    fn ada(&self) -> (PeerId, SpaceId) {
        let own = require_own(&self.open("ada")).expect("it was begun");
        (own.peer(), own.space)
    }

    fn check(&self, told: &str) {
        for name in ["ada", "bob"] {
            let report = verify(&self.open(name), None).expect("the disk works");
            assert_eq!(report.findings, [], "{told}: {name}");
            git(&self.path(name), "fsck --strict");
        }
    }
}

#[test]
fn a_step_of_announcing_that_fails_leaves_one_chain_and_no_number_twice() {
    let place = FederatedPlace::new();
    let mut numbers: Vec<(u64, Cid)> = Vec::new();
    for visit in 1..STEPS_MAX {
        place.work();
        let (done, was_met) = failing_at("*", visit, || place.announce());
        if !was_met {
            done.expect("no step failed");
            assert!(visit > 3, "there are steps to fail at");
            break;
        }
        // Whatever is our own by now may have left the machine.
        let space = place.open("ada");
        let own = require_own(&space).expect("it was begun");
        if let Some(kept) = own_announcement(space.repository(), &own).expect("it is whole") {
            numbers.push((kept.signed.announcement.seq, kept.signed.cid()));
        }
        let made = place.announce().unwrap_or_else(|error| panic!("after step {visit}: {error}"));
        numbers.push((made.wrapped.signed.announcement.seq, made.wrapped.signed.cid()));
        place.check(&format!("after step {visit}"));
    }
    numbers.sort_unstable();
    numbers.dedup();
    let twice = numbers.windows(2).find(|pair| pair[0].0 == pair[1].0);
    assert_eq!(twice, None, "two announcements of one number");
}

#[test]
fn a_step_of_receiving_that_fails_leaves_what_was_or_what_is() {
    let place = FederatedPlace::new();
    let (peer, of) = place.ada();
    for visit in 1..STEPS_MAX {
        place.work();
        let made = place.announce().expect("nothing fails");
        let before = read_accepted(place.open("bob").repository(), peer, of).expect("whole");
        let before = before.map(|before| before.acceptance.announcement);
        let (done, was_met) = failing_at("*", visit, || place.fetch());
        if !was_met {
            done.expect("no step failed");
            assert!(visit > 3, "there are steps to fail at");
            break;
        }
        let space = place.open("bob");
        let after = read_accepted(space.repository(), peer, of).expect("whole");
        let after = after.map(|after| after.acceptance.announcement);
        let newest = Some(made.wrapped.signed.cid());
        assert!(after == before || after == newest, "half accepted after step {visit}");
        let drawn = git(&place.path("bob"), "for-each-ref --format=%(objectname) refs/remotes/ada");
        let announced = git(&place.path("ada"), "rev-parse refs/heads/agents/x");
        assert!(after == newest || drawn != announced, "ahead of the record after step {visit}");
        settle_all(&space).expect("nothing fails");
        for tracked in tracked_spaces(&space).expect("whole") {
            let wrong = misplaced(&space, &tracked).expect("whole");
            assert!(wrong.is_empty(), "after step {visit}: {wrong:?}");
        }
        drop(space);
        place.fetch().unwrap_or_else(|error| panic!("after step {visit}: {error}"));
        let now = read_accepted(place.open("bob").repository(), peer, of).expect("whole");
        assert_eq!(now.map(|now| now.acceptance.announcement), newest, "after step {visit}");
        place.check(&format!("after step {visit}"));
    }
}

#[test]
fn two_fetches_of_one_peer_at_once_lose_nothing() {
    let place = FederatedPlace::new();
    let (peer, of) = place.ada();
    for round in 0..20 {
        place.work();
        let made = place.announce().expect("nothing fails");
        std::thread::scope(|scope| {
            let fetches = [(); 2].map(|()| scope.spawn(|| place.fetch()));
            for fetch in fetches {
                fetch.join().expect("no panic").unwrap_or_else(|error| panic!("{round}: {error}"));
            }
        });
        let now = read_accepted(place.open("bob").repository(), peer, of).expect("whole");
        let now = now.map(|now| now.acceptance.announcement);
        assert_eq!(now, Some(made.wrapped.signed.cid()), "round {round}");
        let drawn = git(&place.path("bob"), "rev-parse refs/remotes/ada/agents/x");
        assert_eq!(drawn, git(&place.path("ada"), "rev-parse refs/heads/agents/x"));
    }
    let record = format!("refs/agentic/accepted/{peer}/{of}");
    let records = format!("rev-list --count --grep=^agentic.accepted {record}");
    assert_eq!(git(&place.path("bob"), &records), "20", "one record for each announcement");
    place.check("after 20 rounds");
}
