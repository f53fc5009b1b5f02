//! Workers and the server killed at random while twenty programs run: the same results as undisturbed,
//! nothing twice that may happen once only, and every acknowledged decision kept.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::stage::Stage;

/// How many kills there are; `AGENTIC_KILLS` says more.
const N_KILLS: usize = 30;
/// How many programs run.
const N_PROGRAMS: usize = 20;
/// How long there is peace between two kills at most, in milliseconds.
const PEACE_MS: u64 = 3000;
/// How long everything may take.
const PATIENCE: Duration = Duration::from_secs(900);
/// Where the random numbers begin; `AGENTIC_SEED` says another.
const SEED: u64 = 20_261_126;
/// What programs are made of: an effect that may happen once, one that may happen again, and a question.
const SHAPES: [&str; 4] = [
    "echo \"a\" >=> once >=> hold \"go?\" >=> again >=> once >=> upper",
    "( once <*> again <*> echo \"c\" ) >=> concat \"-\" >=> hold \"go?\" >=> upper",
    "again >=> hold \"go?\" >=> hold \"sure?\" >=> once >=> again >=> upper",
    "once >=> once >=> again >=> ( upper <*> echo \"d\" ) >=> concat \"\"",
];
/// The effects: each writes which request it was asked for, before it takes a moment.
const EFFECTS: [(&str, &str); 3] = [
    ("once", "#!/bin/sh\necho \"$AGENTIC_REQUEST\" >>once.log\nsleep 0.2\necho '\"o\"'\n"),
    ("again", "#!/bin/sh\necho \"$AGENTIC_REQUEST\" >>again.log\nsleep 0.2\necho '\"r\"'\n"),
    (
        "r.json",
        r#"{"builtins":[
            {"name":"once","agent":"t/once","backends":["temporal"],"run":{"exec":["./once"]}},
            {"name":"again","agent":"t/again","backends":["temporal"],"effect":"idempotent","run":{"exec":["./again"]}}]}"#,
    ),
];

/// Programs under way, and who decides what they ask.
struct Ordeal {
    stage: Stage,
    random: u64,
    /// Decisions on their way, by their request.
    deciding: BTreeMap<String, Child>,
    /// The requests of which a decision was acknowledged; the file `ack.REQUEST` names its commit.
    acknowledged: BTreeSet<String>,
    /// How often all programs were started.
    n_waves: usize,
}

impl Ordeal {
    fn begin() -> Ordeal {
        let stage = Stage::new();
        stage.write(&EFFECTS);
        for n in 0..N_PROGRAMS {
            let shape = SHAPES[n % SHAPES.len()];
            let text = format!("temporal static ( {shape} )\n");
            stage.write(&[(&format!("p{n}.as"), &text)]);
        }
        let random = number("AGENTIC_SEED", SEED);
        let (deciding, acknowledged) = (BTreeMap::new(), BTreeSet::new());
        Ordeal { stage, random, deciding, acknowledged, n_waves: 0 }
    }

    /// Returns the next random number below a bound.
    fn below(&mut self, bound: u64) -> u64 {
        // Marsaglia's xorshift.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % bound
    }

    fn start_all(&mut self) {
        let wave = self.n_waves;
        self.n_waves += 1;
        let line = format!(
            "for n in $(seq 0 19); do agentic flow run p$n.as --registry r.json --sibyl-addr $S \
             --run-id {wave}k$n --detach; done"
        );
        self.stage.ends(&line, 0);
    }

    fn kill(&mut self) {
        match self.below(3) {
            0 => {
                self.stage.kill_worker();
                self.stage.work();
            }
            1 => {
                self.stage.server.kill();
                self.stage.server.start().expect("its data are there");
            }
            _ => {
                self.stage.kill_worker();
                self.stage.server.kill();
                self.stage.server.start().expect("its data are there");
                self.stage.work();
            }
        }
    }

    /// Decides what is asked; returns how much waits.
    fn decide(&mut self) -> usize {
        let (stage, acknowledged) = (&self.stage, &mut self.acknowledged);
        self.deciding.retain(|request, child| match child.try_wait().expect("it is ours") {
            None => true,
            Some(status) => {
                if status.success() {
                    acknowledged.insert(request.clone());
                }
                false
            }
        });
        let pending = stage.json("agentic pending --json");
        let pending: Vec<Json> = pending.as_array().cloned().unwrap_or_default();
        let happened = self.happened("once.log");
        for hold in &pending {
            let request = hold["request"].as_str().expect("it has an id").to_owned();
            let short = request.split('.').nth(1).unwrap_or_default();
            let has_happened = happened.keys().any(|id| id.starts_with(short));
            let how = match hold["reason"].as_str() {
                Some("in-doubt") if has_happened => "respond --value '\"o\"'",
                Some("in-doubt") => "approve",
                _ => "--choice accept",
            };
            if self.deciding.len() < N_PROGRAMS && !self.deciding.contains_key(&request) {
                let line = format!("agentic decide {request} {how} --as user:ada >ack.{request}");
                self.deciding.insert(request, self.stage.start(&line));
            }
        }
        pending.len()
    }

