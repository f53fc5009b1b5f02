//! Which behaviour made a commit, and who says so; which programs a session ran, and what it committed.
//!
//! A trailer is a claim. It counts where the records of a session name the commit, or where the own
//! line of its agent says that it had that behaviour. Everything else stays a claim.

use std::collections::BTreeMap;

use agentic_model::{Cid, Instant, Oid, Value};
use agentic_replay::record::Outcome;
use agentic_replay::{Body, RecordChain, SessionId};
use agentic_space::facts::SpaceFacts;

use super::reading::ReadSessions;
use super::request::{own_asks, own_records};
use super::row::{ColumnValue, SessionRows};
use super::scope::SessionScope;
use crate::Result;

/// The kind of requests that commit.
const COMMIT: &str = "commit";

/// Who says that a behaviour made a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StampProof {
    /// The records of a session.
    Record,
    /// The own line of the agent.
    Pin,
    /// The commit alone.
    Claim,
}

/// A commit that a session made, as its records say.
struct MadeCommit {
    oid: Oid,
    /// The program that ran when it was asked for.
    flow: Cid,
    at: Instant,
}

impl StampProof {
    fn word(self) -> &'static str {
        match self {
            StampProof::Record => "record",
            StampProof::Pin => "pin",
            StampProof::Claim => "claim",
        }
    }
}

/// Reads `uses_behaviour` rows.
pub(super) fn uses(
    read: &ReadSessions<'_>,
    scope: &SessionScope,
    rows: &mut SessionRows<'_, '_>,
) -> Result<()> {
    let mut made: BTreeMap<Oid, Cid> = BTreeMap::new();
    if !rows.wants_only("how", StampProof::Pin.word()) {
        let sessions: Vec<SessionId> = scope.sessions(read)?.into_iter().collect();
        for (n_done, id) in sessions.iter().enumerate() {
            if read.ahead(&sessions, n_done).is_break() {
                return Ok(());
            }
            let Some(journal) = read.journal_or_note(id, rows) else { continue };
            made.extend(made_by(&journal, read).into_iter().map(|one| (one.oid, one.flow)));
        }
    }
    for (oid, flow) in &made {
        use_row(rows, *oid, *flow, StampProof::Record);
    }
    let repository = SpaceFacts::new(read.space);
    let stamps = repository.stamps()?;
    repository.take_left_out().into_iter().for_each(|told| rows.note(told));
    for agent in stamps {
        let commits = match agent.commits {
            Ok(commits) => commits,
            Err(why) => {
                rows.note(format!("the commits of agent `{}`: {why}", agent.agent));
                continue;
            }
        };
        for commit in commits {
            let proof = match made.get(&commit.oid) {
                Some(flow) if *flow == commit.behaviour => continue,
                None if commit.is_pinned => StampProof::Pin,
                Some(_) | None => StampProof::Claim,
            };
            use_row(rows, commit.oid, commit.behaviour, proof);
        }
    }
    Ok(())
}

fn use_row(rows: &mut SessionRows<'_, '_>, commit: Oid, behaviour: Cid, proof: StampProof) {
    rows.row(|column| match column {
        "commit" => ColumnValue::id(commit),
        "cid" => ColumnValue::id(behaviour),
        _ => ColumnValue::text(proof.word()),
    });
}

/// Reads `runs` rows.
pub(super) fn runs(
    id: &SessionId,
    journal: &RecordChain,
    _: &ReadSessions<'_>,
    rows: &mut SessionRows<'_, '_>,
) {
    for (seq, flow) in programs(journal) {
        rows.row(|column| match column {
            "session" => ColumnValue::id(id),
            "cid" => ColumnValue::id(flow),
            _ => ColumnValue::count(seq),
        });
    }
}

/// Reads `made` rows.
pub(super) fn made(
    id: &SessionId,
    journal: &RecordChain,
    read: &ReadSessions<'_>,
    rows: &mut SessionRows<'_, '_>,
) {
    for one in made_by(journal, read) {
        rows.row(|column| match column {
            "session" => ColumnValue::id(id),
            "commit" => ColumnValue::id(one.oid),
            _ => ColumnValue::at(one.at),
        });
    }
}

/// Lists the programs that a session ran, each with the position from which on.
fn programs(journal: &RecordChain) -> Vec<(u64, Cid)> {
    let mut found = Vec::new();
    for record in own_records(journal) {
        if let Body::Start(start) = &record.body {
            found.push((record.seq, start.flow));
        } else if let Body::Upgrade(upgrade) = &record.body {
            found.push((record.seq, upgrade.to));
        }
    }
    found
}

/// Lists what a session committed, as its records say.
fn made_by(journal: &RecordChain, read: &ReadSessions<'_>) -> Vec<MadeCommit> {
    let programs = programs(journal);
    let values = read.values(journal);
    let mut found = Vec::new();
    for asked in own_asks(journal) {
        let Some((record, Outcome::Ok(value), _)) = asked.answer() else { continue };
        if asked.ask.kind != COMMIT {
            continue;
        }
        let Ok(value) = values.value(value) else { continue };
        let oid = value.get("commit").and_then(Value::as_text).map(Oid::parse);
        let running = programs.iter().rev().find(|(seq, _)| *seq < asked.record.seq);
        if let (Some(Ok(oid)), Some((_, flow))) = (oid, running) {
            found.push(MadeCommit { oid, flow: *flow, at: record.at });
        }
    }
    found
}
