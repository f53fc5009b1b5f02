//! Scopes that stand for what happened inside them.
//!
//! A program that hands a scope one value and takes one value back tells its host where the scope
//! begins and ends. The session then records one `scope_end`, with the result and a hash over the
//! records inside. A resume need not run the scope again: the program waits there, and is given
//! the result at the position of that record. A replay that is to compare everything runs it.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::Value;

use crate::record::ScopeEndRecord;
use crate::session::advance::place;
use crate::settle::settle;
use crate::{Body, Path, Record, RecordChain, RecordHash, ScopeStep, sub_chain_hash};

/// The scopes of a session that have begun and not ended.
#[derive(Debug, Default)]
pub(super) struct OpenScopes(BTreeMap<String, ScopeRecords>);

/// What was recorded inside a scope so far.
#[derive(Debug)]
struct ScopeRecords {
    from: u64,
    hashes: Vec<RecordHash>,
}

impl OpenScopes {
    /// Takes in what the program says of its scopes, before the record at `seq`. Gives the record
    /// of one that ended; nothing if nothing was recorded inside.
    pub(super) fn step(
        &mut self,
        step: ScopeStep,
        seq: u64,
        objects: &mut Vec<(agentic_model::Cid, Vec<u8>)>,
    ) -> Option<ScopeEndRecord> {
        match step {
            ScopeStep::Entered(path) => {
                self.0.insert(
                    path.as_str().to_owned(),
                    ScopeRecords { from: seq, hashes: Vec::new() },
                );
                None
            }
            ScopeStep::Failed(path) => {
                self.0.remove(path.as_str());
                None
            }
            ScopeStep::Ended { path, result } => {
                let inside =
                    self.0.remove(path.as_str()).filter(|inside| !inside.hashes.is_empty())?;
                let result: Value = settle(result).ok()?;
                Some(ScopeEndRecord {
                    path,
                    from: inside.from,
                    to: seq,
                    hash: sub_chain_hash(inside.hashes),
                    result: place(&result, objects),
                })
            }
        }
    }

    /// Says whether what the program says of a scope is to be recorded.
    pub(super) fn records(&self, step: &ScopeStep) -> bool {
        match step {
            ScopeStep::Entered(_) | ScopeStep::Failed(_) => false,
            ScopeStep::Ended { path, .. } => {
                self.0.get(path.as_str()).is_some_and(|inside| !inside.hashes.is_empty())
            }
        }
    }

    /// Takes note of a record. One whose path was cut short could stand anywhere: then no open
    /// scope is recorded, and all of them are run again.
    pub(super) fn note(&mut self, body: &Body, hash: RecordHash) {
        let Some(path) = body.path().filter(|_| !self.0.is_empty()) else { return };
        if path.is_cut() {
            return self.0.clear();
        }
        for ancestor in path.ancestors() {
            if let Some(inside) = self.0.get_mut(ancestor) {
                inside.hashes.push(hash);
            }
        }
    }

    /// Forgets all of them: a program that is asked to stop inside a scope would be asked
    /// elsewhere if the scope was not run again.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The finished scopes of a journal that need not be run again.
#[derive(Debug, Default)]
pub(super) struct FinishedScopes(BTreeMap<String, Path>);

impl FinishedScopes {
    /// Finds them: those that ended, with every request inside answered.
    pub(super) fn of(journal: &RecordChain) -> FinishedScopes {
        let ends = |record: &Record| matches!(record.body, Body::ScopeEnd(_));
        if !journal.records().iter().any(ends) {
            return FinishedScopes::default();
        }
        let (mut finished, mut open) = (BTreeMap::new(), BTreeSet::new());
        for record in journal.records() {
            if let Body::Ask(ask) = &record.body {
                open.insert(&ask.path);
            } else if let Body::Answer(answer) = &record.body {
                open.remove(&answer.path);
            } else if let Body::ScopeEnd(scope) = &record.body {
                finished.insert(scope.path.as_str().to_owned(), scope.path.clone());
            }
        }
        for ancestor in open.into_iter().flat_map(Path::ancestors) {
            finished.remove(ancestor);
        }
        FinishedScopes(finished)
    }

    pub(super) fn paths(&self) -> BTreeSet<Path> {
        self.0.values().cloned().collect()
    }

    pub(super) fn contains(&self, path: &Path) -> bool {
        self.0.contains_key(path.as_str())
    }

    /// Says whether a record stands inside one of them.
    pub(super) fn hold(&self, body: &Body) -> bool {
        let path = body.path().filter(|_| !self.0.is_empty());
        path.is_some_and(|path| path.ancestors().any(|ancestor| self.0.contains_key(ancestor)))
    }
}
