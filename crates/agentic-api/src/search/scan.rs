//! Searching by reading everything.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use agentic_index::{DocumentPlace, SearchDocument, SearchScope};
use agentic_replay::SessionId;

use super::{GroundTexts, HitList, TextAgent};
use crate::Refusal;

/// How far reading is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanProgress {
    /// How many agents and sessions were read.
    pub n_done: usize,
    /// How many there are.
    pub n_all: usize,
}

/// Something that is read as a whole.
enum ScanUnit {
    Agent(TextAgent),
    Session(SessionId),
}

/// Reads all texts, on all cores, and keeps the newest that fit. `tell` hears how far that is, and may
/// end it.
///
/// # Errors
/// Fails when agents or sessions cannot be listed. What of them is damaged is left out.
pub fn scan(
    ground: &GroundTexts<'_>,
    scope: &SearchScope,
    limit: usize,
    tell: &mut dyn FnMut(ScanProgress) -> ControlFlow<()>,
) -> Result<HitList, Refusal> {
    let units = units(ground, scope)?;
    let n_threads = thread::available_parallelism().map_or(1, usize::from).min(units.len().max(1));
    let next = AtomicUsize::new(0);
    let mut all = HitList::new(limit);
    thread::scope(|scope_of_threads| {
        let (done, told) = sync_channel(n_threads);
        for _ in 0..n_threads {
            let (done, next, units) = (done.clone(), &next, &units);
            scope_of_threads.spawn(move || {
                while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // Whoever asked may not wait any more.
                    if done.send(read(ground, scope, unit, limit)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(done);
        for (n_done, hits) in told.iter().enumerate() {
            all.join(hits);
            if tell(ScanProgress { n_done: n_done + 1, n_all: units.len() }).is_break() {
                all.is_partial = true;
                next.store(units.len(), Ordering::Relaxed);
                break;
            }
        }
    });
    Ok(all)
}

fn units(ground: &GroundTexts<'_>, scope: &SearchScope) -> Result<Vec<ScanUnit>, Refusal> {
    let places = &scope.query.filters.places;
    let wants = |place: DocumentPlace| places.is_empty() || places.contains(&place);
    let mut units = Vec::new();
    if DocumentPlace::ALL.into_iter().any(|it| it != DocumentPlace::Session && wants(it)) {
        // In this order, so that one that is archived meanwhile is in one of them.
        let mut agents = ground.agents_on_branches()?;
        let known: BTreeSet<String> = agents.iter().map(|agent| agent.name.clone()).collect();
        let archived = ground.archived_agents()?.into_iter();
        agents.extend(archived.filter(|agent| !known.contains(&agent.name)));
        let may = |agent: &TextAgent| {
            scope.agents.as_ref().is_none_or(|agents| agents.contains(&agent.name))
        };
        units.extend(agents.into_iter().filter(may).map(ScanUnit::Agent));
    }
    if wants(DocumentPlace::Session) {
        units
            .extend(ground.space.sessions_telling(&mut |_| ())?.into_iter().map(ScanUnit::Session));
    }
    Ok(units)
}

fn read(ground: &GroundTexts<'_>, scope: &SearchScope, unit: &ScanUnit, limit: usize) -> HitList {
    let mut hits = HitList::new(limit);
    let mut visit = |document: SearchDocument| {
        if hits.wants(&document) && scope.fits(&document) {
            hits.take(document);
        }
        ControlFlow::Continue(())
    };
    // What is damaged is the doctor's to name; a search shows what there is.
    let _ = match unit {
        ScanUnit::Agent(agent) => ground.of_agent(agent, &mut visit),
        ScanUnit::Session(session) => ground.of_session(session, 0, &mut visit),
    };
    hits
}
