//! The verbs that write a session, and how a person goes on after each was broken off.

use std::collections::BTreeMap;

use agentic_testkit::crash::{FaultEncounter, InjectedFault, Schedule};
use agentic_testkit::{FinishedProgram, ProgramEnding, Templates};
use serde_json::Value as Json;

use crate::check;
use crate::world::World;

/// How many questions a person answers before giving up.
const ANSWERS_MAX: usize = 10;
/// When a session is started that waits for something.
const EARLY: &str = "2026-11-21T22:00:00.000Z";
/// After every timer of the flow, before every deadline.
const LATER: &str = "2026-11-21T22:30:00.000Z";
/// After every pause of an effect that was tried first at that time.
const LATER_STILL: &str = "2026-11-21T22:45:00.000Z";
/// After every first deadline, before that of those whom a hold went on to.
const TOO_LATE: &str = "2026-11-21T23:30:00.000Z";

const START_LINE: &str = r#"agentic session start alice --flow "$FLOW" --key k --allow exec --allow commit --input "{\"log\":\"$LOG\",\"nap\":false}" --json"#;
const NAP_LINE: &str = r#"agentic session start alice --flow "$FLOW" --key k --allow exec --allow commit --input "{\"log\":\"$LOG\",\"nap\":true}" --json"#;
const WAIT_LINE: &str = r#"agentic session start alice --flow "$FLOW" --key k --allow exec --allow commit --input "{\"log\":\"$LOG\",\"nap\":false,\"signal\":\"go\"}" --json"#;
const CAREFUL_LINE: &str = r#"agentic session start alice --flow "$FLOW" --key k --allow commit --input "{\"log\":\"$LOG\",\"nap\":false}" --json"#;
const FLAKY_LINE: &str = r#"agentic session start alice --flow "$SCOPED" --key k --allow exec --allow commit --input "{\"log\":\"$LOG\",\"flaky\":true}" --json"#;
const SCOPED_LINE: &str = r#"agentic session start alice --flow "$SCOPED" --key k --allow exec --allow commit --input "{\"log\":\"$LOG\",\"flaky\":false}" --json"#;
const LONG_LINE: &str = r#"agentic session start alice --flow "$LONG" --key k --allow exec --allow commit --input "{\"log\":\"$LOG\",\"nap\":false}" --json"#;
const UPGRADE_LINE: &str = r#"agentic session upgrade alice --flow "$NEXT" --json"#;
const WIDE_LINE: &str = r#"agentic session start alice --flow "$WIDE" --key k --allow exec --allow commit --input "{\"log\":\"$LOG\",\"nap\":false}" --json"#;
const WIDER_LINE: &str = r#"agentic session upgrade alice --flow "$WIDER" --json"#;
const RESUME_LINE: &str = "agentic session resume alice --json";
const HAPPENED: &str = r#"'{"status":0,"stdout":"","stderr":""}'"#;

/// One verb at one point in the life of a session.
pub struct Scenario {
    /// What it is called.
    pub name: &'static str,
    /// What starts the session; nothing where the verb does.
    before: Option<&'static str>,
    /// The time of the verb.
    now: &'static str,
    /// The time of what is run next, and of what recovers.
    later: &'static str,
    /// The time of the answers.
    at_last: &'static str,
    /// The verb that is broken off.
    verb: &'static str,
    /// What a person runs next.
    next: Next,
    /// How the session must end.
    pub end: End,
    /// How often a hold must have gone on to other people.
    pub n_escalations: usize,
}

/// What a person runs after the verb was broken off.
enum Next {
    /// The same again.
    Again,
    /// The session; the verb itself only if it left no trace.
    Resume,
}

/// How a session ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    Approved,
    /// Approved, by another flow than it began with.
    Upgraded,
    Expired,
    Cancelled,
    Killed,
}

/// What was seen on the way.
#[derive(Default)]
pub struct Seen {
    /// The effects that a human was asked about, because nobody knows whether they happened:
    /// payloads by request.
    pub doubted: BTreeMap<String, String>,
}

pub const START: Scenario = Scenario {
    name: "start",
    before: None,
    now: LATER,
    later: LATER,
    at_last: LATER,
    verb: START_LINE,
    next: Next::Again,
    end: End::Approved,
    n_escalations: 0,
};

pub const RESUME: Scenario = Scenario {
    name: "resume",
    before: Some(NAP_LINE),
    now: LATER,
    later: LATER,
    at_last: LATER,
    verb: RESUME_LINE,
    next: Next::Again,
    end: End::Approved,
    n_escalations: 0,
};

