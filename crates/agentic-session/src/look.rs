//! Looking before an effect: what it will replace is durable before it is replaced.
//!
//! A file that is written, and written again after a crash, held something else the second time.
//! What it held at first is a record of its own, so that both calls tell the same.

use agentic_host::ProviderCall;
use agentic_providers::model::Repeats;
use agentic_providers::provider::CallStamp;
use agentic_replay::{AnswerSource, Performance};

use super::drive::Driver;
use super::folder::damaged;
use crate::Result;

impl Driver<'_> {
    /// Stamps the call of a provider that performs a request.
    pub(super) fn call_stamp(&self, performance: &Performance) -> (CallStamp, Repeats) {
        let Performance { id, found, .. } = performance;
        let session = self.folder.id.to_string();
        let (at, found) = (self.space.now(), found.clone());
        // What a session asks a model and nobody answers is asked again by the host alone.
        (CallStamp { session, request_id: *id, at, found }, Repeats::Model)
    }

    /// Returns the call of a provider that performs a request, if one does.
    fn provider_call(&self, performance: &Performance) -> Option<ProviderCall> {
        let made = self.call_stamp(performance);
        self.executor.provided(&performance.request, made, &self.work_folder())
    }

    /// Makes durable what an effect will replace before it begins. One that cannot look has failed.
    pub(super) fn look_first(&mut self, performance: Performance) -> Result<Option<Performance>> {
        if performance.found.is_some() {
            return Ok(Some(performance));
        }
        let looked = self.provider_call(&performance).map(|call| call.look());
        let path = &performance.request.path;
        match looked {
            None | Some(Ok(None)) => Ok(Some(performance)),
            Some(Ok(Some(found))) => {
                let progress = self.session.found(path, found.clone(), self.space.now());
                let progress =
                    progress.map_err(|error| damaged(&self.folder.id, &error.to_string()))?;
                self.take_in(progress)?;
                Ok(Some(Performance { found: Some(found), ..performance }))
            }
            Some(Err(answer)) => {
                self.answer(path, answer, AnswerSource::Executor)?;
                Ok(None)
            }
        }
    }
}
