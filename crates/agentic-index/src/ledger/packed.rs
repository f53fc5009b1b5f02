//! Rows of agents as they are kept in memory: each in one piece, and read where it stands.

use agentic_model::{Cid, Oid};

use super::row::{AgentRow, EdgeRow};
use crate::name_table::{NameTable, NamedBytes};
use crate::text::SeenAgent;
use crate::value::{push_number, take_number};

/// Stands before a row where the agent merged others.
const MERGED: u8 = 1;
/// Stands there where its notes keep edges.
const EDGES: u8 = 2;

/// The row of an agent in one piece of memory. A clone is the same piece.
#[derive(Debug, Clone)]
pub struct KnownAgent(NamedBytes);

/// The rows of agents, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentRows(NameTable);

impl AgentRows {
    /// Finds the row of an agent.
    pub fn get(&self, agent: &str) -> Option<KnownAgent> {
        self.0.get(agent).cloned().map(KnownAgent)
    }

    /// Takes the row of an agent.
    pub fn put(&mut self, agent: KnownAgent) {
        self.0.put(agent.0);
    }

    /// Forgets an agent.
    pub fn remove(&mut self, agent: &str) {
        self.0.remove(agent);
    }

    /// Lists the rows, by name.
    pub fn iter(&self) -> impl Iterator<Item = KnownAgent> {
        self.0.iter().cloned().map(KnownAgent)
    }

    /// Lists the names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(NamedBytes::name)
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Says whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl KnownAgent {
    /// Packs a row.
    pub fn pack(row: &AgentRow) -> KnownAgent {
        KnownAgent(NamedBytes::new(&row.name, |bytes| {
            bytes.push(rarities(row));
            push_oid(bytes, Some(&row.seen.head));
            push_oid(bytes, row.seen.notes.as_ref());
            push_oid(bytes, row.genesis.as_ref());
            push_optional(bytes, row.parent.as_deref().map(str::as_bytes));
            push_optional(bytes, row.briefing.as_ref().map(Cid::digest));
            push_number(bytes, row.n_commits);
            push_signed(bytes, row.at);
            push_bytes(bytes, row.subject.as_bytes());
            push_list(bytes, &row.kinds, |bytes, (kind, n)| {
                push_bytes(bytes, kind.as_bytes());
                push_number(bytes, *n);
            });
            push_list(bytes, &row.merges, |bytes, name| push_bytes(bytes, name.as_bytes()));
            push_list(bytes, &row.merged, |bytes, name| push_bytes(bytes, name.as_bytes()));
            push_list(bytes, &row.edges, push_edge);
        }))
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Returns where its branch and its notes were.
    pub fn seen(&self) -> SeenAgent {
        self.parts().seen()
    }

    /// Returns the agent it was forked from.
    pub fn parent(&self) -> Option<&str> {
        self.parts().parent()
    }

    /// Lists how many commits of each kind it made.
    pub fn kinds(&self) -> Vec<(&str, u64)> {
        self.parts().kinds()
    }

    /// Lists the agents that count as merged into it.
    pub fn merged(&self) -> Vec<&str> {
        if self.has(MERGED) { self.parts().merged() } else { Vec::new() }
    }

    /// Lists the events of edges that its notes keep.
    pub fn edges(&self) -> Vec<EdgeRow> {
        if self.has(EDGES) { self.parts().edges() } else { Vec::new() }
    }

    /// Unpacks the row.
    pub fn row(&self) -> AgentRow {
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
        let mut parts = self.parts();
        let seen = parts.take_seen();
        let genesis = parts.oid();
        let parent = parts.optional().map(|text| parts_text(text).to_owned());
        let briefing = parts
            .optional()
            .map(|digest| Cid::of_digest(digest.try_into().expect("BUG: a digest has 32 bytes")));
        let (n_commits, at) = (parts.number(), parts.signed());
        AgentRow {
            name: self.name().to_owned(),
            seen,
            genesis,
            parent,
            briefing,
            n_commits,
            at,
            subject: parts.text().to_owned(),
            kinds: parts.list(|parts| (parts.text().to_owned(), parts.number())),
            merges: owned(parts.list(PackedParts::text)),
            merged: owned(parts.list(PackedParts::text)),
            edges: parts.list(PackedParts::edge),
        }
    }

    /// Says whether it has something that few have.
    fn has(&self, rarity: u8) -> bool {
        self.split().0 & rarity != 0
    }

    fn parts(&self) -> PackedParts<'_> {
        PackedParts { rest: self.split().1 }
    }

    fn split(&self) -> (u8, &[u8]) {
        let (rarities, rest) = self.0.value().split_first().expect("BUG: a packed agent has parts");
        (*rarities, rest)
    }
}

/// What of a row is still to be read.
struct PackedParts<'p> {
    rest: &'p [u8],
}

