//! All agents as rows: from an index as far as that is true, and from their commits and notes else.
//!
//! Refs are listed each time. A row counts where branch and notes are still where they were when it was
//! read, so a list from an index is the one that reading everything gives.

mod known;
mod order;
mod standing;

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::{CommitInfo, DamagedRef};
use agentic_index::{AgentRow, EdgeRow, KnownAgent, SeenAgent, SessionRow};
use agentic_model::commit::{Claims, subject};
use agentic_model::edge::{EdgeEvent, Party};
use agentic_model::{AgentName, Cid, Edge, Instant, Oid, guidance};
use agentic_replay::SessionId;
use agentic_session::{Result, SessionSpace};
use agentic_space::agent::{SoundAgents, is_genesis_of, kind_on};
use agentic_space::relation::MERGED_INTO;

pub use self::known::{KnownLedger, LedgerState};
pub use self::order::{RosterFilter, RosterPage, RosterReview, RosterRow};
use self::standing::Standings;
use crate::view::{AgentView, FamilyView};

/// Where git keeps the notes of agents.
const NOTES: &str = "refs/notes/agentic/";
/// The kind of the commit by which an agent takes in the work of another.
const MERGE: &str = "session-merge";
/// How many agents are read for one list while an index is made that will have them.
const READ_MAX: usize = 1_000;
/// How agents may stand, what needs attention most last.
const STANDINGS: [&str; 5] = ["idle", "running", "waiting", "diverged", "held"];

/// Whether a list may leave out what an index has not read yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RosterDemand {
    /// It may, and says so.
    Soon,
    /// Everything is read, however long that takes.
    Whole,
}

/// All agents that have a branch here, by name.
#[derive(Debug)]
pub struct AgentRoster {
    agents: Vec<RosterAgent>,
    /// What is damaged, so that some may be missing, or some of what they did.
    pub left_out: BTreeSet<String>,
    /// Whether the index is still being compared with what there is, so that some may be missing.
    pub is_checking: bool,
}

/// One of them.
#[derive(Debug, Clone)]
struct RosterAgent {
    row: KnownAgent,
    standing: usize,
}

impl AgentRoster {
    /// Reads the agents. What of them is damaged is left out, and named.
    ///
    /// # Errors
    /// Fails when no refs can be read, and when sessions cannot be listed.
    pub fn read(
        space: &SessionSpace,
        known: &KnownLedger,
        demand: RosterDemand,
    ) -> Result<AgentRoster> {
        if let Some(rows) = known.all_rows(space)? {
            let standings = Standings::read(space, known, &BTreeSet::new())?;
            return Ok(AgentRoster::of(rows, standings));
        }
        let SeenAgents { agents, mut damaged } = sound_agents_now(space)?;
        let mut found = Vec::with_capacity(agents.len());
        let mut differing = Vec::new();
        {
            let rows = known.rows.rows();
            for (name, seen) in agents {
                let row = rows.agents.get(name.as_str());
                match row {
                    Some(row) if row.seen() == seen => found.push(row),
                    row => differing.push((name, seen, row)),
                }
            }
        }
        let is_known = known.state != LedgerState::Absent && demand == RosterDemand::Soon;
        let is_checking = is_known && differing.len() > READ_MAX;
        let is_sorted_still = differing.is_empty();
        let names: BTreeSet<AgentName> =
            differing.iter().map(|(name, _, _)| name.clone()).collect();
        for (name, seen, stale) in differing {
            match is_checking {
                true => found.extend(stale),
                false => {
                    let stale = stale.map(|stale| stale.row());
                    match read_agent(space, &name, seen, stale.as_ref()) {
                        Ok(row) => found.push(KnownAgent::pack(&row)),
                        Err(why) => drop(damaged.insert(unread(&name, &why))),
                    }
                }
            }
        }
        if !is_sorted_still {
            found.sort_by(|one, other| one.name().cmp(other.name()));
        }
        let standings = Standings::read(space, known, &names)?;
        let mut roster = AgentRoster::of(found, standings);
        roster.left_out.extend(damaged);
        roster.is_checking = is_checking;
        Ok(roster)
    }

