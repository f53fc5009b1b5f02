//! What is made of each agent by itself, and cached by what it was made from.

use std::rc::Rc;

use agentic_model::{Oid, guidance};

use super::SpaceFacts;
use super::cache::{CacheEntry, FactCache};
use super::roster::FactAgent;
use crate::Result;
use crate::signing::SigningChoice;

/// What was made of an agent, or why it cannot be made.
pub(super) type DerivedContent = std::result::Result<Rc<[u8]>, String>;

/// What was made earlier, and from what.
#[derive(Debug, Clone, Copy)]
pub(super) struct OlderContent<'a> {
    pub key: &'a str,
    pub content: &'a [u8],
}

/// Makes something of an agent.
type ContentMaker<'a> = dyn Fn(&FactAgent, Option<OlderContent<'_>>) -> Result<Vec<u8>> + Sync + 'a;

/// How something is made of an agent.
pub(super) struct Derivation<'a> {
    /// What is read, as people call it.
    pub what: &'static str,
    pub cache: &'a FactCache,
    /// What it is made from.
    pub key: &'a dyn Fn(&FactAgent) -> String,
    /// Makes it; what an earlier key gave may save some of the work.
    pub make: &'a ContentMaker<'a>,
}

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
            make(agent, *older).map_err(|error| guidance::chain(&error))
        });
        let mut made = made.into_iter();
        let contents = agents.iter().zip(&cached).map(|(agent, entry)| match entry {
            Some(found) if is_same(agent, entry) => Ok(Rc::clone(&found.content)),
            Some(_) | None => {
                let made = made.next().expect("what is in no cache was made");
                made.map(|content| {
                    let content: Rc<[u8]> = Rc::from(content);
                    let entry = CacheEntry { key: (how.key)(agent), content: Rc::clone(&content) };
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
