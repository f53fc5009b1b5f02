//! Facts of several sources in one question.

use agentic_query::{ConstantPushing, JoinedFacts, QueryLimits, QueryType};

use crate::memory::{MemoryFacts, ask, house, shown, text};

#[test]
fn a_question_joins_the_facts_of_several_sources() {
    let mut people = MemoryFacts::default();
    let columns = [("agent", QueryType::Text), ("who", QueryType::Text)];
    people.add("owner", &columns, vec![vec![text("b"), text("eve")]]);
    let house = house();
    let joined = JoinedFacts::new(vec![&house, &people]);
    let question = "? owner(A, W), commit(agent: A, n: N), sub_agent_of(A, P).";
    let report = ask(&joined, question, ConstantPushing::On, QueryLimits::default());
    assert_eq!(
        shown(&report.expect("the question has an answer").answers[0]),
        "b eve 1 a; b eve 2 a"
    );
    let known =
        ask(&joined, "? commit(id: #abcd, agent: A).", ConstantPushing::On, QueryLimits::default());
    // Both sources know the id by the same name.
    assert_eq!(shown(&known.expect("the question has an answer").answers[0]), "a");
}
