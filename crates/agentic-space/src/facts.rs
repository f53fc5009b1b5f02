//! Facts of the repository, for queries: agents, their commits, and who came from whom.
//!
//! Facts are read as far as a query needs: of the agents that it names, of the columns that it uses.
//! What one query has seen of an agent stays as it is until the query ends, so that all its facts
//! agree. What follows from ids alone is cached below `cache/query/`, which may go at any time.
//!
//! `predicate` says what there is; each other file reads the rows of one noun.

mod agent;
mod cache;
mod change;
mod commit;
mod kind;
mod line;
mod message;
mod object;
mod parallel;
mod predicate;
mod relation;
mod resolve;
mod roster;
mod rows;
mod worktree;

use std::cell::RefCell;

use agentic_model::guidance;
use agentic_query::{
    FactFailure, FactPredicate, FactRequest, FactSink, FactSource, IdMatch, QueryType,
};

use self::cache::FactCache;
use self::line::KnownLines;
use self::predicate::{PREDICATES, SpacePredicate};
use self::roster::KnownAgents;
use self::rows::FactRows;
use crate::{Result, Space};

/// What became of reading a predicate.
type ReadRows = std::result::Result<(), FactFailure>;

/// The facts of a repository, as one query sees them.
pub struct SpaceFacts<'s> {
    space: &'s Space,
    predicates: Vec<FactPredicate>,
    agents: RefCell<KnownAgents>,
    lines: RefCell<KnownLines>,
    line_cache: FactCache,
    change_cache: FactCache,
    object_cache: FactCache,
}

impl<'s> SpaceFacts<'s> {
    /// Begins to look at a repository.
    pub fn new(space: &'s Space) -> SpaceFacts<'s> {
        let caches = space.repository().layout().cache().join("query");
        SpaceFacts {
            space,
            predicates: PREDICATES.iter().map(|one| one.described()).collect(),
            agents: RefCell::default(),
            lines: RefCell::default(),
            line_cache: FactCache::new(caches.join("commits")),
            change_cache: FactCache::new(caches.join("changes")),
            object_cache: FactCache::new(caches.join("objects")),
        }
    }

    fn read_rows(&self, predicate: SpacePredicate, rows: &mut FactRows<'_, '_>) -> Result<()> {
        match predicate {
            SpacePredicate::Agent => self.agent_rows(rows),
            SpacePredicate::Commit => self.commit_rows(rows),
            SpacePredicate::Subject => self.subject_rows(rows),
            SpacePredicate::Body => self.body_rows(rows),
            SpacePredicate::Field => self.field_rows(rows),
            SpacePredicate::Committer => self.committer_rows(rows),
            SpacePredicate::Claim => self.claim_rows(rows),
            SpacePredicate::Copied => self.copied_rows(rows),
            SpacePredicate::Parent => self.parent_rows(rows),
            SpacePredicate::Changed => self.changed_rows(rows),
            SpacePredicate::Worktree => self.worktree_rows(rows),
            SpacePredicate::Kind => self.kind_rows(rows),
            SpacePredicate::IsA => self.is_a_rows(rows),
            SpacePredicate::Object => self.object_rows(rows),
            SpacePredicate::SubAgentOf => self.sub_agent_rows(rows),
        }
    }
}

impl FactSource for SpaceFacts<'_> {
    fn predicates(&self) -> &[FactPredicate] {
        &self.predicates
    }

    fn read(&self, request: &FactRequest, sink: &mut FactSink<'_>) -> ReadRows {
        let Some(text) = PREDICATES.get(request.predicate) else {
            return Err(FactFailure(format!("there is no predicate number {}", request.predicate)));
        };
        let mut rows = FactRows::new(request, sink);
        let read = self.read_rows(text.predicate, &mut rows);
        read.map_err(|error| FactFailure(guidance::chain(&error)))
    }

    fn resolve(&self, kind: QueryType, text: &str) -> IdMatch {
        self.id_beginning(kind, text)
    }
}

impl Drop for SpaceFacts<'_> {
    fn drop(&mut self) {
        let agents = self.agents.borrow();
        for cache in [&self.line_cache, &self.change_cache, &self.object_cache] {
            cache.write(&|name| agents.may_have(name));
        }
    }
}
