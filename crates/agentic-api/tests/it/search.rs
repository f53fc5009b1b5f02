//! Finding what was said.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use agentic_api::search::GroundTexts;
use agentic_api::verb::{EntryBody, SearchOutcome, SearchTexts, TraceAdd, TraceAttach};
use agentic_api::{Caller, Verb as _};
use agentic_index::{DocumentSource, FoundTexts, TextPlace};
use agentic_model::guidance::ErrorClass;

use crate::place::{from, named, place, refusal, start, write};

fn search(query: &str) -> SearchTexts {
    SearchTexts { query: query.to_owned(), limit: None }
}

/// Lists what a search finds: where it stands, whose it is, and what it says.
fn found(caller: &Caller<'_>, query: &str) -> Vec<String> {
    let view = search(query).run(caller).expect("it is a query").answer;
    view.items.iter().map(|hit| format!("{} {}: {}", hit.place, hit.agent, hit.text)).collect()
}

#[test]
fn what_was_said_is_found_where_it_stands() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    named("alice").run(&caller).expect("the name is free");
    from("bob", "alice").run(&caller).expect("the name is free");
    write(&space, "alice", "a", "1");
    let add = |text: &str| {
        let (agent, body) = (Some("alice".to_owned()), EntryBody::Text(text.to_owned()));
        TraceAdd { agent, kind: None, body }.run(&caller).expect("writable");
    };
    add("one needle");
    let attach = TraceAttach { commit: "agents/alice".to_owned(), agent: None };
    let attach = TraceAttach { agent: Some("alice".to_owned()), ..attach };
    attach.run(&caller).expect("it is alice's");
    add("another needle");
    let expected = ["trace alice: another needle", "trace alice: one needle"];
    let both: BTreeSet<String> = found(&caller, "needle").into_iter().collect();
    assert_eq!(both, expected.map(str::to_owned).into());
    assert_eq!(found(&caller, "work under:bob in:briefing"), ["briefing bob: Do the work of bob"]);
    assert_eq!(found(&caller, "needle agent:bob"), Vec::<String>::new());
    let wrong = refusal(search("needle in:cellar").run(&caller));
    assert_eq!(wrong.class, ErrorClass::Usage);
    assert!(wrong.because.is_some_and(|why| why.contains('^')));
    assert_eq!(refusal(search("x under:nobody").run(&caller)).class, ErrorClass::Refused);
    let none = SearchTexts { limit: Some(0), ..search("x") };
    assert_eq!(refusal(none.run(&caller)).class, ErrorClass::Usage);
}

#[test]
fn sessions_are_found_by_what_they_ask() {
    let (sandbox, space) = place();
    let id = start(&space, "alice", r#"hold("Dive?").action"#);
    let caller = Caller::new(&space, sandbox.start());
    let view = search("dive in:session").run(&caller).expect("a query").answer;
    assert_eq!(view.items.len(), 1);
    assert_eq!(view.items[0].id, id.to_string());
}

#[test]
fn candidates_of_an_index_are_read_before_they_are_hits() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    for agent in ["alice", "bob"] {
        named(agent).run(&caller).expect("the name is free");
        write(&space, agent, "a", "1");
    }
    let ground = GroundTexts { space: &space };
    let mut texts = Vec::new();
    for agent in ["alice", "bob"] {
        let agent = ground.agent(agent).expect("readable").expect("it is there");
        let mut visit = |document: agentic_index::SearchDocument| {
            texts.push(document);
            ControlFlow::Continue(())
        };
        let _ = ground.of_agent(&agent, &mut visit).expect("it is there");
    }
    texts.sort_by_key(agentic_index::SearchDocument::order);
    let mut places: Vec<TextPlace> = texts
        .iter()
        .map(|it| TextPlace {
            agent: it.agent.clone(),
            source: it.source.clone(),
            position: it.position,
        })
        .collect();
    // What an index still has of things that are gone is no hit.
    places.insert(
        0,
        TextPlace { agent: "carol".to_owned(), source: DocumentSource::Pending, position: 0 },
    );
    places.insert(0, TextPlace { position: 77, ..places[1].clone() });
    for query in ["work", "agent:bob", "in:commit", "-alice", "nothing at all"] {
        let verb = search(query);
        let finder = |_: &_, _| Some(FoundTexts { texts: places.clone(), ..FoundTexts::default() });
        let SearchOutcome::Found(view) = verb.among(&caller, &finder).expect("a query") else {
            panic!("{query} is a query");
        };
        assert_eq!(view, search(query).run(&caller).expect("a query").answer, "{query}");
    }
    // Without an index everything is read: a briefing, and the message that repeats it, of both.
    let SearchOutcome::Found(view) = search("work").among(&caller, &|_, _| None).expect("a query")
    else {
        panic!("it is a query");
    };
    assert_eq!(view.items.len(), 4);
}