    /// Says how often each request happened of which a log tells.
    fn happened(&self, log: &str) -> BTreeMap<String, usize> {
        let text = std::fs::read_to_string(self.stage.sandbox.start().join(log));
        let mut happened = BTreeMap::new();
        for line in text.unwrap_or_default().lines() {
            *happened.entry(line.to_owned()).or_insert(0) += 1;
        }
        happened
    }

    /// Returns what every program of the last start came to; nothing of those that are under way.
    fn results(&self) -> Vec<Option<String>> {
        let wave = self.n_waves - 1;
        let result = |n| {
            let said = self.stage.say(&format!("agentic session show run-{wave}k{n} --json"));
            let shown: Json = serde_json::from_slice(&said.stdout).ok()?;
            let blocks = &shown["result"]["blocks"];
            (shown["state"] == "done").then(|| blocks[0]["result"].to_string())
        };
        (0..N_PROGRAMS).map(result).collect()
    }

    /// Goes on until every program is over.
    fn finish(&mut self) -> Vec<String> {
        let started = Instant::now();
        loop {
            self.decide();
            let results = self.results();
            assert!(started.elapsed() < PATIENCE, "{results:?}");
            if let Some(results) = results.into_iter().collect() {
                return results;
            }
        }
    }
}

/// Returns the number that a variable says, else the usual one.
pub fn number<N: std::str::FromStr>(variable: &str, usual: N) -> N {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Says whether sessions are over.
fn are_over(sessions: &[Json]) -> bool {
    sessions.iter().all(|session| session["state"] == "done")
}

#[test]
fn whoever_is_killed_the_results_are_those_of_runs_in_peace() {
    let mut peace = Ordeal::begin();
    peace.start_all();
    let expected = peace.finish();
    drop(peace);
    let mut ordeal = Ordeal::begin();
    ordeal.start_all();
    let n_kills = number("AGENTIC_KILLS", N_KILLS);
    for _ in 0..n_kills {
        let (until, peace) = (Instant::now(), ordeal.below(PEACE_MS));
        while until.elapsed() < Duration::from_millis(peace) {
            ordeal.decide();
        }
        ordeal.kill();
        // What is killed when all is over proves nothing.
        if ordeal
            .stage
            .json("agentic session list --json")
            .as_array()
            .is_some_and(|all| are_over(all))
        {
            assert_eq!(ordeal.finish(), expected);
            ordeal.start_all();
        }
    }
    assert_eq!(ordeal.finish(), expected);
    let twice = ordeal.happened("once.log").into_iter().filter(|(_, count)| *count > 1);
    assert_eq!(twice.collect::<Vec<_>>(), [], "what may happen once only");
    for (request, child) in std::mem::take(&mut ordeal.deciding) {
        let said = child.wait_with_output().expect("it is ours");
        if said.status.success() {
            ordeal.acknowledged.insert(request);
        }
    }
    let mut committed = BTreeSet::new();
    let runs = (0..ordeal.n_waves).flat_map(|wave| (0..N_PROGRAMS).map(move |n| (wave, n)));
    for (wave, n) in runs {
        let run = format!("run-{wave}k{n}");
        let log = ordeal.stage.json(&format!("agentic log {run} --kind decision --json"));
        let commits = log.as_array().expect("it is a list").iter();
        committed.extend(commits.filter_map(|one| one["commit"].as_str().map(str::to_owned)));
        ordeal.stage.ends(&format!("agentic session verify {run}"), 0);
    }
    for request in &ordeal.acknowledged {
        let told = ordeal.stage.ends(&format!("cat ack.{request}"), 0);
        let commit = told.split_whitespace().nth(1).unwrap_or_default();
        assert!(committed.contains(commit), "acknowledged and not there: {request}: {told}");
    }
    let (n_runs, n_decisions) = (ordeal.n_waves * N_PROGRAMS, ordeal.acknowledged.len());
    println!("{n_kills} kills, {n_runs} runs, {n_decisions} acknowledged decisions");
}