impl<'p> PackedParts<'p> {
    fn seen(mut self) -> SeenAgent {
        self.take_seen()
    }

    fn parent(mut self) -> Option<&'p str> {
        self.pass_ids();
        self.optional().map(parts_text)
    }

    fn kinds(mut self) -> Vec<(&'p str, u64)> {
        self.pass_head();
        self.list(|parts| (parts.text(), parts.number()))
    }

    fn merged(mut self) -> Vec<&'p str> {
        self.pass_kinds();
        self.pass_names();
        self.list(PackedParts::text)
    }

    fn edges(mut self) -> Vec<EdgeRow> {
        self.pass_kinds();
        self.pass_names();
        self.pass_names();
        self.list(PackedParts::edge)
    }

    /// Passes by head, notes and genesis.
    fn pass_ids(&mut self) {
        (0..3).for_each(|_| {
            self.bytes();
        });
    }

    fn pass_names(&mut self) {
        (0..self.number()).for_each(|_| {
            self.bytes();
        });
    }

    /// Passes by what stands before the kinds.
    fn pass_head(&mut self) {
        self.pass_ids();
        self.optional();
        self.optional();
        self.number();
        self.signed();
        self.bytes();
    }

    fn pass_kinds(&mut self) {
        self.pass_head();
        for _ in 0..self.number() {
            self.bytes();
            self.number();
        }
    }

    fn take_seen(&mut self) -> SeenAgent {
        let head = self.oid().expect("BUG: a packed agent has a head");
        SeenAgent { head, notes: self.oid() }
    }

    fn number(&mut self) -> u64 {
        take_number(&mut self.rest).expect("BUG: a packed number has an end")
    }

    fn signed(&mut self) -> i64 {
        let number = self.number();
        (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
    }

    fn bytes(&mut self) -> &'p [u8] {
        let length = usize::try_from(self.number()).unwrap_or(usize::MAX);
        let (bytes, rest) =
            self.rest.split_at_checked(length).expect("BUG: packed bytes are whole");
        self.rest = rest;
        bytes
    }

    fn text(&mut self) -> &'p str {
        parts_text(self.bytes())
    }

    fn optional(&mut self) -> Option<&'p [u8]> {
        match self.number() {
            0 => None,
            _ => Some(self.bytes()),
        }
    }

    fn oid(&mut self) -> Option<Oid> {
        let bytes = self.bytes();
        (!bytes.is_empty()).then(|| Oid::from_bytes(bytes).expect("BUG: a packed id is one"))
    }

    fn edge(&mut self) -> EdgeRow {
        let mut next = || self.text().to_owned();
        let (source, relation, target, cid) = (next(), next(), next(), next());
        let (is_assertion, at) = (self.number() == 1, self.signed());
        EdgeRow { source, relation, target, cid, is_assertion, at }
    }

    fn list<T>(&mut self, mut one: impl FnMut(&mut PackedParts<'p>) -> T) -> Vec<T> {
        (0..self.number()).map(|_| one(self)).collect()
    }
}

/// Says what a row has that few have: of the others nobody looks for it.
fn rarities(row: &AgentRow) -> u8 {
    let merged = if row.merged.is_empty() { 0 } else { MERGED };
    merged | if row.edges.is_empty() { 0 } else { EDGES }
}

fn parts_text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("BUG: a packed text is text")
}

fn push_bytes(bytes: &mut Vec<u8>, part: &[u8]) {
    push_number(bytes, part.len() as u64);
    bytes.extend(part);
}

fn push_signed(bytes: &mut Vec<u8>, number: i64) {
    // Those near zero are short, whatever their sign.
    push_number(bytes, ((number << 1) ^ (number >> 63)).cast_unsigned());
}

fn push_oid(bytes: &mut Vec<u8>, oid: Option<&Oid>) {
    push_bytes(bytes, oid.map_or(&[], Oid::as_bytes));
}

