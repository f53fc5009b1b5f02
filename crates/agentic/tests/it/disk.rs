//! A disk without room, and one that cannot be written.

use agentic_testkit::ProgramEnding;

use crate::stage::{Stage, script, text};
use crate::state::State;
use crate::verb::VERBS;

/// The verbs that are tried; others write in the same way.
const TRIED: [&str; 5] = [
    "spawn",
    "commit --trace",
    "trace add",
    "merge into an agent",
    "a commit of a large file in a worktree",
];

#[test]
fn a_full_disk_refuses_or_completes_every_write() {
    let mut failures = Vec::new();
    let mut n_tried = 0;
    for verb in VERBS.iter().filter(|verb| TRIED.contains(&verb.name)) {
        let stage = Stage::new(verb);
        // No file may grow beyond a limit: the journal and git's files fail at different ones.
        for blocks in [0, 1, 2, 3, 4, 6, 8, 8000] {
            stage.rewind();
            let limited = format!("ulimit -f {blocks}; trap '' XFSZ; {}", verb.run);
            let finished = script(&stage.sandbox, &limited, crate::stage::VERB_AT, &[]);
            n_tried += 1;
            let next = stage.next_command();
            let found = State::read(&stage.sandbox);
            let expected = if matches!(finished.ending, ProgramEnding::Exit(0)) {
                &stage.after
            } else {
                &stage.before
            };
            let mut broken = expected.difference("afterwards", &found);
            broken.extend(stage.check_sound());
            if !broken.is_empty() {
                broken.push(format!("said: {} then {}", text(&finished), text(&next)));
            }
            let name = |line| format!("{} within {blocks} blocks: {line}", verb.name);
            failures.extend(broken.into_iter().map(name));
        }
    }
    println!("{n_tried} writes on a full disk, by a limit on the size of files");
    assert!(failures.is_empty(), "{} broken promises:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn a_read_only_repository_is_read_and_refuses_writes() {
    for verb in VERBS.iter().filter(|verb| TRIED.contains(&verb.name)) {
        let stage = Stage::new(verb);
        stage.rewind();
        let closed = "chmod -R a-w .git";
        let write = format!("{closed} && unprivileged bash -c \"$VERB\"");
        let finished = script(&stage.sandbox, &write, crate::stage::VERB_AT, &[("VERB", verb.run)]);
        assert_eq!(finished.ending, ProgramEnding::Exit(1), "{}: {}", verb.name, text(&finished));
        let read =
            script(&stage.sandbox, "unprivileged agentic agents", crate::stage::AFTER_AT, &[]);
        assert_eq!(read.ending, ProgramEnding::Exit(0), "{}: {}", verb.name, text(&read));
        // Even where a restart of the machine would be followed by a replay.
        let line = "chmod u+w .git/agentic && echo another > .git/agentic/boot &&
            chmod u-w .git/agentic && unprivileged agentic agents";
        if stage.sandbox.start().join(".git/agentic").exists() {
            let read = script(&stage.sandbox, line, crate::stage::AFTER_AT, &[]);
            assert_eq!(read.ending, ProgramEnding::Exit(0), "{}: {}", verb.name, text(&read));
        }
        script(&stage.sandbox, "chmod -R u+w .git", crate::stage::AFTER_AT, &[]);
        assert_eq!(State::read(&stage.sandbox), stage.before, "{}", verb.name);
        assert_eq!(stage.check_sound(), Vec::<String>::new(), "{}", verb.name);
    }
}
