//! A question reads what it needs: of the agents, commits and branches that it names.

use agentic_space::spawn::SpawnOrigin;

use crate::ask::{ask, codes, rows};
use crate::place::{Place, name};

/// Ten agents with three commits each, and a branch of people.
fn crowd() -> Place {
    let place = Place::with(&["root"]);
    for n in 0..9 {
        let agent = format!("a{n}");
        place.spawn(&agent, &SpawnOrigin::Agent(name("root"))).expect("the name is free");
        for round in 0..2 {
            let content = format!("{n} {round}");
            place.commit(&agent, &[("f", Some(&content))]).expect("there is room");
        }
    }
    place
}

/// Returns how many facts a question reads.
fn n_read(place: &Place, question: &str) -> usize {
    ask(&place.space, question).n_facts
}

#[test]
fn a_question_about_one_agent_reads_its_branch_alone() {
    let place = crowd();
    assert_eq!(n_read(&place, "? commit(agent: A, n: N)."), 28);
    assert_eq!(n_read(&place, "? commit(agent: a3, n: N)."), 3);
    assert_eq!(n_read(&place, "? commit(agent: nobody, n: N)."), 0);
    assert_eq!(n_read(&place, "? agent(name: a3, head: H)."), 1);
}

#[test]
fn what_one_goal_finds_restricts_the_next() {
    let place = crowd();
    let one = "? agent(name: a3, head: C), changed(C, P, S).";
    assert_eq!(rows(&place.space, one), format!("{} f M", place.head("a3")));
    assert!(n_read(&place, one) <= 4, "{}", n_read(&place, one));
    let children = "? (A, N) sub_agent_of(A, a3), commit(agent: A, n: N).";
    assert_eq!(rows(&place.space, children), "");
    assert!(n_read(&place, children) < 20, "{}", n_read(&place, children));
}

#[test]
fn a_restricted_question_has_the_rows_of_the_whole_that_fit() {
    let place = crowd();
    let whole = rows(&place.space, "? commit(agent: A, n: N, kind: K).");
    for agent in ["root", "a0", "a8"] {
        let own = rows(&place.space, &format!("? commit(agent: {agent}, n: N, kind: K)."));
        let expected: Vec<&str> =
            whole.split("; ").filter_map(|row| row.strip_prefix(&format!("{agent} "))).collect();
        assert_eq!(own, expected.join("; "), "{agent}");
    }
    let late = "? commit(agent: A, n: N), N >= 2.";
    assert_eq!(rows(&place.space, late).split("; ").count(), 9);
}

#[test]
fn a_branch_of_people_has_what_it_leads_to() {
    let place = Place::with(&["alice"]);
    let own = place.commit("alice", &[("a", Some("1"))]).expect("there is room").commit;
    place.commit_on("main", "By hand");
    assert_eq!(rows(&place.space, "? branch(name: B)."), "main");
    assert_eq!(rows(&place.space, "? branch_has(B, C)."), "", "main has nothing of an agent");
    place.git(&["update-ref", "refs/heads/release", &own.to_string()]);
    let space = place.open_again();
    assert_eq!(rows(&space, "? branch(name: B)."), "main; release");
    let has = "? (N) commit(id: _C, n: N), branch_has(release, _C).";
    assert_eq!(rows(&space, has), "0; 1");
    assert_eq!(rows(&space, "? (N) commit(id: _C, n: N), !branch_has(release, _C)."), "");
    place.git(&["update-ref", "-d", "refs/heads/release"]);
    assert_eq!(rows(&place.open_again(), "? branch_has(release, C)."), "");
}

#[test]
fn the_same_question_has_the_same_answer_from_every_thread() {
    let place = crowd();
    let question = "? (A, N, P, S) commit(id: _C, agent: A, n: N), changed(_C, P, S).";
    let expected = rows(&place.space, question);
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..4).map(|_| scope.spawn(|| rows(&place.space, question))).collect();
        for answer in asking {
            assert_eq!(answer.join().expect("it does not panic"), expected);
        }
    });
}

#[test]
fn an_id_that_means_nothing_or_several_things_is_a_finding() {
    let place = crowd();
    let head = place.head("a0").to_string();
    assert_eq!(rows(&place.space, &format!("? (N) commit(id: #{head}, n: N).")), "2");
    let none = if head.starts_with("0000000") { "1111111" } else { "0000000" };
    let unknown = codes(&place.space, &format!("? commit(id: #{none}, agent: A)."));
    assert_eq!(unknown.len(), 1, "{unknown:?}");
    let short = codes(&place.space, &format!("? commit(id: #{}, agent: A).", &head[..3]));
    assert_eq!(short.len(), 1, "three digits are too few: {short:?}");
    assert!(codes(&place.space, &format!("? commit(id: #{}, agent: A).", &head[..16])).is_empty());
}
