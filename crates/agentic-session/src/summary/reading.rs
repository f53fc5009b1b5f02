//! Reading records one by one: what is open, what came of the rest.

use std::collections::BTreeMap;

use agentic_model::{Instant, Value};
use agentic_replay::record::{AskRecord, MissingObject, Outcome, PermitRecord, RETRY, VoteRecord};
use agentic_replay::{
    Body, EffectClass, Failure, Grants, Handling, HoldReason, Journal, Path, Record, RequestId,
    StartRecord, Stored,
};

use super::{Answered, Asked, OpenHold, Permission, Unanswered};
use crate::Result;
use crate::folder::Values;

/// An ask without an answer.
pub(super) struct Open<'a> {
    ask: &'a AskRecord,
    at: Instant,
    at_index: usize,
    permitted: bool,
    withdrawn: bool,
    /// What follows the last attempt, while none is under way.
    again: Option<Again>,
    votes: Vec<VoteRecord>,
    n_escalations: usize,
    /// The head on which it was put before people last.
    published: Option<String>,
}

/// When an effect is tried again.
#[derive(Debug, Clone, Copy)]
enum Again {
    /// At an instant.
    At(Instant),
    /// When somebody goes on with the session: nobody could answer at this instant.
    Left(Instant),
}

/// What has been read so far.
pub(super) struct Reading<'a> {
    values: &'a Values<'a>,
    session: String,
    /// What the session need not ask for any more.
    grants: Grants,
    /// Everything that was asked, in order.
    pub(super) asked: Vec<Asked>,
    /// What has no answer.
    pub(super) open: BTreeMap<&'a Path, Open<'a>>,
    /// How it ended.
    pub(super) end: Option<Answered>,
    /// The earliest instant that it waits for.
    pub(super) until: Option<Instant>,
    /// Why nobody could answer something that it asks.
    pub(super) unanswered: Option<Unanswered>,
    /// How many open requests wait for a child.
    pub(super) n_children: usize,
}

