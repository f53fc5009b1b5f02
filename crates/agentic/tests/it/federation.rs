//! Announcing and fetching with processes that die: at every step between two durable states, and at moments
//! that nobody chose. Whatever has left a machine stays in its chain, and no tracking ref is ahead of its record.

use agentic_testkit::{FinishedProgram, ProgramEnding, Sandbox, Setup};
use serde_json::Value as Json;

use crate::stage::{AFTER_AT, VERB_AT, script, script_ok, text};

/// More steps than any of these verbs has.
const STEPS_MAX: usize = 400;
/// Each of them has at least a signature, a ref and a push, or packs, a record and tracking refs.
const STEPS_MIN: usize = 5;
/// How often a process is killed at some moment.
const KILLS: usize = 20;

/// What people do who keep a remote in which git was killed while it moved a ref: nobody else can.
const UNLOCK_REMOTE: &str = "find ../hub.git -name '*.lock' -delete";

/// Two spaces that follow each other; one has something new to announce, or the other to fetch.
const STORY: &str = r#"
for who in here there; do
    ssh-keygen -q -t ed25519 -N '' -f "$HOME/$who"; git -C ../$who config remote.origin.agentic signed
done
json() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
said=$(agentic --json peer init --key "$HOME/here")
ada=$(echo "$said" | json peer); project=$(echo "$said" | json project); space=$(echo "$said" | json space)
echo "refs/agentic/announce/$ada/$space" >../announced; echo "refs/agentic/accepted/$ada/$space" >../accepted
agentic -C ../there peer init --key "$HOME/there" --project "$project" >/dev/null
agentic -C ../there peer add ada "$ada" >/dev/null
agentic spawn x -m "Do it" >/dev/null; agentic push >/dev/null; agentic -C ../there fetch >/dev/null
agentic trace add --agent x noted
agentic commit --agent x -m One --trace --allow-empty >/dev/null
agentic spawn y -m "Do that" >/dev/null
"#;

/// Who dies, and what has to hold then.
struct DyingVerb {
    name: &'static str,
    /// What happens before.
    before: &'static str,
    /// The verb itself.
    run: &'static str,
    /// What is looked at at once, before any other command of ours. It fails where a promise is broken.
    at_once: &'static str,
    /// What people do next, and what has to be so then.
    next: &'static str,
}

/// What the remote had when the process died is in the chain that is there in the end: no number was signed again.
const PUSH: DyingVerb = DyingVerb {
    name: "push",
    before: "",
    run: "agentic push",
    at_once: "git -C ../hub.git rev-parse $(cat ../announced) >../left",
    next: "agentic push
        git -C ../hub.git merge-base --is-ancestor $(cat ../left) $(cat ../announced)
        test $(git rev-parse $(cat ../announced)) = $(git -C ../hub.git rev-parse $(cat ../announced))
        test $(git -C ../hub.git log --format=%s $(cat ../announced) | grep -c '^agentic announcement') = 2
        agentic push --json | grep '\"pushed\":\\[\\]'
        agentic verify
        git -C ../hub.git fsck --strict --no-dangling --no-progress
        cd ../there
        agentic fetch
        test $(git rev-parse ada/agents/x) = $(git -C ../here rev-parse agents/x)
        test $(git rev-parse ada/agents/y) = $(git -C ../here rev-parse agents/y)
        agentic verify",
};

/// A tracking ref is where the record before has it, or where a record that is there has it. A quarantine that was
/// being made stays for a minute, for nobody else knows whether it still is.
const FETCH: DyingVerb = DyingVerb {
    name: "fetch",
    before: "agentic push; cd ../there; git rev-parse ada/agents/x >../before; \
        git rev-parse $(cat ../accepted) >../record; cp -r . ../base",
    run: "cd ../there && agentic fetch",
    at_once: "cd ../there
        if test $(git rev-parse refs/remotes/ada/agents/x) != $(cat ../before); then
            test $(git rev-parse $(cat ../accepted)) != $(cat ../record)
        fi",
    next: "cd ../there
        agentic agents >/dev/null
        agentic verify
        agentic fetch
        test $(git rev-parse ada/agents/x) = $(git -C ../here rev-parse agents/x)
        test $(git rev-parse ada/agents/y) = $(git -C ../here rev-parse agents/y)
        test $(git log --format=%s $(cat ../accepted) | grep -c '^agentic accepted') = 2
        agentic trace show ada/x | grep noted
        test -z \"$(ls .git/agentic/quarantine/*/wanted 2>/dev/null)\"
        agentic verify
        git fsck --strict --no-dangling --no-progress",
};