pub const TICK_TIMER: Scenario = Scenario {
    name: "tick fires a timer",
    before: Some(NAP_LINE),
    now: LATER,
    later: LATER,
    at_last: LATER,
    verb: "agentic session tick --json",
    next: Next::Again,
    end: End::Approved,
    n_escalations: 0,
};

pub const TICK_EXPIRY: Scenario = Scenario {
    name: "tick expires a hold",
    before: Some(START_LINE),
    now: TOO_LATE,
    later: TOO_LATE,
    at_last: TOO_LATE,
    verb: "agentic session tick --json",
    next: Next::Again,
    end: End::Expired,
    n_escalations: 0,
};

pub const DECIDE: Scenario = Scenario {
    name: "decide",
    before: Some(START_LINE),
    now: LATER,
    later: LATER,
    at_last: LATER,
    verb: "agentic decide alice approve -m Why --json",
    next: Next::Resume,
    end: End::Approved,
    n_escalations: 0,
};

/// The first hold of this session is an effect that it may not perform unasked.
pub const PERMIT: Scenario = Scenario {
    name: "decide an effect",
    before: Some(CAREFUL_LINE),
    now: LATER,
    later: LATER,
    at_last: LATER,
    verb: "agentic decide alice approve -m Why --json",
    next: Next::Resume,
    end: End::Approved,
    n_escalations: 0,
};

pub const SIGNAL: Scenario = Scenario {
    name: "signal",
    before: Some(WAIT_LINE),
    now: LATER,
    later: LATER,
    at_last: LATER,
    verb: "agentic session signal alice go --json",
    next: Next::Again,
    end: End::Approved,
    n_escalations: 0,
};

pub const CANCEL: Scenario = Scenario {
    name: "cancel",
    before: Some(START_LINE),
    now: LATER,
    later: LATER,
    at_last: LATER,
    verb: "agentic session cancel alice -m Why --json",
    next: Next::Again,
    end: End::Cancelled,
    n_escalations: 0,
};

pub const KILL: Scenario = Scenario {
    name: "cancel --kill",
    before: Some(START_LINE),
    now: LATER,
    later: LATER,
    at_last: LATER,
    verb: "agentic session cancel alice --kill -m Why --json",
    next: Next::Again,
    end: End::Killed,
    n_escalations: 0,
};

pub const FORK: Scenario = Scenario {
    name: "fork",
    before: Some(START_LINE),
    now: LATER,
    later: LATER,
    at_last: LATER,
    verb: "agentic session fork alice --as bob --json",
    next: Next::Again,
    end: End::Approved,
    n_escalations: 0,
};

pub const UPGRADE: Scenario = Scenario {
    name: "upgrade",
    before: Some(START_LINE),
    now: LATER,
    later: LATER,
    at_last: LATER,
    verb: UPGRADE_LINE,
    next: Next::Again,
    end: End::Upgraded,
    n_escalations: 0,
};

/// The next flow asks something at once that the one before did not.
pub const UPGRADE_ASKS: Scenario = Scenario {
    name: "upgrade that asks more",
    before: Some(WIDE_LINE),
    verb: WIDER_LINE,
    ..UPGRADE
};

/// The first attempt of an effect in a scope fails; the second is due later.
pub const RETRY: Scenario = Scenario {
    name: "start with a retry",
    before: None,
    now: EARLY,
    later: LATER,
    at_last: LATER_STILL,
    verb: FLAKY_LINE,
    next: Next::Again,
    end: End::Approved,
    n_escalations: 0,
};

pub const RETRIED: Scenario =
    Scenario { name: "resume a retry", before: Some(FLAKY_LINE), ..RESUME };

/// What is resumed stands behind a scope that is not run again.
pub const ESCALATE: Scenario = Scenario {
    name: "tick escalates a hold",
    before: Some(SCOPED_LINE),
    now: TOO_LATE,
    later: TOO_LATE,
    at_last: TOO_LATE,
    verb: "agentic session tick --json",
    next: Next::Again,
    end: End::Approved,
    n_escalations: 1,
};

/// The log is written anew, shorter, when the session holds.
pub const LONG_START: Scenario = Scenario { name: "start of a long log", verb: LONG_LINE, ..START };

/// It is once more when the session ends.
pub const LONG_DECIDE: Scenario =
    Scenario { name: "decide on a long log", before: Some(LONG_LINE), ..DECIDE };

