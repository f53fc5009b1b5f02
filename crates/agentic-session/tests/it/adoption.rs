//! Adoptions that a program asks for: only what a person approved in its own session is adopted.

use agentic_model::{Cid, Instant, LibraryName, Map, Oid, Value};
use agentic_session::decide::{Action, decide};
use agentic_session::trial::KnownTrials;
use agentic_session::{Begin, ForkPlan, SessionState, flow_object, fork};
use agentic_space::library::{ContestEnd, Library, MoveOccasion, NameMove, move_name};

use crate::kit::{Stage, TRIAL_FLOW, ToldTrial, by, draft, walk};

/// How many tasks trials have: as few as can show anything.
const N_TASKS: usize = 6;
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

/// What is made up, or goes otherwise than it should.
#[derive(Clone)]
struct TriedDraft {
    /// The flow that runs the trial.
    flow: &'static str,
    /// What each run of the new version scores.
    scores: [f64; N_TASKS],
    /// What its session is given besides what was fixed.
    key: &'static str,
    /// Whether its object says what its session came to.
    is_true: bool,
    /// What it says that is.
    verdict: &'static str,
}

impl Default for TriedDraft {
    fn default() -> TriedDraft {
        let (flow, scores, verdict) = (TRIAL_FLOW, [1.0; N_TASKS], "better");
        TriedDraft { flow, scores, key: "trial", is_true: true, verdict }
    }
}

/// Makes a block of a task in which the first version scores nothing.
fn block(task: usize, score: f64) -> Value {
    let run = |arm: i64, score: f64| {
        Value::map([
            ("arm", Value::Int(arm)),
            ("outcome", Value::text("scored")),
            ("score", Value::Float(score)),
        ])
    };
    Value::map([
        ("task", Value::Int(i64::try_from(task).expect("few"))),
        ("counted", Value::Bool(true)),
        ("runs", Value::List(vec![run(0, 0.0), run(1, score)])),
    ])
}

impl Tried {
    fn new() -> Tried {
        Tried::with(&TriedDraft::default())
    }

    fn with(draft: &TriedDraft) -> Tried {
        let stage = Stage::of_trials();
        let old = adopt_by_hand(&stage, "1");
        let new = flow_object("2").expect("it is short");
        let blocks = draft.scores.iter().enumerate().map(|(task, score)| block(task, *score));
        let blocks = Value::List(blocks.collect());
        let arms = [old, new.cid()].map(|cid| Value::text(cid.to_string()));
        let fixed = Value::map([
            ("agent", Value::text("trial-t")),
            ("arms", Value::List(arms.into())),
            ("tasks", Value::List(vec![Value::Null; N_TASKS])),
            ("runs", Value::Int(1)),
            ("alpha", Value::Float(0.025)),
            ("scorer", Value::text("user:alice")),
            ("blocks", blocks.clone()),
        ]);
        let better = Value::List((0..N_TASKS).map(|task| block(task, 1.0)).collect());
        let (trial, object) = stage.told_trial(ToldTrial {
            flow: draft.flow,
            key: draft.key,
            fixed: &fixed,
            blocks: if draft.is_true { blocks } else { better },
            verdict: draft.verdict,
        });
        for object in [&new, &object] {
            stage.space.put_object(&trial, object).expect("there is room");
        }
        let prior = last_adoption(&stage).expect("it was adopted");
        let wanted = Map::from([
            ("name".to_owned(), Value::text("reviewer")),
            ("prior".to_owned(), Value::text(prior.to_string())),
            ("cid".to_owned(), Value::text(new.cid().to_string())),
            ("trial".to_owned(), Value::text(object.cid().to_string())),
        ]);
        Tried { stage, wanted }
    }

