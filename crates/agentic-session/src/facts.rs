//! Facts about sessions, as questions ask for them.
//!
//! Sessions are read from their records, without running them; what only a replay finds is unknown.
//! What is damaged is left out, with a note. A question that names an agent or a session reads the
//! records of that agent or session alone, and only the columns that are asked for are computed.

mod cache;
mod decision;
mod hold;
mod line;
mod predicate;
mod price;
mod reading;
mod request;
mod row;
mod scope;
mod session;
mod telling;
mod trace;
mod usage;

use agentic_model::guidance;
use agentic_query::{
    FactFailure, FactPredicate, FactRequest, FactSink, FactSource, IdMatch, QueryType,
    ReadProgress, ReadTeller,
};
use agentic_replay::SessionId;

use self::predicate::{RowReader, SessionPredicate};
use self::reading::ReadSessions;
use self::row::SessionRows;
use self::scope::SessionScope;
use crate::{Result, SessionSpace};

/// How many journals are read ahead, on all cores.
const SESSIONS_AT_ONCE: usize = 64;

/// The facts about the sessions of a space. What was read stays for all that one program asks: make
/// another for the next.
pub struct SessionFacts<'a> {
    predicates: Vec<FactPredicate>,
    read: ReadSessions<'a>,
    teller: Option<&'a ReadTeller<'a>>,
}

impl<'a> SessionFacts<'a> {
    /// Begins with nothing read.
    pub fn new(space: &'a SessionSpace) -> SessionFacts<'a> {
        let predicates = SessionPredicate::described();
        SessionFacts { predicates, read: ReadSessions::new(space), teller: None }
    }

    /// Takes somebody who is told how far reading is, and may end it.
    pub fn told_to(mut self, teller: &'a ReadTeller<'a>) -> SessionFacts<'a> {
        self.teller = Some(teller);
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
            if n_done.is_multiple_of(SESSIONS_AT_ONCE) {
                let progress = ReadProgress { what: "sessions", n_done, n_all: sessions.len() };
                if self.teller.is_some_and(|teller| teller(progress).is_break()) {
                    break;
                }
                if matches!(reader, RowReader::Journal(_)) {
                    let end = sessions.len().min(n_done + SESSIONS_AT_ONCE);
                    self.read.read_ahead(&sessions[n_done..end]);
                }
            }
            if rows.is_over() {
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
