//! Telling how a program differs from its records.

use super::{ReplayError, SessionReplay};
use crate::divergence::{Divergence, ProgramDifference, RequestFields, changes};
use crate::record::AskRecord;
use crate::{Body, End, Path, Program, Request, RequestHash};

impl<P: Program> SessionReplay<'_, P> {
    pub(super) fn differs(
        &self,
        seq: u64,
        recorded: &AskRecord,
        request: &Request,
        hash: RequestHash,
    ) -> ReplayError {
        let difference = if recorded.kind != request.kind {
            ProgramDifference::Kind
        } else if recorded.schema != request.schema {
            ProgramDifference::Schema
        } else {
            ProgramDifference::Payload
        };
        let before = Some(RequestFields {
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
        let recorded = Some(RequestFields { position, ..named(kind) });
        let mut divergence =
            self.divergence(ProgramDifference::Leftover, Some(seq), path, recorded, None);
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
        self.divergence(ProgramDifference::Extra, seq, &request.path, None, now).into()
    }

    /// Describes a difference, and looks for the place where the record has what is asked now.
    pub(super) fn divergence(
        &self,
        difference: ProgramDifference,
        seq: Option<u64>,
        path: &Path,
        recorded: Option<RequestFields>,
        asked: Option<RequestFields>,
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

pub(super) fn asked(request: &Request, hash: RequestHash) -> RequestFields {
    RequestFields {
        kind: request.kind.clone(),
        hash: Some(hash),
        schema: request.schema,
        position: request.position,
    }
}

pub(super) fn named(kind: &str) -> RequestFields {
    RequestFields { kind: kind.to_owned(), hash: None, schema: None, position: None }
}
