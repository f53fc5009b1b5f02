//! Barriers: the moments at which what was recorded becomes durable.

use agentic_model::Cid;
use agentic_replay::{AnswerSource, EffectClass, Path, Performance, RecordLink, RequestAnswer};
use agentic_store::Durability;
use agentic_store::bell::{self, GroundChange};

use super::drive::Driver;
use super::folder::damaged;
use crate::Result;

impl Driver<'_> {
    /// Takes in an answer that was computed just now.
    pub(super) fn computed(
        &mut self,
        performance: &Performance,
        answer: RequestAnswer,
    ) -> Result<()> {
        let path = &performance.request.path;
        match performance.class {
            EffectClass::Pure => self.answer_again(path, answer, AnswerSource::Executor),
            EffectClass::Read | EffectClass::Idempotent | EffectClass::Once => {
                self.answer(path, answer, AnswerSource::Executor)
            }
        }
    }

    /// Records an answer that would be given again after a crash: nothing in the world has come of
    /// it. Its record waits for the next barrier.
    pub(super) fn answer_again(
        &mut self,
        path: &Path,
        answer: RequestAnswer,
        by: AnswerSource,
    ) -> Result<()> {
        if !self.session.pending().is_empty() {
            return self.answer(path, answer, by);
        }
        agentic_store::fault::point("before-answer")?;
        let progress = self.session.answered(path, answer, by, self.space.now());
        let mut progress =
            progress.map_err(|error| damaged(&self.folder.id, &error.to_string()))?;
        let is_barrier =
            !progress.holds.is_empty() || !progress.withdrawn.is_empty() || progress.end.is_some();
        if is_barrier || self.unsynced.is_full() {
            return self.take_in(progress);
        }
        self.make_room(&progress)?;
        let entries = self.heard(&std::mem::take(&mut progress.events));
        let objects = std::mem::take(&mut progress.objects);
        self.unsynced.add(objects, std::mem::take(&mut progress.links), entries);
        self.follow(progress)
    }

    /// Makes durable what waited for a barrier. What was said comes first: a crash in between has
    /// it said again, not lost.
    pub(super) fn flush(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.unsynced);
        self.append_entries(waiting.entries)?;
        self.append(&waiting.objects, waiting.links)
    }

    /// Makes records durable, and the long values that they refer to.
    pub(super) fn append(
        &mut self,
        objects: &[(Cid, Vec<u8>)],
        links: Vec<RecordLink>,
    ) -> Result<()> {
        if links.is_empty() {
            return Ok(());
        }
        for (cid, bytes) in objects {
            self.folder.keep_object(cid, bytes)?;
        }
        let payloads: Vec<&[u8]> = links.iter().map(|link| link.bytes.as_slice()).collect();
        let before = self.log.end();
        // `--durability git` does not apply to sessions: what was answered is never asked again.
        self.log.append(&payloads, Durability::Full)?;
        self.space.recent().appended(&self.folder.id, links, before, self.log.end());
        let changed = GroundChange::Session(self.folder.id.to_string());
        bell::ring(self.space.repository().layout(), &changed);
        Ok(())
    }
}
