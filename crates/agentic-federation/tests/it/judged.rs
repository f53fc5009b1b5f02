//! Records that say something else than the gate: `verify` asks it again, by what the record names and keeps.

use agentic_federation::acceptance::{Acceptance, GateKnowledge, HeldAgent};
use agentic_federation::accepted::{accepted_ref, read_accepted};
use agentic_federation::capability::TriggerName;
use agentic_federation::caps::{GrantPreset, GrantRequest, add_peer, grant, read_policy, revoke};
use agentic_federation::id::Petname;
use agentic_federation::own::require_own;
use agentic_federation::policy::{FollowedPeer, PeerTrust};
use agentic_federation::receive::judge_held;
use agentic_federation::verify::{VerifyReport, verify};
use agentic_model::{AgentName, Cid, Kind, Oid};
use agentic_space::kind::REGISTRY_REF;

use crate::{FederatedPlace, git};

/// What is wrong, as far as it is said.
const BELIEVES: &str = "believes";

/// A place where `bob` has accepted what `ada` announced, twice.
struct JudgedPlace {
    place: FederatedPlace,
    /// The record before, and the newest.
    records: [Oid; 2],
}

impl JudgedPlace {
    fn new() -> JudgedPlace {
        let place = FederatedPlace::new();
        let mut records = Vec::new();
        for _ in 0..2 {
            place.work();
            place.announce().expect("nothing fails");
            place.fetch().expect("nothing fails");
            let (peer, of) = place.ada();
            let accepted = read_accepted(place.open("bob").repository(), peer, of);
            records.push(accepted.expect("whole").expect("it was accepted").record);
        }
        place.check("before anything");
        JudgedPlace { place, records: [records[0], records[1]] }
    }

    /// Puts another record in place of the newest: as that is, but for what `change` does.
    fn forge(&self, change: impl FnOnce(&mut Acceptance)) -> VerifyReport {
        let (before, record) = (self.records[0], self.records[1]);
        self.forge_at(Some(before), record, change)
    }

    fn forge_at(
        &self,
        before: Option<Oid>,
        record: Oid,
        change: impl FnOnce(&mut Acceptance),
    ) -> VerifyReport {
        let (space, folder) = (self.place.open("bob"), self.place.path("bob"));
        let mut acceptance = Acceptance::read(space.repository(), record).expect("it is whole");
        change(&mut acceptance);
        let (tree, objects) = acceptance.to_objects(space.repository());
        let _written = space.repository().write_objects(&objects).expect("there is room");
        let parents = before.into_iter().chain([acceptance.announced]);
        let parents: String = parents.map(|parent| format!("-p {parent} ")).collect();
        let forged = git(&folder, &format!("commit-tree -m f {parents}{tree}"));
        let (peer, of) = self.place.ada();
        git(&folder, &format!("update-ref {} {forged}", accepted_ref(peer, of)));
        let report = verify(&self.place.open("bob"), None).expect("the disk works");
        git(&folder, &format!("update-ref {} {}", accepted_ref(peer, of), self.records[1]));
        report
    }
}

/// Checks that a changed record is found, and by which words.
fn check(words: &str, change: impl FnOnce(&JudgedPlace, &mut Acceptance)) {
    let judged = JudgedPlace::new();
    let report = judged.forge(|acceptance| change(&judged, acceptance));
    // A record that believes something else has other tracking refs, too.
    let found = report.findings.iter().filter(|found| !found.place.starts_with("refs/"));
    let found: Vec<_> = found.collect();
    let [found] = found.as_slice() else { panic!("one thing is wrong: {:?}", report.findings) };
    assert!(found.what.contains(words), "{}", found.what);
    assert!(found.place.starts_with("ada "), "{}", found.place);
    assert_eq!(found.code, 6);
    judged.place.check("with the record as it was");
}

fn known(acceptance: &mut Acceptance) -> &mut GateKnowledge {
    acceptance.known.as_mut().expect("records keep it")
}

fn agent() -> AgentName {
    AgentName::parse("x").expect("a name")
}

#[test]
fn a_record_that_believes_less_than_its_policy_is_found() {
    check(BELIEVES, |_, acceptance| acceptance.believed.clear());
}

#[test]
fn a_record_that_believes_an_older_head_than_its_policy_is_found() {
    check(BELIEVES, |judged, acceptance| {
        let space = judged.place.open("bob");
        let before = Acceptance::read(space.repository(), judged.records[0]).expect("whole");
        acceptance.believed = before.believed;
    });
}

#[test]
fn a_record_that_believes_what_nobody_announced_is_found() {
    check(BELIEVES, |_, acceptance| {
        let entry = acceptance.believed[&agent()].clone();
        acceptance.believed.insert(AgentName::parse("y").expect("a name"), entry);
    });
}

#[test]
fn a_record_that_holds_back_what_its_policy_lets_through_is_found() {
    check("waits", |_, acceptance| {
        let held = HeldAgent {
            head: Some(acceptance.believed[&agent()].head),
            notes: None,
            trigger: TriggerName::HeadMove.shown(),
            kind: "agent-commit".to_owned(),
            commit: None,
        };
        acceptance.held.insert(agent(), held);
    });
}

#[test]
fn a_record_of_a_time_at_which_the_peer_had_said_two_things_is_found() {
    check(BELIEVES, |judged, acceptance| {
        known(acceptance).frozen.insert(judged.place.ada().0);
    });
}

#[test]
fn a_record_that_knows_no_kinds_is_found() {
    check(BELIEVES, |_, acceptance| known(acceptance).kinds.clear());
}

