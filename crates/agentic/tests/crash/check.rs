//! The invariants of the crash model.
//!
//! An acknowledged decision is never lost. A hold has at most one decision commit. No effect
//! happens without a commit that approves it. An effect happens once at most, and exactly once
//! unless a human was asked about it. Every request has exactly one answer. What is decided is not
//! held after recovery. What was told of a session stands in its records. A failure is told with
//! what to do next. A trace has exactly one entry for a decision. Recovering again changes nothing; `session verify`, `session replay`, `doctor` and `git fsck --strict` find nothing.

use std::collections::BTreeMap;

use agentic_testkit::{FinishedProgram, GroundState, ProgramEnding};
use serde_json::Value as Json;

use crate::scenario::{End, Scenario, Seen, items};
use crate::world::World;

/// The effects of the flow.
const EFFECTS: [&str; 3] = ["before", "after", "cleaned"];
/// What separates the fields of a line of `git log`.
const LOG_FORMAT: &str = "--format=%H%x09%(trailers:key=Agentic-Kind,valueonly,separator=%x2C)%x09%(trailers:key=Agentic-Request,valueonly,separator=%x2C)%x09%s";

/// A commit on the branch of an agent.
struct Commit {
    oid: String,
    kind: String,
    request: String,
    subject: String,
}

fn commits(world: &World, agent: &str) -> Result<Vec<Commit>, String> {
    let listing = world.git(&["log", LOG_FORMAT, &format!("refs/heads/agents/{agent}"), "--"])?;
    let commit = |line: &str| {
        let mut fields = line.split('\t').map(str::to_owned);
        let mut next = || fields.next().unwrap_or_default();
        Commit { oid: next(), kind: next(), request: next(), subject: next() }
    };
    Ok(listing.lines().filter(|line| line.contains('\t')).map(commit).collect())
}

/// Lists the agents that have sessions.
pub fn agents(world: &World) -> Result<Vec<String>, String> {
    let sessions = world.json("agentic session list --json", &[0])?;
    let mut names: Vec<String> = items(&sessions)
        .filter_map(|session| session["agent"].as_str())
        .map(str::to_owned)
        .collect();
    names.sort();
    names.dedup();
    Ok(names)
}

/// The effect behind the hold happens only if a decision stands on the branch.
pub fn no_effect_before_its_decision(world: &World) -> Result<(), String> {
    let n_effects = world.effects("after");
    let decided = commits(world, "alice")?.iter().any(|commit| commit.kind == "decision");
    demand(n_effects == 0 || decided, "an effect happened before a decision stood on the branch")
}

/// A request with a decision on its branch is not pending, unless the effect that the decision let
/// begin is in doubt.
pub fn what_is_decided_is_not_held(world: &World) -> Result<(), String> {
    let pending = world.json("agentic pending --json", &[0])?;
    for hold in items(&pending).filter(|hold| hold["reason"] != "in-doubt") {
        let (request, agent) = (&hold["request"], hold["agent"].as_str().unwrap_or_default());
        let shown = request.as_str().unwrap_or_default();
        let decided = commits(world, agent)?.iter().any(|commit| names(&commit.request, shown));
        demand(!decided, &format!("{request} is decided and still held"))?;
    }
    Ok(())
}

/// A decision that was told is on the branch.
pub fn is_kept(world: &World, commit: &str) -> Result<(), String> {
    let is_there = commits(world, "alice")?
        .iter()
        .chain(commits(world, "bob").unwrap_or_default().iter())
        .any(|found| found.oid == commit);
    demand(is_there, &format!("the acknowledged decision {commit} is lost"))
}

/// A verb that a failing step has stopped says what happened and what to do next. One that comes
/// through all the same ends as ever.
pub fn a_failure_is_told(finished: &FinishedProgram) -> Result<(), String> {
    let is_told = String::from_utf8_lossy(&finished.stderr).contains("\"hint\":");
    let ends_well = matches!(finished.ending, ProgramEnding::Exit(0 | 4));
    let text = format!("a failure ended with {:?} and no hint", finished.ending);
    demand(ends_well || is_told && matches!(finished.ending, ProgramEnding::Exit(1)), &text)
}

/// How a session stands was not told before it was recorded so.
pub fn what_was_told_is_recorded(world: &World, finished: &FinishedProgram) -> Result<(), String> {
    let Ok(told) = serde_json::from_slice::<Json>(&finished.stdout) else { return Ok(()) };
    let (Some(id), Some(n)) = (told["session"].as_str(), told["records"].as_u64()) else {
        return Ok(());
    };
    let found = world.json(&format!("agentic session show {id} --at {n} --json"), &[0])?;
    let is_same = found["records"] == told["records"] && found["chain"] == told["chain"];
    demand(is_same, &format!("{n} records were told, and are not there"))
}