impl<'a> Reading<'a> {
    /// Begins before the first record.
    pub(super) fn new(values: &'a Values<'a>) -> Reading<'a> {
        Reading {
            values,
            session: String::new(),
            grants: Grants::default(),
            asked: Vec::new(),
            open: BTreeMap::new(),
            end: None,
            until: None,
            unanswered: None,
            n_children: 0,
        }
    }

    /// Takes in the next record.
    pub(super) fn read(&mut self, record: &'a Record) -> Result<()> {
        match &record.body {
            Body::Start(start) => {
                self.session = start.session.to_string();
                // A fork asks anew what was open.
                let open: Vec<usize> = self.open.values().map(|open| open.at_index).collect();
                self.asked = std::mem::take(&mut self.asked)
                    .into_iter()
                    .enumerate()
                    .filter(|(index, _)| !open.contains(index))
                    .map(|(_, asked)| asked)
                    .collect();
                self.open.clear();
            }
            Body::Ask(ask) => self.ask(record.seq, record.at, ask)?,
            Body::Answer(answer) => {
                let outcome = self.outcome(&answer.outcome)?;
                if let Some(open) = self.open.remove(&answer.path) {
                    let answer = (record.seq, outcome, answer.by.clone());
                    self.asked[open.at_index].answer = Some(answer);
                    self.asked[open.at_index].answered_at = Some(record.at);
                }
            }
            Body::Permit(permit) => self.permit(record.at, permit)?,
            Body::Attempt(attempt) => {
                if let Some(open) = self.open.get_mut(&attempt.path) {
                    open.again = Some(match attempt.next_at {
                        Some(at) => Again::At(at),
                        None => Again::Left(record.at),
                    });
                    self.asked[open.at_index].attempts.push(attempt.clone());
                }
            }
            Body::Withdraw(withdraw) => {
                if let Some(open) = self.open.get_mut(&withdraw.path) {
                    open.withdrawn = true;
                }
            }
            Body::Vote(vote) => {
                if let Some(open) = self.open.get_mut(&vote.path) {
                    open.votes.push(vote.clone());
                    self.asked[open.at_index].votes.push(vote.clone());
                }
            }
            Body::Escalate(escalate) => {
                if let Some(open) = self.open.get_mut(&escalate.path) {
                    open.n_escalations += 1;
                }
            }
            Body::End(outcome) => self.end = Some(self.outcome(outcome)?),
            Body::Continue(next) => {
                self.end = Some(Answered::Ok(self.value(&next.state)?));
            }
            Body::Publish(publish) => {
                if let Some(open) = self.open.get_mut(&publish.path) {
                    open.published = Some(publish.head.clone());
                }
            }
            // From here on nothing that was asked before can be decided.
            Body::Cancel(_) => self.open.values_mut().for_each(|open| open.withdrawn = true),
            Body::Found(_) | Body::Signal(_) | Body::Upgrade(_) | Body::ScopeEnd(_) => {}
        }
        Ok(())
    }

    fn permit(&mut self, at: Instant, permit: &PermitRecord) -> Result<()> {
        let edited = permit.edited.as_ref().map(|edited| self.value(edited)).transpose()?;
        if let Some(open) = self.open.get_mut(&permit.path) {
            if permit.decision != RETRY {
                let (decision, scope) = (permit.decision.clone(), permit.scope);
                self.asked[open.at_index].permit = Some(Permission { decision, edited, scope });
            }
            open.permitted |= permit.decision != RETRY;
            // Whatever is asked about it from now on is another question.
            open.at = at;
            open.again = None;
        }
        Ok(())
    }

    fn ask(&mut self, seq: u64, at: Instant, ask: &'a AskRecord) -> Result<()> {
        let id = RequestId::derive(&self.session, &ask.path, &ask.hash);
        let at_index = self.asked.len();
        self.asked.push(Asked {
            seq,
            id,
            path: ask.path.clone(),
            kind: ask.kind.clone(),
            payload: self.value(&ask.payload)?,
            position: ask.position,
            asked_at: at,
            answered_at: None,
            permit: None,
            votes: Vec::new(),
            attempts: Vec::new(),
            answer: None,
        });
        let open = Open {
            ask,
            at,
            at_index,
            permitted: false,
            withdrawn: false,
            again: None,
            votes: Vec::new(),
            n_escalations: 0,
            published: None,
        };
        self.open.insert(&ask.path, open);
        Ok(())
    }

    fn outcome(&self, outcome: &Outcome) -> Result<Answered> {
        Ok(match outcome {
            Outcome::Ok(stored) => Answered::Ok(self.value(stored)?),
            Outcome::Failed { code, message, details } => Answered::Failed(Failure {
                code: code.clone(),
                message: message.clone(),
                details: self.value(details)?,
            }),
            Outcome::TimedOut => Answered::TimedOut,
            Outcome::Cancelled(_) => Answered::Cancelled,
        })
    }

    fn value(&self, stored: &Stored) -> Result<Value> {
        Ok(stored.value(self.values).map_err(missing)?)
    }

    /// Reads what the session need not ask for any more.
    pub(super) fn take_grants(&mut self, journal: &Journal) -> Result<()> {
        self.grants = Grants::of(journal, self.values).map_err(missing)?;
        Ok(())
    }

    /// Says whether an earlier permission covers an effect. Whoever drives the session next records so
    /// and begins it.
    fn is_covered(&self, open: &Open<'_>) -> bool {
        let asked = &self.asked[open.at_index];
        self.grants.covering(asked.seq, &asked.kind, &asked.payload).is_some()
    }

    /// Tells what waits for a human; notes what waits for an instant or a child on the way.
    pub(super) fn holds(
        &mut self,
        start: &StartRecord,
        is_driven: &dyn Fn() -> Result<bool>,
    ) -> Result<Vec<OpenHold>> {
        let mut holds = Vec::new();
        for open in self.open.values() {
            if open.withdrawn {
                // A child that is left to end by itself.
                self.n_children += usize::from(open.ask.kind == "spawn");
                continue;
            }
            let may_begin = open.permitted || start.allows(&open.ask.kind);
            let reason = match open.ask.handling {
                Handling::Decision => Some(HoldReason::Asked),
                Handling::Timer => {
                    let payload = &self.asked[open.at_index].payload;
                    let until = payload.get("until").and_then(Value::as_int);
                    let until = until.map(Instant::from_millis);
                    self.until = self.until.into_iter().chain(until).min();
                    None
                }
                Handling::Effect(EffectClass::Pure) => None,
                Handling::Effect(_) if !may_begin && self.is_covered(open) => None,
                Handling::Effect(_) if !may_begin => Some(HoldReason::NotAllowed),
                Handling::Effect(EffectClass::Once) if open.again.is_none() && !is_driven()? => {
                    Some(HoldReason::InDoubt)
                }
                Handling::Effect(_) => {
                    match open.again {
                        Some(Again::At(at)) => {
                            self.until = self.until.into_iter().chain([at]).min();
                        }
                        Some(Again::Left(at)) => {
                            let left = Unanswered::of(&self.asked[open.at_index], at);
                            let earlier = self.unanswered.take();
                            self.unanswered = earlier.into_iter().chain(left).min();
                        }
                        None => self.n_children += usize::from(open.ask.kind == "spawn"),
                    }
                    None
                }
            };
            if let Some(reason) = reason {
                let index = open.at_index;
                holds.push((
                    index,
                    OpenHold {
                        session: start.session,
                        agent: start.agent.clone(),
                        id: self.asked[index].id,
                        ask: open.ask.clone(),
                        payload: self.asked[index].payload.clone(),
                        reason,
                        asked_at: open.at,
                        votes: open.votes.clone(),
                        n_escalations: open.n_escalations,
                        published: open.published.clone(),
                    },
                ));
            }
        }
        holds.sort_by_key(|(index, _)| *index);
        Ok(holds.into_iter().map(|(_, hold)| hold).collect())
    }
}

fn missing(error: MissingObject) -> agentic_store::Error {
    agentic_store::Error::corrupt("a session", error)
}
