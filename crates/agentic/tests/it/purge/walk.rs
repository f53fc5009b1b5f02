//! One purge, killed at each of its steps: whoever repeats it comes to the same end.

use std::fmt::Write as _;

use agentic_testkit::{FinishedProgram, ProgramEnding, Sandbox, Setup, run};

use super::{AFTER_AT, BEFORE_AT, LIMIT, SCAN, STEPS_MAX, STEPS_MIN};
use crate::stage::{script, script_ok, text};

/// What the value is called in stories.
const VALUE: &str = "VALUE";

/// A purge of something in a repository that a story makes.
pub struct PurgeWalk<'w> {
    /// What happened before, in which `VALUE` stands for the value.
    pub story: &'w str,
    /// What is looked for afterwards by means of its own.
    pub value: &'w str,
    /// The purge.
    pub arguments: &'w [&'w str],
    /// What it gets on standard input.
    pub input: &'w str,
    /// Scripts, with what each must print.
    pub checks: &'w [(&'w str, &'w str)],
}

impl PurgeWalk<'_> {
    /// Makes the repository, with a home in it.
    pub fn stage(&self) -> Sandbox {
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
        std::fs::write(sandbox.root().join("scan.py"), SCAN).expect("writable");
        std::fs::write(sandbox.root().join("value"), self.value).expect("writable");
        let story = format!("{}{}", home(), self.story.replace(VALUE, self.value));
        script_ok(&sandbox, &story, BEFORE_AT);
        sandbox
    }

    /// Runs the purge.
    pub fn purge(&self, sandbox: &Sandbox, variables: &[(&str, &str)]) -> FinishedProgram {
        let home = sandbox.repositories().join("home").display().to_string();
        let mut command = sandbox.command("agentic", sandbox.start());
        command.args(self.arguments).env("AGENTIC_NOW", AFTER_AT).env("HOME", home);
        command.envs(variables.iter().copied());
        run(command, self.input.as_bytes(), LIMIT).expect("the program can be started")
    }

    /// Says what is not as it should be after it.
    pub fn broken(&self, sandbox: &Sandbox) -> String {
        let mut broken = String::new();
        let scan = format!("python3 {0}/scan.py .git <{0}/value", sandbox.root().display());
        let sound = [
            (scan.as_str(), ""),
            ("git fsck --strict --no-dangling --no-progress", ""),
            ("agentic doctor --json | grep -o '\"sound\":true'", "\"sound\":true"),
        ];
        for (check, expected) in sound.iter().chain(self.checks) {
            let finished = script(sandbox, &format!("{}{check}", home()), AFTER_AT, &[]);
            let said = text(&finished);
            if finished.ending != ProgramEnding::Exit(0) || said.trim_end() != *expected {
                writeln!(broken, "{check}: {said}").expect("a string");
            }
        }
        broken
    }

    /// Kills it at every step, in a space that says each time that it was moved: one that was put back from a
    /// copy may not announce before somebody says so.
    pub fn walk_moved(&self) {
        let sandbox = self.stage();
        sandbox.save("before").expect("writable");
        let purge = |variables: &[(&str, &str)]| {
            script_ok(&sandbox, &format!("{}agentic peer space --moved", home()), AFTER_AT);
            self.purge(&sandbox, variables)
        };
        assert!(!self.broken(&sandbox).is_empty(), "nothing is to be done");
        kill_at_each_step(&sandbox, purge, || self.broken(&sandbox));
    }

    /// Carries it out once, and then kills it at every step.
    pub fn walk(&self) {
        let sandbox = self.stage();
        sandbox.save("before").expect("writable");
        assert!(!self.broken(&sandbox).is_empty(), "nothing is to be done");
        // A look may write.
        sandbox.restore("before").expect("writable");
        let whole = self.purge(&sandbox, &[]);
        assert_eq!(whole.ending, ProgramEnding::Exit(0), "{}", text(&whole));
        assert_eq!(self.broken(&sandbox), "");
        kill_at_each_step(
            &sandbox,
            |variables| self.purge(&sandbox, variables),
            || self.broken(&sandbox),
        );
    }
}

/// Kills a purge at every step, each time as the repository was saved before, and has it repeated.
pub fn kill_at_each_step(
    sandbox: &Sandbox,
    purge: impl Fn(&[(&str, &str)]) -> FinishedProgram,
    broken: impl Fn() -> String,
) {
    let mut failures = String::new();
    for step in 1..STEPS_MAX {
        sandbox.restore("before").expect("writable");
        let at = format!("*:{step}");
        let killed = purge(&[("AGENTIC_CRASH_AT", &at)]);
        if killed.ending == ProgramEnding::Exit(0) {
            println!("{step} steps");
            assert!(step > STEPS_MIN, "the binary was built without its crash points");
            assert_eq!(failures, "");
            return;
        }
        let again = purge(&[]);
        let found = broken();
        if again.ending != ProgramEnding::Exit(0) || !found.is_empty() {
            writeln!(failures, "killed at step {step}: {} {found}", text(&again))
                .expect("a string");
        }
        if failures.len() > 8000 {
            break;
        }
    }
    panic!("{failures}");
}

/// The beginning of a script with a home that is saved with the repositories.
fn home() -> &'static str {
    "export HOME=$PWD/../home; mkdir -p $HOME\n"
}
