//! Rows about typed objects: who keeps which.

use std::ops::ControlFlow;
use std::rc::Rc;

use agentic_model::{Cid, Kind};
use agentic_query::FactCell;

use super::SpaceFacts;
use super::cache::{PackedReader, PackedWriter};
use super::derived::{Derivation, DerivedContent, notes_key};
use super::roster::FactAgent;
use super::rows::FactRows;
use crate::kind::REGISTRY_REF;
use crate::library::Library;
use crate::{Result, Space};

/// Which column of `object` has the agent.
const AGENT: usize = 2;

impl SpaceFacts<'_> {
    /// `object`.
    pub(super) fn object_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let agents = self.agents(rows.bound(AGENT).as_ref())?;
        for (agent, list) in agents.iter().zip(self.object_lists(&agents)) {
            let Some(list) = rows.noted(format_args!("the notes of agent `{agent}`"), list) else {
                continue;
            };
            if list_rows(&list, FactCell::Text(&agent.name), rows).is_break() {
                return Ok(());
            }
        }
        for (kind, cid) in self.shared_objects()? {
            let (cid, kind) = (cid.to_string(), kind.to_string());
            if rows.row(&[FactCell::Text(&cid), FactCell::Text(&kind), FactCell::Null]).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Lists the objects that no agent keeps: those of the registry and of libraries.
    pub(super) fn shared_objects(&self) -> Result<Vec<(Kind, Cid)>> {
        let repository = self.space.repository();
        let mut found = repository.notes(REGISTRY_REF)?.typed_objects()?;
        for library in Library::ALL {
            found.extend(repository.notes(library.ref_name())?.typed_objects()?);
        }
        Ok(found)
    }

    /// Lists the objects of agents: type and id, one after the other.
    pub(super) fn object_lists(&self, agents: &[Rc<FactAgent>]) -> Vec<DerivedContent> {
        let space = self.space;
        let how = Derivation {
            what: "objects of agents",
            cache: &self.caches.objects,
            key: &notes_key,
            make: &|agent, _| read_list(space, agent),
        };
        self.derived(agents, &how)
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

fn list_rows(list: &[u8], agent: FactCell<'_>, rows: &mut FactRows<'_, '_>) -> ControlFlow<()> {
    let mut reader = PackedReader::new(list);
    while let (Some(kind), Some(cid)) = (reader.text(), reader.text()) {
        rows.row(&[FactCell::Text(cid), FactCell::Text(kind), agent])?;
    }
    ControlFlow::Continue(())
}
