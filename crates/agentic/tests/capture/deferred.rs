//! The deferred round: a run of Claude Code is put down with its call, a person decides, and the run goes
//! on. Whatever is killed in between, the call runs once, and only after the decision.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::gate::held;
use crate::stage::{CaptureStage, Ended};

/// A Claude Code that says one thing: it wants to run a command, and asks its hooks.
const CLAUDE: &str = include_str!("deferred_claude.py");
/// How it goes on.
const LINE: &str = "AGENTIC_HOLD=defer claude -p --resume 0b6f3c1e-5d1a-4a57-9e44-000000000001 --permission-mode acceptEdits";
/// More steps than a hook or a decision has.
const STEPS_MAX: usize = 200;
/// How often a run goes on before it counts as stuck.
const ROUNDS_MAX: usize = 6;

/// Where something is killed: a hook of the first or the second run by its name, or the decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    /// The gate, when it is asked first.
    Asking,
    /// The person's command.
    Deciding,
    /// The gate, when it finds the decision.
    Using,
    /// The hook after the call.
    Keeping,
}

struct DeferredStage {
    stage: CaptureStage,
    saved: PathBuf,
}

impl DeferredStage {
    fn new() -> DeferredStage {
        let stage = held("defer");
        stage.write("bin/claude", CLAUDE);
        copy("chmod", &["755".as_ref(), stage.folder.join("bin/claude").as_os_str()]);
        let saved = stage.folder.with_extension("saved");
        let made = DeferredStage { stage, saved };
        copy("cp", &["-a".as_ref(), made.stage.folder.as_os_str(), made.saved.as_os_str()]);
        made
    }

    fn rewind(&self) {
        let (folder, saved) = (self.stage.folder.as_os_str(), self.saved.as_os_str());
        copy("rm", &["-rf".as_ref(), folder]);
        copy("cp", &["-a".as_ref(), saved, folder]);
    }

    /// Runs a line of the shell where the agent works, with the fake in the path.
    fn run(&self, line: &str, kill: &[(&str, &str)]) -> Ended {
        let path = format!("export PATH={}/bin:$PATH; {line}", self.stage.folder.display());
        self.stage.program("sh", "shop.agents/fix-cart", &["-c", &path], kill, b"")
    }

    fn begin(&self, kill: &[(&str, &str)]) -> Ended {
        self.run("AGENTIC_HOLD=defer claude -p Deploy --permission-mode acceptEdits", kill)
    }

    fn go_on(&self, kill: &[(&str, &str)]) -> Ended {
        self.run(LINE, kill)
    }

    fn pending(&self) -> Vec<Value> {
        let said = self.stage.agentic("shop", "pending --json");
        serde_json::from_str(&said).expect("a list")
    }

    fn decide(&self, kill: &[(&str, &str)]) -> Option<Ended> {
        let pending = self.pending();
        let request = pending.first()?["short"].as_str().or(pending[0]["request"].as_str())?;
        let words = ["decide", request, "approve", "--json"];
        let binary = env!("CARGO_BIN_EXE_agentic");
        Some(self.stage.program(binary, "shop", &words, kill, b""))
    }

    /// Counts how often the call ran.
    fn n_applied(&self) -> usize {
        let applied = self.stage.folder.join("shop.agents/fix-cart/applied");
        std::fs::read_to_string(applied).map_or(0, |text| text.lines().count())
    }

    /// Goes on until the call has run.
    fn finish(&self) -> Result<(), String> {
        for _ in 0..ROUNDS_MAX {
            if self.n_applied() > 0 {
                break;
            }
            let went_on = self.go_on(&[]);
            if self.n_applied() == 0 && self.decide(&[]).is_none() {
                return Err(format!("nobody is asked: {went_on:?}"));
            }
        }
        // What the last hook could not keep, the next event does.
        self.go_on(&[]);
        match self.n_applied() {
            1 => Ok(()),
            n => Err(format!("the call ran {n} times")),
        }
    }

    /// Says what is not as it should be at the end.
    fn check(&self) {
        self.stage.check();
        let entries = self.stage.entries("fix-cart");
        for kind in ["prompt", "tool-call", "tool-result"] {
            let n_kept = entries.iter().filter(|entry| entry["kind"] == kind).count();
            assert_eq!(n_kept, 1, "{kind}: {entries:?}");
        }
        let doctor = self.stage.agentic("shop", "doctor --json");
        let doctor: Value = serde_json::from_str(&doctor).expect("JSON");
        assert!(doctor["passed"].as_array().is_none_or(Vec::is_empty), "{doctor}");
    }
}

