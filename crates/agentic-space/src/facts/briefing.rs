//! Rows about what agents were asked to do.

use std::collections::BTreeMap;
use std::rc::Rc;

use agentic_model::{Cid, Map, Object, Value, json};
use agentic_query::FactCell;

use super::SpaceFacts;
use super::derived::Derivation;
use super::roster::FactAgent;
use super::rows::FactRows;
use crate::{Result, Space};

/// Which column has the agent.
const AGENT: usize = 0;
/// The fields of a briefing that are no open ones.
const OWN_FIELDS: [&str; 2] = ["type", "text"];

/// The briefing of an agent.
struct FoundBriefing {
    agent: Rc<FactAgent>,
    cid: Cid,
    /// Nothing if it cannot be read.
    fields: Option<Map>,
}

impl SpaceFacts<'_> {
    /// `briefing`.
    pub(super) fn briefing_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        for found in self.briefings(rows)? {
            let text = found.fields.as_ref().and_then(|fields| fields.get("text"));
            let text = text.and_then(Value::as_text);
            let row = rows.row(&[
                FactCell::Text(&found.agent.name),
                FactCell::Text(&found.cid.to_string()),
                text.map_or(FactCell::Null, FactCell::Text),
            ]);
            if row.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// `briefing_field`.
    pub(super) fn briefing_field_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        for found in self.briefings(rows)? {
            let fields = found.fields.unwrap_or_default();
            let mut open = fields.iter().filter(|(name, _)| !OWN_FIELDS.contains(&name.as_str()));
            let agent = FactCell::Text(&found.agent.name);
            let is_over = open.any(|(name, value)| {
                let value = json::to_plain_text(value);
                rows.row(&[agent, FactCell::Text(name), FactCell::Text(&value)]).is_break()
            });
            if is_over {
                break;
            }
        }
        Ok(())
    }

    fn briefings(&self, rows: &mut FactRows<'_, '_>) -> Result<Vec<FoundBriefing>> {
        let agents = self.agents(rows.bound(AGENT).as_ref())?;
        self.read_lines(&agents);
        let (mut briefed, mut cids) = (Vec::new(), BTreeMap::new());
        for agent in agents {
            let line = self.noted_line(&agent, rows);
            let genesis = line.as_ref().and_then(|line| line.genesis());
            if let Some(cid) = genesis.and_then(|genesis| genesis.claims().briefing) {
                cids.insert(agent.name.clone(), cid);
                briefed.push(agent);
            }
        }
        let space = self.space;
        let how = Derivation {
            what: "briefings of agents",
            cache: &self.caches.briefings,
            key: &|agent| cids[&agent.name].to_string(),
            make: &|agent, _| read_briefing(space, agent, cids[&agent.name]),
        };
        let contents = self.derived(&briefed, &how);
        let found = briefed.iter().zip(contents).map(|(agent, content)| {
            let (agent, cid) = (Rc::clone(agent), cids[&agent.name]);
            let object =
                content.and_then(|bytes| Object::decode(&bytes).map_err(|error| error.to_string()));
            let object = rows.noted(format_args!("the briefing of agent `{agent}`"), object);
            FoundBriefing { agent, cid, fields: object.map(|object| object.map().clone()) }
        });
        Ok(found.collect())
    }
}

fn read_briefing(space: &Space, agent: &FactAgent, cid: Cid) -> Result<Vec<u8>> {
    match space.repository().notes_at(agent.notes)?.object(cid)? {
        Some(bytes) => Ok(bytes),
        None => Ok(space.object(cid)?.bytes().to_vec()),
    }
}
