//! Queries whose texts come from others: from an agent over a protocol, or from a page.
//!
//! Each may take five seconds, and of each asker one is answered at a time. A surface keeps one
//! [`ForeignQueries`] for all that it serves.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::verb::{AskQuery, Reply};
use crate::view::QueryView;
use crate::{Caller, Refusal};

/// How many characters of an asker's name are told.
const ASKER_CHARACTERS_SHOWN: usize = 64;

/// The askers whose queries are being answered.
#[derive(Debug, Default)]
pub struct ForeignQueries {
    asking: Mutex<BTreeSet<String>>,
}

/// The turn of one asker, which ends with this value.
#[derive(Debug)]
struct QueryTurn<'q> {
    queries: &'q ForeignQueries,
    asker: String,
}

impl ForeignQueries {
    /// Answers the query of an asker until `cancel` is set: within the limits of all queries, which
    /// it may lower and not raise, and within [`FOREIGN_QUERY_MS_MAX`](super::FOREIGN_QUERY_MS_MAX).
    ///
    /// # Errors
    /// Fails as a conflict while another query of this asker is answered, and as any query does.
    pub fn ask(
        &self,
        asker: &str,
        query: AskQuery,
        caller: &Caller<'_>,
        cancel: &AtomicBool,
    ) -> Result<Reply<QueryView>, Refusal> {
        let _turn = self.begin(asker)?;
        let limits = query.limits.of_others();
        AskQuery { limits, ..query }.ask(caller, cancel)?.reply()
    }

    fn begin(&self, asker: &str) -> Result<QueryTurn<'_>, Refusal> {
        if self.asking().insert(asker.to_owned()) {
            return Ok(QueryTurn { queries: self, asker: asker.to_owned() });
        }
        let shown: String = asker.chars().take(ASKER_CHARACTERS_SHOWN).collect();
        let message = format!("another query of `{shown}` is being answered");
        Err(Refusal::conflict(&message, "ask again when its answer is there"))
    }

    /// Names stay right whoever panicked while this was held.
    fn asking(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for QueryTurn<'_> {
    fn drop(&mut self) {
        self.queries.asking().remove(&self.asker);
    }
}

#[cfg(test)]
mod tests;
