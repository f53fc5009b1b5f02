//! Sessions on a disk without room: whatever verb finds it full is done or refused, says so truly,
//! and comes to the same end once there is room.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agentic_testkit::{FinishedProgram, ProgramEnding, Sandbox, Setup};
use serde_json::Value as Json;

use crate::mount::{FILL, NOT_PERMITTED, ON_A_MOUNT, PAGES_FREE};
use crate::stage::{VERB_AT, script, script_ok, text};

/// Before the timer of the flow is due.
const BEFORE_AT: &str = "1799999999000";
/// After the deadline of its hold.
const TOO_LATE_AT: &str = "1800009999000";
/// How large a file may grow at most, in KiB, where the disk is no other one.
const FILE_KIB_MAX: [u32; 7] = [0, 1, 2, 3, 4, 6, 8];
/// How many questions are answered before a session counts as stuck.
const ANSWERS_MAX: usize = 4;

/// An effect outside the store, a hold, and another effect if it is approved.
const FLOW: &str = r#"
let log = " >> '" + input.log + "'";
if input.nap { sleep(1000); }
if "signal" in input { suspend(input.signal); }
exec("echo before" + log);
let answer = ();
try {
    answer = hold("Go on?", #{deadline: 1800001999000, on_expiry: "late"});
} catch (e) {
    exec("echo cleaned" + log);
    throw e;
}
if answer.action == "approve" { exec("echo after" + log); }
commit(#{message: "Result", files: #{"result.txt": answer.action}});
answer.action
"#;
/// The same up to the hold; what comes of it is another thing.
const NEXT_FLOW_END: &str = "\nanswer.action + \" by another flow\"\n";

const START: &str = r#"agentic session start alice --flow "$FLOW" --key k --allow exec --input "{\"log\":\"$LOG\",\"nap\":false}""#;
const NAP: &str = r#"agentic session start alice --flow "$FLOW" --key k --allow exec --input "{\"log\":\"$LOG\",\"nap\":true}""#;
const WAIT: &str = r#"agentic session start alice --flow "$FLOW" --key k --allow exec --input "{\"log\":\"$LOG\",\"nap\":false,\"signal\":\"go\"}""#;
const RESUME: &str = "agentic session resume alice";

/// A verb that writes a session.
struct Case {
    name: &'static str,
    /// What starts the session; nothing where the verb does.
    before: Option<&'static str>,
    at: &'static str,
    verb: &'static str,
    /// What finishes it with room.
    again: &'static str,
}

const CASES: [Case; 8] = [
    Case { name: "start", before: None, at: VERB_AT, verb: START, again: START },
    Case { name: "resume", before: Some(NAP), at: VERB_AT, verb: RESUME, again: RESUME },
    Case {
        name: "tick",
        before: Some(START),
        at: TOO_LATE_AT,
        verb: "agentic session tick",
        again: "agentic session tick",
    },
    Case {
        name: "decide",
        before: Some(START),
        at: VERB_AT,
        verb: "agentic decide alice approve -m Why",
        again: "agentic session resume alice; agentic decide alice approve -m Why",
    },
    Case {
        name: "cancel",
        before: Some(START),
        at: VERB_AT,
        verb: "agentic session cancel alice -m Why",
        again: "agentic session cancel alice -m Why",
    },
    Case {
        name: "fork",
        before: Some(START),
        at: VERB_AT,
        verb: "agentic session fork alice --as bob",
        again: "agentic session fork alice --as bob",
    },
    Case {
        name: "upgrade",
        before: Some(START),
        at: VERB_AT,
        verb: r#"agentic session upgrade alice --flow "$NEXT""#,
        again: r#"agentic session upgrade alice --flow "$NEXT""#,
    },
    Case {
        name: "signal",
        before: Some(WAIT),
        at: VERB_AT,
        verb: "agentic session signal alice go --value 1",
        again: "agentic session signal alice go --value 1",
    },
];

/// What a session has come to, as people see it.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    /// Each session: its agent, state, result and requests with their answers.
    sessions: BTreeMap<String, String>,
    /// The lines that the effects wrote.
    effects: String,
    /// The heads of the agents; not compared where somebody had to be asked what happened.
    heads: String,
}

/// One repository in which a verb is tried again and again.
struct Place<'c> {
    case: &'c Case,
    sandbox: Sandbox,
    effects: String,
    wanted: Outcome,
    /// How the verb ends where nothing is in its way.
    code: ProgramEnding,
}

impl Outcome {
    /// The state of each session.
    fn states(&self) -> Vec<(&str, Option<&str>)> {
        let sessions = self.sessions.iter();
        sessions.map(|(agent, told)| (agent.as_str(), told.split(' ').next())).collect()
    }
}

