//! What activities are asked.

use std::sync::Arc;

use agentic_model::{Cid, Instant};
use agentic_replay::{EffectClass, Path, Performance, Request, RequestId};
use serde::{Deserialize, Serialize};

use super::{BadWire, WireStart, WireValue};
use crate::outside::WireProgram;

/// An effect that an activity performs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EffectAsk {
    /// Who asks.
    pub run: WireStart,
    /// Where in the program.
    pub path: String,
    /// The id of the request.
    pub id: String,
    /// What sort of effect.
    pub kind: String,
    /// Its data.
    pub payload: WireValue,
    /// The schema of its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// How long it may take, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The object that it is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// What a crash may do to it.
    pub class: String,
    /// Which attempt it is.
    pub attempt: u32,
    /// What was found before it began for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<WireValue>,
    /// When it was asked, in milliseconds: what it makes has this time.
    pub at: i64,
    /// How many records of the run were sealed then.
    #[serde(default)]
    pub sealed: usize,
}

/// An effect, and the program that asks where that goes along.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EffectCall {
    /// The effect.
    pub effect: EffectAsk,
    /// The program, for those who have no repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<WireProgram>,
}

/// The names of classes, as they cross the server.
const CLASSES: [(&str, EffectClass); 4] = [
    ("pure", EffectClass::Pure),
    ("read", EffectClass::Read),
    ("idempotent", EffectClass::Idempotent),
    ("once", EffectClass::Once),
];

impl EffectAsk {
    /// Makes what is asked of an activity.
    pub fn of(run: &WireStart, performance: &Performance, at: Instant, sealed: usize) -> EffectAsk {
        let request = &performance.request;
        let class = CLASSES.iter().find(|(_, class)| *class == performance.class);
        EffectAsk {
            run: run.clone(),
            path: request.path.to_string(),
            id: performance.id.to_string(),
            kind: request.kind.clone(),
            payload: WireValue::of(&request.payload),
            schema: request.schema.map(|cid| cid.to_string()),
            timeout_ms: request.timeout_ms,
            origin: request.origin.as_ref().map(|cid| cid.to_string()),
            class: class.map_or("once", |(name, _)| name).to_owned(),
            attempt: performance.attempt,
            found: performance.found.as_ref().map(WireValue::of),
            at: at.millis(),
            sealed,
        }
    }

    /// Gives back what is to be performed.
    ///
    /// # Errors
    /// Fails when something in it is not what it should be.
    pub fn performance(&self) -> Result<Performance, BadWire> {
        let bad = |what| BadWire { what };
        let cid = |text: &Option<String>, what| {
            text.as_deref().map(Cid::parse).transpose().map_err(|_| bad(what))
        };
        let request = Request {
            path: Path::parse(&self.path).map_err(|_| bad("path"))?,
            kind: self.kind.clone(),
            payload: self.payload.clone().value()?,
            schema: cid(&self.schema, "schema")?,
            timeout_ms: self.timeout_ms,
            position: None,
            origin: cid(&self.origin, "origin")?.map(Arc::new),
        };
        let class = CLASSES.iter().find(|(name, _)| *name == self.class);
        Ok(Performance {
            request: Arc::new(request),
            id: RequestId::parse(&self.id).ok_or(bad("request"))?,
            class: class.ok_or(bad("class"))?.1,
            attempt: self.attempt,
            not_before: None,
            found: self.found.clone().map(WireValue::value).transpose()?,
        })
    }
}
