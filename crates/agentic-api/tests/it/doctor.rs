//! Checking and repairing.

use std::fs;

use agentic_api::verb::{Doctor, ListAgents};
use agentic_api::{Caller, Verb, VerbCompletion};
use agentic_model::guidance::ErrorClass;

use crate::place::{named, place, write};

#[test]
fn a_sound_repository_is_found_sound_and_a_damaged_one_is_a_short_answer() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    named("alice").run(&caller).expect("the name is free");
    write(&space, "alice", "file", "x");
    let reply = Doctor::default().run(&caller).expect("readable");
    assert!(reply.answer.sound && reply.answer.damaged.is_empty(), "{:?}", reply.answer);
    assert!(matches!(reply.completion, VerbCompletion::Whole) && reply.completion.exit_code() == 0);

    let head =
        sandbox.git(sandbox.start(), &["rev-parse", "agents/alice^{tree}"]).expect("readable");
    let head = head.trim();
    let object = sandbox.start().join(".git/objects").join(&head[..2]).join(&head[2..]);
    if object.exists() {
        fs::remove_file(&object).expect("writable");
        let reply = Doctor::default().run(&caller).expect("readable");
        // What the journal still has is put back; what it has not is told.
        match &reply.completion {
            VerbCompletion::Short(refusal) => {
                assert_eq!((refusal.class, reply.completion.exit_code()), (ErrorClass::Corrupt, 6));
                assert!(refusal.hint.contains("--replay"), "{}", refusal.hint);
                let again = Doctor { replay: true, ..Doctor::default() };
                again.run(&caller).expect("readable");
            }
            VerbCompletion::Whole => assert!(object.exists()),
            VerbCompletion::Held | VerbCompletion::Over(_) => panic!("nothing ran"),
        }
    }
    assert_eq!(ListAgents {}.run(&caller).expect("readable").answer.len(), 1);
}
