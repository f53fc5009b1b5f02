//! Recording: answers, and what the program makes of them, are durable before anything follows from
//! them.

use agentic_replay::{AnswerSource, Body, Path, RecordLink, RequestAnswer, SessionProgress};

use super::drive::Driver;
use super::folder::damaged;
use super::room::ANSWER_BYTES;
use crate::Result;

impl Driver<'_> {
    /// Records an answer and takes in what the program makes of it.
    pub(super) fn answer(
        &mut self,
        path: &Path,
        answer: RequestAnswer,
        by: AnswerSource,
    ) -> Result<()> {
        self.timers.remove(path);
        self.flush()?;
        agentic_store::fault::point("before-answer")?;
        let agent = self.session.started().agent.clone();
        let writer = match self.session.pending().is_empty() || self.space.head(&agent).is_err() {
            true => None,
            false => Some(self.lock_after_decisions(&agent)?),
        };
        if !self.is_open(path) {
            return Ok(());
        }
        tracing::debug!(session = %self.folder.id.short(), %path, ?by, "recording an answer");
        let progress = self.session.answered(path, answer, by, self.space.now());
        let mut progress =
            progress.map_err(|error| damaged(&self.folder.id, &error.to_string()))?;
        self.persist_answer(path, &mut progress)?;
        self.room.give_back(path);
        drop(writer);
        self.follow(progress)
    }

    /// Makes an answer durable, and what the program makes of it. Where there is no room for all that, the
    /// answer of a program has room of its own: whoever drives the session next has the program
    /// make the rest again.
    fn persist_answer(&mut self, path: &Path, progress: &mut SessionProgress) -> Result<()> {
        if self.room.of(path).is_none() {
            return self.persist(progress);
        }
        let is_own = |link: &&RecordLink| matches!(&link.record.body, Body::Answer(answer) if answer.path == *path);
        let own = progress.links.first().filter(is_own).cloned();
        let before = self.log.end();
        self.log.use_room(ANSWER_BYTES);
        let persisted = self.persist(progress);
        if persisted.is_err() && self.log.end() == before {
            let _ = self.append(&progress.objects, own.into_iter().collect());
        }
        persisted
    }

    /// Makes records durable, then does what they allow.
    pub(super) fn take_in(&mut self, mut progress: SessionProgress) -> Result<()> {
        self.flush()?;
        self.persist(&mut progress)?;
        self.follow(progress)
    }

    pub(super) fn persist(&mut self, progress: &mut SessionProgress) -> Result<()> {
        let asks_people = asks_people(progress);
        tracing::debug!(
            session = %self.folder.id.short(),
            records = progress.links.len(),
            effects = progress.perform.len(),
            holds = progress.holds.len(),
            "recording what a program made of it"
        );
        self.make_room(progress)?;
        self.publish(progress)?;
        self.asks_too_late |= self.is_cancelled && asks_people;
        self.append(&progress.objects, std::mem::take(&mut progress.links))
    }

    /// Does what durable records allow: lists effects and timers, and stops what is withdrawn.
    pub(super) fn follow(&mut self, progress: SessionProgress) -> Result<()> {
        self.tell(&progress.events)?;
        let now = self.space.now();
        self.ready.extend(self.backlog.keep_later(progress.perform, now));
        self.timers.extend(progress.timers.into_iter().map(|(until, path)| (path, until)));
        for withdrawn in &progress.withdrawn {
            if let Some(running) = self.running.get(&withdrawn.request.path) {
                running.work.ask_to_end();
            }
        }
        for withdrawn in progress.withdrawn {
            self.withdraw(&withdrawn)?;
        }
        match std::mem::take(&mut self.asks_too_late) {
            true => self.end_for_good(),
            false => Ok(()),
        }
    }
}

/// Says whether a program has just asked for what waits for a human. What was recorded before, and is
/// only listed again, keeps its meaning.
fn asks_people(progress: &SessionProgress) -> bool {
    let asked = progress.asked();
    progress.holds.iter().any(|hold| asked.contains(&hold.request.path))
}
