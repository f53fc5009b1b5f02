//! Facts of the repository, for queries: agents, their commits, and who came from whom.
//!
//! Facts are read as far as a query needs: of the agents that it names, of the columns that it uses.
//! What one query has seen of an agent stays as it is until the query ends, so that all its facts
//! agree. What follows from ids alone is cached below `cache/query/`, which may go at any time.
//!
//! `predicate` says what there is; each other file reads the rows of one noun.

mod agent;
mod branch;
mod briefing;
mod cache;
mod change;
mod commit;
mod derived;
mod edge;
mod entry;
mod fold;
mod kind;
mod landing;
mod line;
mod linked;
mod message;
mod object;
pub mod parallel;
mod patch;
mod pending;
mod predicate;
mod relation;
mod resolve;
mod revert;
mod roster;
mod rows;
mod searched_branch;
mod stamp;
mod trace;
mod work;
mod work_patch;
mod worktree;
mod young_branch;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;

use agentic_git::{DamagedRef, RefName};
use agentic_model::{AgentName, Oid, guidance};
use agentic_query::{
    ExplainedCache, FactFailure, FactPredicate, FactRequest, FactSink, FactSource, IdMatch,
    QueryType, ReadTeller,
};

use self::cache::FactCache;
use self::edge::HoldingEdge;
pub use self::fold::{CommitFold, FoldReport, FoldedCommit};
use self::line::KnownLines;
pub use self::linked::COMMITTED_ON;
use self::parallel::ReadPace;
use self::pending::KnownPending;
use self::predicate::{PREDICATES, SpacePredicate};
pub use self::relation::KnownMerges;
use self::roster::KnownAgents;
use self::rows::FactRows;
use self::searched_branch::SearchedBranch;
pub use self::stamp::{AgentStamps, StampedCommit};
use crate::{Result, Space};

/// What became of reading a predicate.
type ReadRows = std::result::Result<(), FactFailure>;

/// The facts of a repository, as one query sees them.
pub struct SpaceFacts<'s> {
    space: &'s Space,
    predicates: Vec<FactPredicate>,
    agents: RefCell<KnownAgents>,
    lines: RefCell<KnownLines>,
    branches: RefCell<Option<Vec<RefName>>>,
    /// Branches of people, as far as work is looked for there.
    searched: RefCell<Option<Rc<Vec<SearchedBranch>>>>,
    pending: RefCell<Option<KnownPending>>,
    /// The edges that hold, once those of all agents here were settled.
    settled: RefCell<Option<Rc<Vec<HoldingEdge>>>>,
    caches: SpaceCaches,
    peer_names: PeerNames,
    teller: Option<&'s ReadTeller<'s>>,
    /// What is damaged, and was not told yet.
    left_out: RefCell<BTreeSet<String>>,
}

/// What of peers is read as facts here.
#[derive(Debug, Clone, Default)]
pub struct PeerNames {
    /// The names under which agents are read, by `PEER/SPACE` as merges write them.
    pub labels: BTreeMap<String, String>,
    /// The agents, each as `LABEL/AGENT`, whose edges count because somebody granted that.
    pub relating: BTreeSet<String>,
}

impl PeerNames {
    /// Returns what an agent is called that a merge names as `PEER/SPACE/AGENT`: that, without a name.
    fn name_of(&self, origin: &str) -> String {
        let named = origin.rsplit_once('/');
        let named = named.and_then(|(space, agent)| Some((self.labels.get(space)?, agent)));
        named.map_or_else(|| origin.to_owned(), |(label, agent)| format!("{label}/{agent}"))
    }

    /// Returns the label of the space of a peer that an agent is read under; nothing for others.
    fn label_of<'n>(&self, agent: &'n str) -> Option<&'n str> {
        let (label, _) = agent.rsplit_once('/')?;
        self.labels.values().any(|known| known == label).then_some(label)
    }
}

/// What is kept on the disk from one query to the next, by noun.
struct SpaceCaches {
    commits: FactCache,
    changes: FactCache,
    lines: FactCache,
    briefings: FactCache,
    objects: FactCache,
    edges: FactCache,
    traces: FactCache,
    bindings: FactCache,
    branches: FactCache,
    work: FactCache,
    patches: FactCache,
    patch_ids: FactCache,
    stamps: FactCache,
}

impl<'s> SpaceFacts<'s> {
    /// Begins to look at a repository.
    pub fn new(space: &'s Space) -> SpaceFacts<'s> {
        SpaceFacts {
            space,
            predicates: PREDICATES.iter().map(|one| one.described()).collect(),
            agents: RefCell::default(),
            lines: RefCell::default(),
            branches: RefCell::default(),
            searched: RefCell::default(),
            pending: RefCell::default(),
            settled: RefCell::default(),
            caches: SpaceCaches::below(&space.repository().layout().cache().join("query")),
            peer_names: PeerNames::default(),
            teller: None,
            left_out: RefCell::default(),
        }
    }

    /// Takes what agents of peers are called here.
    pub fn with_peer_names(mut self, peer_names: PeerNames) -> SpaceFacts<'s> {
        self.peer_names = peer_names;
        self
    }

