//! Edges that somebody asserted or retracted, as the notes of agents keep them.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use agentic_model::edge::{EdgeEvent, Party};
use agentic_model::{Cid, Edge, Kind, Object};
use agentic_query::FactCell;

use super::SpaceFacts;
use super::cache::{PackedReader, PackedWriter};
use super::derived::{Derivation, notes_key};
use super::roster::{AgentPlace, FactAgent};
use super::rows::FactRows;
use crate::{Result, Space};

/// Which columns of `edge` have the ends of it.
const SOURCE: usize = 0;

/// One event, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KeptEvent {
    pub cid: String,
    pub source: String,
    pub relation: String,
    pub target: String,
    pub is_assertion: bool,
    pub at: i64,
}

/// An edge that holds: its latest event asserts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HoldingEdge {
    pub source: String,
    pub relation: String,
    pub target: String,
    pub at: i64,
    pub cid: String,
}

impl SpaceFacts<'_> {
    /// `edge`.
    pub(super) fn edge_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let keepers = self.keepers(rows, SOURCE)?;
        for edge in self.holding_edges(&keepers, rows).iter() {
            let row = rows.row(&[
                FactCell::Text(&edge.source),
                FactCell::Text(&edge.relation),
                FactCell::Text(&edge.target),
                FactCell::Int(edge.at),
                FactCell::Text(&edge.cid),
            ]);
            if row.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// `edge_event`.
    pub(super) fn edge_event_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let agents = self.agents(None)?;
        let mut known_here = std::collections::BTreeSet::new();
        let (remote, here): (Vec<_>, Vec<_>) =
            agents.into_iter().partition(|agent| agent.place == AgentPlace::Remote);
        for agents in [here, remote] {
            for (keeper, event) in self.noted_events(&agents, rows) {
                // What a remote has of an agent here is no event of its own.
                match keeper.place {
                    AgentPlace::Remote if known_here.contains(&event.cid) => continue,
                    AgentPlace::Remote => {}
                    AgentPlace::Open | AgentPlace::Archived => {
                        known_here.insert(event.cid.clone());
                    }
                }
                let word = if event.is_assertion { "assert" } else { "retract" };
                let row = rows.row(&[
                    FactCell::Text(&event.cid),
                    FactCell::Text(&event.source),
                    FactCell::Text(&event.relation),
                    FactCell::Text(&event.target),
                    FactCell::Text(word),
                    FactCell::Int(event.at),
                    FactCell::Text(&keeper.name),
                ]);
                if row.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Returns the agents of this space that may keep the edges that are wanted: an edge is kept by its
    /// source, or, if that is no agent, by its target.
    pub(super) fn keepers(
        &self,
        rows: &FactRows<'_, '_>,
        source: usize,
    ) -> Result<Vec<Rc<FactAgent>>> {
        let sources = rows.bound(source);
        let is_agent = |text: &String| matches!(Party::parse(text), Ok(Party::Agent(_)));
        let mut keepers = match sources.filter(|sources| sources.iter().all(is_agent)) {
            Some(sources) => return self.agents(Some(&sources)),
            None => self.all_here()?,
        };
        if !self.peer_names.relating.is_empty() {
            keepers.extend(self.agents(Some(&self.peer_names.relating))?);
        }
        Ok(keepers)
    }

    /// Lists the edges that hold, by source, relation and target. Those of all agents here are settled
    /// once, however many predicates come from them.
    pub(super) fn holding_edges(
        &self,
        keepers: &[Rc<FactAgent>],
        rows: &mut FactRows<'_, '_>,
    ) -> Rc<Vec<HoldingEdge>> {
        let is_whole = self.agents.borrow().are_all_here(keepers);
        if is_whole && let Some(settled) = &*self.settled.borrow() {
            return Rc::clone(settled);
        }
        let events = self.noted_events(keepers, rows).into_iter().map(|(_, event)| event);
        let settled = Rc::new(settle(events));
        if is_whole {
            *self.settled.borrow_mut() = Some(Rc::clone(&settled));
        }
        settled
    }

    fn noted_events(
        &self,
        agents: &[Rc<FactAgent>],
        rows: &mut FactRows<'_, '_>,
    ) -> Vec<(Rc<FactAgent>, KeptEvent)> {
        let mut all = Vec::new();
        for (agent, events) in agents.iter().zip(self.events(agents)) {
            let events = rows.noted(format_args!("the edges of agent `{agent}`"), events);
            let events = events.into_iter().flatten();
            let events = events.filter_map(|event| self.believed_event(agent, event));
            all.extend(events.map(|event| (Rc::clone(agent), event)));
        }
        all
    }

    /// Returns an event as it counts: one of a peer only where that was granted, if the agent asserts it
    /// itself, and with its parties named as they are read here.
    fn believed_event(&self, keeper: &FactAgent, event: KeptEvent) -> Option<KeptEvent> {
        let Some(label) = self.peer_names.label_of(&keeper.name) else { return Some(event) };
        let is_own = event.source == keeper.agent.as_str();
        if !is_own || !self.peer_names.relating.contains(&keeper.name) {
            return None;
        }
        let target = match Party::parse(&event.target) {
            Ok(Party::Agent(agent)) => format!("{label}/{agent}"),
            Ok(Party::User(_) | Party::Branch(_)) | Err(_) => event.target,
        };
        Some(KeptEvent { source: keeper.name.clone(), target, ..event })
    }

    /// Lists the events that the notes of each agent keep.
    pub(super) fn events(
        &self,
        agents: &[Rc<FactAgent>],
    ) -> Vec<std::result::Result<Vec<KeptEvent>, String>> {
        let space = self.space;
        let how = Derivation {
            what: "relations of agents",
            cache: &self.caches.edges,
            key: &notes_key,
            make: &|agent, _| read_events(space, agent),
        };
        let decode = |content: Arc<[u8]>| {
            let mut reader = PackedReader::new(&content);
            std::iter::from_fn(|| KeptEvent::decode(&mut reader)).collect()
        };
        self.derived(agents, &how).into_iter().map(|content| content.map(decode)).collect()
    }
}

impl KeptEvent {
    fn decode(reader: &mut PackedReader<'_>) -> Option<KeptEvent> {
        let mut text = || Some(reader.text()?.to_owned());
        let (cid, source, relation, target) = (text()?, text()?, text()?, text()?);
        let (is_assertion, at) = (reader.number()? == 1, reader.number()?);
        Some(KeptEvent { cid, source, relation, target, is_assertion, at })
    }

    fn encode(cid: Cid, edge: &Edge, out: &mut PackedWriter) {
        let texts = [
            cid.to_string(),
            edge.source.to_string(),
            edge.relation.to_string(),
            edge.target.to_string(),
        ];
        texts.iter().for_each(|text| out.bytes(text.as_bytes()));
        out.number(i64::from(edge.event == EdgeEvent::Assert));
        out.number(edge.at.millis());
    }
}

fn read_events(space: &Space, agent: &FactAgent) -> Result<Vec<u8>> {
    let kind = Kind::parse("edge").expect("a valid name");
    let mut events = PackedWriter::default();
    for (cid, bytes) in space.repository().notes_at(agent.notes)?.read_objects(&kind)? {
        // An edge that somebody wrote by hand and that says nothing is no fact.
        if let Some(edge) = Object::decode(&bytes).ok().and_then(|o| Edge::from_object(&o).ok()) {
            KeptEvent::encode(cid, &edge, &mut events);
        }
    }
    Ok(events.into_bytes())
}

/// Keeps, of all events about one edge, the latest; of two at one instant, the retraction. Returns
/// those edges whose latest event asserts them, by source, relation and target.
pub(super) fn settle(events: impl IntoIterator<Item = KeptEvent>) -> Vec<HoldingEdge> {
    let mut latest = BTreeMap::<(String, String, String), KeptEvent>::new();
    let rank = |event: &KeptEvent| (event.at, !event.is_assertion, event.cid.clone());
    for event in events {
        let key = (event.source.clone(), event.relation.clone(), event.target.clone());
        if latest.get(&key).is_none_or(|known| rank(known) < rank(&event)) {
            latest.insert(key, event);
        }
    }
    let holding = latest.into_iter().filter(|(_, event)| event.is_assertion);
    let edge = |((source, relation, target), KeptEvent { at, cid, .. }): (_, KeptEvent)| {
        HoldingEdge { source, relation, target, at, cid }
    };
    holding.map(edge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_event_counts_and_a_tie_retracts() {
        let event = |is_assertion, at| KeptEvent {
            cid: format!("{is_assertion} {at}"),
            source: "a".to_owned(),
            relation: "reviews".to_owned(),
            target: "b".to_owned(),
            is_assertion,
            at,
        };
        let cases: [(&[(bool, i64)], usize); 4] = [
            (&[(true, 1)], 1),
            (&[(false, 2), (true, 1)], 0),
            (&[(true, 3), (false, 2), (true, 1)], 1),
            (&[(true, 1), (false, 1)], 0),
        ];
        for (events, n) in cases {
            let events = events.iter().map(|(is_assertion, at)| event(*is_assertion, *at));
            assert_eq!(settle(events).len(), n);
        }
    }
}
