//! The one rule: what a peer may do.

use super::*;

const NOW: i64 = 1_000;

fn cid(text: &str) -> Cid {
    Cid::of(text.as_bytes())
}

fn kind(text: &str) -> Kind {
    Kind::parse(text).expect("the case names a kind")
}

fn peer(text: &str) -> PeerId {
    PeerId(cid(text))
}

/// A policy in which `bob` is followed and may do something.
fn policy(grants: &[Capability]) -> PeerPolicy {
    let followed = FollowedPeer {
        peer: peer("bob"),
        trust: PeerTrust::Track,
        principal: None,
        remote: None,
        at: None,
    };
    PeerPolicy {
        peers: BTreeMap::from([(Petname::parse("bob").expect("a name"), followed)]),
        grants: grants.iter().map(|grant| (grant.cid(), grant.clone())).collect(),
        revoked: BTreeMap::new(),
    }
}

fn grant(kinds: &[&str], triggers: &[&str]) -> Capability {
    Capability {
        project: cid("project"),
        issuer: peer("ada"),
        peer: peer("bob"),
        kinds: kinds.iter().map(|text| kind(text)).collect(),
        triggers: triggers
            .iter()
            .map(|text| PeerTrigger::parse(text).expect("the case names a trigger"))
            .collect(),
        agents: None,
        since: None,
        until: None,
        delegate: 0,
        parent: None,
        nonce: vec![1; 16],
    }
}

/// Asks whether `bob` may do something with an agent `x`, at [`NOW`].
fn may(policy: &PeerPolicy, kind_text: &str, trigger: &str, frozen: &[PeerId]) -> bool {
    let agent = AgentName::parse("x").expect("a name");
    let (kinds, kind) = (KindTree::built_in(), kind(kind_text));
    let frozen = frozen.iter().copied().collect();
    let given = BTreeMap::new();
    let moment =
        PolicyMoment { kinds: &kinds, own: peer("ada"), now: NOW, frozen: &frozen, given: &given };
    let trigger = PeerTrigger::parse(trigger).expect("the case names a trigger");
    let question = PolicyQuestion { peer: peer("bob"), kind: &kind, trigger, agent: Some(&agent) };
    policy.may(moment, question).expect("the rule is sound").is_allowed()
}

#[test]
fn a_grant_reaches_the_kinds_below_and_no_others() {
    let some = policy(&[grant(&["finding"], &["head-move"])]);
    assert!(may(&some, "finding", "head-move", &[]));
    assert!(!may(&some, "agent-commit", "head-move", &[]));
    assert!(!may(&some, "refactor", "head-move", &[]));
    assert!(!may(&some, "finding", "merge", &[]));
    let all = policy(&[grant(&["agent-commit"], &["head-move"])]);
    assert!(may(&all, "refactor", "head-move", &[]));
}

#[test]
fn what_may_run_is_granted_by_itself() {
    let shown = policy(&[grant(&["decision"], &["decide"])]);
    assert!(may(&shown, "decision", "decide", &[]));
    assert!(!may(&shown, "decision", "decide!", &[]));
    let runs = policy(&[grant(&["decision"], &["decide!"])]);
    assert!(may(&runs, "decision", "decide!", &[]));
    assert!(may(&runs, "decision", "decide", &[]));
}

#[test]
fn our_clock_says_whether_a_grant_counts() {
    let mut given = grant(&["finding"], &["spawn"]);
    for (since, until, counts) in [
        (None, Some(NOW + 1), true),
        (None, Some(NOW), false),
        (Some(NOW), None, true),
        (Some(NOW + 1), None, false),
    ] {
        (given.since, given.until) = (since, until);
        let some = policy(&[given.clone()]);
        assert_eq!(may(&some, "finding", "spawn", &[]), counts, "{since:?} {until:?}");
    }
}