    /// Takes somebody who is told how far reading is, and may end it.
    pub fn told_to(mut self, teller: &'s ReadTeller<'s>) -> SpaceFacts<'s> {
        self.teller = Some(teller);
        self
    }

    /// Takes what was found to be damaged since it was told last.
    pub fn take_left_out(&self) -> BTreeSet<String> {
        self.left_out.take()
    }

    fn leave_out(&self, what: String) {
        self.left_out.borrow_mut().insert(what);
    }

    /// Lists the refs below a prefix that can be read, and remembers to tell of the others.
    fn sound_refs(&self, prefix: &str) -> Result<Vec<RefName>> {
        let make = |name: &str, target: Oid| Some(RefName { name: name.to_owned(), target });
        let listed = self.space.repository().list_sound_refs_as(prefix, make)?;
        for DamagedRef { name, why } in &listed.damaged {
            // Of agents those tell who list agents.
            if !name.starts_with(AgentName::BRANCHES) {
                self.leave_out(format!("`{name}` is left out: {}", guidance::chain(why)));
            }
        }
        Ok(listed.found)
    }

    fn pace(&self, what: &'static str) -> ReadPace<'s> {
        ReadPace { what, teller: self.teller }
    }

    fn read_rows(&self, predicate: SpacePredicate, rows: &mut FactRows<'_, '_>) -> Result<()> {
        match predicate {
            SpacePredicate::Agent => self.agent_rows(rows),
            SpacePredicate::Briefing => self.briefing_rows(rows),
            SpacePredicate::BriefingField => self.briefing_field_rows(rows),
            SpacePredicate::Commit => self.commit_rows(rows),
            SpacePredicate::Subject => self.subject_rows(rows),
            SpacePredicate::Body => self.body_rows(rows),
            SpacePredicate::Field => self.field_rows(rows),
            SpacePredicate::Committer => self.committer_rows(rows),
            SpacePredicate::Claim => self.claim_rows(rows),
            SpacePredicate::Copied => self.copied_rows(rows),
            SpacePredicate::Parent => self.parent_rows(rows),
            SpacePredicate::Changed => self.changed_rows(rows),
            SpacePredicate::Lines => self.line_count_rows(rows),
            SpacePredicate::Branch => self.branch_rows(rows),
            SpacePredicate::BranchHas => self.branch_has_rows(rows),
            SpacePredicate::Landed => self.landed_rows(rows),
            SpacePredicate::Linked => self.linked_rows(rows),
            SpacePredicate::Worktree => self.worktree_rows(rows),
            SpacePredicate::Archived => self.archived_rows(rows),
            SpacePredicate::MergedInto => self.merged_rows(rows),
            SpacePredicate::Reviews => self.review_rows(rows),
            SpacePredicate::Edge => self.edge_rows(rows),
            SpacePredicate::EdgeEvent => self.edge_event_rows(rows),
            SpacePredicate::Trace => self.trace_rows(rows),
            SpacePredicate::Binding => self.binding_rows(rows),
            SpacePredicate::Entry => self.entry_rows(rows),
            SpacePredicate::PendingEntry => self.pending_rows(rows),
            SpacePredicate::Kind => self.kind_rows(rows),
            SpacePredicate::IsA => self.is_a_rows(rows),
            SpacePredicate::Object => self.object_rows(rows),
            SpacePredicate::SubAgentOf => self.sub_agent_rows(rows),
            SpacePredicate::Work => self.work_rows(rows),
            SpacePredicate::WorkKind => self.work_kind_rows(rows),
            SpacePredicate::Pinned => self.pinned_rows(rows),
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
        self.take_left_out().into_iter().for_each(|told| rows.note(told));
        read.map_err(|error| FactFailure(guidance::chain(&error)))
    }

    fn resolve(&self, kind: QueryType, text: &str) -> IdMatch {
        self.id_beginning(kind, text)
    }

    fn caches(&self) -> Vec<ExplainedCache> {
        self.caches.named().into_iter().filter_map(|(name, it)| it.explained(name)).collect()
    }
}

impl Drop for SpaceFacts<'_> {
    fn drop(&mut self) {
        let agents = self.agents.borrow();
        let caches = &self.caches;
        for cache in caches.of_agents() {
            cache.write(&|name| agents.may_have(name));
        }
        let repository = self.space.repository();
        caches.patch_ids.write(&|_| true);
        caches.branches.write(&|name| matches!(repository.find_ref(name), Ok(Some(_))));
    }
}

impl SpaceCaches {
    fn below(folder: &Path) -> SpaceCaches {
        let cache = |noun: &str| FactCache::new(folder.join(noun));
        SpaceCaches {
            commits: cache("commits"),
            changes: cache("changes"),
            lines: cache("lines"),
            briefings: cache("briefings"),
            objects: cache("objects"),
            edges: cache("edges"),
            traces: cache("traces"),
            bindings: cache("bindings"),
            branches: cache("branches"),
            work: cache("work"),
            patches: cache("patches"),
            patch_ids: cache("patch-ids"),
            stamps: cache("stamps"),
        }
    }

    /// Returns those whose entries belong to agents.
    fn of_agents(&self) -> [&FactCache; 11] {
        let SpaceCaches { commits, changes, lines, briefings, objects, edges, traces, .. } = self;
        let SpaceCaches { bindings, work, patches, stamps, .. } = self;
        [
            commits, changes, lines, briefings, objects, edges, traces, bindings, work, patches,
            stamps,
        ]
    }

    /// Returns all of them, with what people call them.
    fn named(&self) -> [(&'static str, &FactCache); 12] {
        [
            ("commits", &self.commits),
            ("changed files", &self.changes),
            ("lines of files", &self.lines),
            ("briefings", &self.briefings),
            ("objects", &self.objects),
            ("relations", &self.edges),
            ("traces", &self.traces),
            ("bindings", &self.bindings),
            ("branches", &self.branches),
            ("work of agents", &self.work),
            ("files that agents changed", &self.patches),
            ("stamps", &self.stamps),
        ]
    }
}
