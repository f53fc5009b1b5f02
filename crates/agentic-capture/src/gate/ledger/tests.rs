use std::fs;
use std::path::Path;

use agentic_model::Value;

use super::{CallKey, Ledger, LedgerFact, UseMoment, UseScope};
use crate::{ConversationId, Source};

fn conversation() -> ConversationId {
    ConversationId { source: Source::Claude, native: "../../c".to_owned() }
}

fn key(command: &str) -> CallKey {
    CallKey::of(&[1; 32], Path::new("/w"), "Bash", &Value::text(command)).expect("canonical")
}

fn used(n: u64, before: UseMoment) -> LedgerFact {
    LedgerFact::Used { n, decision: "d".to_owned(), lasts: UseScope::Once, before }
}

#[test]
fn what_was_written_is_there_for_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ledger = Ledger::open(folder.path(), &conversation()).expect("fresh");
    assert_eq!(ledger.n_used(&key("a")), 0);
    ledger.add(&key("a"), LedgerFact::Asked { n: 0, session: "s".to_owned() }).expect("room");
    ledger.add(&key("a"), used(0, UseMoment::Call)).expect("room");
    drop(ledger);
    let ledger = Ledger::open(folder.path(), &conversation()).expect("there");
    assert_eq!(ledger.n_used(&key("a")), 1);
    assert_eq!(ledger.n_used(&key("b")), 0);
    assert_eq!(ledger.asked(&key("a"), 0), Some("s"));
    assert_eq!(ledger.of_last_call(&key("a")), Some((0, "d")));
    assert!(Ledger::path(folder.path(), &conversation()).starts_with(folder.path()));
}

#[test]
fn a_request_for_leave_belongs_to_one_call_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ledger = Ledger::open(folder.path(), &conversation()).expect("fresh");
    ledger.add(&key("a"), used(0, UseMoment::Call)).expect("room");
    ledger.add(&key("a"), used(0, UseMoment::Leave)).expect("room");
    assert_eq!(ledger.of_last_call(&key("a")), None);
    assert_eq!(ledger.n_used(&key("a")), 1);
}

#[test]
fn a_line_that_a_crash_broke_off_is_passed_over_and_damage_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = Ledger::path(folder.path(), &conversation());
    let mut ledger = Ledger::open(folder.path(), &conversation()).expect("fresh");
    ledger.add(&key("a"), used(0, UseMoment::Call)).expect("room");
    drop(ledger);
    let whole = fs::read_to_string(&path).expect("there");
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).expect("writable");
        let mut ledger = Ledger::open(folder.path(), &conversation()).expect("torn");
        ledger.add(&key("b"), used(0, UseMoment::Call)).expect("room");
        drop(ledger);
        let ledger = Ledger::open(folder.path(), &conversation()).expect("whole again");
        assert_eq!(ledger.n_used(&key("b")), 1, "after {length} bytes");
    }
    fs::write(&path, format!("{{\"n\": 0}}\n{whole}")).expect("writable");
    assert!(Ledger::open(folder.path(), &conversation()).is_err());
}