#[test]
fn a_record_by_a_policy_that_is_none_of_ours_is_found() {
    check("names a policy", |judged, acceptance| {
        let folder = judged.place.path("bob");
        let tip = acceptance.policy.expect("there is one");
        let other = git(&folder, &format!("commit-tree -m other {tip}^{{tree}}"));
        acceptance.policy = Some(Oid::parse(&other).expect("an id"));
    });
}

#[test]
fn a_record_of_a_document_that_nobody_knows_is_found() {
    check("names a document", |_, acceptance| acceptance.identity = Cid::of(b"nothing"));
}

#[test]
fn a_record_without_what_was_known_is_found_where_the_one_before_has_it() {
    check("lacks what was known", |_, acceptance| acceptance.known = None);
}

#[test]
fn records_from_before_it_was_kept_are_counted_and_not_judged() {
    let judged = JudgedPlace::new();
    let report = judged.forge_at(None, judged.records[0], |acceptance| acceptance.known = None);
    let chain = report.chains.iter().find(|chain| chain.peer == "ada").expect("it is checked");
    assert_eq!((chain.n_records, chain.n_unjudged), (1, 1));
    let wrong = report.findings.iter().find(|found| !found.place.starts_with("refs/"));
    assert_eq!(wrong, None, "only the tracking ref is newer");
}

/// A request for heads of agents of `ada`.
fn request(until: Option<i64>) -> GrantRequest {
    GrantRequest {
        kinds: vec![Kind::agent_commit()],
        triggers: vec![TriggerName::Spawn.shown(), TriggerName::HeadMove.shown()],
        agents: None,
        until,
        delegate: 0,
        parent: None,
    }
}

/// Makes a place where `bob` lets nothing through of `ada`, but for what is granted until a time.
fn granted_until(until: Option<i64>) -> JudgedPlace {
    let place = FederatedPlace::new();
    let space = place.open("bob");
    let (own, name) = (require_own(&space).expect("begun"), Petname::parse("ada").expect("a name"));
    revoke(&space, "ada", "to begin with").expect("it is followed");
    place.work();
    place.announce().expect("nothing fails");
    place.fetch().expect("nothing fails");
    let (peer, of) = place.ada();
    let record = || {
        let accepted = read_accepted(place.open("bob").repository(), peer, of);
        accepted.expect("whole").expect("it was accepted").record
    };
    let before = record();
    grant(&space, &own, &name, &request(until)).expect("it is followed");
    let policy = read_policy(&space).expect("it is whole").policy;
    judge_held(&space, &[(&name, &policy.peers[&name])]).expect("nothing fails");
    let after = record();
    assert_ne!(before, after, "it is believed by now");
    JudgedPlace { place, records: [before, after] }
}

#[test]
fn a_record_names_the_time_by_which_a_grant_counted() {
    let until = 4_000_000_000_000;
    let judged = granted_until(Some(until));
    judged.place.check("within the time");
    let report = judged.forge(|acceptance| acceptance.time = until - 1);
    assert_eq!(report.findings, [], "a moment before");
    let report = judged.forge(|acceptance| acceptance.time = until);
    assert!(report.findings[0].what.contains(BELIEVES), "{:?}", report.findings);
}

#[test]
fn a_record_that_names_the_policy_before_the_grant_is_found() {
    let judged = granted_until(None);
    let space = judged.place.open("bob");
    let before = Acceptance::read(space.repository(), judged.records[0]).expect("whole");
    let report = judged.forge(|acceptance| acceptance.policy = before.policy);
    let what = &report.findings[0].what;
    assert!(what.contains(BELIEVES) && what.contains("its policy nothing"), "{what}");
    // The other way round: what waited is said to wait by the policy that lets it through.
    let report = judged.forge(|acceptance| {
        acceptance.believed = before.believed.clone();
        acceptance.held = before.held.clone();
    });
    let what = &report.findings[0].what;
    assert!(what.contains("believes nothing of `x`"), "{what}");
}

#[test]
fn a_record_that_goes_back_to_an_older_policy_is_found() {
    let judged = granted_until(None);
    let (before, after) = (judged.records[0], judged.records[1]);
    let report = judged.forge_at(Some(after), before, |_| ());
    let what = &report.findings[0].what;
    assert!(what.contains("older policy"), "{what}");
}

#[test]
fn what_changes_after_a_record_does_not_make_it_wrong() {
    let judged = JudgedPlace::new();
    let place = &judged.place;
    let space = place.open("bob");
    revoke(&space, "ada", "she has left").expect("it is followed");
    place.check("after a revocation");
    let kind = agentic_model::KindEntry {
        name: Kind::parse("bug").expect("a name"),
        parent: Some(Kind::parse("finding").expect("a name")),
        description: "A bug".to_owned(),
        schema: None,
    };
    let _notices = space.register_kind(kind).expect("the name is free");
    place.check("after a kind was registered");
    git(&place.path("bob"), &format!("update-ref -d {REGISTRY_REF}"));
    place.check("after the registry is gone");
    let own = require_own(&space).expect("it was begun");
    let followed = FollowedPeer {
        peer: agentic_federation::id::PeerId(Cid::of(b"cid")),
        trust: PeerTrust::None,
        principal: None,
        remote: None,
        at: None,
    };
    let name = Petname::parse("cid").expect("a name");
    add_peer(&space, &own, &name, &followed, GrantPreset::None).expect("the name is free");
    place.check("after another peer was added");
    place.work();
    place.announce().expect("nothing fails");
    place.fetch().expect("nothing fails");
    place.check("after something else waits");
    let policy = read_policy(&space).expect("it is whole").tip;
    let (peer, of) = place.ada();
    let newest = read_accepted(space.repository(), peer, of).expect("whole").expect("accepted");
    assert_eq!(newest.acceptance.policy, policy);
    assert!(!newest.acceptance.held.is_empty(), "nobody may move heads");
}