#[test]
fn a_tombstone_counts_whatever_brings_the_grant_back() {
    let given = grant(&["finding"], &["spawn"]);
    let mut policy = policy(std::slice::from_ref(&given));
    policy.revoked.insert(given.cid(), "gone".to_owned());
    assert!(!may(&policy, "finding", "spawn", &[]));
    policy.grants.insert(given.cid(), given.clone());
    assert!(!may(&policy, "finding", "spawn", &[]));
    let other = Capability { nonce: vec![2; 16], ..given };
    policy.grants.insert(other.cid(), other);
    assert!(may(&policy, "finding", "spawn", &[]), "another grant is another grant");
}

#[test]
fn nobody_else_gives_rights_here() {
    let given = grant(&["finding"], &["spawn"]);
    let others = Capability { issuer: peer("eve"), ..given.clone() };
    let own = Capability { issuer: peer("bob"), ..given.clone() };
    let for_others = Capability { peer: peer("eve"), ..given.clone() };
    let below = Capability { parent: Some(cid("parent")), ..given };
    for grant in [others, own, for_others, below] {
        assert!(!may(&policy(std::slice::from_ref(&grant)), "finding", "spawn", &[]), "{grant:?}");
    }
}

#[test]
fn without_trust_no_grant_counts() {
    let mut policy = policy(&[grant(&["finding"], &["spawn"])]);
    assert!(!may(&policy, "finding", "spawn", &[peer("bob")]), "frozen");
    assert!(may(&policy, "finding", "spawn", &[peer("eve")]), "somebody else is frozen");
    for trust in [PeerTrust::None, PeerTrust::Blocked] {
        for followed in policy.peers.values_mut() {
            followed.trust = trust;
        }
        assert!(!may(&policy, "finding", "spawn", &[]), "{trust:?}");
    }
    policy.peers.clear();
    assert!(!may(&policy, "finding", "spawn", &[]), "nobody follows it");
}

#[test]
fn a_grant_for_some_agents_is_for_no_others() {
    let mut given = grant(&["finding"], &["spawn"]);
    for (patterns, fits) in [(&["x"][..], true), (&["y", "*"], true), (&["y"], false), (&[], false)]
    {
        given.agents = Some(patterns.iter().map(|text| (*text).to_owned()).collect());
        assert_eq!(may(&policy(&[given.clone()]), "finding", "spawn", &[]), fits, "{patterns:?}");
    }
}

#[test]
fn patterns_fit_whole_names_in_linear_time() {
    for (pattern, name, fits) in [
        ("*", "", true),
        ("*", "abc", true),
        ("fix-*", "fix-auth", true),
        ("fix-*", "fix", false),
        ("*-auth", "fix-auth", true),
        ("a?c", "abc", true),
        ("a?c", "ac", false),
        ("a*b*c", "aXbYc", true),
        ("", "", true),
        ("", "a", false),
        ("a", "A", false),
    ] {
        assert_eq!(matches_pattern(pattern, name), fits, "{pattern} {name}");
    }
    // With a backtracking matcher this would not end.
    assert!(!matches_pattern(&format!("{}c", "a*".repeat(60)), &"a".repeat(60)));
}

#[test]
fn a_policy_reads_back_from_its_tree() {
    use crate::folder::{Drafts, decode_folder};
    use agentic_store::memory::MemoryRepository;

    let given = grant(&["finding"], &["head-move!"]);
    let mut policy = policy(std::slice::from_ref(&given));
    policy.revoked.insert(given.cid(), "he left".to_owned());
    let store = MemoryRepository::new(std::path::Path::new("/nowhere"));
    let mut drafts = Drafts::default();
    let tree = policy.to_folder().finish(&store, &mut drafts);
    let _written = store.write_objects(&drafts.objects).expect("memory has room");
    let object = store.verify_object(tree).expect("just written");
    let folder = decode_folder(&object.bytes, 20).expect("as it is made");
    assert_eq!(PeerPolicy::read(&store, &folder).expect("as it is made"), policy);
}