    /// Asks a person, who approves; tells what was warned of before, and why it failed then.
    fn approved(&self) -> (Option<String>, String) {
        let id = self.start(ASKS);
        let asked = self.stage.holds().into_iter().find(|one| one.hold.session == id);
        let asked = asked.expect("it asks");
        decide(&self.stage.space, &asked, &draft(Action::Approve)).expect("it may");
        self.stage.resume(&id);
        (asked.warning, self.failure(&id))
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
    let worse = [-1.0; N_TASKS];
    let mixed = [1.0, -1.0, 1.0, -1.0, 1.0, 1.0];
    for (scores, word) in [(worse, "worse"), (mixed, "no-difference")] {
        let draft = TriedDraft { scores, verdict: word, ..TriedDraft::default() };
        let tried = Tried::with(&draft);
        let (warning, failure) = tried.approved();
        assert!(failure.starts_with("refused: "), "{failure}");
        assert!(failure.contains(&format!("it says `{word}`")), "{failure}");
        assert!(warning.is_some_and(|it| it.contains(word)));
        assert_ne!(in_force(&tried.stage), tried.new_cid());
    }
}

#[test]
fn a_trial_that_its_session_does_not_bear_out_adopts_nothing() {
    let scores = [0.0; N_TASKS];
    let tried = Tried::with(&TriedDraft { scores, is_true: false, ..TriedDraft::default() });
    let (warning, failure) = tried.approved();
    assert!(failure.starts_with("not-allowed: "), "{failure}");
    assert!(failure.contains("came to something else"), "{failure}");
    assert!(warning.is_some_and(|it| it.contains("something else")));
    assert_ne!(in_force(&tried.stage), tried.new_cid());
}

#[test]
fn a_trial_that_calls_itself_better_than_it_was_judged_adopts_nothing() {
    let scores = [-1.0; N_TASKS];
    let (_, failure) = Tried::with(&TriedDraft { scores, ..TriedDraft::default() }).approved();
    assert!(failure.starts_with("not-allowed: "), "{failure}");
}

#[test]
fn a_trial_of_another_flow_is_made_up_whatever_it_says() {
    let says_the_same = "#{blocks: input.blocks, out_of_budget: false, }";
    for flow in [says_the_same, "1", "throw 1", "hold(\"x\")"] {
        let tried = Tried::with(&TriedDraft { flow, ..TriedDraft::default() });
        let (warning, failure) = tried.approved();
        assert!(failure.starts_with("not-allowed: "), "{flow}: {failure}");
        assert!(failure.contains("ships with this program"), "{flow}: {failure}");
        assert!(warning.is_some_and(|it| it.contains("ships with this program")), "{flow}");
        assert_ne!(in_force(&tried.stage), tried.new_cid(), "{flow}");
    }
}

#[test]
fn what_was_fixed_says_which_session_ran_a_trial() {
    let tried = Tried::with(&TriedDraft { key: "another", ..TriedDraft::default() });
    let (_, failure) = tried.approved();
    assert!(failure.starts_with("not-allowed: "), "{failure}");
}

#[test]
fn a_trial_that_is_sound_is_warned_of_by_nobody() {
    let (warning, failure) = Tried::new().approved();
    assert_eq!((warning, failure.as_str()), (None, ""));
}

#[test]
fn who_tried_before_has_to_be_surer() {
    let tried = Tried::new();
    // Six tasks say nothing at the α of a second attempt.
    let earlier = tried.stage.space.briefing(&crate::kit::name("trial-t")).expect("it has one").1;
    let fixed = earlier.map()["trial"].clone();
    let stage = &tried.stage;
    let arms = fixed.get("arms").cloned().expect("it has arms");
    let before = Value::map([("agent", Value::text("trial-a")), ("arms", arms)]);
    let known = || KnownTrials::read(&stage.space).expect("readable").all().len();
    assert_eq!(known(), 1);
    stage.spawn_trial_at("trial-a", &before, Instant::from_millis(0));
    assert_eq!(known(), 2);
    let (warning, failure) = tried.approved();
    assert!(failure.contains("it says `no-difference`"), "{failure}");
    assert!(warning.is_some());
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
