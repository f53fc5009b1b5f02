//! Records: one byte form each, and nothing else is accepted.

use agentic_model::canonical::EntryPart;
use agentic_model::{AgentName, Cid, Instant, Map, Value};
use agentic_replay::record::{
    AnswerRecord, AnswerSource, AskRecord, AttemptRecord, Body, CancelMode, CancelRecord,
    ContinueRecord, Engine, EscalateRecord, ForkPoint, FoundRecord, InvalidRecord, Outcome,
    PermitRecord, PermitScope, PublishRecord, Record, ScopeEndRecord, SignalRecord, StartRecord,
    StoredValue, UpgradeRecord, VoteRecord, Why, WithdrawRecord,
};
use agentic_replay::{
    CancelExtent, Chain, EffectClass, Handling, Path, ProgramPosition, RecordHash, RequestHash,
    Seed, SessionId, sub_chain_hash,
};

fn every_body() -> Vec<Body> {
    let path = Path::parse("b1/0").expect("a valid path");
    let cid = Cid::of(b"x");
    let stored = StoredValue::Inline(vec![0xf6]);
    let session = SessionId::from_bytes([1; 32]);
    let hash = RecordHash::from_bytes([2; 32]);
    let text = |text: &str| text.to_owned();
    let start = StartRecord {
        stamp: false,
        session,
        agent: AgentName::parse("alice").expect("a valid name"),
        flow: cid,
        engine: Engine { language: text("rhai"), semantics: 1 },
        input: stored.clone(),
        seed: Seed([3; 32]),
        key: text("k"),
        allow: vec![text("exec")],
        head: None,
        configuration: None,
        host: None,
        parent: None,
    };
    let parent = Some(ForkPoint { session, seq: 4, hash });
    let host = Some(text("temporal"));
    let head = Some(text("abc"));
    let fork = StartRecord { head, configuration: Some(cid), host, parent, ..start.clone() };
    let ask = AskRecord {
        path: path.clone(),
        kind: text("exec"),
        hash: RequestHash::from_bytes([4; 32]),
        payload: StoredValue::Object(cid),
        schema: None,
        handling: Handling::Effect(EffectClass::Once),
        timeout_ms: None,
        position: None,
    };
    let position = Some(ProgramPosition { line: 3, column: 7 });
    let full = AskRecord {
        schema: Some(cid),
        timeout_ms: Some(5),
        position,
        handling: Handling::Decision,
        ..ask.clone()
    };
    let failed = Outcome::Failed { code: text("c"), message: text("m"), details: stored.clone() };
    let answers = [
        (Outcome::Ok(stored.clone()), AnswerSource::Executor),
        (failed.clone(), AnswerSource::Decision(text("c0ffee"))),
        (Outcome::TimedOut, AnswerSource::Timer),
        (Outcome::Cancelled(CancelExtent::Unknown), AnswerSource::Child(session)),
        (Outcome::Cancelled(CancelExtent::NotStarted), AnswerSource::Edited(text("bob"))),
        (Outcome::Cancelled(CancelExtent::Stopped), AnswerSource::System(text("fork"))),
        (Outcome::Ok(stored.clone()), AnswerSource::Signal(7)),
    ];
    let answer =
        |(outcome, by)| Body::Answer(AnswerRecord { path: path.clone(), outcome, by, attempt: 2 });
    let mut bodies: Vec<Body> = answers.into_iter().map(answer).collect();
    bodies.extend([
        Body::Start(Box::new(start)),
        Body::Start(Box::new(fork)),
        Body::Ask(Box::new(ask)),
        Body::Ask(Box::new(full)),
        Body::End(failed),
    ]);
    bodies.extend(bookkeeping(&path, &stored, cid, hash));
    bodies
}

