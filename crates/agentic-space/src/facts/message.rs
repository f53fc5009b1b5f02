//! Rows about what the messages of commits say: text, open fields and claims.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use agentic_model::commit::{OpenFields, subject};
use agentic_model::{Cid, Map, Object, Value, json, trailer};
use agentic_query::FactCell;

use super::SpaceFacts;
use super::rows::FactRows;
use crate::Result;

/// Which column of `copied` has the agent whose branch it is.
const COPIED_AGENT: usize = 1;

impl SpaceFacts<'_> {
    /// `subject`.
    pub(super) fn subject_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        self.each_distinct(rows, &mut |rows, own| {
            let text = trailer::strip(own.commit.message);
            rows.row(&[FactCell::Text(&own.commit.oid.to_string()), FactCell::Text(subject(&text))])
        })
    }

    /// `body`.
    pub(super) fn body_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        self.each_distinct(rows, &mut |rows, own| {
            let text = trailer::strip(own.commit.message);
            let body = text.split_once('\n').map_or("", |(_, body)| body).trim();
            if body.is_empty() {
                return ControlFlow::Continue(());
            }
            rows.row(&[FactCell::Text(&own.commit.oid.to_string()), FactCell::Text(body)])
        })
    }

    /// `field`.
    pub(super) fn field_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let mut objects = BTreeMap::new();
        self.each_distinct(rows, &mut |rows, own| {
            let fields = match own.commit.claims().fields {
                OpenFields::Inline(map) => map,
                OpenFields::Object(cid) => {
                    objects.entry(cid).or_insert_with(|| self.fields_in(cid, rows)).clone()
                }
            };
            let commit = own.commit.oid.to_string();
            fields.iter().try_for_each(|(name, value)| {
                rows.row(&[
                    FactCell::Text(&commit),
                    FactCell::Text(name),
                    FactCell::Text(&json::to_plain_text(value)),
                ])
            })
        })
    }

    /// `claim`.
    pub(super) fn claim_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        self.each_distinct(rows, &mut |rows, own| {
            let commit = own.commit.oid.to_string();
            let claims: BTreeSet<(String, String)> = trailer::read(own.commit.message)
                .into_iter()
                .filter_map(|trailer| {
                    let key = trailer.key.to_ascii_lowercase();
                    let prefix = trailer::PREFIX.to_ascii_lowercase();
                    Some((key.strip_prefix(&prefix)?.to_owned(), trailer.value))
                })
                .collect();
            claims.iter().try_for_each(|(key, value)| {
                rows.row(&[FactCell::Text(&commit), FactCell::Text(key), FactCell::Text(value)])
            })
        })
    }

    /// `copied`.
    pub(super) fn copied_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let agents = self.agents(rows.bound(COPIED_AGENT).as_ref())?;
        self.each_commit(rows, &agents, &mut |rows, own| match own.commit.claims().agent {
            Some(from) if from != own.agent.agent => rows.row(&[
                FactCell::Text(&own.commit.oid.to_string()),
                FactCell::Text(&own.agent.name),
                FactCell::Text(from.as_str()),
            ]),
            Some(_) | None => ControlFlow::Continue(()),
        })
    }

    /// Reads open fields that stand in an object.
    fn fields_in(&self, cid: Cid, rows: &mut FactRows<'_, '_>) -> Map {
        match self.space.object(cid) {
            Ok(object) => fields_of(&object),
            Err(error) => {
                rows.note(format!("the open fields {cid}: {error}"));
                Map::new()
            }
        }
    }
}

fn fields_of(object: &Object) -> Map {
    object.map().get("fields").and_then(Value::as_map).cloned().unwrap_or_default()
}
