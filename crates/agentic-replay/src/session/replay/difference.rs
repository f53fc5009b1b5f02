//! Telling how a program differs from its records.

use super::{Replay, ReplayError};
use crate::divergence::{Asked, Difference, Divergence, changes};
use crate::record::AskRecord;
use crate::{Body, End, Path, Program, Request, RequestHash};

impl<P: Program> Replay<'_, P> {
    pub(super) fn differs(
        &self,
        seq: u64,
        recorded: &AskRecord,
        request: &Request,
        hash: RequestHash,
    ) -> ReplayError {
        let difference = if recorded.kind != request.kind {
            Difference::Kind
        } else if recorded.schema != request.schema {
            Difference::Schema
        } else {
            Difference::Payload
        };
        let before = Some(Asked {
            kind: recorded.kind.clone(),
            hash: Some(recorded.hash),
            schema: recorded.schema,
            position: recorded.position,
        });
        let now = Some(asked(request, hash));
        let mut divergence = self.divergence(difference, Some(seq), &request.path, before, now);
        let payload = recorded.payload.value(self.setting.objects);
        divergence.changes = payload.map_or(Vec::new(), |left| changes(&left, &request.payload));
        divergence.into()
    }

    pub(super) fn leftover(&self, seq: u64, path: &Path, kind: &str) -> ReplayError {
        let position = self.journal.records().get(seq as usize).and_then(|record| {
            let Body::Ask(ask) = &record.body else { return None };
            ask.position
        });
        let recorded = Some(Asked { position, ..named(kind) });
        let mut divergence = self.divergence(Difference::Leftover, Some(seq), path, recorded, None);
        divergence.ended = Some(match &self.session.ending {
            None => "the program waits for something else".to_owned(),
            Some(End::Done(_)) => "the program has come to its end".to_owned(),
            Some(End::Cancelled) => "the program was cancelled".to_owned(),
            Some(End::Failed(failure)) => {
                format!("the program failed: {}: {}", failure.code, failure.message)
            }
        });
        divergence.into()
    }

    pub(super) fn extra(&self, seq: Option<u64>, request: &Request) -> ReplayError {
        let hash = request.hash().expect("a run settles every payload");
        let now = Some(asked(request, hash));
        self.divergence(Difference::Extra, seq, &request.path, None, now).into()
    }

    /// Describes a difference, and looks for the place where the record has what is asked now.
    pub(super) fn divergence(
        &self,
        difference: Difference,
        seq: Option<u64>,
        path: &Path,
        recorded: Option<Asked>,
        asked: Option<Asked>,
    ) -> Divergence {
        let wanted = asked.as_ref().and_then(|asked| asked.hash);
        let elsewhere = self
            .journal
            .records()
            .iter()
            .find(|record| matches!(&record.body, Body::Ask(ask) if Some(ask.hash) == wanted));
        Divergence {
            difference,
            seq,
            path: path.clone(),
            recorded,
            asked,
            changes: Vec::new(),
            ended: None,
            recorded_elsewhere: elsewhere.map(|record| record.seq),
        }
    }
}

pub(super) fn asked(request: &Request, hash: RequestHash) -> Asked {
    Asked {
        kind: request.kind.clone(),
        hash: Some(hash),
        schema: request.schema,
        position: request.position,
    }
}

pub(super) fn named(kind: &str) -> Asked {
    Asked { kind: kind.to_owned(), hash: None, schema: None, position: None }
}