impl Drop for DeferredStage {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.saved);
    }
}

fn copy(program: &str, words: &[&std::ffi::OsStr]) {
    let done = Command::new(program).args(words).status().expect("it is installed");
    assert!(done.success(), "{program} {words:?}");
}

fn said(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"))
}

#[test]
fn a_call_that_was_deferred_runs_once_it_is_decided() {
    let stage = DeferredStage::new();
    let first = said(&stage.begin(&[]));
    assert_eq!(first["stop_reason"], "tool_deferred", "{first}");
    assert_eq!(first["deferred_tool_use"]["name"], "Bash", "{first}");
    assert_eq!((stage.n_applied(), stage.pending().len()), (0, 1));
    // Whoever goes on without a decision is put down again, with the same question.
    let again = said(&stage.go_on(&[]));
    assert_eq!((&again["stop_reason"], stage.pending().len()), (&first["stop_reason"], 1));
    let decided = stage.decide(&[]).expect("it waits");
    assert_eq!(decided.exit, 0, "{decided:?}");
    assert!(decided.stdout.contains(LINE), "{decided:?}");
    let done = said(&stage.go_on(&[]));
    assert_eq!((&done["stop_reason"], stage.n_applied()), (&Value::from("end_turn"), 1), "{done}");
    assert!(stage.pending().is_empty());
    let entries = stage.stage.entries("fix-cart");
    let used = entries
        .iter()
        .filter(|entry| entry["text"].as_str().is_some_and(|text| text.starts_with("hold used ")));
    assert_eq!(used.count(), 1, "{entries:?}");
    stage.check();
}

#[test]
fn without_the_variable_nobody_goes_on_with_it_and_it_is_denied() {
    let stage = DeferredStage::new();
    let first = said(&stage.run("claude -p Deploy --permission-mode acceptEdits", &[]));
    assert_eq!(first["stop_reason"], "end_turn", "{first}");
    assert_eq!((stage.n_applied(), stage.pending().len()), (0, 1));
}

#[test]
fn a_gate_that_is_killed_while_it_asks_lets_nothing_run() {
    kill_at_every_step(Victim::Asking);
}

#[test]
fn a_decision_that_is_killed_can_be_made_again() {
    kill_at_every_step(Victim::Deciding);
}

#[test]
fn a_gate_that_is_killed_while_it_uses_a_decision_lets_the_call_run_once() {
    kill_at_every_step(Victim::Using);
}

#[test]
fn a_hook_that_is_killed_behind_the_call_loses_and_doubles_nothing() {
    kill_at_every_step(Victim::Keeping);
}

/// Kills one program of the round at each of its steps: the call runs once, and after the decision.
fn kill_at_every_step(victim: Victim) {
    let stage = DeferredStage::new();
    let n_steps = (1..STEPS_MAX).find(|step| {
        stage.rewind();
        let is_killed = killed(&stage, victim, *step);
        if let Err(wrong) = stage.finish() {
            panic!("{victim:?} killed at step {step}: {wrong}");
        }
        stage.check();
        !is_killed
    });
    println!("{victim:?}: {n_steps:?} steps");
    assert!(n_steps.is_some_and(|n| n > 2), "{victim:?} is never killed, or always");
}

/// Plays the round with one of its programs killed at a step; tells whether it was.
fn killed(stage: &DeferredStage, victim: Victim, step: usize) -> bool {
    let at = format!("*:{step}");
    let hook = |name: &'static str| [("KILL_HOOK", name), ("KILL_AT", at.as_str())];
    let is_killed = |ended: &Ended| ended.stderr.contains("a hook was killed");
    if victim == Victim::Asking {
        let ended = stage.begin(&hook("gate"));
        assert_eq!(stage.n_applied(), 0, "it ran undecided");
        return is_killed(&ended);
    }
    stage.begin(&[]);
    if victim == Victim::Deciding {
        let ended = stage.decide(&[("AGENTIC_CRASH_AT", &at)]).expect("it waits");
        return ended.exit != 0;
    }
    stage.decide(&[]).expect("it waits");
    let ended = match victim {
        Victim::Using => stage.go_on(&hook("gate")),
        Victim::Asking | Victim::Deciding | Victim::Keeping => stage.go_on(&hook("PostToolUse")),
    };
    is_killed(&ended)
}
