//! The program of a run of another host, made from what the space has.

use std::collections::BTreeMap;

use agentic_host::RunExecutor;
use agentic_model::Object;
use agentic_replay::record::AskRecord;
use agentic_replay::{
    AnswerSource, Body, Divergence, Handling, Language, Path, Program, RecordChain, RequestId,
    Session, SessionProgress,
};

use super::HostedStart;
use crate::error::SessionError;
use crate::executor::Assignment;
use crate::folder::{Folder, damaged};
use crate::language::language_of;
use crate::load::replayed;
use crate::shelf::{Shelf, flow_of, program_of};
use crate::{Result, SessionSpace, segment};

/// A program, and who computes what it asks.
pub struct HostedProgram {
    /// The program, before its start.
    pub program: Box<dyn Program>,
    /// Who answers what is only computed, and says who carries out the rest.
    pub executor: RunExecutor,
    /// Its language.
    pub language: &'static dyn Language,
}

/// Makes the program of a run anew, from its object where somebody brought that along. Its content decides:
/// the same id gives the same program.
///
/// # Errors
/// Fails when the program is not here, or nobody here runs it, and with [`Diverged`](SessionError::Diverged) when the run
/// began with a version of its language that this build does not have.
pub fn program_of_hosted(
    space: &SessionSpace,
    start: &HostedStart,
    brought: Option<Object>,
) -> Result<HostedProgram> {
    let folder = Folder::of(space, &start.session);
    let flow = match brought.filter(|flow| flow.cid() == start.flow) {
        Some(flow) => flow,
        None => flow_of(space, &folder, &start.flow)?,
    };
    let language = language_of(&flow)?;
    let engine = language.engine_since(&start.engine);
    if engine != start.engine {
        let divergence = Box::new(Divergence::of_engines(&start.engine, &engine));
        return Err(SessionError::Diverged { id: start.session.short(), divergence }.into());
    }
    let shelf = Shelf { space, folder: &folder, given: &[] };
    let assignment = Assignment { flow: &flow, key: &start.key, allow: &start.allow };
    let executor = assignment.executor(shelf)?;
    let program = program_of(space, &folder, &flow, &start.engine)?;
    Ok(HostedProgram { program, executor, language })
}

/// A run of another host, as it stands.
pub struct HostedRun {
    /// The session.
    pub session: Session<Box<dyn Program>>,
    /// Who answers what is only computed, and says who carries out the rest.
    pub executor: RunExecutor,
    /// The language of its program.
    pub language: &'static dyn Language,
    /// The requests that people were asked, answered ones included.
    pub asked_people: Vec<RequestId>,
    /// How often requests have gone on to other people.
    pub n_escalations: BTreeMap<Path, usize>,
}

/// Brings a run to where it was when so many of its records were sealed, the last of which has this hash.
///
/// # Errors
/// Fails when they are not here, and with [`Diverged`](SessionError::Diverged) when the program does something
/// else than was recorded.
pub fn load_hosted(
    space: &SessionSpace,
    start: &HostedStart,
    n_records: usize,
    head: &str,
) -> Result<(HostedRun, SessionProgress)> {
    let id = &start.session;
    let mut frames = segment::frames(space, id)?;
    frames.truncate(n_records);
    let journal = RecordChain::read(&frames).map_err(|error| damaged(id, &error.to_string()))?;
    if frames.len() < n_records || journal.chain().head().to_string() != head {
        return Err(damaged(id, &format!("its first {n_records} records are not sealed here")));
    }
    let folder = Folder::of(space, id);
    let flow = flow_of(space, &folder, &journal.flow())?;
    let loaded = replayed(space, &folder, (&journal, &flow), Session::resume_at_rest)?;
    let ((session, executor), progress) = loaded;
    let asked_people = asked_people(&journal);
    let mut n_escalations: BTreeMap<Path, usize> = BTreeMap::new();
    for record in journal.records() {
        if let Body::Escalate(escalate) = &record.body {
            *n_escalations.entry(escalate.path.clone()).or_default() += 1;
        }
    }
    let language = language_of(&flow)?;
    Ok((HostedRun { session, executor, language, asked_people, n_escalations }, progress))
}

/// Lists the requests of a session that people were asked: those of the kinds that only they answer, and
/// effects that waited for their leave or were in doubt.
fn asked_people(journal: &RecordChain) -> Vec<RequestId> {
    let session = journal.start().session.to_string();
    let mut asks: BTreeMap<&Path, &AskRecord> = BTreeMap::new();
    let mut asked = Vec::new();
    for record in journal.records() {
        if let Body::Ask(ask) = &record.body {
            asks.insert(&ask.path, ask);
        }
        if !is_for_people(&record.body) {
            continue;
        }
        let ask = record.body.path().and_then(|path| asks.get(path));
        asked.extend(ask.map(|ask| RequestId::derive(&session, &ask.path, &ask.hash)));
    }
    asked
}

/// Says whether a record tells that people were asked.
fn is_for_people(body: &Body) -> bool {
    match body {
        Body::Ask(ask) => ask.handling == Handling::Decision,
        Body::Answer(answer) => matches!(answer.by, AnswerSource::Decision(_)),
        Body::Permit(_) | Body::Publish(_) | Body::Vote(_) | Body::Escalate(_) => true,
        Body::Start(_)
        | Body::Attempt(_)
        | Body::Signal(_)
        | Body::Found(_)
        | Body::Upgrade(_)
        | Body::Withdraw(_)
        | Body::Cancel(_)
        | Body::ScopeEnd(_)
        | Body::Continue(_)
        | Body::End(_) => false,
    }
}
