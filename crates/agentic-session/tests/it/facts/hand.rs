//! Journals made by hand, as nobody here would write them.

use agentic_model::{Cid, Value, canonical};
use agentic_replay::record::AskRecord;
use agentic_replay::{
    Body, Chain, EffectClass, Engine, Handling, Path, Request, SessionId, StartRecord, StoredValue,
};
use agentic_session::flow_object;
use agentic_store::Durability;
use agentic_store::journal::LogFile;

use super::question::log_of;
use crate::kit::Stage;

/// A session that is made by hand.
pub struct HandMade<'s> {
    stage: &'s Stage,
    start: StartRecord,
}

impl<'s> HandMade<'s> {
    /// Says how it begins.
    pub fn new(stage: &'s Stage, key: &str) -> HandMade<'s> {
        let flow = flow_object("1").expect("it is short").cid();
        let input = stored(&Value::Null);
        let session = SessionId::derive(&stage.agent, &flow, &input.cid(), key);
        let start = StartRecord {
            stamp: false,
            session,
            agent: stage.agent.clone(),
            flow,
            engine: Engine { language: "rhai".to_owned(), semantics: 1 },
            input,
            seed: session.seed(),
            key: key.to_owned(),
            allow: vec!["*".to_owned()],
            head: None,
            configuration: None,
            host: None,
            parent: None,
        };
        HandMade { stage, start }
    }

    /// Makes the record of a request.
    pub fn ask(&self, path: &Path, kind: &str) -> Body {
        let request = Request::new(path.clone(), kind, Value::Null);
        Body::Ask(Box::new(AskRecord {
            path: path.clone(),
            kind: kind.to_owned(),
            hash: request.hash().expect("it has a canonical form"),
            payload: stored(&Value::Null),
            schema: None,
            handling: Handling::Effect(EffectClass::Read),
            timeout_ms: None,
            position: None,
        }))
    }

    /// Writes its records behind its start.
    pub fn write(&self, bodies: Vec<Body>) -> SessionId {
        let mut chain = Chain::empty();
        let start = Body::Start(Box::new(self.start.clone()));
        let now = self.stage.space.now();
        let bodies = std::iter::once(start).chain(bodies);
        let frames: Vec<Vec<u8>> = bodies.map(|body| chain.append(now, body).bytes).collect();
        let log = log_of(&self.stage.space, &self.start.session);
        std::fs::create_dir_all(log.parent().expect("it has a folder")).expect("writable");
        let (mut log, _) = LogFile::open(&log).expect("writable");
        let frames: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
        log.append(&frames, Durability::Full).expect("writable");
        self.start.session
    }
}

/// Makes a value that stands in its record.
pub fn stored(value: &Value) -> StoredValue {
    StoredValue::Inline(canonical::encode(value).expect("it has a canonical form"))
}

/// Makes a value that stands nowhere.
pub fn gone() -> StoredValue {
    StoredValue::Object(Cid::of(b"gone"))
}
