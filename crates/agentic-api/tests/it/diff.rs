//! What a commit changed.

use agentic_api::Verb;
use agentic_api::verb::{CommitDetail, CommitDiff, DIFF_FILE_LINES_MAX, DIFF_LINES_MAX};
use agentic_model::guidance::ErrorClass;

use crate::place::{as_agent, named, place, refusal, write};

fn of(commit: &str) -> CommitDiff {
    CommitDiff { commit: commit.to_owned(), ..CommitDiff::default() }
}

#[test]
fn a_commit_is_compared_with_its_parent() {
    let (sandbox, space) = place();
    let caller = as_agent("alice", &space, &sandbox);
    named("alice").run(&caller).expect("the name is free");
    write(&space, "alice", "file", "one\ntwo");
    write(&space, "alice", "file", "one\nthree");
    let diff = of("agents/alice").run(&caller).expect("readable").answer;
    assert_eq!((diff.changed, diff.added, diff.deleted), (1, 1, 1));
    let lines: Vec<_> = diff.files[0].hunks[0]
        .lines
        .iter()
        .map(|line| format!("{}{}", line.sign, line.text))
        .collect();
    assert_eq!(lines, [" one", "-two", "+three"]);
    let genesis = of("agents/alice~2").run(&caller).expect("readable").answer;
    assert_eq!((genesis.parent, genesis.changed, genesis.parents), (None, 0, 0));
    let detail = CommitDetail { commit: "agents/alice".to_owned() }.run(&caller);
    let detail = detail.expect("readable").answer;
    assert_eq!(detail.commit.agent.as_deref(), Some("alice"));
    assert_eq!((detail.session, detail.commit.copied_from), (None, None));
    for wrong in [
        of("nothing"),
        CommitDiff { file: Some(1), ..of("agents/alice") },
        CommitDiff { parent: Some(2), ..of("agents/alice") },
        CommitDiff { parent: Some(0), ..of("agents/alice") },
    ] {
        assert_eq!(refusal(wrong.run(&caller)).class, ErrorClass::Refused);
    }
}

#[test]
fn long_differences_come_in_parts() {
    let (sandbox, space) = place();
    let caller = as_agent("alice", &space, &sandbox);
    named("alice").run(&caller).expect("the name is free");
    let text: String = (0..5_000).map(|n| format!("line {n}\n")).collect();
    write(&space, "alice", "file", text.trim_end());
    let diff = of("agents/alice").run(&caller).expect("readable").answer;
    assert_eq!((diff.added, diff.files[0].next), (5_000, Some(DIFF_FILE_LINES_MAX)));
    let (mut line, mut seen) = (0, Vec::new());
    loop {
        let part = CommitDiff { file: Some(0), line, ..of("agents/alice") };
        let mut part = part.run(&caller).expect("readable").answer;
        let file = part.files.remove(0);
        let shown: usize = file.hunks.iter().map(|hunk| hunk.lines.len()).sum();
        assert!(shown <= DIFF_LINES_MAX);
        seen.extend(
            file.hunks.into_iter().flat_map(|hunk| hunk.lines).map(|line| line.text + "\n"),
        );
        match file.next {
            Some(next) => line = next,
            None => break,
        }
    }
    assert_eq!(seen.concat(), text);
}
