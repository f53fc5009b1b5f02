//! Facts about agents, gathered from commits and edge objects, cached by what they were read from.

use std::collections::BTreeMap;
use std::path::Path;

use agentic_model::commit::Claims;
use agentic_model::edge::Party;
use agentic_model::{AgentName, Edge, Kind, Object, Oid, Value, canonical};
use agentic_relations::{Fact, Ground, MERGED_INTO, Relations, SUB_AGENT_OF, settle};
use agentic_store::file::{self, Persistence};

use crate::agent::{is_genesis_of, kind_on};
use crate::{Result, Space};

impl Space {
    /// Builds all relations of the space. What each agent contributes is cached under the ids of
    /// its branch and notes, so that only agents that moved are read again.
    ///
    /// # Errors
    /// Fails when refs, commits or notes cannot be read.
    pub fn relations(&self) -> Result<Relations> {
        let mut facts = Vec::new();
        let mut edges = Vec::new();
        let notes = self.repository().list_refs("refs/notes/agentic/")?;
        let notes: BTreeMap<String, Oid> =
            notes.into_iter().map(|found| (found.name, found.target)).collect();
        for (name, head) in self.agent_names()? {
            let tip = notes.get(&name.notes_ref()).copied();
            let (of_commits, events) = self.facts_of(&name, head, tip)?;
            facts.extend(of_commits);
            edges.extend(events);
        }
        for edge in settle(edges) {
            let ground = match agentic_relations::is_derived(&edge.relation) {
                true => Ground::Derived,
                false => Ground::Asserted,
            };
            let (source, relation, target) = (edge.source, edge.relation, edge.target);
            facts.push(Fact { source, relation, target, ground });
        }
        Ok(Relations::build(facts))
    }

    /// Reads the events of edges that an agent's notes hold.
    pub(crate) fn edge_events(&self, notes_tip: Option<Oid>) -> Result<Vec<Edge>> {
        let edge = Kind::parse("edge").expect("a valid name");
        let objects = self.repository().notes_at(notes_tip)?.read_objects(&edge)?;
        let mut events = Vec::new();
        for (_, bytes) in objects {
            // An edge that somebody wrote by hand and that says nothing is no fact.
            events.extend(Object::decode(&bytes).ok().and_then(|o| Edge::from_object(&o).ok()));
        }
        Ok(events)
    }

    fn facts_of(
        &self,
        name: &AgentName,
        head: Oid,
        notes_tip: Option<Oid>,
    ) -> Result<(Vec<Fact>, Vec<Edge>)> {
        let key = format!("{head} {}", notes_tip.map_or("-".to_owned(), |tip| tip.to_string()));
        let cache = self.repository().layout().cache().join("facts").join(name.as_str());
        if let Some(found) = read_cache(&cache, &key) {
            return Ok(found);
        }
        let facts = self.facts_of_commits(name, head)?;
        let events = self.edge_events(notes_tip)?;
        write_cache(&cache, &key, &facts, &events);
        Ok((facts, events))
    }

    fn facts_of_commits(&self, name: &AgentName, head: Oid) -> Result<Vec<Fact>> {
        let mut facts = Vec::new();
        let own = Party::Agent(name.clone());
        let mut add = |source: Party, relation: &str, target: Party| {
            let relation = Kind::parse(relation).expect("relations of ours are valid names");
            facts.push(Fact { source, relation, target, ground: Ground::Derived });
        };
        for commit in self.own_commits(name, head)? {
            let claims = Claims::read(&commit.message);
            if is_genesis_of(name, &claims)
                && let Some(parent) = &claims.parent
            {
                add(own.clone(), SUB_AGENT_OF, Party::Agent(parent.clone()));
            }
            let is_merge = kind_on(name, &claims).as_str() == "session-merge";
            if let Some(merged) = claims.merged.filter(|_| is_merge && commit.parents.len() > 1) {
                add(Party::Agent(merged), MERGED_INTO, own.clone());
            }
        }
        Ok(facts)
    }
}

/// Reads cached facts, if they were gathered from the same ids. A damaged cache is no cache.
fn read_cache(path: &Path, key: &str) -> Option<(Vec<Fact>, Vec<Edge>)> {
    let value = canonical::decode(&std::fs::read(path).ok()?).ok()?;
    if value.get("key")?.as_text()? != key {
        return None;
    }
    let fact = |item: &Value| match item.as_list()? {
        [source, relation, target] => Some(Fact {
            source: Party::parse(source.as_text()?).ok()?,
            relation: Kind::parse(relation.as_text()?).ok()?,
            target: Party::parse(target.as_text()?).ok()?,
            ground: Ground::Derived,
        }),
        _ => None,
    };
    let edge = |item: &Value| Edge::from_object(&Object::from_value(item.clone()).ok()?).ok();
    let facts = value.get("facts")?.as_list()?.iter().map(fact).collect::<Option<_>>()?;
    let edges = value.get("edges")?.as_list()?.iter().map(edge).collect::<Option<_>>()?;
    Some((facts, edges))
}

/// Writes the cache, if that can be done; it is only a cache.
fn write_cache(path: &Path, key: &str, facts: &[Fact], edges: &[Edge]) {
    let fact = |fact: &Fact| {
        let texts = [fact.source.to_string(), fact.relation.to_string(), fact.target.to_string()];
        Value::List(texts.into_iter().map(Value::Text).collect())
    };
    let edge = |edge: &Edge| edge.to_object().ok().map(|object| Value::Map(object.map().clone()));
    let value = Value::map([
        ("key", Value::text(key)),
        ("facts", Value::List(facts.iter().map(fact).collect())),
        ("edges", Value::List(edges.iter().filter_map(edge).collect())),
    ]);
    let Ok(bytes) = canonical::encode(&value) else { return };
    let folder = path.parent().expect("caches stand in a folder");
    let _ = std::fs::create_dir_all(folder);
    let _ = file::replace(path, &bytes, Persistence::Lazy);
}
