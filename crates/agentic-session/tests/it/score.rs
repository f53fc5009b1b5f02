//! Scores of trials: what a trial has counts only where the session that it names gave it.

use agentic_model::{AgentName, Map, Value};
use agentic_session::archive::archive;
use agentic_session::trial::{ProvenTrial, TrialDoubt};
use agentic_session::{Begin, flow_object};
use agentic_space::archive::ArchiveWish;
use agentic_space::commit::{CommitDraft, Emptiness, TraceBinding, TreeSource, commit};
use agentic_space::spawn::SpawnOrigin;

use crate::kit::{Stage, TRIAL_FLOW, ToldTrial};

/// What scores: a number that a program writes as a whole one, and JSON as a fraction.
const SCORER: &str = "#{score: 1, verdict: \"pass\"}";
/// Something else that comes to the same.
const OTHER: &str = "let score = 1; #{score: score, verdict: \"pass\"}";
/// The agent that scores the one run.
const SCORING: &str = "trial-t-1-1-s";

/// What a trial says of its one run.
struct RunDraft<'d> {
    score: f64,
    verdict: &'d str,
    scored_by: Option<String>,
}

/// Makes a stage on which an agent ran a scorer, and returns the session.
fn scored(agent: &str, scorer: &str) -> (Stage, AgentName, String) {
    let stage = Stage::of_trials();
    let agent = stage.spawn(agent, &SpawnOrigin::Root);
    let begin = Begin { agent: agent.clone(), ..stage.begin(scorer) };
    let session = agentic_session::start(&stage.space, begin).expect("it starts").to_string();
    (stage, agent, session)
}

/// Makes a trial of one task that says so, and checks it.
fn doubt(stage: &Stage, draft: RunDraft<'_>) -> Option<TrialDoubt> {
    let run = Value::map([
        ("arm", Value::Int(0)),
        ("agent", Value::text("trial-t-1-1")),
        ("outcome", Value::text("scored")),
        ("score", Value::Float(draft.score)),
        ("verdict", Value::text(draft.verdict)),
        ("scored_by", draft.scored_by.map_or(Value::Null, Value::text)),
    ]);
    let block = Value::map([
        ("task", Value::Int(0)),
        ("counted", Value::Bool(true)),
        ("runs", Value::List(vec![run])),
    ]);
    let blocks = Value::List(vec![block]);
    let scorer = flow_object(SCORER).expect("it is short").cid();
    let fixed = Value::map([
        ("agent", Value::text("trial-t")),
        ("arms", Value::List(vec![Value::text("a"), Value::text("b")])),
        ("tasks", Value::List(vec![Value::Null])),
        ("runs", Value::Int(1)),
        ("alpha", Value::Float(0.025)),
        ("scorer", Value::text(scorer.to_string())),
        ("blocks", blocks.clone()),
    ]);
    let told = ToldTrial {
        flow: TRIAL_FLOW,
        key: "trial",
        fixed: &fixed,
        blocks,
        verdict: "inconclusive",
    };
    let (_, trial) = stage.told_trial(told);
    ProvenTrial::of(&stage.space, &trial).err()
}

fn true_run(session: &str) -> RunDraft<'static> {
    RunDraft { score: 1.0, verdict: "pass", scored_by: Some(session.to_owned()) }
}

#[test]
fn what_its_session_gave_is_proven() {
    let (stage, _, session) = scored(SCORING, SCORER);
    assert_eq!(doubt(&stage, true_run(&session)), None);
}

#[test]
fn what_its_session_gave_is_proven_when_its_agent_is_archived() {
    let (stage, agent, session) = scored(SCORING, SCORER);
    let bind = CommitDraft {
        behaviour: None,
        message: "Score".to_owned(),
        kind: None,
        fields: Map::new(),
        source: TreeSource::Edits([].into()),
        capture: TraceBinding::WithTrace,
        expect: None,
        emptiness: Emptiness::Allowed,
        asker: None,
    };
    commit(&stage.space, &agent, &bind).expect("there is room");
    archive(&stage.space, ArchiveWish::by_person(&[agent])).expect("nobody is at it");
    // Only the notes that the agent had are left.
    std::fs::remove_dir_all(stage.space.repository().layout().ended_sessions())
        .expect("they are there");
    let stage = stage.reopened();
    assert_eq!(doubt(&stage, true_run(&session)), None);
}

#[test]
fn a_score_that_its_session_did_not_give_proves_nothing() {
    let unproven = Some(TrialDoubt::UnprovenScore);
    for change in [
        |run: &mut RunDraft<'_>| run.score = 2.0,
        |run: &mut RunDraft<'_>| run.verdict = "fail",
        |run: &mut RunDraft<'_>| run.scored_by = None,
        |run: &mut RunDraft<'_>| run.scored_by = Some("7".repeat(64)),
    ] {
        let (stage, _, session) = scored(SCORING, SCORER);
        let mut run = true_run(&session);
        change(&mut run);
        assert_eq!(doubt(&stage, run), unproven);
    }
}

#[test]
fn another_agent_or_another_program_scores_nothing() {
    for (agent, scorer) in [("bob", SCORER), (SCORING, OTHER)] {
        let (stage, _, session) = scored(agent, scorer);
        assert_eq!(doubt(&stage, true_run(&session)), Some(TrialDoubt::UnprovenScore), "{agent}");
    }
}