    fn of(rows: Vec<KnownAgent>, standings: Standings) -> AgentRoster {
        let Standings { by_agent, left_out } = standings;
        let agent = |row: KnownAgent| {
            let standing = by_agent.get(row.name()).copied().unwrap_or_default();
            RosterAgent { row, standing }
        };
        let agents = rows.into_iter().map(agent).collect();
        AgentRoster { agents, left_out, is_checking: false }
    }

    /// Shows the agents one by one, by name.
    pub fn views(self) -> impl Iterator<Item = AgentView> {
        self.agents.into_iter().map(|agent| agent_view(agent.row.row()))
    }

    /// Says into what the work of each agent was merged.
    fn merged_into(&self) -> BTreeMap<String, BTreeSet<Party>> {
        let mut into: BTreeMap<String, BTreeSet<Party>> = BTreeMap::new();
        for RosterAgent { row, .. } in &self.agents {
            for merged in row.merged() {
                into.entry(merged.to_owned()).or_default().extend(Party::parse(row.name()));
            }
        }
        for edge in self.holding(MERGED_INTO) {
            into.entry(edge.source).or_default().extend(Party::parse(&edge.target));
        }
        into
    }

    /// Lists the edges of a relation that hold, in order.
    fn holding(&self, relation: &str) -> impl Iterator<Item = EdgeRow> {
        let mut latest: BTreeMap<[String; 2], EdgeRow> = BTreeMap::new();
        // Of two events about one edge the later counts, of two at one instant the retraction.
        let rank = |edge: &EdgeRow| (edge.at, !edge.is_assertion, edge.cid.clone());
        let edges = self.agents.iter().flat_map(|agent| agent.row.edges());
        for edge in edges.filter(|edge| edge.relation == relation) {
            let parties = [edge.source.clone(), edge.target.clone()];
            let known = latest.entry(parties).or_insert_with(|| edge.clone());
            if rank(known) < rank(&edge) {
                *known = edge;
            }
        }
        latest.into_values().filter(|edge| edge.is_assertion)
    }
}

impl RosterAgent {
    fn state(&self) -> &'static str {
        STANDINGS[self.standing]
    }

    fn has_kind(&self, kind: &str) -> bool {
        self.row.kinds().iter().any(|(made, _)| *made == kind)
    }

    fn family(&self, into: &BTreeMap<String, BTreeSet<Party>>) -> FamilyView {
        let row = self.row.row();
        let into = into.get(&row.name).into_iter().flatten();
        FamilyView {
            head: row.seen.head.to_string(),
            state: self.state().to_owned(),
            commits: count(row.n_commits),
            kinds: row.kinds.into_iter().map(|(kind, n)| (kind, count(n))).collect(),
            merges: row.merges,
            merged_into: into.map(ToString::to_string).collect(),
            children: Vec::new(),
            agent: row.name,
        }
    }
}