impl Place<'_> {
    fn new(case: &Case) -> Place<'_> {
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
        let next = FLOW.replacen("\nanswer.action\n", NEXT_FLOW_END, 1);
        for (name, flow) in [("flow.rhai", FLOW), ("next.rhai", next.as_str())] {
            std::fs::write(sandbox.root().join(name), flow).expect("writable");
        }
        let wanted =
            Outcome { sessions: BTreeMap::new(), effects: String::new(), heads: String::new() };
        let mut place =
            Place { case, sandbox, effects: String::new(), wanted, code: ProgramEnding::Exit(0) };
        script_ok(&place.sandbox, "agentic spawn alice -m x", BEFORE_AT);
        if let Some(before) = case.before {
            let begun = place.run(before, BEFORE_AT, &[]);
            assert!(matches!(begun.ending, ProgramEnding::Exit(0 | 4)), "{}", text(&begun));
        }
        place.effects = place.read_effects();
        place.sandbox.save("before").expect("writable");
        place.code = place.run(case.verb, case.at, &[]).ending;
        let (wanted, n_doubts) = place.go_on().expect("nothing is in its way");
        assert_eq!(n_doubts, 0, "{}: nothing was broken off", case.name);
        place.wanted = wanted;
        place
    }

    fn log(&self) -> PathBuf {
        self.sandbox.root().join("effects")
    }

    fn read_effects(&self) -> String {
        std::fs::read_to_string(self.log()).unwrap_or_default()
    }

    fn rewind(&self) {
        self.sandbox.restore("before").expect("writable");
        std::fs::write(self.log(), &self.effects).expect("writable");
    }

    fn run(&self, lines: &str, at: &str, variables: &[(&str, &str)]) -> FinishedProgram {
        let path = |name: &str| self.sandbox.root().join(name).to_string_lossy().into_owned();
        let (flow, next, log) = (path("flow.rhai"), path("next.rhai"), path("effects"));
        let own = [("FLOW", flow.as_str()), ("NEXT", next.as_str()), ("LOG", log.as_str())];
        let variables: Vec<(&str, &str)> =
            own.into_iter().chain(variables.iter().copied()).collect();
        script(&self.sandbox, lines, at, &variables)
    }

    fn json(&self, line: &str) -> Result<Json, String> {
        let finished = self.run(line, self.case.at, &[]);
        let said = || format!("`{line}` said: {}", text(&finished));
        match finished.ending {
            ProgramEnding::Exit(0) => serde_json::from_slice(&finished.stdout).map_err(|_| said()),
            ProgramEnding::Exit(_) | ProgramEnding::Signal(_) | ProgramEnding::TimeLimit => {
                Err(said())
            }
        }
    }

    /// Answers what nobody can know, and tells what there is and how often that was necessary.
    fn go_on(&self) -> Result<(Outcome, usize), String> {
        for n_doubts in 0..ANSWERS_MAX {
            let pending = self.json("agentic pending --json")?;
            let doubt = pending.as_array().and_then(|holds| {
                let doubt = holds.iter().find(|hold| hold["reason"] == "in-doubt")?;
                doubt["request"].as_str().zip(doubt["payload"]["command"].as_str())
            });
            let Some((request, command)) = doubt else { return Ok((self.outcome()?, n_doubts)) };
            // Its program ran; a person looks, and says so. Nobody is asked about one that never
            // began.
            let word = command.split(' ').nth(1).unwrap_or_default();
            if !self.read_effects().lines().any(|line| line == word) {
                return Err(format!("it asks whether `{command}` happened, which never began"));
            }
            let answer = r#"respond --value '{"status":0,"stdout":"","stderr":""}'"#;
            self.json(&format!("agentic decide {request} {answer} --json"))?;
        }
        Err("it asks again and again".to_owned())
    }

    fn outcome(&self) -> Result<Outcome, String> {
        let mut sessions = BTreeMap::new();
        for session in self.json("agentic session list --json")?.as_array().into_iter().flatten() {
            let id = session["session"].as_str().unwrap_or_default();
            let shown = self.json(&format!("agentic session show {id} --json"))?;
            self.json(&format!("agentic session verify {id} --json"))?;
            let asked = shown["requests"].as_array().into_iter().flatten();
            let asked: Vec<String> =
                asked.map(|asked| format!("{} {}", asked["path"], asked["answer"])).collect();
            let (agent, state) = (&shown["agent"], &shown["state"]);
            let told = format!("{state} {} {} {asked:?}", shown["flow"], shown["result"]);
            sessions.insert(agent.to_string(), told);
        }
        let heads = "git for-each-ref --format='%(refname) %(objectname)' refs/heads/agents";
        let heads = text(&self.run(heads, self.case.at, &[]));
        Ok(Outcome { sessions, effects: self.read_effects(), heads })
    }

    /// Checks how a verb ended that found no room, and goes on with room.
    fn check(&self, finished: &FinishedProgram) -> Vec<String> {
        let mut broken = Vec::new();
        let said = text(finished);
        let is_told = said.contains("error:") && said.contains("hint:");
        // A tick says which session could not go on, and goes on with the others.
        let is_tick = self.case.name == "tick" && finished.ending == ProgramEnding::Exit(0);
        if finished.ending != self.code
            && !is_tick
            && !(finished.ending == ProgramEnding::Exit(1) && is_told)
        {
            broken.push(format!("it ends with {:?}", finished.ending));
        }
        let sound = "git fsck --strict --no-dangling --no-progress && agentic doctor && agentic session list";
        let sound = self.run(sound, self.case.at, &[]);
        if sound.ending != ProgramEnding::Exit(0) {
            broken.push(format!("it is not sound: {}", text(&sound)));
        }
        let again = self.run(self.case.again, self.case.at, &[]);
        match self.go_on() {
            Ok((found, n_doubts)) => {
                // Where a decision was made and its effect could not begin, the same words answer
                // the doubt.
                let is_doubt_answered =
                    said.contains("approve ") && text(&again).contains("approve ");
                let is_same = match n_doubts {
                    // That answer is a commit more, under which later ones have other ids.
                    0 if is_doubt_answered => {
                        found.states() == self.wanted.states()
                            && found.effects == self.wanted.effects
                    }
                    0 => found == self.wanted,
                    _ => {
                        found.sessions == self.wanted.sessions
                            && found.effects == self.wanted.effects
                    }
                };
                if !is_same {
                    broken.push(format!("it came to {found:?}, not to {:?}", self.wanted));
                }
            }
            Err(wrong) => broken.push(wrong),
        }
        if !broken.is_empty() {
            broken.push(format!("said: {said} then: {}", text(&again)));
        }
        broken.into_iter().map(|line| format!("{}: {line}", self.case.name)).collect()
    }
}

