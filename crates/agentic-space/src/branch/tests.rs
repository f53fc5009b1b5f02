//! The names of branches and notes, here and as a remote had them.

use agentic_model::AgentName;

use super::{AgentBranch, short};

#[test]
fn a_branch_of_a_remote_has_refs_of_its_own() {
    let agent = AgentName::parse("alice").expect("a valid name");
    let here = AgentBranch::here(agent.clone());
    let there = AgentBranch { agent, remote: Some("origin".to_owned()) };
    let all = |branch: &AgentBranch| [branch.branch_ref(), branch.notes_ref(), branch.to_string()];
    assert_eq!(all(&here), ["refs/heads/agents/alice", "refs/notes/agentic/alice", "alice"]);
    assert_eq!(
        all(&there),
        [
            "refs/remotes/origin/agents/alice",
            "refs/agentic/remotes/origin/notes/alice",
            "origin/alice"
        ]
    );
}

#[test]
fn people_read_the_short_name() {
    for (name, wanted) in [
        ("refs/heads/agents/alice", "alice"),
        ("refs/heads/main", "main"),
        ("refs/heads/topic/agents/x", "topic/agents/x"),
        ("main", "main"),
    ] {
        assert_eq!(short(name), wanted);
    }
}
