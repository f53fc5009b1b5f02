//! Relating: edges that somebody asserts or retracts.

use agentic_model::edge::{EdgeEvent, Party};
use agentic_model::{AgentName, Cid, Edge, Kind, Map, Value};
use agentic_store::journal::{KeptObject, Transaction};

use crate::commit::Asker;
use crate::error::{BranchError, RelationError};
use crate::relation::is_derived;
use crate::write::LockedStream;
use crate::written::WriteNotices;
use crate::{Error, Result, Space};

/// What became of an assertion or retraction.
#[derive(Debug)]
pub struct RelateOutcome {
    /// The event.
    pub edge: Edge,
    /// The id of its object.
    pub cid: Cid,
    /// Whether everything is visible.
    pub written: WriteNotices,
}

/// What somebody says of two parties.
#[derive(Debug, Clone)]
pub struct EdgeDraft {
    /// Who relates.
    pub source: Party,
    /// How.
    pub relation: Kind,
    /// To whom.
    pub target: Party,
    /// Whether it holds from now on, or no longer.
    pub event: EdgeEvent,
    /// The request of a session that says it: what it has said already is not said again.
    pub asker: Option<Asker>,
}

/// Asserts or retracts an edge. It is kept with the source agent, or, if a person is the source,
/// with the target agent.
///
/// # Errors
/// Fails when neither end is an agent of this space, when the relation is derived from commits,
/// and when a retracted edge does not hold.
pub fn relate(
    space: &Space,
    source: &Party,
    relation: &Kind,
    target: &Party,
    event: EdgeEvent,
) -> Result<RelateOutcome> {
    let (source, relation, target) = (source.clone(), relation.clone(), target.clone());
    say_edge(space, &EdgeDraft { source, relation, target, event, asker: None })
}

/// Does what [`relate`] does, perhaps for the request of a session.
///
/// # Errors
/// Fails as [`relate`] does.
pub fn say_edge(space: &Space, draft: &EdgeDraft) -> Result<RelateOutcome> {
    let EdgeDraft { source, relation, target, event, asker } = draft;
    if is_derived(relation) {
        return Err(Error::Relation(RelationError::Derived { relation: relation.clone() }));
    }
    for agent in [source, target].into_iter().filter_map(Party::agent) {
        space.head(agent)?;
    }
    let keeper = keeper(source, target)?;
    let signatures = space.signatures(&keeper)?;
    let (locked, _) = LockedStream::agent(space, &keeper)?;
    let tip = space.repository().notes(&keeper.notes_ref())?.tip();
    let same = |edge: &Edge| {
        edge.source == *source && edge.relation == *relation && edge.target == *target
    };
    let kept = space.kept_edges(tip)?.into_iter();
    let events: Vec<(Cid, Edge)> = kept.filter(|(_, edge)| same(edge)).collect();
    let fields = asker.as_ref().map(fields_of).unwrap_or_default();
    let is_said = |edge: &Edge| !fields.is_empty() && edge.fields == fields;
    if let Some((cid, edge)) = events.iter().find(|(_, edge)| is_said(edge)) {
        let (edge, cid) = (edge.clone(), *cid);
        return Ok(RelateOutcome { edge, cid, written: WriteNotices::default() });
    }
    let events = || events.iter().map(|(_, edge)| edge);
    let latest = events().map(|edge| edge.at).max();
    // Of two events at one instant, the retraction counts.
    let last = events().max_by_key(|edge| (edge.at, edge.event == EdgeEvent::Retract));
    let holds = last.is_some_and(|edge| edge.event == EdgeEvent::Assert);
    if *event == EdgeEvent::Retract && !holds {
        let edge = format!("{source} {relation} {target}");
        return Err(Error::Relation(RelationError::NoEdge { edge }));
    }
    // A later event must win even if the clock went backwards meanwhile.
    let at = latest.map_or(space.now(), |latest| space.now().max(latest.plus_millis(1)));
    let edge = Edge {
        source: source.clone(),
        relation: relation.clone(),
        target: target.clone(),
        event: *event,
        at,
        fields,
    };
    let object = edge.to_object()?;
    let signed = (signatures.author, signatures.committer);
    let transaction = Transaction::keeping(
        format!("relate {source} {relation} {target}"),
        keeper.notes_ref(),
        vec![KeptObject::from(&object)],
        signed,
    );
    let written = locked.decide(transaction, None, space.durability())?.follow().written;
    Ok(RelateOutcome { edge, cid: object.cid(), written })
}

/// Returns what tells the edge of a request again.
fn fields_of(asker: &Asker) -> Map {
    let request = asker.request.as_deref().map(|id| ("request".to_owned(), Value::text(id)));
    let session = ("session".to_owned(), Value::text(&asker.session));
    request.into_iter().chain([session]).collect()
}

fn keeper(source: &Party, target: &Party) -> Result<AgentName> {
    let agent = source.agent().or(target.agent()).cloned();
    agent.ok_or_else(|| {
        Error::Branch(BranchError::Unknown { name: format!("{source} or {target}") })
    })
}