fn count(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn agent_view(row: AgentRow) -> AgentView {
    AgentView {
        agent: row.name,
        head: row.seen.head.to_string(),
        genesis: row.genesis.map(|oid| oid.to_string()),
        parent: row.parent,
        briefing: row.briefing.map(|cid| cid.to_string()),
        commits: count(row.n_commits),
        subject: row.subject,
        at: Instant::from_millis(row.at).to_string(),
    }
}

/// Says where the branches and notes of all agents are.
///
/// # Errors
/// Fails when refs cannot be read.
pub fn agents_now(space: &SessionSpace) -> Result<Vec<(AgentName, SeenAgent)>> {
    let SeenAgents { agents, damaged } = sound_agents_now(space)?;
    if !damaged.is_empty() {
        // One of them says which is damaged, unless that is mended by now.
        space.agent_names()?;
        space.repository().list_refs(NOTES)?;
    }
    Ok(agents)
}

/// Where the branches and notes of agents are, as far as those can be read.
pub(crate) struct SeenAgents {
    /// The agents, by name.
    pub agents: Vec<(AgentName, SeenAgent)>,
    /// What cannot be read.
    pub damaged: BTreeSet<String>,
}

/// Says that an agent cannot be read, and why.
fn unread(name: &AgentName, why: &agentic_session::Error) -> String {
    format!("agent `{name}` is left out: {}", guidance::chain(why))
}

/// Says where the branches and notes of agents are, as far as those can be read.
///
/// # Errors
/// Fails when no refs can be read.
pub(crate) fn sound_agents_now(space: &SessionSpace) -> Result<SeenAgents> {
    let SoundAgents { agents: names, damaged } = space.sound_agents()?;
    // Both lists are sorted by name.
    let (mut agents, mut at) = (Vec::with_capacity(names.len()), 0);
    agents.extend(names.into_iter().map(|(name, head)| (name, SeenAgent { head, notes: None })));
    let find = |name: &str, target: Oid| {
        let name = name.strip_prefix(NOTES)?;
        // One that was listed before begins anew.
        let is_behind =
            |at: usize| agents.get(at).is_some_and(|it: &(AgentName, _)| it.0.as_str() < name);
        if at > 0 && !is_behind(at - 1) {
            at = 0;
        }
        while is_behind(at) {
            at += 1;
        }
        agents.get(at).filter(|(agent, _)| agent.as_str() == name).map(|_| (at, target))
    };
    let notes = space.repository().list_sound_refs_as(NOTES, find)?;
    for (at, target) in notes.found {
        agents[at].1.notes = Some(target);
    }
    let mut all: BTreeSet<String> = damaged.iter().map(ToString::to_string).collect();
    all.extend(notes.damaged.iter().map(|DamagedRef { name, why }| {
        format!("what `{name}` tells of is left out: {}", guidance::chain(why))
    }));
    Ok(SeenAgents { agents, damaged: all })
}

/// Shows an agent that has a branch here, as far as it is known without reading its commits; nothing where a
/// name is not one of those.
///
/// # Errors
/// Fails when refs, its commits or its notes cannot be read.
pub fn agent_among(
    space: &SessionSpace,
    known: &KnownLedger,
    name: &str,
) -> Result<Option<AgentView>> {
    let Ok(name) = AgentName::parse(name) else { return Ok(None) };
    let repository = space.repository();
    let Some(head) = repository.find_ref(&name.branch_ref())? else { return Ok(None) };
    let seen = SeenAgent { head, notes: repository.find_ref(&name.notes_ref())? };
    let row = known.rows.rows().agents.get(name.as_str()).map(|row| row.row());
    let row = match row {
        Some(row) if row.seen == seen => row,
        stale => read_agent(space, &name, seen, stale.as_ref())?,
    };
    Ok(Some(agent_view(row)))
}

/// Reads what an agent is; `known` is what was read of it before, so that only what is new is read.
///
/// # Errors
/// Fails when its commits or its notes cannot be read.
pub fn read_agent(
    space: &SessionSpace,
    name: &AgentName,
    seen: SeenAgent,
    known: Option<&AgentRow>,
) -> Result<AgentRow> {
    let mut line = LineTally::default();
    let mut commits = space.walk_own_commits(name, seen.head);
    let is_known = |commit| known.is_some_and(|known| Some(known.seen.head) == commit);
    while !is_known(commits.next_oid())
        && let Some(commit) = commits.next()
    {
        let (commit, claims) = commit?;
        line.take(name, commit, claims);
    }
    let is_continued = is_known(commits.next_oid());
    let edges = match known {
        Some(known) if known.seen.notes == seen.notes => known.edges.clone(),
        Some(_) | None => space.kept_edges(seen.notes)?.into_iter().map(edge_row).collect(),
    };
    let known = known.filter(|_| is_continued);
    Ok(line.row(name, seen, known, edges))
}

/// What the commits of an agent say, the newest first.
#[derive(Default)]
struct LineTally {
    genesis: Option<(Oid, Claims)>,
    n_commits: u64,
    kinds: BTreeMap<String, u64>,
    /// What the newest says, and when.
    newest: Option<(String, i64)>,
    merges: Vec<String>,
    merged: Vec<String>,
}

impl LineTally {
    fn take(&mut self, agent: &AgentName, commit: CommitInfo, claims: Claims) {
        let kind = kind_on(agent, &claims);
        *self.kinds.entry(kind.to_string()).or_default() += 1;
        self.n_commits += 1;
        if self.newest.is_none() {
            self.newest = Some((subject(&commit.message).to_owned(), commit.at.millis()));
        }
        if let Some(other) = claims.merged.as_ref().filter(|_| commit.parents.len() > 1) {
            if kind.as_str() == MERGE {
                self.merged.push(other.to_string());
            }
            self.merges.push(other.to_string());
        }
        if is_genesis_of(agent, &claims) {
            self.genesis = Some((commit.oid, claims));
        }
    }

    /// Makes the row, of what is known of the commits before and of these.
    fn row(
        self,
        agent: &AgentName,
        seen: SeenAgent,
        known: Option<&AgentRow>,
        edges: Vec<EdgeRow>,
    ) -> AgentRow {
        let LineTally { genesis, n_commits, kinds, newest, merges, merged } = self;
        let mut row = match known {
            Some(known) => known.clone(),
            None => AgentRow::unborn(agent.as_str(), seen.clone()),
        };
        (row.seen, row.edges) = (seen, edges);
        row.n_commits += n_commits;
        let mut all: BTreeMap<String, u64> = std::mem::take(&mut row.kinds).into_iter().collect();
        for (kind, n) in kinds {
            *all.entry(kind).or_default() += n;
        }
        row.kinds = all.into_iter().collect();
        if let Some((subject, at)) = newest {
            (row.subject, row.at) = (subject, at);
        }
        row.merges.extend(merges.into_iter().rev());
        row.merged.extend(merged.into_iter().rev());
        if let Some((oid, claims)) = genesis {
            row.genesis = Some(oid);
            row.parent = claims.parent.map(|parent| parent.to_string());
            row.briefing = claims.briefing;
        }
        row
    }
}

fn edge_row((cid, edge): (Cid, Edge)) -> EdgeRow {
    EdgeRow {
        source: edge.source.to_string(),
        relation: edge.relation.to_string(),
        target: edge.target.to_string(),
        cid: cid.to_string(),
        is_assertion: edge.event == EdgeEvent::Assert,
        at: edge.at.millis(),
    }
}

/// Reads what a session is.
///
/// # Errors
/// Fails when there is no such session, or its records are damaged.
pub fn read_session(space: &SessionSpace, id: &SessionId) -> Result<SessionRow> {
    // Before its records: what is written meanwhile is seen by the next look.
    let n_bytes = space.open_log_bytes(id);
    let summary = space.session(id)?;
    let parent = summary.forked_from.as_ref().map(|(id, _)| *id).or(summary.child_of);
    Ok(SessionRow {
        agent: summary.agent.to_string(),
        flow: summary.flow.to_string(),
        state: summary.state.as_str().to_owned(),
        is_over: summary.state.is_over(),
        n_records: summary.n_records,
        chain: summary.chain.to_string(),
        started_at: summary.started_at.millis(),
        until: summary.until.map(|until| until.millis()),
        parent: parent.map(|id| id.to_string()),
        n_bytes,
        depends_on_attendance: summary.depends_on_attendance,
    })
}
