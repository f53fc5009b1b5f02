//! Deciding a hold of a peer, and taking the decision in, with every step made to fail: nothing is decided
//! twice, and nothing that was acknowledged is lost.

use std::path::Path;

use agentic_federation::capability::PeerTrigger;
use agentic_federation::caps::{GrantPreset, GrantRequest, add_peer, grant};
use agentic_federation::id::Petname;
use agentic_federation::own::require_own;
use agentic_federation::policy::{FollowedPeer, PeerTrust};
use agentic_federation::reply::{
    PeerAnswer, REPLIES_REF, ReplyJudge, ReplyVerdict, answer, arrived_replies, own_replies,
    peer_holds,
};
use agentic_model::{AgentName, Briefing, Kind, Oid, Value};
use agentic_session::decide::{Action, ApprovalScope, DecisionDraft};
use agentic_session::hold::{Filter, pending};
use agentic_session::{Begin, KeySource, flow_object, go_on, start};
use agentic_space::spawn::{SpawnOrigin, spawn};
use agentic_store::fault::failing_at;

use crate::{FederatedPlace, STEPS_MAX, git};

/// Asks for ever.
const SOURCE: &str = "loop { hold(\"Go on?\"); }";

/// Makes an agent of `ada` that asks, and lets `bob` decide.
fn asking_place() -> FederatedPlace {
    let place = FederatedPlace::new();
    let (ada, bob) = (place.open("ada"), place.open("bob"));
    let own = require_own(&ada).expect("it was begun");
    let followed = FollowedPeer {
        peer: require_own(&bob).expect("it was begun").peer(),
        trust: PeerTrust::Track,
        principal: Some("user:bob".to_owned()),
        remote: None,
        at: None,
    };
    let name = Petname::parse("bob").expect("a name");
    add_peer(&ada, &own, &name, &followed, GrantPreset::Track).expect("the name is free");
    let request = GrantRequest {
        kinds: vec![Kind::parse("decision").expect("a name")],
        triggers: vec![PeerTrigger::parse("decide!").expect("a trigger")],
        agents: None,
        until: None,
        delegate: 0,
        parent: None,
    };
    grant(&ada, &own, &name, &request).expect("it is followed");
    let agent = AgentName::parse("x").expect("a name");
    let briefing = Briefing::of_text("Ask").to_object().expect("it is short");
    spawn(&ada, &agent, &briefing, &SpawnOrigin::Root).expect("the name is free");
    let begin = Begin {
        agent,
        flow: flow_object(SOURCE).expect("it is short"),
        parts: Vec::new(),
        input: Value::Null,
        key: "asking".to_owned(),
        key_source: KeySource::Named,
        allow: Vec::new(),
    };
    start(&ada, begin).expect("it asks");
    place
}

/// Decides what is open of `ada` at `bob`.
fn decide_at_bob(place: &FederatedPlace) -> agentic_federation::Result<Oid> {
    let space = place.open("bob");
    let holds = peer_holds(&space, None)?;
    let [hold] = holds.as_slice() else { panic!("there is one hold: {holds:?}") };
    let draft = DecisionDraft {
        action: Action::Approve,
        value: None,
        scope: ApprovalScope::Once,
        rationale: String::new(),
        expect: None,
        principal: "user:bob".to_owned(),
        client: "test",
        authn: None,
        shown: None,
        accepts: None,
    };
    Ok(answer(&space, &PeerAnswer { hold, answer: &draft, delegation: None })?.commit)
}

/// Lets what `ada` accepted of `bob` decide, as a fetch does in the end; returns how many decisions it took.
fn take_at_ada(place: &FederatedPlace) -> agentic_federation::Result<usize> {
    let space = place.open("ada");
    let mut n_taken = 0;
    for reply in arrived_replies(&space)? {
        let judge = ReplyJudge::new(&space, "user:ada".to_owned())?;
        let session = reply.decision.as_ref().expect("it is a decision").session;
        match judge.judge(&reply)? {
            ReplyVerdict::Counts(_, pending) => {
                judge.take(&reply, &pending)?;
                n_taken += 1;
                go_on(&space, &session)?;
            }
            ReplyVerdict::Taken { is_waiting: true, .. } => go_on(&space, &session)?,
            ReplyVerdict::Taken { .. } | ReplyVerdict::Late => {}
            ReplyVerdict::Unverified(why, _) => panic!("{why}"),
        }
    }
    Ok(n_taken)
}