fn push_optional(bytes: &mut Vec<u8>, part: Option<&[u8]>) {
    bytes.push(u8::from(part.is_some()));
    if let Some(part) = part {
        push_bytes(bytes, part);
    }
}

fn push_list<T>(bytes: &mut Vec<u8>, list: &[T], one: impl Fn(&mut Vec<u8>, &T)) {
    push_number(bytes, list.len() as u64);
    list.iter().for_each(|part| one(bytes, part));
}

fn push_edge(bytes: &mut Vec<u8>, edge: &EdgeRow) {
    for part in [&edge.source, &edge.relation, &edge.target, &edge.cid] {
        push_bytes(bytes, part.as_bytes());
    }
    bytes.push(u8::from(edge.is_assertion));
    push_signed(bytes, edge.at);
}

#[cfg(test)]
mod tests {
    use agentic_model::{Cid, Oid};
    use proptest::prelude::*;

    use super::KnownAgent;
    use crate::ledger::row::{AgentRow, EdgeRow};
    use crate::text::SeenAgent;

    fn check(row: &AgentRow) {
        let packed = KnownAgent::pack(row);
        assert_eq!(packed.row(), *row);
        assert_eq!(packed.name(), row.name);
        assert_eq!(packed.seen(), row.seen);
        assert_eq!(packed.parent(), row.parent.as_deref());
        let kinds: Vec<_> = row.kinds.iter().map(|(kind, n)| (kind.as_str(), *n)).collect();
        assert_eq!(packed.kinds(), kinds);
        assert_eq!(packed.merged(), row.merged);
        assert_eq!(packed.edges(), row.edges);
    }

    fn oid() -> impl Strategy<Value = Oid> {
        prop_oneof![
            any::<[u8; 20]>().prop_map(|bytes| Oid::from_bytes(&bytes).expect("an id")),
            any::<[u8; 32]>().prop_map(|bytes| Oid::from_bytes(&bytes).expect("an id")),
        ]
    }

    fn edge() -> impl Strategy<Value = EdgeRow> {
        let texts = (".{0,9}", ".{0,9}", ".{0,9}", ".{0,9}");
        (texts, any::<bool>(), any::<i64>()).prop_map(|(texts, is_assertion, at)| {
            let (source, relation, target, cid) = texts;
            EdgeRow { source, relation, target, cid, is_assertion, at }
        })
    }

    fn row() -> impl Strategy<Value = AgentRow> {
        let names = || prop::collection::vec(".{0,9}", 0..4);
        let ids = (oid(), prop::option::of(oid()), prop::option::of(oid()));
        let briefing = prop::option::of(any::<[u8; 32]>().prop_map(Cid::of_digest));
        let kinds = prop::collection::vec((".{0,9}", any::<u64>()), 0..4);
        let numbers = (any::<u64>(), any::<i64>());
        let edges = prop::collection::vec(edge(), 0..4);
        let texts = (".{0,200}", prop::option::of(".{0,9}"), ".{0,200}");
        (texts, ids, briefing, numbers, kinds, names(), names(), edges).prop_map(
            |(texts, ids, briefing, numbers, kinds, merges, merged, edges)| AgentRow {
                name: texts.0,
                parent: texts.1,
                subject: texts.2,
                seen: SeenAgent { head: ids.0, notes: ids.1 },
                genesis: ids.2,
                briefing,
                n_commits: numbers.0,
                at: numbers.1,
                kinds,
                merges,
                merged,
                edges,
            },
        )
    }

    #[test]
    fn rows_at_the_edges_are_unpacked_as_they_were() {
        let head = Oid::from_bytes(&[0; 20]).expect("an id");
        let unborn = AgentRow::unborn("", SeenAgent { head, notes: None });
        check(&unborn);
        for at in [i64::MIN, -1, 0, 1, i64::MAX] {
            check(&AgentRow { at, n_commits: u64::MAX, ..unborn.clone() });
        }
        // What is empty is told from what is missing.
        check(&AgentRow { parent: Some(String::new()), ..unborn.clone() });
        check(&AgentRow { subject: "\0é".repeat(70_000), ..unborn });
    }

    proptest! {
        #[test]
        fn rows_are_unpacked_as_they_were_packed(row in row()) {
            check(&row);
        }
    }
}
