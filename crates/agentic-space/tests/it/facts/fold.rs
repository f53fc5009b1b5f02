//! Commits of very many agents are handed over without all of them in memory.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use agentic_space::facts::{CommitFold, FoldReport};
use agentic_space::spawn::SpawnOrigin;

use crate::ask::{ask, said};
use crate::place::{Place, name};

const AGENTS: usize = 60;
const OPEN: &str = "? (C, K) commit(id: C, kind: K, agent: A), agent(name: A, place: open).";

/// Makes agents that each come from the one before, with a commit each.
fn crowd() -> Place {
    let place = Place::with(&["a0"]);
    for n in 0..AGENTS {
        let agent = format!("a{n}");
        if n > 0 {
            let parent = SpawnOrigin::Agent(name(&format!("a{}", n - 1)));
            place.spawn(&agent, &parent).expect("the name is free");
        }
        place.commit(&agent, &[(&agent, Some("1\n"))]).expect("it changes a file");
    }
    place
}

fn folded(fold: &CommitFold<'_>) -> (Vec<String>, FoldReport) {
    let mut found = Vec::new();
    let report = fold.visit(&mut |commit| {
        found.push(format!("{} {}", commit.oid, commit.kind));
        ControlFlow::Continue(())
    });
    (found, report.expect("readable"))
}

/// Looks at all commits, a few agents at once: as a query does, each once.
fn check(place: &Place, agents_at_once: usize) -> FoldReport {
    let (found, report) = folded(&CommitFold::of_all(&place.space).agents_at_once(agents_at_once));
    let distinct: BTreeSet<&String> = found.iter().collect();
    assert_eq!(distinct.len(), found.len(), "one is handed over twice");
    let asked = said(&ask(&place.space, OPEN));
    assert_eq!(
        distinct,
        asked.split("; ").map(str::to_owned).collect::<BTreeSet<_>>().iter().collect()
    );
    report
}

#[test]
fn a_fold_holds_only_the_lines_of_a_few_agents() {
    let place = crowd();
    let all = check(&place, AGENTS);
    assert_eq!((all.n_read, all.n_held_max), (2 * AGENTS, 2 * AGENTS));
    let few = check(&place, 2);
    assert_eq!(few.n_read, 2 * AGENTS);
    assert!(few.n_held_max <= all.n_read / 6, "{few:?}");
    place.commit("a7", &[("b", Some("1\n"))]).expect("it changes a file");
    assert_eq!(check(&place, 2).n_read, 2 * AGENTS + 1, "what is cached is not all");
}

#[test]
fn a_commit_on_several_lines_is_handed_over_once() {
    let place = crowd();
    place.git(&["branch", "agents/copy", "agents/a5"]);
    place.git(&["branch", "agents/again", "agents/a5"]);
    // What is forwarded has the first commit of another agent on its own line.
    place.git(&["update-ref", "refs/heads/agents/a8", "refs/heads/agents/a9"]);
    for agents_at_once in [1, 7, AGENTS] {
        check(&place, agents_at_once);
    }
    place.git(&["update-ref", "-d", "refs/heads/agents/a9"]);
    check(&place, 7);
}

#[test]
fn what_cannot_be_read_is_noted_and_a_fold_may_end() {
    let place = crowd();
    // Of what git did alone no journal tells.
    let head = place.git(&["commit-tree", "-p", "agents/a3", "-m", "x", "agents/a3^{tree}"]);
    place.git(&["update-ref", "refs/heads/agents/a3", head.trim()]);
    let (folder, file) = head.trim().split_at(2);
    let object = place.path().join(".git/objects").join(folder).join(file);
    std::fs::remove_file(object).expect("it is loose");
    let report = check(&place, 4);
    assert_eq!(report.notes.len(), 1, "{report:?}");
    let mut n_seen = 0;
    let ended = CommitFold::of_all(&place.space).agents_at_once(1).visit(&mut |_| {
        n_seen += 1;
        ControlFlow::Break(())
    });
    assert_eq!(n_seen, 1);
    assert!(ended.expect("readable").n_read < AGENTS);
}

#[test]
fn one_agent_may_be_asked_for() {
    let place = crowd();
    let of = |agent| folded(&CommitFold::of_agent(&place.space, name(agent))).0.len();
    assert_eq!((of("a4"), of("nobody")), (2, 0));
}
