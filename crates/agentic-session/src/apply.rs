//! Applying decisions: what a durable decision does to the session that waits for it.

use std::collections::BTreeSet;

use agentic_git::GitWriter;
use agentic_model::{AgentName, Oid};
use agentic_replay::record::{EscalateRecord, VoteRecord};
use agentic_replay::{AnswerSource, Hold, Note};
use agentic_space::write::LockedStream;

use super::consequence::{Consequence, consequence};
use super::drive::Driver;
use super::folder::damaged;
use super::own::read_journal;
use super::trace::shown;
use crate::Result;
use crate::decide::{Decision, record_system};
use crate::policy::{Escalation, Policy};
use crate::trust::{self, DecidingCommits, Look};

impl<'a> Driver<'a> {
    /// Takes the agent's lock with no decision left that is durable and not applied. Where a signature
    /// would have to be verified first, that is done without the lock.
    pub(super) fn lock_after_decisions(&mut self, agent: &AgentName) -> Result<GitWriter<'a>> {
        loop {
            if let Some(writer) = self.lock_if_settled(agent)? {
                return Ok(writer);
            }
            // Applying takes the lock by itself where it writes.
            self.apply_decisions()?;
        }
    }

    /// Takes the agent's lock, unless a decision is durable and not applied, or has to be verified.
    pub(super) fn lock_if_settled(&self, agent: &AgentName) -> Result<Option<GitWriter<'a>>> {
        let (locked, _) = LockedStream::agent(self.space, agent)?;
        let mut is_decided = false;
        for hold in self.decidable() {
            let policy = Policy::of(hold.reason, &hold.request);
            let found = self.deciding(&hold, Look::Locked)?;
            is_decided |= policy.settle(&found.counted).is_some() || !found.unseen.is_empty();
        }
        Ok((!is_decided).then(|| locked.into_writer()))
    }

    /// Applies the decisions that are durable and not applied yet; expires what is overdue.
    pub(super) fn apply_decisions(&mut self) -> Result<()> {
        let listed = self.session.chain().head();
        for hold in self.decidable() {
            // The one before may have ended the wait for this one, and withdrawn it.
            let is_open = || self.session.pending().iter().any(|open| open.id == hold.id);
            if self.session.chain().head() == listed || is_open() {
                self.apply_to(&hold)?;
            }
        }
        Ok(())
    }

    /// Finds the commits that say they decide a hold, as the records and the branch stand now.
    pub(super) fn deciding(&self, hold: &Hold, look: Look) -> Result<DecidingCommits> {
        let journal = read_journal(self.space, &self.folder.id)?;
        trust::find(self.space, &journal, &hold.id, look)
    }

    fn apply_to(&mut self, hold: &Hold) -> Result<()> {
        let journal = read_journal(self.space, &self.folder.id)?;
        let policy = Policy::of(hold.reason, &hold.request);
        let mut found = trust::find(self.space, &journal, &hold.id, Look::Free)?.counted;
        // What was noted about the hold matters only where something can have been.
        let has_votes = !found.is_empty() && policy.settle(&found).is_none();
        let open = match policy.escalations.is_empty() && !has_votes {
            true => None,
            false => {
                let open = super::summary::holds(self.space, &journal)?;
                open.into_iter().find(|open| open.id == hold.id)
            }
        };
        // While somebody has it, what is appended would go to a copy.
        drop(journal);
        let n_escalations = open.as_ref().map_or(0, |open| open.n_escalations);
        let policy = policy.at(n_escalations, self.space.now());
        for step in policy.escalations.iter().take(policy.level).skip(n_escalations) {
            self.escalate(hold, step)?;
        }
        if policy.settle(&found).is_none() && policy.is_overdue(self.space.now()) {
            let published = self.session.published(&hold.request.path);
            let decision = Decision::expired(hold, &policy, self.space.now()).on(published);
            record_system(self.space, self.session.started(), &decision, &policy)?;
            found = self.deciding(hold, Look::Free)?.counted;
        }
        let Some((commit, decision)) = policy.settle(&found) else {
            let noted = open.iter().flat_map(|open| &open.votes);
            let noted = noted.map(|vote| vote.decision.clone()).collect();
            return self.note_votes(hold, &found, &noted);
        };
        self.apply(hold, commit.to_string(), decision, &policy)
    }

    /// Records that a hold has gone on to other people, and tells the trace.
    fn escalate(&mut self, hold: &Hold, step: &Escalation) -> Result<()> {
        let why = "nobody decided in time".to_owned();
        let request = self.folder.id.short_request(&hold.id);
        let told = format!("escalated {request} to {}", shown(&step.to.join(", ")));
        let path = hold.request.path.clone();
        self.note(Note::Escalate(EscalateRecord { path, to: step.to.clone(), why }))?;
        self.append_entries(self.entry("session", &told))
    }

    fn note_votes(
        &mut self,
        hold: &Hold,
        votes: &[(Oid, Decision)],
        noted: &BTreeSet<String>,
    ) -> Result<()> {
        for (commit, decision) in votes {
            if noted.contains(&commit.to_string()) {
                continue;
            }
            self.note(Note::Vote(VoteRecord {
                path: hold.request.path.clone(),
                decision: commit.to_string(),
                principal: decision.principal.clone(),
                action: decision.action.name().to_owned(),
            }))?;
        }
        Ok(())
    }

    fn note(&mut self, note: Note) -> Result<()> {
        let progress = self.session.note(note, self.space.now());
        let progress = progress.map_err(|error| damaged(&self.folder.id, &error.to_string()))?;
        self.take_in(progress)
    }

    fn apply(
        &mut self,
        hold: &Hold,
        commit: String,
        decision: &Decision,
        policy: &Policy,
    ) -> Result<()> {
        let (path, now) = (&hold.request.path, self.space.now());
        let consequence = consequence(&hold.request.kind, hold.reason, decision, policy);
        agentic_store::fault::point("before-decision-answer")?;
        let progress = match consequence {
            Consequence::Answer(answer) => {
                self.session.answered(path, answer, AnswerSource::Decision(commit), now)
            }
            Consequence::Permit(edited, scope) => {
                self.session.permit(path, &commit, edited, scope, now)
            }
            Consequence::Nothing => return Ok(()),
        };
        let progress = progress.map_err(|error| damaged(&self.folder.id, &error.to_string()))?;
        self.take_in(progress)
    }
}