impl Scenario {
    /// Runs the verb with the faults of a schedule, goes on as a person would, and checks.
    /// Returns what is wrong afterwards.
    pub fn attempt(
        &self,
        schedule: &Schedule,
        templates: &Templates,
    ) -> (FaultEncounter, Vec<String>) {
        let broken = World::new(templates).and_then(|mut world| {
            if let Some(before) = self.before {
                world.succeed(before, &[0, 4])?;
            }
            world.set_now(self.now);
            let finished = world.run(self.verb, Some(&schedule.first))?;
            world.set_now(self.later);
            Ok((world, finished))
        });
        match broken {
            Ok((mut world, finished)) => {
                let met = FaultEncounter::of(finished.ending);
                let seen = self.go_on(&mut world, &finished, schedule);
                let wrongs = seen.map_or_else(
                    |wrong| vec![wrong],
                    |seen| check::at_the_end(&world, self, &seen),
                );
                (met, wrongs)
            }
            // A verb that panicked is a failure, and the walk goes on behind it.
            Err(wrong) => (FaultEncounter::Yes, vec![wrong]),
        }
    }

    fn go_on(
        &self,
        world: &mut World,
        broken: &FinishedProgram,
        schedule: &Schedule,
    ) -> Result<Seen, String> {
        let acknowledged = acknowledged_commit(broken);
        if schedule.first.harm == InjectedFault::Fail {
            check::a_failure_is_told(broken)?;
        }
        check::what_was_told_is_recorded(world, broken)?;
        check::no_effect_before_its_decision(world)?;
        if schedule.second.is_some() {
            world.run(self.next_line(), schedule.second.as_ref())?;
            check::no_effect_before_its_decision(world)?;
        }
        self.repeat(world)?;
        check::what_is_decided_is_not_held(world)?;
        if let Some(commit) = &acknowledged {
            check::is_kept(world, commit)?;
        }
        world.set_now(self.at_last);
        world.succeed("agentic session tick", &[0])?;
        let mut seen = Seen::default();
        for agent in check::agents(world)? {
            answer_all(world, &agent, &mut seen)?;
        }
        Ok(seen)
    }

    fn next_line(&self) -> &'static str {
        match self.next {
            Next::Again => self.verb,
            Next::Resume => RESUME_LINE,
        }
    }

    /// Does what a person does who saw the verb die.
    fn repeat(&self, world: &World) -> Result<(), String> {
        match self.next {
            // 8: it was done already; 1: what was cancelled says so.
            Next::Again => world.succeed(self.verb, &[0, 1, 4, 8]).map(drop),
            Next::Resume => world.succeed(RESUME_LINE, &[0, 4]).map(drop),
        }
    }
}

/// Returns the commit that a decision was told to have, if it was told.
fn acknowledged_commit(finished: &FinishedProgram) -> Option<String> {
    let answer: Json = serde_json::from_slice(&finished.stdout).ok()?;
    let commit = answer.get("commit")?.as_str()?.to_owned();
    matches!(finished.ending, ProgramEnding::Exit(0) | ProgramEnding::Signal(_)).then_some(commit)
}

/// Answers what an agent asks until it asks nothing more.
fn answer_all(world: &World, agent: &str, seen: &mut Seen) -> Result<(), String> {
    for _ in 0..ANSWERS_MAX {
        let pending = world.json(&format!("agentic pending --agent {agent} --json"), &[0])?;
        let Some(hold) = items(&pending).next() else { return Ok(()) };
        let request = hold["request"].as_str().ok_or("a hold without a request")?;
        let line = match hold["reason"].as_str() {
            Some("asked" | "not-allowed") => format!("agentic decide {request} approve --json"),
            Some("in-doubt") => {
                seen.doubted.insert(request.to_owned(), hold["payload"].to_string());
                format!("agentic decide {request} respond --value {HAPPENED} --json")
            }
            reason => return Err(format!("a hold for the reason {reason:?}")),
        };
        let told = world.json(&line, &[0])?;
        let commit = told["commit"].as_str().ok_or("a decision without a commit")?;
        check::is_kept(world, commit)?;
    }
    Err(format!("`{agent}` still asks after {ANSWERS_MAX} answers"))
}

/// Goes through the items of a JSON list.
pub fn items(list: &Json) -> impl Iterator<Item = &Json> {
    list.as_array().into_iter().flatten()
}
