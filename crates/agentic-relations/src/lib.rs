//! Who came from whom, who reviews and who merged: facts in, relations out, by Datalog.
//!
//! Pure: facts are gathered by the space, from commits and from edge objects. Nothing about
//! relations lives only here.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::Kind;
use agentic_model::edge::{EdgeEvent, Party};
use agentic_model::{Edge, Instant};
use datafrog::{Iteration, Relation};

/// The relation of a forked agent to the one it was forked from.
pub const SUB_AGENT_OF: &str = "sub-agent-of";
/// The relation of an agent to what its work was merged into.
pub const MERGED_INTO: &str = "merged-into";
/// The relation of a reviewer to an agent.
pub const REVIEWS: &str = "reviews";
/// The relation of a kind to the kind it specialises.
pub const IS_A: &str = "is-a";

/// Whether a fact was asserted or follows from commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ground {
    /// Somebody asserted it.
    Asserted,
    /// It follows from commits.
    Derived,
}

/// One thing that holds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fact {
    /// Who relates.
    pub source: Party,
    /// How.
    pub relation: Kind,
    /// To whom.
    pub target: Party,
    /// Why it holds.
    pub ground: Ground,
}

/// Everything that holds in a space.
#[derive(Debug, Clone, Default)]
pub struct Relations {
    facts: BTreeSet<Fact>,
    numbers: BTreeMap<Party, u32>,
    parties: Vec<Party>,
}

/// Tells whether a relation follows from commits, so that nobody may assert it.
pub fn is_derived(relation: &Kind) -> bool {
    matches!(relation.as_str(), SUB_AGENT_OF | MERGED_INTO | IS_A)
}

/// Keeps, of all events about one edge, the latest; of two at one instant, the retraction.
pub fn settle(events: impl IntoIterator<Item = Edge>) -> Vec<Edge> {
    let rank = |edge: &Edge| -> (Instant, bool) { (edge.at, edge.event == EdgeEvent::Retract) };
    let mut latest = BTreeMap::<(Party, Kind, Party), Edge>::new();
    for edge in events {
        let key = (edge.source.clone(), edge.relation.clone(), edge.target.clone());
        let is_later = latest.get(&key).is_none_or(|known| rank(known) < rank(&edge));
        if is_later {
            latest.insert(key, edge);
        }
    }
    latest.into_values().filter(|edge| edge.event == EdgeEvent::Assert).collect()
}

impl Relations {
    /// Builds the relations from facts.
    pub fn build(facts: impl IntoIterator<Item = Fact>) -> Relations {
        let mut relations = Relations::default();
        for fact in facts {
            relations.insert(fact);
        }
        relations
    }

    /// Adds one fact.
    pub fn insert(&mut self, fact: Fact) {
        for party in [&fact.source, &fact.target] {
            if !self.numbers.contains_key(party) {
                self.numbers.insert(party.clone(), self.parties.len() as u32);
                self.parties.push(party.clone());
            }
        }
        self.facts.insert(fact);
    }

    /// Lists everything that holds, by source, relation and target.
    pub fn facts(&self) -> impl Iterator<Item = &Fact> {
        self.facts.iter()
    }

    /// Lists who stands in `relation` to `target`.
    pub fn sources(&self, relation: &str, target: &Party) -> BTreeSet<Party> {
        let holds = |fact: &&Fact| fact.relation.as_str() == relation && fact.target == *target;
        self.facts.iter().filter(holds).map(|fact| fact.source.clone()).collect()
    }

    /// Lists who stands in `relation` to `target`, or to one that does, and so on.
    ///
    /// The rule is `reach(x) :- relation(x, target)` and `reach(x) :- relation(x, y), reach(y)`: it
    /// starts from the target, so that a long chain costs its length and not its square.
    pub fn sources_closure(&self, relation: &str, target: &Party) -> BTreeSet<Party> {
        let Some(&root) = self.numbers.get(target) else { return BTreeSet::new() };
        let by_target: Relation<(u32, u32)> = self
            .facts
            .iter()
            .filter(|fact| fact.relation.as_str() == relation)
            .map(|fact| (self.numbers[&fact.target], self.numbers[&fact.source]))
            .collect();
        let mut iteration = Iteration::new();
        let reach = iteration.variable::<(u32, ())>("reach");
        reach.extend([(root, ())]);
        while iteration.changed() {
            reach.from_join(&reach, &by_target, |_, (), &source| (source, ()));
        }
        let found = reach.complete();
        let party = |number: u32| self.parties[number as usize].clone();
        // The root reaches itself only by a cycle, and is nobody's own descendant.
        found.iter().map(|(number, ())| *number).filter(|n| *n != root).map(party).collect()
    }
}

#[cfg(test)]
mod tests;
