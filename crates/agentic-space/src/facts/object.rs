//! Rows about typed objects: who keeps which.

use std::rc::Rc;

use agentic_model::guidance;
use agentic_query::FactCell;

use super::SpaceFacts;
use super::cache::{CacheEntry, PackedReader, PackedWriter};
use super::roster::FactAgent;
use super::rows::FactRows;
use crate::kind::REGISTRY_REF;
use crate::{Result, Space};

/// Which column of `object` has the agent.
const AGENT: usize = 2;

/// The objects of one agent, type and id, one after the other; or why they cannot be listed.
type ObjectList = std::result::Result<Rc<[u8]>, String>;

impl SpaceFacts<'_> {
    /// `object`.
    pub(super) fn object_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let agents = self.agents(rows.bound(AGENT).as_ref())?;
        let listed = self.object_lists(&agents);
        for (agent, list) in agents.iter().zip(listed) {
            match list {
                Ok(list) => {
                    if object_list_rows(&list, FactCell::Text(&agent.name), rows).is_none() {
                        return Ok(());
                    }
                }
                Err(why) => rows.note(format!("the notes of agent `{}`: {why}", agent.name)),
            }
        }
        let repository = self.space.repository();
        let registry = repository.notes(REGISTRY_REF)?.typed_objects()?;
        for (kind, cid) in registry {
            let cells = [FactCell::Text(&cid.to_string()), FactCell::Text(kind.as_str())];
            if rows.row(&[cells[0], cells[1], FactCell::Null]).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Lists the objects of agents.
    pub(super) fn object_lists(&self, agents: &[Rc<FactAgent>]) -> Vec<ObjectList> {
        let key = |agent: &FactAgent| agent.notes.map_or(String::new(), |tip| tip.to_string());
        let cached: Vec<Option<Rc<[u8]>>> = agents
            .iter()
            .map(|agent| {
                let found = self.object_cache.find(&agent.name)?;
                (found.key == key(agent)).then_some(found.content)
            })
            .collect();
        let unread: Vec<&FactAgent> = agents
            .iter()
            .zip(&cached)
            .filter(|(_, cached)| cached.is_none())
            .map(|(agent, _)| &**agent)
            .collect();
        let space = self.space;
        let mut read = super::parallel::map(&unread, |agent| {
            read_list(space, agent).map_err(|error| guidance::chain(&error))
        })
        .into_iter();
        let lists = agents.iter().zip(cached).map(|(agent, cached)| match cached {
            Some(list) => Ok(list),
            None => {
                let list = read.next().expect("each one that is not cached was read");
                list.map(|list| {
                    let content: Rc<[u8]> = Rc::from(list);
                    let entry = CacheEntry { key: key(agent), content: Rc::clone(&content) };
                    self.object_cache.keep(&agent.name, entry);
                    content
                })
            }
        });
        lists.collect()
    }
}

fn read_list(space: &Space, agent: &FactAgent) -> Result<Vec<u8>> {
    let mut list = PackedWriter::default();
    for (kind, cid) in space.repository().notes_at(agent.notes)?.typed_objects()? {
        list.bytes(kind.as_str().as_bytes());
        list.bytes(cid.to_string().as_bytes());
    }
    Ok(list.into_bytes())
}

/// Hands over the rows of a list; nothing once no more are wanted.
fn object_list_rows(list: &[u8], agent: FactCell<'_>, rows: &mut FactRows<'_, '_>) -> Option<()> {
    let mut reader = PackedReader::new(list);
    while let (Some(kind), Some(cid)) = (reader.text(), reader.text()) {
        if rows.row(&[FactCell::Text(cid), FactCell::Text(kind), agent]).is_break() {
            return None;
        }
    }
    Some(())
}
