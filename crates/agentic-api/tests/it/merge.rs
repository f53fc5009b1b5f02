//! Taking work in.

use agentic_api::verb::{FindForkPoint, Merge};
use agentic_api::view::MergeView;
use agentic_api::{Caller, Verb};

use crate::place::{from, named, place, write};

#[test]
fn a_conflict_is_an_answer_and_a_merge_a_commit() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    named("alice").run(&caller).expect("the name is free");
    from("bob", "alice").run(&caller).expect("the name is free");
    write(&space, "bob", "file", "of bob");
    let merge = || Merge { agent: "bob".to_owned(), into: "alice".to_owned(), ..Merge::default() };
    let merged = merge().run(&caller).expect("it merges").answer;
    assert!(matches!(merged, MergeView::Merged { .. }));
    let again = merge().run(&caller).expect("nothing is new").answer;
    assert!(matches!(again, MergeView::UpToDate { .. }));
    write(&space, "alice", "file", "of alice");
    write(&space, "bob", "file", "of bob again");
    let conflict = merge().run(&caller).expect("a conflict is an answer").answer;
    assert!(matches!(conflict, MergeView::Conflict { ref conflicts, .. } if conflicts.len() == 1));
    let found = FindForkPoint { left: "alice".to_owned(), right: "bob".to_owned() };
    assert_eq!(found.run(&caller).expect("they have one").answer.commit.len(), 40);
}
