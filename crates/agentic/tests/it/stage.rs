//! A place where one verb is run again and again from the same beginning.

use std::time::Duration;

use agentic_testkit::{FinishedProgram, ProgramEnding, Sandbox, run};

use crate::state::State;
use crate::verb::Verb;

/// How long one script may take.
const LIMIT: Duration = Duration::from_secs(120);
/// When everything before the verb happens.
const BEFORE_AT: &str = "1800000000000";
/// When the verb happens, however often it is tried: the same ids must come out.
pub const VERB_AT: &str = "1800000001000";
/// When everything after it happens.
pub const AFTER_AT: &str = "1800000002000";

/// A sandbox in which a verb is about to be run, and what it must lead to.
pub struct Stage<'a> {
    /// The verb.
    pub verb: &'a Verb,
    /// Where.
    pub sandbox: Sandbox,
    /// What is there before the verb.
    pub before: State,
    /// What is there after it.
    pub after: State,
}

impl<'a> Stage<'a> {
    /// Makes everything that the verb needs, and runs it once undisturbed.
    pub fn new(verb: &'a Verb) -> Stage<'a> {
        let sandbox = Sandbox::in_memory(verb.setup).expect("git is installed");
        sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
        sandbox.save("base").expect("writable");
        let log = sandbox.root().join("before.log").to_string_lossy().into_owned();
        let copy = copy_when_synced(&sandbox, "before-synced");
        let lines = format!("set -eo pipefail\n{}", verb.before);
        let finished = script(&sandbox, &lines, BEFORE_AT, &watch_syncs(&log, &copy));
        assert_eq!(finished.ending, ProgramEnding::Exit(0), "{}: {}", verb.name, text(&finished));
        let before = State::read(&sandbox);
        sandbox.save("before").expect("writable");
        script_ok(&sandbox, verb.run, VERB_AT);
        let after = State::read(&sandbox);
        assert_ne!(before, after, "`{}` changes nothing", verb.name);
        Stage { verb, sandbox, before, after }
    }

    /// Goes back to the beginning.
    pub fn rewind(&self) {
        self.sandbox.restore("before").expect("writable");
    }

    /// Runs the verb with more variables in its environment.
    pub fn run(&self, variables: &[(&str, &str)]) -> FinishedProgram {
        script(&self.sandbox, self.verb.run, VERB_AT, variables)
    }

    /// Runs the next ordinary command, which finishes what is unfinished.
    pub fn next_command(&self) -> FinishedProgram {
        script(&self.sandbox, "agentic agents --json", AFTER_AT, &[])
    }

    /// Says what is not as it should be: for git, for the doctor, and for a repetition.
    pub fn check_sound(&self) -> Vec<String> {
        let mut broken = Vec::new();
        let checks = "git fsck --strict --no-dangling --no-progress 2>&1 && agentic doctor --json";
        let finished = script(&self.sandbox, checks, AFTER_AT, &[]);
        let said = text(&finished);
        let is_sound = said.contains("\"sound\":true") && said.contains("\"locks\":[]");
        if finished.ending != ProgramEnding::Exit(0) || !is_sound {
            broken.push(format!("unsound: {said}"));
        }
        broken.extend(State::leftovers(&self.sandbox));
        broken
    }

    /// Runs the verb again, and says what is not as it should be then.
    pub fn check_again(&self, found: &State) -> Vec<String> {
        let mut broken = Vec::new();
        let finished = self.run(&[]);
        let is_done = *found == self.after;
        let expected: &[i32] = if is_done { self.verb.again } else { &[0] };
        let code = match finished.ending {
            ProgramEnding::Exit(code) => code,
            ProgramEnding::Signal(_) | ProgramEnding::TimeLimit => -1,
        };
        if !expected.contains(&code) {
            broken.push(format!("the repetition ends with {code}: {}", text(&finished)));
        }
        if !is_done {
            broken
                .extend(self.after.difference("after the repetition", &State::read(&self.sandbox)));
        }
        broken
    }
}

/// The variables that make the store tell what it synced, and copy everything whenever it has
/// synced the whole filesystem.
pub fn watch_syncs<'a>(log: &'a str, copy: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("AGENTIC_SYNC_LOG", log),
        ("AGENTIC_RUN_AT", "filesystem-synced:*"),
        ("AGENTIC_RUN", copy),
    ]
}

/// The command that copies the repositories to a folder beside them.
pub fn copy_when_synced(sandbox: &Sandbox, name: &str) -> String {
    let (work, copy) = (sandbox.repositories(), sandbox.root().join(name));
    format!("rm -rf {1} && cp -a {0} {1}", work.display(), copy.display())
}

/// Runs a script of the shell in the sandbox.
pub fn script(
    sandbox: &Sandbox,
    lines: &str,
    now: &str,
    variables: &[(&str, &str)],
) -> FinishedProgram {
    let mut command = sandbox.command("bash", sandbox.start());
    command.arg("-c").arg(lines).env("AGENTIC_NOW", now).envs(variables.iter().copied());
    for variable in ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"] {
        command.env(variable, "1800000000 +0000");
    }
    run(command, b"", LIMIT).expect("bash is installed")
}

/// Runs a script in which every command must succeed.
pub fn script_ok(sandbox: &Sandbox, lines: &str, now: &str) -> String {
    let finished = script(sandbox, &format!("set -eo pipefail\n{lines}"), now, &[]);
    assert_eq!(finished.ending, ProgramEnding::Exit(0), "{lines}: {}", text(&finished));
    String::from_utf8_lossy(&finished.stdout).into_owned()
}

/// Returns what a program said, on both streams.
pub fn text(finished: &FinishedProgram) -> String {
    let bytes = [finished.stdout.as_slice(), finished.stderr.as_slice()].concat();
    String::from_utf8_lossy(&bytes).trim().to_owned()
}
