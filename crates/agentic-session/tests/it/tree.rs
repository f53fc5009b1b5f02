//! The family of agents, and what their sessions make of them.

use agentic_session::tree::{AgentFamily, AgentStanding};
use agentic_space::merge::{MergePlan, Target, merge};
use agentic_space::spawn::SpawnOrigin;

use crate::kit::{Stage, name};

/// Writes families as `name(children)`.
fn shape(families: &[AgentFamily]) -> String {
    let one = |family: &AgentFamily| match family.children.is_empty() {
        true => family.agent.to_string(),
        false => format!("{}({})", family.agent, shape(&family.children)),
    };
    families.iter().map(one).collect::<Vec<_>>().join(" ")
}

#[test]
fn agents_stand_below_whom_they_were_forked_from() {
    let stage = Stage::new();
    for (child, parent) in [("d", "alice"), ("b", "alice"), ("c", "b")] {
        stage.spawn(child, &SpawnOrigin::Agent(name(parent)));
    }
    stage.spawn("z", &SpawnOrigin::Root);
    assert_eq!(shape(&stage.space.families().expect("readable").families), "alice(b(c) d) z");
}

#[test]
fn whose_parent_is_gone_is_a_root_and_a_circle_has_an_end() {
    let stage = Stage::new();
    stage.spawn("b", &SpawnOrigin::Agent(name("alice")));
    stage.git(&["update-ref", "-d", "refs/heads/agents/alice"]);
    let stage = stage.reopened();
    assert_eq!(shape(&stage.space.families().expect("readable").families), "b");
    // Parents that were written by hand.
    for (agent, parent) in [("x", "y"), ("y", "x")] {
        let message = format!(
            "By hand\n\nAgentic-Kind: spawn\nAgentic-Agent: {agent}\nAgentic-Parent: {parent}"
        );
        let tree = stage.git(&["hash-object", "-t", "tree", "-w", "/dev/null"]);
        let commit = stage.git(&["commit-tree", "-m", &message, &tree]);
        stage.git(&["update-ref", &format!("refs/heads/agents/{agent}"), &commit]);
    }
    let stage = stage.reopened();
    let families = stage.space.families().expect("readable").families;
    assert_eq!(shape(&families), "b x(y)");
}

#[test]
fn a_chain_of_many_generations_is_put_together() {
    let stage = Stage::new();
    let mut parent = name("alice");
    for number in 0..40 {
        parent = stage.spawn(&format!("g{number}"), &SpawnOrigin::Agent(parent));
    }
    let families = stage.space.families().expect("readable").families;
    let mut depth = 0;
    let mut at = families.first();
    while let Some(family) = at {
        (depth, at) = (depth + 1, family.children.first());
    }
    assert_eq!(depth, 41);
}

#[test]
fn an_agent_stands_as_the_session_that_needs_attention_most() {
    let stage = Stage::new();
    let standing = |stage: &Stage| stage.space.families().expect("readable").families[0].standing;
    assert_eq!(standing(&stage), AgentStanding::Idle);
    stage.start_as(&stage.agent, "a", "1");
    assert_eq!(standing(&stage), AgentStanding::Idle, "what is over needs none");
    stage.start_as(&stage.agent, "b", "sleep(1000000)");
    assert_eq!(standing(&stage), AgentStanding::Waiting);
    stage.start_as(&stage.agent, "c", "hold(\"Go on?\")");
    assert_eq!(standing(&stage), AgentStanding::Held);
    let names = [
        AgentStanding::Idle,
        AgentStanding::Running,
        AgentStanding::Waiting,
        AgentStanding::Diverged,
        AgentStanding::Held,
    ];
    assert!(names.is_sorted(), "the later in the list, the more attention");
}

#[test]
fn what_an_agent_did_and_took_in_is_counted() {
    let stage = Stage::new();
    let bob = stage.spawn("bob", &SpawnOrigin::Agent(stage.agent.clone()));
    stage.commit(&bob, "b", "1");
    let source = agentic_session::AgentBranch::here(bob);
    let target = Target::Agent(stage.agent.clone());
    merge(&stage.space, &source, &target, &MergePlan::default()).expect("nothing is in the way");
    let alice = &stage.space.families().expect("readable").families[0];
    let kinds: Vec<_> = alice.kinds.iter().map(|(kind, n)| (kind.as_str(), *n)).collect();
    assert_eq!(kinds, [("session-merge", 1), ("spawn", 1)]);
    assert_eq!((alice.n_commits, &alice.merges), (2, &vec![name("bob")]));
    assert_eq!(alice.children[0].merged_into.len(), 1);
}
