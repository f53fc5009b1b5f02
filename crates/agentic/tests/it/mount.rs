//! A filesystem that is full, and one that is remounted read-only: real ones, in memory, in a mount
//! namespace of their own. Where mounting is not permitted these cases are skipped, and say so.

use agentic_testkit::ProgramEnding;

use crate::stage::{AFTER_AT, Stage, VERB_AT, script, text};
use crate::state::State;
use crate::verb::VERBS;

/// The verbs that are tried; others write in the same way.
const TRIED: [&str; 4] = ["spawn", "commit --trace", "trace add", "merge into an agent"];
/// How much room is left on the full disk, in pages of 4 KiB.
pub const PAGES_FREE: [u32; 10] = [0, 1, 2, 3, 4, 5, 6, 8, 12, 24];
/// How a script ends that may not mount anything.
pub const NOT_PERMITTED: i32 = 99;

/// Mounts a filesystem over the repositories, copies them into it, runs `$INSIDE` there, and brings
/// back what it left.
pub const ON_A_MOUNT: &str = r#"
    folder=$PWD; cd ../..; root=$PWD; export folder root
    unshare --mount bash -c '
        mount -t tmpfs -o size=64m tmpfs repos && cp -a before/. repos/ || exit 99
        cd "$folder"; eval "$INSIDE"; code=$?
        cd "$root"; rm -rf left; cp -a repos left; exit $code'
    code=$?; [ $code != 99 ] || exit 99
    rm -rf repos/* && cp -a left/. repos/; exit $code"#;

/// Fills the filesystem up to `$PAGES` pages, and runs `$VERB`.
pub const FILL: &str = r#"
    free=$(df --output=avail -k . | tail -1)
    head -c $(((free - 4 * PAGES) * 1024)) /dev/zero > "$root/repos/fill"
    bash -c "$VERB"; code=$?; rm "$root/repos/fill"; (exit $code)"#;

const LOCK: &str = r#"
    mount -o remount,ro "$root/repos"; agentic agents > /dev/null || exit 98; bash -c "$VERB""#;

/// Counts what was tried and what could not be.
#[derive(Default)]
struct Tally {
    n_tried: usize,
    n_skipped: usize,
    broken: Vec<String>,
}

impl Tally {
    /// Runs a verb on a mount and compares what is there afterwards.
    fn attempt(&mut self, stage: &Stage<'_>, what: &str, inside: &str, pages: u32) {
        stage.rewind();
        let pages = pages.to_string();
        let variables = [("INSIDE", inside), ("VERB", stage.verb.run), ("PAGES", pages.as_str())];
        let finished = script(&stage.sandbox, ON_A_MOUNT, VERB_AT, &variables);
        if finished.ending == ProgramEnding::Exit(NOT_PERMITTED) {
            self.n_skipped += 1;
            return;
        }
        self.n_tried += 1;
        let next = script(&stage.sandbox, "agentic agents --json", AFTER_AT, &[]);
        let found = State::read(&stage.sandbox);
        let mut broken = match finished.ending {
            ProgramEnding::Exit(0) => stage.after.difference("afterwards", &found),
            ProgramEnding::Exit(1) => stage.before.difference("afterwards", &found),
            ending @ (ProgramEnding::Exit(_)
            | ProgramEnding::Signal(_)
            | ProgramEnding::TimeLimit) => {
                vec![format!("it ends with {ending:?}")]
            }
        };
        if inside == LOCK && finished.ending != ProgramEnding::Exit(1) {
            broken.push("it is not refused".to_owned());
        }
        broken.extend(stage.check_sound());
        if !broken.is_empty() {
            broken.push(format!("said: {} then {}", text(&finished), text(&next)));
        }
        let name = |line| format!("{} {what}: {line}", stage.verb.name);
        self.broken.extend(broken.into_iter().map(name));
    }

    fn finish(self, what: &str) {
        println!("{} writes {what}", self.n_tried);
        if self.n_skipped > 0 {
            eprintln!("SKIPPED {} writes {what}: mounting is not permitted here", self.n_skipped);
        }
        assert!(self.n_tried + self.n_skipped > 0, "nothing was tried");
        assert!(self.broken.is_empty(), "broken promises:\n{}", self.broken.join("\n"));
    }
}

#[test]
fn a_full_filesystem_refuses_or_completes_every_write() {
    let mut tally = Tally::default();
    for verb in VERBS.iter().filter(|verb| TRIED.contains(&verb.name)) {
        let stage = Stage::new(verb);
        for pages in PAGES_FREE {
            tally.attempt(&stage, &format!("with {pages} pages free"), FILL, pages);
        }
    }
    tally.finish("on a full filesystem");
}

#[test]
fn a_read_only_filesystem_refuses_every_write_and_is_read() {
    let mut tally = Tally::default();
    for verb in VERBS.iter().filter(|verb| TRIED.contains(&verb.name)) {
        tally.attempt(&Stage::new(verb), "read-only", LOCK, 0);
    }
    tally.finish("on a read-only filesystem");
}
