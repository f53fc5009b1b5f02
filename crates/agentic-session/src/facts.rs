//! Facts about sessions, as questions ask for them.
//!
//! Sessions are read from their records, without running them; what only a replay finds is unknown.
//! What is damaged is left out, with a note. A question that names an agent or a session reads the
//! records of that agent or session alone, and only the columns that are asked for are computed.

mod behaviour;
mod cache;
mod decision;
mod hold;
mod joined;
mod library;
mod line;
mod memory;
mod predicate;
mod price;
mod reading;
mod remote;
mod request;
mod row;
mod scope;
mod session;
mod telling;
mod trace;
mod trial;
mod usage;

use agentic_model::guidance;
use agentic_query::{
    ExplainedCache, FactFailure, FactPredicate, FactRequest, FactSink, FactSource, IdMatch,
    QueryType, ReadTeller,
};
use agentic_replay::SessionId;

pub use self::joined::{QueriedFacts, QueriedSpace, with_facts};
use self::predicate::{RowReader, SessionPredicate};
use self::reading::ReadSessions;
use self::row::SessionRows;
use self::scope::SessionScope;
use crate::{Result, SessionSpace};

/// The facts about the sessions of a space. What was read stays for all that one program asks: make
/// another for the next.
pub struct SessionFacts<'a> {
    predicates: Vec<FactPredicate>,
    read: ReadSessions<'a>,
}

impl<'a> SessionFacts<'a> {
    /// Begins with nothing read.
    pub fn new(space: &'a SessionSpace) -> SessionFacts<'a> {
        let predicates = SessionPredicate::described();
        SessionFacts { predicates, read: ReadSessions::new(space) }
    }

    /// Takes somebody who is told how far reading is, and may end it.
    pub fn told_to(mut self, teller: &'a ReadTeller<'a>) -> SessionFacts<'a> {
        self.read.teller = Some(teller);
        self
    }

    /// Reads the rows of one predicate.
    fn read_rows(
        &self,
        reader: RowReader,
        scope: &SessionScope,
        rows: &mut SessionRows<'_, '_>,
    ) -> Result<()> {
        if let RowReader::Space(read) = reader {
            return read(&self.read, scope, rows);
        }
        let sessions: Vec<SessionId> = scope.sessions(&self.read)?.into_iter().collect();
        for (n_done, id) in sessions.iter().enumerate() {
            let told = match reader {
                RowReader::Journal(_) => self.read.ahead(&sessions, n_done),
                RowReader::Session(_) | RowReader::Space(_) => self.read.tell(&sessions, n_done),
            };
            if told.is_break() || rows.is_over() {
                break;
            }
            match reader {
                RowReader::Session(read) => read(id, &self.read, rows),
                RowReader::Journal(read) => {
                    if let Some(journal) = self.read.journal_or_note(id, rows) {
                        read(id, &journal, &self.read, rows);
                    }
                }
                RowReader::Space(_) => {}
            }
        }
        Ok(())
    }
}

impl FactSource for SessionFacts<'_> {
    fn predicates(&self) -> &[FactPredicate] {
        &self.predicates
    }

    fn read(
        &self,
        request: &FactRequest,
        sink: &mut FactSink<'_>,
    ) -> std::result::Result<(), FactFailure> {
        let number = request.predicate;
        let (Some(predicate), Some(described)) =
            (SessionPredicate::of(number), self.predicates.get(number))
        else {
            return Err(FactFailure(format!("there is no predicate number {number}")));
        };
        let scope = SessionScope::of(predicate, described, request);
        let mut rows = SessionRows::new(request, described, sink);
        let done = self.read_rows(predicate.reader, &scope, &mut rows);
        self.read.tell_damage(&mut rows);
        done.map_err(|error| FactFailure(guidance::chain(&error)))
    }

    fn caches(&self) -> Vec<ExplainedCache> {
        self.read.caches()
    }

    fn resolve(&self, kind: QueryType, text: &str) -> IdMatch {
        match kind {
            QueryType::Session => scope::resolve_session(&self.read, text),
            QueryType::Request => scope::resolve_request(&self.read, text),
            QueryType::Text
            | QueryType::Int
            | QueryType::Float
            | QueryType::Bool
            | QueryType::Instant
            | QueryType::Duration
            | QueryType::Commit
            | QueryType::Cid => IdMatch::Unknown,
        }
    }
}
