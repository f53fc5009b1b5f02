//! What is made of each agent by itself, and cached by what it was made from.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use agentic_model::{Oid, guidance};

use super::SpaceFacts;
use super::cache::{CacheEntry, FactCache};
use super::line::CommitLine;
use super::roster::FactAgent;
use crate::Result;
use crate::signing::SigningChoice;

/// What was made of an agent, or why it cannot be made.
pub(super) type DerivedContent = std::result::Result<Arc<[u8]>, String>;

/// What was made earlier, and from what.
#[derive(Debug, Clone, Copy)]
pub(super) struct OlderContent<'a> {
    pub key: &'a str,
    pub content: &'a [u8],
}

/// Makes something of an agent.
pub(super) type ContentMaker<'a> =
    dyn Fn(&FactAgent, Option<OlderContent<'_>>) -> Result<Vec<u8>> + Sync + 'a;

/// Makes something of an agent and its own line.
pub(super) type LineMaker<'a> =
    dyn Fn(&FactAgent, &CommitLine, Option<OlderContent<'_>>) -> Result<Vec<u8>> + Sync + 'a;

/// How something is made by who makes it.
pub(super) struct CachedMaking<'a, M: ?Sized> {
    /// What is read, as people call it.
    pub what: &'static str,
    pub cache: &'a FactCache,
    /// What it is made from.
    pub key: &'a dyn Fn(&FactAgent) -> String,
    /// Makes it; what an earlier key gave may save some of the work.
    pub make: &'a M,
}

/// How something is made of an agent.
pub(super) type Derivation<'a> = CachedMaking<'a, ContentMaker<'a>>;

/// How something is made of an agent and its own line.
pub(super) type LineDerivation<'a> = CachedMaking<'a, LineMaker<'a>>;

/// Makes something of an agent, or says why it cannot be made.
type PlainMaker<'a> = dyn Fn(&FactAgent, Option<OlderContent<'_>>) -> std::result::Result<Vec<u8>, String>
    + Sync
    + 'a;

impl CacheEntry {
    fn older(&self) -> OlderContent<'_> {
        OlderContent { key: &self.key, content: &self.content }
    }
}

impl SpaceFacts<'_> {
    /// Returns what is made of each of some agents; what is in no cache is made on all threads.
    pub(super) fn derived(
        &self,
        agents: &[Rc<FactAgent>],
        how: &Derivation<'_>,
    ) -> Vec<DerivedContent> {
        let Derivation { what, cache, key, make } = *how;
        let make = |agent: &FactAgent, older: Option<OlderContent<'_>>| {
            make(agent, older).map_err(|error| guidance::chain(&error))
        };
        self.made(agents, &CachedMaking { what, cache, key, make: &make })
    }

    /// Does the same for what is made of own lines. A line is read once, whatever is made of it.
    pub(super) fn derived_of_lines(
        &self,
        agents: &[Rc<FactAgent>],
        how: &LineDerivation<'_>,
    ) -> Vec<DerivedContent> {
        let LineDerivation { what, cache, key, make } = *how;
        let is_made =
            |agent: &FactAgent| cache.find(&agent.name).is_some_and(|it| it.key == key(agent));
        let unmade: Vec<Rc<FactAgent>> =
            agents.iter().filter(|agent| !is_made(agent)).cloned().collect();
        self.read_lines(&unmade);
        let lines: BTreeMap<&str, std::result::Result<CommitLine, String>> =
            unmade.iter().map(|agent| (agent.name.as_str(), self.line(agent))).collect();
        let make = |agent: &FactAgent, older: Option<OlderContent<'_>>| {
            let line = lines.get(agent.name.as_str()).ok_or("it is gone")?.as_ref()?;
            make(agent, line, older).map_err(|error| guidance::chain(&error))
        };
        self.made(agents, &CachedMaking { what, cache, key, make: &make })
    }

    fn made(
        &self,
        agents: &[Rc<FactAgent>],
        how: &CachedMaking<'_, PlainMaker<'_>>,
    ) -> Vec<DerivedContent> {
        let cached: Vec<Option<CacheEntry>> =
            agents.iter().map(|agent| how.cache.find(&agent.name)).collect();
        let is_same = |agent: &FactAgent, entry: &Option<CacheEntry>| {
            entry.as_ref().is_some_and(|entry| entry.key == (how.key)(agent))
        };
        let unmade: Vec<(&FactAgent, Option<OlderContent<'_>>)> = agents
            .iter()
            .zip(&cached)
            .filter(|(agent, entry)| !is_same(agent, entry))
            .map(|(agent, entry)| (&**agent, entry.as_ref().map(CacheEntry::older)))
            .collect();
        let make = how.make;
        how.cache.count(agents.len(), unmade.len());
        let made = super::parallel::map(&unmade, self.pace(how.what), |(agent, older)| {
            make(agent, *older)
        });
        let mut made = made.into_iter();
        let contents = agents.iter().zip(&cached).map(|(agent, entry)| match entry {
            Some(found) if is_same(agent, entry) => Ok(Arc::clone(&found.content)),
            Some(_) | None => {
                let made = made.next().expect("what is in no cache was made");
                made.map(|content| {
                    let content: Arc<[u8]> = Arc::from(content);
                    let entry = CacheEntry { key: (how.key)(agent), content: Arc::clone(&content) };
                    how.cache.keep(&agent.name, entry);
                    content
                })
            }
        });
        contents.collect()
    }
}

/// Names what an agent's notes are made from.
pub(super) fn notes_key(agent: &FactAgent) -> String {
    agent.notes.map_or(String::new(), |tip| tip.to_string())
}

/// Names what is made from an own line where changes of behaviours matter: where signatures are asked
/// for, others count.
pub(super) fn line_key(head: Oid, signing: SigningChoice) -> String {
    match signing {
        SigningChoice::Plain => head.to_string(),
        SigningChoice::Signed => format!("{head} signed"),
    }
}

impl OlderContent<'_> {
    /// Returns the head that it was made from, if the same changes of behaviours counted.
    pub fn head_under(&self, signing: SigningChoice) -> Option<Oid> {
        let head = Oid::parse(self.key.split(' ').next()?).ok()?;
        (self.key == line_key(head, signing)).then_some(head)
    }
}