fn n_decisions(folder: &Path) -> usize {
    let listed = git(folder, "log --format=%(trailers:key=Agentic-Kind,valueonly) agents/x");
    listed.lines().filter(|kind| *kind == "decision").count()
}

#[test]
fn a_step_of_deciding_a_hold_of_a_peer_that_fails_leaves_one_decision_at_most() {
    let place = asking_place();
    place.announce().expect("nothing fails");
    place.fetch().expect("nothing fails");
    for visit in 1..STEPS_MAX {
        let before = own_replies(&place.open("bob")).expect("whole").len();
        let (done, was_met) = failing_at("*", visit, || decide_at_bob(&place));
        let kept = own_replies(&place.open("bob")).expect("whole");
        assert!(kept.len() <= before + 1, "after step {visit}");
        if let Ok(commit) = &done {
            assert!(kept.contains_key(commit), "acknowledged and lost at step {visit}");
        }
        let again = decide_at_bob(&place).unwrap_or_else(|error| panic!("{visit}: {error}"));
        let now = own_replies(&place.open("bob")).expect("whole");
        assert_eq!(now.len(), before + 1, "after step {visit}");
        assert!(now.contains_key(&again));
        place.announce_at("bob").expect("nothing fails");
        place.fetch_at("ada").expect("nothing fails");
        assert_eq!(take_at_ada(&place).expect("nothing fails"), 1, "after step {visit}");
        place.announce().expect("nothing fails");
        place.fetch().expect("nothing fails");
        if !was_met {
            assert!(visit > 3, "there are steps to fail at");
            break;
        }
    }
    place.check("after all steps");
}

#[test]
fn a_step_of_taking_a_decision_in_that_fails_is_done_by_the_next_fetch() {
    let place = asking_place();
    for visit in 1..STEPS_MAX {
        place.announce().expect("nothing fails");
        place.fetch().expect("nothing fails");
        let commit = decide_at_bob(&place).expect("nothing fails");
        place.announce_at("bob").expect("nothing fails");
        place.fetch_at("ada").expect("nothing fails");
        let before = n_decisions(&place.path("ada"));
        let (_, was_met) = failing_at("*", visit, || take_at_ada(&place));
        // What a step that failed left, opening the space and the next fetch finish.
        take_at_ada(&place).unwrap_or_else(|error| panic!("after step {visit}: {error}"));
        let space = place.open("ada");
        assert_eq!(n_decisions(&place.path("ada")), before + 1, "after step {visit}");
        assert_eq!(git(&place.path("ada"), "rev-parse agents/x"), commit.to_string());
        for reply in arrived_replies(&space).expect("whole") {
            let judge = ReplyJudge::new(&space, "user:ada".to_owned()).expect("whole");
            let verdict = judge.judge(&reply).expect("whole");
            // Whoever opens a session next seals what is not sealed.
            go_on(&space, &reply.decision.as_ref().expect("it is one").session)
                .expect("it goes on");
            let is_done = matches!(verdict, ReplyVerdict::Taken { is_waiting: false, .. });
            assert!(is_done, "after step {visit}: {verdict:?}");
        }
        assert_eq!(pending(&space, &Filter::default()).expect("whole").len(), 1, "step {visit}");
        drop(space);
        // What was answered long ago is not looked at in each round.
        git(&place.path("bob"), &format!("update-ref -d {REPLIES_REF}"));
        if !was_met {
            assert!(visit > 3, "there are steps to fail at");
            break;
        }
    }
    place.check("after all steps");
}