#[test]
fn a_session_on_a_disk_that_takes_no_long_file_comes_to_the_same_end() {
    let mut broken = Vec::new();
    for case in &CASES {
        let place = Place::new(case);
        for kib in FILE_KIB_MAX {
            place.rewind();
            let limited = format!("ulimit -f {kib}; trap '' XFSZ; {}", case.verb);
            let found = place.check(&place.run(&limited, case.at, &[]));
            broken.extend(found.into_iter().map(|line| format!("within {kib} KiB: {line}")));
        }
    }
    let n_tried = CASES.len() * FILE_KIB_MAX.len();
    println!("{n_tried} verbs of sessions, by a limit on the size of files");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_session_on_a_full_filesystem_comes_to_the_same_end() {
    let (mut n_tried, mut n_skipped, mut broken) = (0, 0, Vec::new());
    for case in &CASES {
        let place = Place::new(case);
        for pages in PAGES_FREE {
            place.rewind();
            let pages = pages.to_string();
            let variables = [("INSIDE", FILL), ("VERB", case.verb), ("PAGES", pages.as_str())];
            let finished = place.run(ON_A_MOUNT, case.at, &variables);
            if finished.ending == ProgramEnding::Exit(NOT_PERMITTED) {
                n_skipped += 1;
                continue;
            }
            n_tried += 1;
            let found = place.check(&finished);
            broken.extend(found.into_iter().map(|line| format!("{pages} pages free: {line}")));
        }
    }
    println!("{n_tried} verbs of sessions on a full filesystem");
    if n_skipped > 0 {
        eprintln!("SKIPPED {n_skipped} verbs of sessions: mounting is not permitted here");
    }
    assert!(n_tried + n_skipped > 0, "nothing was tried");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Fills the filesystem to the last page and says so, and goes on to ask for more.
const FILLING_FLOW: &str = r#"
let said = exec("cat /dev/zero > " + input.fill + " 2>/dev/null; echo full").stdout;
exec("true");
said
"#;

/// Runs the flow that fills the filesystem, and makes room again.
const FILLED: &str = r#"
    export FILL_FILE="$root/repos/fill"
    agentic session start alice --flow "$root/filling.rhai" --key k --allow exec \
        --input "{\"fill\":\"$FILL_FILE\"}"
    code=$?; rm -f "$FILL_FILE"; (exit $code)"#;

#[test]
fn what_a_program_came_to_is_recorded_although_it_has_filled_the_disk() {
    let place = Place::new(&CASES[0]);
    place.rewind();
    std::fs::write(place.sandbox.root().join("filling.rhai"), FILLING_FLOW).expect("writable");
    let finished = place.run(ON_A_MOUNT, VERB_AT, &[("INSIDE", FILLED)]);
    if finished.ending == ProgramEnding::Exit(NOT_PERMITTED) {
        eprintln!("SKIPPED: mounting is not permitted here");
        return;
    }
    let pending = place.json("agentic pending --json").expect("it is sound");
    assert_eq!(pending, serde_json::json!([]), "nobody is asked: {}", text(&finished));
    script_ok(&place.sandbox, "agentic session resume alice", VERB_AT);
    let shown = place.json("agentic session show alice --json").expect("it is sound");
    assert_eq!((&shown["state"], &shown["result"]), (&"done".into(), &"full\n".into()));
}
