//! Memories: records that a program adds and finds again.

use std::collections::BTreeMap;

use agentic_model::Value;
use agentic_replay::RequestAnswer;

use crate::json::{self, Json, compact};

use super::{EffectStamp, args, done, refused, text_field};

/// How many records a query returns unless it says so.
const LIMIT_DEFAULT: usize = 10;

/// The records of one memory, oldest first, each in its envelope
/// `{id, created_at, updated_at, record}`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Records {
    envelopes: Vec<Json>,
}

/// Why a memory refused an operation or a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LocalMemoryFault {
    /// What is added is no object.
    #[error("memory.add expects an object record")]
    RecordNotObject,
    /// What is asked is no object.
    #[error("memory.query expects an object query")]
    QueryNotObject,
    /// The condition is no object.
    #[error("memory.query where must be an object")]
    WhereNotObject,
    /// The limit is no whole number above 0.
    #[error("memory.query limit must be a positive integer")]
    BadLimit,
    /// A line is no JSON.
    #[error("line {line} of the memory is not JSON: {reason}")]
    BadLine {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A line is no envelope.
    #[error("line {line} of the memory is not a record in its envelope")]
    BadEnvelope {
        /// The line, from 1.
        line: usize,
    },
}

impl Records {
    /// Reads one envelope a line; empty lines are passed over.
    ///
    /// # Errors
    /// Fails on a line that is no JSON or no envelope.
    pub fn from_jsonl(text: &str) -> Result<Records, LocalMemoryFault> {
        let mut envelopes = Vec::new();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let envelope = json::parse(line).map_err(|fault| LocalMemoryFault::BadLine {
                line: at + 1,
                reason: fault.to_string(),
            })?;
            let has = |key| envelope.get(key).and_then(Json::as_text).is_some();
            let is_record = envelope.get("record").and_then(Json::as_object).is_some();
            if !has("id") || !has("created_at") || !has("updated_at") || !is_record {
                return Err(LocalMemoryFault::BadEnvelope { line: at + 1 });
            }
            envelopes.push(envelope);
        }
        Ok(Records { envelopes })
    }

    /// Prints one envelope a line.
    pub fn to_jsonl(&self) -> String {
        self.envelopes.iter().map(|envelope| format!("{}\n", compact(envelope))).collect()
    }

    /// Adds a record and returns its envelope. A record that this very request added before is
    /// returned, not added again.
    ///
    /// # Errors
    /// Fails when the record is no object.
    pub fn add(&mut self, record: &Json, id: &str, at: &str) -> Result<Json, LocalMemoryFault> {
        if record.as_object().is_none() {
            return Err(LocalMemoryFault::RecordNotObject);
        }
        let added = |envelope: &&Json| envelope.get("id").and_then(Json::as_text) == Some(id);
        if let Some(envelope) = self.envelopes.iter().find(added) {
            return Ok(envelope.clone());
        }
        let envelope = Json::object([
            ("id", Json::text(id)),
            ("created_at", Json::text(at)),
            ("updated_at", Json::text(at)),
            ("record", record.clone()),
        ]);
        self.envelopes.push(envelope.clone());
        Ok(envelope)
    }

    /// Finds records, newest first.
    ///
    /// # Errors
    /// Fails when the query is not well formed.
    pub fn query(&self, query: &Json) -> Result<Json, LocalMemoryFault> {
        if query.as_object().is_none() {
            return Err(LocalMemoryFault::QueryNotObject);
        }
        let conditions = match query.get("where") {
            None | Some(Json::Null) => None,
            Some(Json::Object(conditions)) => Some(conditions),
            Some(_) => return Err(LocalMemoryFault::WhereNotObject),
        };
        let limit = match query.get("limit") {
            None | Some(Json::Null) => LIMIT_DEFAULT,
            Some(Json::Number(number)) if *number >= 1.0 && number.fract() == 0.0 => {
                *number as usize
            }
            Some(_) => return Err(LocalMemoryFault::BadLimit),
        };
        let matches = |envelope: &&Json| {
            let Some(record) = envelope.get("record") else { return false };
            let alike = conditions.is_none_or(|conditions| {
                conditions.iter().all(|(key, expected)| record.get(key) == Some(expected))
            });
            alike && has_kind(record, query) && has_text(record, query)
        };
        let found = self.envelopes.iter().rev().filter(matches).take(limit);
        Ok(Json::List(found.cloned().collect()))
    }

    fn newest_first(&self) -> Json {
        Json::List(self.envelopes.iter().rev().cloned().collect())
    }
}

fn has_kind(record: &Json, query: &Json) -> bool {
    match query.get("kind") {
        None | Some(Json::Null) => true,
        Some(kind) => record.get("kind") == Some(kind),
    }
}

fn has_text(record: &Json, query: &Json) -> bool {
    let Some(needle) = query.get("text").and_then(Json::as_text) else { return true };
    let needle = needle.to_lowercase();
    let text = record.get("text").and_then(Json::as_text);
    text.is_some_and(|text| text.to_lowercase().contains(&needle))
        || compact(record).to_lowercase().contains(&needle)
}

/// Memories in process, one for every address.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LocalMemories {
    records: BTreeMap<String, Records>,
}

impl LocalMemories {
    /// Puts records under an address, as when they were loaded from a file.
    pub fn load(&mut self, uri: &str, records: Records) {
        self.records.insert(uri.to_owned(), records);
    }

    /// Returns the records under an address.
    pub fn records(&self, uri: &str) -> Option<&Records> {
        self.records.get(uri)
    }

    /// Answers a request of kind `memory`. Ids derive from the id of the request.
    pub fn answer(&mut self, payload: &Value, stamp: EffectStamp<'_>) -> RequestAnswer {
        let records = self.records.entry(text_field(payload, "uri").to_owned()).or_default();
        let argument = args(payload).into_iter().next().unwrap_or_default();
        let result = match text_field(payload, "operation") {
            "add" => records.add(&argument, &stamp.request_id.uuid(), &stamp.at.to_string()),
            _ => records.query(&argument),
        };
        match result {
            Ok(json) => done(&json),
            Err(fault) => refused(fault.to_string()),
        }
    }
}

/// A memory that numbers its records and ignores what it is asked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MockMemory {
    records: BTreeMap<String, Records>,
    added: u64,
}

impl MockMemory {
    /// Answers a request of kind `memory`.
    pub fn answer(&mut self, payload: &Value) -> RequestAnswer {
        let records = self.records.entry(text_field(payload, "uri").to_owned()).or_default();
        if text_field(payload, "operation") != "add" {
            return done(&records.newest_first());
        }
        let record = args(payload).into_iter().next().unwrap_or_default();
        match records.add(&record, &(self.added + 1).to_string(), "mock") {
            Ok(envelope) => {
                self.added += 1;
                done(&envelope)
            }
            Err(fault) => refused(fault.to_string()),
        }
    }
}
