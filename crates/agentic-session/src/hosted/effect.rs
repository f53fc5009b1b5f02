//! Effects that a run of another host asks for and this space performs.

use std::sync::mpsc;

use agentic_providers::host::CancelFlag;
use agentic_replay::{AnswerSource, CancelExtent, EffectClass, Performance, RequestAnswer};
use agentic_store::error::FileError;

use super::HostedStart;
use super::outside::{EffectPlace, in_charge, performed};
use super::probing::{ProgramsLeft, settle_programs};
use crate::effect::{AskingSession, PerformedEffect, perform};
use crate::executor::Assignment;
use crate::folder::{Folder, damaged};
use crate::orphan::OrphanFate;
use crate::outcome::EffectOutcome;
use crate::process::Process;
use crate::shelf::{Shelf, flow_of};
use crate::{Result, SessionSpace};

/// What became of an effect.
#[derive(Debug, Clone, PartialEq)]
pub enum HostedOutcome {
    /// It has an answer.
    Answered(RequestAnswer, AnswerSource),
    /// Nobody could answer, for this reason, which says nothing about what was asked. A run that is to
    /// stop takes the answer.
    Unanswered(RequestAnswer, String),
    /// It may be tried again, for this reason; else it has this answer.
    Faulted(RequestAnswer, String),
}

/// Performs an effect. Who waits for it may cancel it.
///
/// # Errors
/// Fails with a fault of our own: the effect has no answer then.
pub fn perform_hosted(
    space: &SessionSpace,
    start: &HostedStart,
    performance: &Performance,
    cancel: &CancelFlag,
) -> Result<HostedOutcome> {
    let folder = Folder::of(space, &start.session);
    let flow = flow_of(space, &folder, &start.flow)?;
    let record = start.record();
    let shelf = Shelf { space, folder: &folder, given: &[] };
    let executor = Assignment::of(&flow, &record).executor(shelf)?;
    let request = &performance.request;
    let work_folder = space.work_folder(&start.agent);
    if performance.class != EffectClass::Once {
        // An earlier attempt whose worker was lost may be under way still.
        let settled = settle_programs(&folder, performance, OrphanFate::Ended, cancel)?;
        if settled == ProgramsLeft::SomeLive {
            let id = &start.session;
            return Err(damaged(id, "a program of an earlier attempt cannot be ended"));
        }
    }
    let cancel = in_charge(start, performance, cancel, Some(folder.processes()));
    let place = EffectPlace { start, folder: work_folder.clone(), at: space.now() };
    if let Some(outcome) = performed(&executor, performance, &place, &cancel) {
        return Ok(outcome);
    }
    if request.kind == "exec" && !executor.is_scripted(request) {
        return executed(performance, &work_folder, cancel);
    }
    let asking = AskingSession {
        start: &record,
        flow: start.flow,
        behaviour: start.stamp.then_some(start.flow),
    };
    match perform(space, asking, performance)? {
        PerformedEffect::Answered(answer, by) => Ok(HostedOutcome::Answered(answer, by)),
        PerformedEffect::Waiting => {
            Err(damaged(&start.session, "it waits for a child that no host runs"))
        }
    }
}

/// Runs the program of an `exec` to its end.
fn executed(
    performance: &Performance,
    folder: &std::path::Path,
    cancel: CancelFlag,
) -> Result<HostedOutcome> {
    let (sender, receiver) = mpsc::channel();
    let _process = Process::start(performance, folder, cancel, sender);
    let Ok((_, EffectOutcome::Exec(ended))) = receiver.recv() else {
        let answer = RequestAnswer::Cancelled(CancelExtent::Unknown);
        return Ok(HostedOutcome::Unanswered(answer, "the program was lost sight of".to_owned()));
    };
    match ended.no_room {
        // What may happen once only is asked for again by its run: nothing of it has begun.
        Some(source) if performance.class == EffectClass::Once => {
            let why = format!("there is no room to start the program: {source}");
            let answer = RequestAnswer::Cancelled(CancelExtent::NotStarted);
            Ok(HostedOutcome::Unanswered(answer, why))
        }
        Some(source) => {
            let doing = "start a program in";
            let fault = FileError { doing, path: folder.to_owned(), source };
            Err(agentic_store::Error::File(fault).into())
        }
        None => Ok(match ended.fault {
            Some(why) => HostedOutcome::Faulted(ended.answer, why),
            None => HostedOutcome::Answered(ended.answer, AnswerSource::Executor),
        }),
    }
}