/// Checks everything that must hold once nothing is asked any more; returns what does not.
pub fn at_the_end(world: &World, scenario: &Scenario, seen: &Seen) -> Vec<String> {
    let end = scenario.end;
    let agents = match agents(world) {
        Ok(agents) if agents.is_empty() => return vec!["there is no session".to_owned()],
        Ok(agents) => agents,
        Err(wrong) => return vec![wrong],
    };
    let mut checks = Vec::new();
    for agent in &agents {
        checks.push(check_session(world, agent, end));
        checks.push(check_escalations(world, agent, scenario.n_escalations));
        checks.push(check_branch(world, agent, end, seen));
    }
    checks.push(check_effects(world, end, agents.len(), seen));
    checks.push(check_nothing_is_left(world));
    let fsck = ["fsck", "--strict", "--no-progress", "--no-dangling"];
    checks.push(world.git(&fsck).map(drop));
    checks.push(world.succeed("agentic doctor", &[0]).map(drop));
    checks.into_iter().filter_map(Result::err).collect()
}

fn check_session(world: &World, agent: &str, end: End) -> Result<(), String> {
    let session = world.json(&format!("agentic session show {agent} --json"), &[0])?;
    let (state, result) = match end {
        End::Approved => ("done", Json::from("approve")),
        End::Upgraded => ("done", Json::from("approve by another flow")),
        End::Expired => ("done", Json::from("expire")),
        End::Cancelled | End::Killed => ("cancelled", Json::Null),
    };
    let found = (&session["state"], &session["result"]);
    demand(
        *found.0 == state && *found.1 == result,
        &format!("`{agent}` ended with {} {}", found.0, found.1),
    )?;
    for request in items(&session["requests"]) {
        demand(!request["answer"].is_null(), &format!("{} has no answer", request["path"]))?;
    }
    world.succeed(&format!("agentic session verify {agent}"), &[0])?;
    let verdicts = world.json(&format!("agentic session replay {agent} --json"), &[0])?;
    demand(verdicts[0]["verdict"] == "same", "the replay differs")
}

/// A hold goes on to the next people once.
fn check_escalations(world: &World, agent: &str, n_wanted: usize) -> Result<(), String> {
    let history = world.json(&format!("agentic flow history {agent} --json"), &[0])?;
    let n_found = items(&history).filter(|event| event["event"] == "escalate").count();
    demand(n_found == n_wanted, &format!("{n_found} escalations instead of {n_wanted}"))
}

fn check_branch(world: &World, agent: &str, end: End, seen: &Seen) -> Result<(), String> {
    let commits = commits(world, agent)?;
    let mut by_request: BTreeMap<&str, usize> = BTreeMap::new();
    for commit in commits.iter().filter(|commit| commit.kind == "decision") {
        *by_request.entry(&commit.request).or_default() += 1;
        let trace = world.json(&format!("agentic trace show {} --json", commit.oid), &[0])?;
        let n_entries = items(&trace["entries"]).filter(|entry| entry["kind"] == "session").count();
        demand(n_entries == 1, &format!("{n_entries} trace entries for a decision"))?;
    }
    for (request, n_commits) in &by_request {
        // A doubt is a hold of its own, about the same request.
        let n_doubts = seen.doubted.keys().filter(|shown| names(request, shown)).count();
        let fits = *n_commits <= 1 + n_doubts;
        demand(fits, &format!("{n_commits} decisions for {request}"))?;
    }
    let n_results = commits.iter().filter(|commit| commit.subject == "Result").count();
    let n_wanted = match end {
        End::Approved | End::Upgraded | End::Expired => 1,
        End::Cancelled | End::Killed => 0,
    };
    let text = format!("{n_results} commits by the session instead of {n_wanted}");
    demand(n_results == n_wanted, &text)
}

fn check_effects(world: &World, end: End, n_agents: usize, seen: &Seen) -> Result<(), String> {
    for name in EFFECTS {
        let n_wanted = match (name, end) {
            ("before", _) | ("cleaned", End::Cancelled) => 1,
            // Every fork goes through what follows the hold by itself.
            ("after", End::Approved | End::Upgraded) => n_agents,
            _ => 0,
        };
        let n_effects = world.effects(name);
        let doubted =
            seen.doubted.values().any(|payload| payload.contains(&format!("echo {name}")));
        let fits = n_effects == n_wanted || (n_effects < n_wanted && doubted);
        demand(fits, &format!("`{name}` happened {n_effects} times instead of {n_wanted}"))?;
    }
    Ok(())
}

/// Recovering what is recovered changes nothing.
fn check_nothing_is_left(world: &World) -> Result<(), String> {
    let state = || GroundState::read(world.sandbox()).map_err(|error| error.to_string());
    let recover = || {
        world.succeed("agentic session resume alice", &[0, 1])?;
        world.succeed("agentic session tick", &[0]).map(drop)
    };
    recover()?;
    let before = state()?;
    recover()?;
    let difference = before.difference(&state()?);
    demand(difference.is_empty(), &format!("recovering again: {}", difference.join(", ")))
}

/// Tells whether a trailer names the request that `pending` shows by its short form.
fn names(trailer: &str, shown: &str) -> bool {
    let short = shown.rsplit('.').next().unwrap_or(shown);
    !short.is_empty() && (trailer == shown || trailer.starts_with(short))
}

fn demand(holds: bool, wrong: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(wrong.to_owned()) }
}
