//! Adoptions that a program asks for: only what a person approved in its own session is adopted.

use agentic_model::{Cid, LibraryName, Map, Object, Oid, Value};
use agentic_session::decide::Action;
use agentic_session::{Begin, ForkPlan, SessionState, flow_object, fork};
use agentic_space::library::{ContestEnd, Library, MoveOccasion, NameMove, move_name};
use agentic_space::spawn::SpawnOrigin;

use crate::kit::{Stage, by, draft, walk};

/// Asks a person about what it is given, then adopts that.
const ASKS: &str = "let told = hold(\"Adopt?\", #{payload: input});
    if told.action == \"approve\" { request(\"behaviour-adopt\", input) } else { told.action }";
/// Adopts what it is given and asks nobody.
const ASKS_NOBODY: &str = "request(\"behaviour-adopt\", input)";
/// Asks once more where the name was moved.
const ASKS_ANEW: &str = "let wanted = input;
    loop {
        hold(\"Adopt?\", #{payload: wanted});
        try { return request(\"behaviour-adopt\", wanted); }
        catch (error) { if error.code != \"conflict\" { throw error; } wanted.prior = error.details.prior; }
    }";

/// A repository with a behaviour in force, another version, and a trial that found that better.
struct Tried {
    stage: Stage,
    wanted: Map,
}

fn reviewer() -> LibraryName {
    LibraryName::parse("reviewer").expect("a valid name")
}

/// Lets the name mean a flow, as a person does.
fn adopt_by_hand(stage: &Stage, source: &str) -> Cid {
    let object = flow_object(source).expect("it is short");
    let moving = NameMove {
        library: Library::Behaviours,
        found: stage.space.behaviour_in_force(&reviewer()).expect("readable").shared,
        to: Some(object.cid()),
        objects: vec![object.clone()],
        by: agentic_model::edge::Party::parse("user:alice").expect("a person"),
        author: None,
        why: "By hand".to_owned(),
        contest: ContestEnd::Refused,
        occasion: MoveOccasion::Adoption(Box::default()),
    };
    move_name(&stage.space, &moving).expect("nobody else moves it");
    object.cid()
}

fn last_adoption(stage: &Stage) -> Option<Oid> {
    let pointer = stage.space.behaviour_in_force(&reviewer()).expect("readable").pointer?;
    let library = stage.space.library(Library::Behaviours).expect("readable");
    library.adoption_of(&stage.space, &reviewer(), &pointer).expect("readable")
}

fn in_force(stage: &Stage) -> Option<String> {
    let found = stage.space.behaviour_in_force(&reviewer()).expect("readable");
    found.pointer.map(|pointer| pointer.cid.to_string())
}

impl Tried {
    fn new() -> Tried {
        Tried::with("better", "#{blocks: [1]}")
    }

    /// Makes one whose object says this, and whose session came to that.
    fn with(verdict: &str, session: &str) -> Tried {
        let stage = Stage::new();
        let old = adopt_by_hand(&stage, "1");
        let new = flow_object("2").expect("it is short");
        let judge = stage.spawn("trial-t", &SpawnOrigin::Root);
        let ran = stage.start_as(&judge, "trial", session);
        let arms = [old, new.cid()].map(|cid| Value::text(cid.to_string()));
        let trial = Object::new(Map::from([
            ("type".to_owned(), Value::text("trial")),
            ("arms".to_owned(), Value::List(arms.into())),
            ("session".to_owned(), Value::text(ran.to_string())),
            ("blocks".to_owned(), Value::List(vec![Value::Int(1)])),
            ("verdict".to_owned(), Value::text(verdict)),
        ]))
        .expect("it is short");
        for object in [&new, &trial] {
            stage.space.put_object(&judge, object).expect("there is room");
        }
        let prior = last_adoption(&stage).expect("it was adopted");
        let wanted = Map::from([
            ("name".to_owned(), Value::text("reviewer")),
            ("prior".to_owned(), Value::text(prior.to_string())),
            ("cid".to_owned(), Value::text(new.cid().to_string())),
            ("trial".to_owned(), Value::text(trial.cid().to_string())),
        ]);
        Tried { stage, wanted }
    }

    fn new_cid(&self) -> Option<String> {
        self.wanted["cid"].as_text().map(str::to_owned)
    }

    fn begin(&self, source: &str) -> Begin {
        Begin { input: Value::Map(self.wanted.clone()), ..self.stage.begin(source) }
    }

    fn start(&self, source: &str) -> agentic_replay::SessionId {
        agentic_session::start(&self.stage.space, self.begin(source)).expect("it starts")
    }

    /// Says why a session failed.
    fn failure(&self, id: &agentic_replay::SessionId) -> String {
        let failure = self.stage.space.session(id).expect("readable").failure;
        failure.map_or(String::new(), |it| format!("{}: {}", it.code, it.message))
    }
}

#[test]
fn what_a_person_approved_is_adopted_in_their_name() {
    let tried = Tried::new();
    let id = tried.start(ASKS);
    tried.stage.answer(&draft(Action::Approve)).expect("it may");
    assert_eq!(tried.stage.state(&id), SessionState::Done, "{}", tried.failure(&id));
    assert_eq!(in_force(&tried.stage), tried.new_cid());
    let library = tried.stage.space.library(Library::Behaviours).expect("readable");
    let last = library.changes(&tried.stage.space, &reviewer()).expect("readable").remove(0);
    let field = |name: &str| last.fields.get(name).cloned();
    assert_eq!(field("decided_by"), Some(Value::text("user:alice")));
    assert_eq!(field("prior"), tried.wanted.get("prior").cloned());
    assert_eq!(field("evidence"), Some(Value::List(vec![tried.wanted["trial"].clone()])));
    assert!(last.request.is_some());
}

#[test]
fn what_a_person_rejected_is_not_adopted() {
    let tried = Tried::new();
    let id = tried.start(ASKS);
    tried.stage.answer(&draft(Action::Reject)).expect("it may");
    assert_eq!(tried.stage.result(&id), Some(Value::text("reject")));
    assert_ne!(in_force(&tried.stage), tried.new_cid());
}

#[test]
fn without_an_approval_nothing_is_adopted() {
    let tried = Tried::new();
    let id = tried.start(ASKS_NOBODY);
    assert!(tried.failure(&id).starts_with("undecided: "), "{}", tried.failure(&id));
    assert_ne!(in_force(&tried.stage), tried.new_cid());
}

#[test]
fn an_approval_is_of_what_was_shown_and_of_nothing_else() {
    for field in ["name", "prior", "cid", "trial"] {
        let tried = Tried::new();
        let source = format!(
            "let shown = input; shown.{field} = \"other\"; hold(\"Adopt?\", #{{payload: shown}});
             request(\"behaviour-adopt\", input)"
        );
        let id = tried.start(&source);
        tried.stage.answer(&draft(Action::Approve)).expect("it may");
        assert!(tried.failure(&id).starts_with("undecided: "), "{field}: {}", tried.failure(&id));
        assert_ne!(in_force(&tried.stage), tried.new_cid(), "{field}");
    }
}

#[test]
fn an_answer_that_is_no_approval_does_not_count() {
    let tried = Tried::new();
    let source = "hold(\"Adopt?\", #{payload: input}); request(\"behaviour-adopt\", input)";
    let id = tried.start(source);
    tried.stage.answer(&draft(Action::Reject)).expect("it may");
    assert!(tried.failure(&id).starts_with("undecided: "), "{}", tried.failure(&id));
}

#[test]
fn a_trial_that_found_nothing_better_adopts_nothing() {
    for verdict in ["worse", "no-difference", "inconclusive", ""] {
        let tried = Tried::with(verdict, "#{blocks: [1]}");
        let id = tried.start(ASKS);
        tried.stage.answer(&draft(Action::Approve)).expect("it may");
        assert!(tried.failure(&id).contains("did not find"), "{}", tried.failure(&id));
        assert_ne!(in_force(&tried.stage), tried.new_cid());
    }
}

#[test]
fn a_trial_that_its_session_does_not_bear_out_adopts_nothing() {
    for session in ["#{blocks: [2]}", "1", "throw 1", "hold(\"x\")"] {
        let tried = Tried::with("better", session);
        let id = tried.start(ASKS);
        let asked = tried.stage.holds().into_iter().find(|one| one.hold.session == id);
        let asked = asked.expect("it asks");
        let decided =
            agentic_session::decide::decide(&tried.stage.space, &asked, &draft(Action::Approve));
        decided.expect("it may");
        tried.stage.resume(&id);
        assert!(tried.failure(&id).contains("something else"), "{}", tried.failure(&id));
    }
}

#[test]
fn a_name_that_was_moved_meanwhile_is_asked_about_anew() {
    let tried = Tried::new();
    let id = tried.start(ASKS_ANEW);
    // It means the same again, by another adoption.
    adopt_by_hand(&tried.stage, "3");
    adopt_by_hand(&tried.stage, "1");
    tried.stage.answer(&draft(Action::Approve)).expect("it may");
    assert_eq!(tried.stage.state(&id), SessionState::Held);
    assert_ne!(in_force(&tried.stage), tried.new_cid());
    tried.stage.answer(&by("user:bob", Action::Approve)).expect("it may");
    assert_eq!(tried.stage.state(&id), SessionState::Done, "{}", tried.failure(&id));
    assert_eq!(in_force(&tried.stage), tried.new_cid());
}

#[test]
fn what_was_said_to_a_session_is_not_said_to_its_fork() {
    let tried = Tried::new();
    let parent = tried.start("hold(\"Adopt?\", #{payload: input}); hold(\"Now?\")");
    tried.stage.answer(&draft(Action::Approve)).expect("it may");
    let source = format!("hold(\"Adopt?\", #{{payload: input}}); {ASKS_NOBODY}");
    let flow = Some(flow_object(&source).expect("it is short"));
    let at = tried.stage.space.session(&parent).expect("readable").holds[0].ask.path.clone();
    let asked = tried.stage.space.session(&parent).expect("readable").asked;
    let at = asked.iter().find(|one| one.path == at).map(|one| one.seq);
    let plan = ForkPlan { at, flow, who: "user:alice".to_owned(), ..ForkPlan::default() };
    let other = fork(&tried.stage.space, &parent, &plan).expect("it is forked");
    assert!(tried.failure(&other).starts_with("undecided: "), "{}", tried.failure(&other));
    assert_ne!(in_force(&tried.stage), tried.new_cid());
}

#[test]
fn broken_off_at_any_step_it_adopts_once() {
    walk(
        || {
            let tried = Tried::new();
            tried.start(ASKS);
            tried.stage
        },
        |stage| drop(stage.answer_or_fail(&draft(Action::Approve))),
        |stage, step| {
            let id = stage.session_of("alice");
            agentic_session::tick(&stage.space).expect("readable");
            // Whoever was not heard says it again.
            if !stage.holds().is_empty() {
                stage.answer(&draft(Action::Approve)).expect("it may");
            }
            assert_eq!(stage.state(&id), SessionState::Done, "step {step}");
            let library = stage.space.library(Library::Behaviours).expect("readable");
            let changes = library.changes(&stage.space, &reviewer()).expect("readable");
            assert_eq!(changes.len(), 2, "step {step}");
            let adopted = stage.result(&id).and_then(|it| it.get("adoption").cloned());
            assert_eq!(adopted, Some(Value::text(changes[0].commit.to_string())), "step {step}");
        },
    );
}