/// The records that change nothing for the program.
fn bookkeeping(path: &Path, stored: &StoredValue, cid: Cid, hash: RecordHash) -> Vec<Body> {
    let text = |text: &str| text.to_owned();
    let path = || path.clone();
    let permit = |edited, scope| {
        Body::Permit(PermitRecord { path: path(), decision: text("d"), edited, scope })
    };
    vec![
        Body::Attempt(AttemptRecord {
            path: path(),
            n: 1,
            error: text("e"),
            next_at: Some(Instant::from_millis(9)),
        }),
        Body::Attempt(AttemptRecord { path: path(), n: 2, error: text("e"), next_at: None }),
        Body::Found(FoundRecord { path: path(), found: stored.clone() }),
        Body::Signal(SignalRecord { id: text("i"), name: text("s"), value: stored.clone() }),
        Body::Publish(PublishRecord { path: path(), head: text("h") }),
        Body::Escalate(EscalateRecord { path: path(), to: vec![text("eve")], why: text("w") }),
        Body::Vote(VoteRecord {
            path: path(),
            decision: text("d"),
            principal: text("p"),
            action: text("a"),
        }),
        permit(None, PermitScope::Once),
        permit(Some(stored.clone()), PermitScope::Once),
        permit(None, PermitScope::RestOfSession),
        permit(None, PermitScope::Under(7)),
        Body::Upgrade(UpgradeRecord { from: cid, to: cid, verified: 3 }),
        Body::Withdraw(WithdrawRecord { path: path(), why: Why::Dropped }),
        Body::Withdraw(WithdrawRecord { path: path(), why: Why::Ended }),
        Body::Cancel(CancelRecord { who: text("w"), why: text("y"), mode: CancelMode::Kill }),
        Body::ScopeEnd(ScopeEndRecord {
            path: path(),
            from: 1,
            to: 2,
            hash,
            result: stored.clone(),
        }),
        Body::Continue(ContinueRecord { state: stored.clone(), flow: cid }),
        Body::End(Outcome::Ok(stored.clone())),
    ]
}

fn record(body: Body) -> Record {
    Record { seq: 5, prev: RecordHash::from_bytes([9; 32]), at: Instant::from_millis(8), body }
}

fn part(value: &Value) -> EntryPart<'_> {
    match value {
        Value::Text(text) => EntryPart::Text(text),
        Value::Bytes(bytes) => EntryPart::Bytes(bytes),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::List(_)
        | Value::Map(_)
        | Value::Link(_)) => EntryPart::Other(other.clone()),
    }
}

/// Reads a record from its map.
fn read(map: &Map) -> Result<Record, InvalidRecord> {
    Record::from_entries(map.iter().map(|(key, value)| (key.as_str(), part(value))).collect())
}

#[test]
fn every_record_reads_back_from_its_map() {
    for body in every_body() {
        let record = record(body);
        let Value::Map(map) = record.to_value() else { panic!("records are maps") };
        assert_eq!(read(&map), Ok(record));
    }
}

#[test]
fn a_record_with_a_field_less_or_more_or_of_another_type_is_refused() {
    for body in every_body() {
        let Value::Map(map) = record(body).to_value() else { panic!("records are maps") };
        let refuse = |map: Map, what: &str| {
            let read = read(&map);
            assert!(
                read.as_ref().map_or(true, |read| read.to_value() == Value::Map(map)),
                "{what}"
            );
        };
        let mut more = map.clone();
        more.insert("zz".to_owned(), Value::Null);
        assert!(read(&more).is_err());
        for key in map.keys() {
            let mut less = map.clone();
            less.remove(key);
            refuse(less, key);
            let mut other = map.clone();
            other.insert(key.clone(), Value::Bool(true));
            assert!(read(&other).is_err(), "{key}");
        }
    }
}

#[test]
fn a_chain_accepts_only_its_next_record() {
    let mut chain = Chain::empty();
    let mut frames = Vec::new();
    for (n, body) in every_body().into_iter().enumerate() {
        frames.push(chain.append(Instant::from_millis(n as i64), body).bytes);
    }
    let mut copy = Chain::empty();
    assert!(copy.read(&frames[1]).is_err(), "the first is missing");
    for frame in &frames {
        let mut torn = copy;
        assert!(torn.read(&frame[..frame.len() - 1]).is_err(), "torn");
        copy.read(frame).expect("the next record");
        let mut again = copy;
        assert!(again.read(frame).is_err(), "twice");
    }
    assert_eq!(copy, chain);
}

#[test]
fn time_never_runs_backwards_in_a_chain() {
    let mut chain = Chain::empty();
    let bodies = every_body();
    chain.append(Instant::from_millis(50), bodies[0].clone());
    let link = chain.append(Instant::from_millis(20), bodies[1].clone());
    assert_eq!(link.record.at, Instant::from_millis(50));
}

#[test]
fn the_hash_of_a_scope_depends_on_every_record_and_their_order() {
    let hash = |n| RecordHash::from_bytes([n; 32]);
    let all = sub_chain_hash([hash(1), hash(2)]);
    for other in [vec![], vec![hash(1)], vec![hash(2), hash(1)], vec![hash(1), hash(3)]] {
        assert_ne!(sub_chain_hash(other), all);
    }
}
