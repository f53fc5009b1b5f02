use agentic_model::Map;

use super::*;

fn party(text: &str) -> Party {
    Party::parse(text).expect("the case names a party")
}

fn kind(text: &str) -> Kind {
    Kind::parse(text).expect("the case names a relation")
}

fn relations(text: &str) -> Relations {
    Relations::build(text.lines().map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [source, relation, target] = words[..] else { panic!("a case has three words a line") };
        Fact {
            source: party(source),
            relation: kind(relation),
            target: party(target),
            ground: Ground::Asserted,
        }
    }))
}

fn check(facts: &str, target: &str, expected: &str) {
    let found = relations(facts).sources_closure(SUB_AGENT_OF, &party(target));
    let found: Vec<String> = found.iter().map(Party::to_string).collect();
    assert_eq!(found.join(" "), expected);
}

#[test]
fn descendants_are_followed_through_generations() {
    let facts = "b sub-agent-of a\nc sub-agent-of b\nd sub-agent-of a\nx reviews a";
    check(facts, "a", "b c d");
    check(facts, "b", "c");
    check(facts, "d", "");
    check(facts, "nobody", "");
}

#[test]
fn a_cycle_ends_and_nobody_descends_from_itself() {
    check("a sub-agent-of b\nb sub-agent-of a", "a", "b");
}

#[test]
fn a_long_chain_is_linear() {
    let chain: Vec<String> = (1..20_000).map(|n| format!("a{n} sub-agent-of a{}", n - 1)).collect();
    let found = relations(&chain.join("\n")).sources_closure(SUB_AGENT_OF, &party("a0"));
    assert_eq!(found.len(), 19_999);
}

#[test]
fn the_latest_event_counts_and_a_tie_retracts() {
    let edge = |event, at| Edge {
        source: party("a"),
        relation: kind("reviews"),
        target: party("b"),
        event,
        at: Instant::from_millis(at),
        fields: Map::new(),
    };
    use EdgeEvent::{Assert, Retract};
    let cases: [(&[(EdgeEvent, i64)], usize); 4] = [
        (&[(Assert, 1)], 1),
        (&[(Retract, 2), (Assert, 1)], 0),
        (&[(Assert, 3), (Retract, 2), (Assert, 1)], 1),
        (&[(Assert, 1), (Retract, 1)], 0),
    ];
    for (events, n) in cases {
        let events = events.iter().map(|(event, at)| edge(*event, *at));
        assert_eq!(settle(events).len(), n);
    }
}