impl DyingVerb {
    fn stage(&self) -> Sandbox {
        let sandbox = Sandbox::in_memory(Setup::TwoSpaces).expect("git is installed");
        sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
        script_ok(&sandbox, &format!("{STORY}{}", self.before), VERB_AT);
        sandbox.save("before").expect("writable");
        sandbox
    }

    /// Says which promises are broken after the process died.
    fn broken(&self, sandbox: &Sandbox) -> Option<String> {
        for lines in [self.at_once, self.next] {
            let finished = script(sandbox, &format!("set -exo pipefail\n{lines}"), AFTER_AT, &[]);
            if finished.ending != ProgramEnding::Exit(0) {
                return Some(format!("{:?}: {}", finished.ending, text(&finished)));
            }
        }
        None
    }

    /// Has the process die at each step.
    fn walk(&self) {
        let sandbox = self.stage();
        for step in 1..STEPS_MAX {
            rewind(&sandbox);
            let at = format!("*:{step}");
            let dying = script(&sandbox, self.run, VERB_AT, &[("AGENTIC_CRASH_AT", &at)]);
            let name = self.name;
            if let Some(broken) = self.broken(&sandbox) {
                panic!("{name} at step {step}: {broken}; it had said: {}", text(&dying));
            }
            if dying.ending == ProgramEnding::Exit(0) {
                assert!(step > STEPS_MIN, "the binary was built without its crash points");
                println!("{name}: {} steps", step - 1);
                return;
            }
        }
        panic!("`{}` never came to its end", self.name);
    }

    /// Kills the process, and all that it started, at moments between its beginning and its end.
    fn kill(&self) {
        let sandbox = self.stage();
        let whole = std::time::Instant::now();
        script_ok(&sandbox, self.run, VERB_AT);
        let whole = whole.elapsed();
        let mut n_killed = 0;
        for number in 0..KILLS {
            rewind(&sandbox);
            let life = whole.as_secs_f64() * (number + 1) as f64 / (KILLS + 1) as f64;
            let killed = killed_after(&sandbox, self.run, life);
            n_killed += usize::from(killed.ending != ProgramEnding::Exit(0));
            script_ok(&sandbox, UNLOCK_REMOTE, AFTER_AT);
            if let Some(broken) = self.broken(&sandbox) {
                panic!("{} killed after {life:.3} s: {broken}", self.name);
            }
        }
        println!("{}: killed {n_killed} times of {KILLS}", self.name);
        assert!(n_killed > 0, "every process came to its end");
    }
}

/// Goes back to the beginning. A space knows when it stands elsewhere than it did.
fn rewind(sandbox: &Sandbox) {
    sandbox.restore("before").expect("writable");
    script_ok(
        sandbox,
        "for who in here there; do agentic -C ../$who peer space --moved; done",
        VERB_AT,
    );
}

/// Runs a line in a group of its own, which is killed after so many seconds.
fn killed_after(sandbox: &Sandbox, line: &str, seconds: f64) -> FinishedProgram {
    script(sandbox, &format!("timeout --signal=KILL {seconds:.4} bash -c '{line}'"), VERB_AT, &[])
}

#[test]
fn a_push_that_dies_at_any_step_leaves_one_chain() {
    PUSH.walk();
}

#[test]
fn a_fetch_that_dies_at_any_step_leaves_no_ref_ahead_of_its_record() {
    FETCH.walk();
}

#[test]
fn a_push_that_is_killed_at_any_moment_leaves_one_chain() {
    PUSH.kill();
}

#[test]
fn a_fetch_that_is_killed_at_any_moment_leaves_no_ref_ahead_of_its_record() {
    FETCH.kill();
}

#[test]
fn two_fetches_at_once_lose_nothing() {
    let sandbox = FETCH.stage();
    for round in 0..KILLS {
        rewind(&sandbox);
        let both = "cd ../there && (agentic fetch --json & agentic fetch --json; wait)";
        let finished = script(&sandbox, both, VERB_AT, &[]);
        let said = String::from_utf8_lossy(&finished.stdout).into_owned();
        let results: Vec<Json> = said
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{said}")))
            .map(|view: Json| view["peers"][0]["result"].clone())
            .collect();
        assert_eq!(results.len(), 2, "round {round}: {}", text(&finished));
        assert!(results.contains(&Json::from("accepted")), "round {round}: {}", text(&finished));
        if let Some(broken) = FETCH.broken(&sandbox) {
            panic!("round {round}: {broken}");
        }
    }
}
