//! Running a program without its effects.

use agentic_model::{Instant, Value};
use agentic_replay::{EffectClass, Request, RequestAnswer, RequestId};

use crate::dialect::Version;
use crate::json::Json;
use crate::run::{MEMORY_REQUEST, MODEL_REQUEST};

use super::mock::EmptyModel;
use super::{EffectStamp, args, done, effect_class, text_field};

/// Answers a request as a dry run does: models are mocked, effects are described instead of
/// performed. Says nothing for requests that only read, which a dry run really performs.
pub fn dry_run(request: &Request, version: Version) -> Option<RequestAnswer> {
    let payload = &request.payload;
    if request.kind == MODEL_REQUEST {
        return Some(EmptyModel::new(version).answer(payload));
    }
    match effect_class(request)? {
        EffectClass::Pure | EffectClass::Read => None,
        EffectClass::Idempotent if request.kind == MEMORY_REQUEST => Some(described_add(payload)),
        EffectClass::Idempotent => Some(described_edit(payload)),
        EffectClass::Once if is_hosted(payload) => Some(done(&Json::Null)),
        EffectClass::Once => Some(described_call(payload)),
    }
}

fn is_hosted(payload: &Value) -> bool {
    let uri = text_field(payload, "uri");
    uri.starts_with("npm:") || uri.starts_with("node:")
}

fn described_add(payload: &Value) -> RequestAnswer {
    let mut memory = super::LocalMemories::default();
    let stamp =
        EffectStamp { request_id: &RequestId::from_bytes([0; 32]), at: Instant::from_millis(0) };
    memory.answer(payload, stamp)
}

fn described_edit(payload: &Value) -> RequestAnswer {
    let method = text_field(payload, "method");
    let ok = ("ok", Json::Bool(true));
    if method == "undo" {
        return done(&Json::object([ok]));
    }
    let args = args(payload);
    let path = args.first().and_then(|arg| arg.get("path")).cloned().unwrap_or_default();
    let shown = path.as_text().unwrap_or_default();
    let effect = Json::object([
        ("id", Json::text(format!("file-{method}:{shown}"))),
        ("tool", Json::text(text_field(payload, "tool"))),
        ("action", Json::text(method)),
        ("path", path.clone()),
        ("undoable", Json::Bool(false)),
        ("dry_run", Json::Bool(true)),
    ]);
    done(&Json::object([ok, ("effects", Json::List(vec![effect]))]))
}

fn described_call(payload: &Value) -> RequestAnswer {
    let summary = format!(
        "{}.{} was not performed",
        text_field(payload, "tool"),
        text_field(payload, "method")
    );
    done(&Json::object([
        ("ok", Json::Bool(true)),
        ("summary", Json::text(summary)),
        ("dry_run", Json::Bool(true)),
        ("args", Json::List(args(payload))),
    ]))
}
