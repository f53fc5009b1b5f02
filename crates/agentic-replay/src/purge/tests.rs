use agentic_model::{AgentName, Cid, Instant, Value};

use super::*;
use crate::record::{CancelMode, CancelRecord, SignalRecord};
use crate::{Chain, Engine, RecordChain, Seed, SessionId, StartRecord};

/// Takes out what has this word.
struct Word(&'static str);

impl RecordScrub for Word {
    fn id(&self) -> &str {
        "0011"
    }

    fn takes(&mut self, value: &StoredValue) -> bool {
        let StoredValue::Inline(bytes) = value else { return false };
        bytes.windows(self.0.len()).any(|part| part == self.0.as_bytes())
    }

    fn text(&mut self, text: &str) -> Option<String> {
        text.contains(self.0).then(|| text.replace(self.0, "[purged:0011]"))
    }

    fn commit(&mut self, id: &str) -> Option<String> {
        (id == OLD).then(|| NEW.to_owned())
    }
}

/// A commit that becomes another.
const OLD: &str = "1111111111111111111111111111111111111111";
const NEW: &str = "2222222222222222222222222222222222222222";

fn inline(text: &str) -> StoredValue {
    StoredValue::Inline(canonical::encode(&Value::text(text)).expect("a text"))
}

fn journal() -> Vec<Vec<u8>> {
    journal_from(None)
}

fn journal_from(head: Option<&str>) -> Vec<Vec<u8>> {
    let agent = AgentName::parse("alice").expect("a name");
    let (flow, input) = (Cid::of(b"flow"), inline("go"));
    let start = StartRecord {
        stamp: false,
        session: SessionId::derive(&agent, &flow, &input.cid(), "key"),
        agent,
        flow,
        engine: Engine { language: "rhai".to_owned(), semantics: 1 },
        input,
        seed: Seed([7; 32]),
        key: "key".to_owned(),
        allow: Vec::new(),
        head: head.map(str::to_owned),
        configuration: None,
        host: None,
        parent: None,
    };
    let signal = |text: &str| {
        let (id, name) = (text.to_owned(), "told".to_owned());
        Body::Signal(SignalRecord { id, name, value: inline(text) })
    };
    let cancel = CancelRecord {
        who: "ada".to_owned(),
        why: "tulip, that is why".to_owned(),
        mode: CancelMode::Kill,
    };
    let bodies =
        [Body::Start(Box::new(start)), signal("plain"), signal("rose"), Body::Cancel(cancel)];
    let mut chain = Chain::empty();
    let append = |(at, body)| chain.append(Instant::from_millis(at), body).bytes;
    (1..).zip(bodies).map(append).collect()
}

#[test]
fn records_without_it_stay_and_those_from_the_first_on_are_chained_anew() {
    let frames = journal();
    let same = scrub_records(&frames, &mut Word("nowhere")).expect("records");
    assert_eq!(same, ScrubbedRecords { frames: frames.clone(), changed: Vec::new() });
    let clean = scrub_records(&frames, &mut Word("tulip")).expect("records");
    assert_eq!((clean.changed, &clean.frames[..3]), (vec![3], &frames[..3]));
    RecordChain::read(&clean.frames).expect("a chain");
    let clean = scrub_records(&frames, &mut Word("plain")).expect("records");
    assert_eq!(clean.changed, [1]);
    assert_eq!(clean.frames[0], frames[0]);
    assert!((1..4).all(|at| clean.frames[at] != frames[at]));
    let chain = RecordChain::read(&clean.frames).expect("a chain");
    let Body::Signal(signal) = &chain.records()[1].body else { panic!("{chain:?}") };
    // The id of a signal is what it is known by: it is no place for a secret.
    assert_eq!(signal.value.cid(), inline("plain").cid());
    assert_eq!(
        signal.value.purged(),
        Some(&PurgedValue { cid: inline("plain").cid(), by: "0011".to_owned() })
    );
    assert!(is_scrubbed(&clean.frames) && !is_scrubbed(&frames));
    let none = std::collections::BTreeMap::new();
    assert!(signal.value.value(&none).is_err());
    let shown = signal.value.shown(&none).expect("it can be shown");
    assert_eq!(shown.get("purged").and_then(Value::as_text), Some("0011"));
}

#[test]
fn a_commit_that_became_another_is_named_as_it_is_now() {
    let clean = scrub_records(&journal_from(Some(OLD)), &mut Word("nowhere")).expect("records");
    assert_eq!(clean.changed, [0]);
    assert_eq!(clean.frames, journal_from(Some(NEW)));
}

#[test]
fn whoever_was_killed_on_the_way_comes_to_the_same_records() {
    let frames = journal();
    let clean = scrub_records(&frames, &mut Word("plain")).expect("records").frames;
    for n_done in 0..=frames.len() {
        let mixed: Vec<Vec<u8>> =
            clean[..n_done].iter().chain(&frames[n_done..]).cloned().collect();
        let again = scrub_records(&mixed, &mut Word("plain")).expect("records").frames;
        assert_eq!(chain_anew(&again).expect("records"), clean, "{n_done} records were done");
    }
}

#[test]
fn a_failure_whose_words_change_is_no_answer_any_more() {
    let mut outcome = Outcome::Failed {
        code: "x".to_owned(),
        message: "no tulip here".to_owned(),
        details: inline("plain"),
    };
    let mut body = Body::End(outcome.clone());
    assert!(scrub_body(&mut body, &mut Word("tulip")));
    let Body::End(Outcome::Failed { message, details, .. }) = body else { panic!("no failure") };
    assert_eq!(message, "no [purged:0011] here");
    assert!(details.purged().is_some());
    outcome = Outcome::TimedOut;
    assert!(!scrub_body(&mut Body::End(outcome), &mut Word("tulip")));
}

#[test]
fn what_is_no_record_is_damage() {
    let frames = journal();
    assert!(scrub_records(&frames[1..], &mut Word("x")).is_err(), "a record at another place");
    assert!(scrub_records(&[b"x".to_vec()], &mut Word("x")).is_err());
}
