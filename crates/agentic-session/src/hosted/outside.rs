//! Effects that need no repository: who performs them is given the program, and has nothing else of it.

use std::path::PathBuf;

use agentic_host::{OutsideSetting, PerformerSetting, RunExecutor, RunSetting};
use agentic_model::{Cid, Instant, Object};
use agentic_providers::host::CancelFlag;
use agentic_providers::model::Repeats;
use agentic_providers::process::Charge;
use agentic_providers::provider::CallStamp;
use agentic_replay::record::is_allowed;
use agentic_replay::{
    AnswerSource, CancelExtent, Performance, PinnedProgram, RequestAnswer, TraceDetail,
};

use super::{HostedOutcome, HostedStart};
use crate::children::run_id;
use crate::folder::Folder;
use crate::language::{kinds_of, of_fault, registered};
use crate::shelf::{Shelf, flow_of};
use crate::{Result, SessionSpace};

/// A program as it is carried to who has no repository.
#[derive(Debug, Clone, PartialEq)]
pub struct CarriedProgram {
    /// Its object, and those that it names.
    pub objects: Vec<Object>,
    /// The run that agents are told they are called by.
    pub run_id: String,
}

impl CarriedProgram {
    /// Takes up the program of a run.
    ///
    /// # Errors
    /// Fails when it is not here.
    pub fn of(space: &SessionSpace, start: &HostedStart) -> Result<CarriedProgram> {
        let folder = Folder::of(space, &start.session);
        let flow = flow_of(space, &folder, &start.flow)?;
        let shelf = Shelf { space, folder: &folder, given: &[] };
        let mut objects = shelf.parts(&flow)?;
        objects.insert(0, flow);
        Ok(CarriedProgram { objects, run_id: run_id(space, &start.key) })
    }

    /// Makes the executor of the run.
    fn executor(&self, start: &HostedStart) -> Result<RunExecutor> {
        let objects = |cid: &Cid| self.objects.iter().find(|it| it.cid() == *cid).cloned();
        let unknown = || crate::error::SessionError::Unknown { id: start.flow.to_string() };
        let flow = objects(&start.flow).ok_or_else(unknown)?;
        let registered = registered(&flow)?;
        let run_id = || self.run_id.clone();
        let allows = |kind: &str| is_allowed(&start.allow, kind);
        let run = Some(RunSetting { run_id: &run_id, allows: &allows });
        let (semantics, detail) = (registered.language.semantics(), TraceDetail::Told);
        let pinned = PinnedProgram { flow: &flow, objects: &objects, semantics, detail };
        let performer = (registered.performer)(&PerformerSetting { pinned, run });
        let performer = performer.map_err(|fault| of_fault(&flow, fault))?;
        Ok(RunExecutor::of(kinds_of(&flow)?, performer))
    }
}

/// From where an effect is performed.
#[derive(Debug, Clone)]
pub struct EffectPlace<'a> {
    /// Whose it is.
    pub start: &'a HostedStart,
    /// The folder that programs run in, and whose configuration counts.
    pub folder: PathBuf,
    /// The time that what it makes has.
    pub at: Instant,
}

/// Performs an effect where there is no repository, in a folder whose configuration counts. Who waits
/// for it may cancel it.
///
/// # Errors
/// Fails when the program is none.
pub fn perform_outside(
    program: &CarriedProgram,
    performance: &Performance,
    place: &EffectPlace<'_>,
    cancel: &CancelFlag,
) -> Result<HostedOutcome> {
    let executor = program.executor(place.start)?;
    // Where there is no repository nobody comes later to look after programs.
    let cancel = in_charge(place.start, performance, cancel, None);
    let performed = performed(&executor, performance, place, &cancel);
    Ok(performed.unwrap_or_else(|| {
        let kind = &performance.request.kind;
        let answer = RequestAnswer::Cancelled(CancelExtent::NotStarted);
        HostedOutcome::Unanswered(answer, format!("`{kind}` needs the repository of the run"))
    }))
}

/// Says who answers for what is started for an effect, and where files tell of it.
pub(super) fn in_charge(
    start: &HostedStart,
    performance: &Performance,
    cancel: &CancelFlag,
    folder: Option<PathBuf>,
) -> CancelFlag {
    cancel.clone().in_charge(Charge {
        agent: Some(start.agent.to_string()),
        request: Some(performance.id.to_string()),
        folder,
        reserved: None,
    })
}

/// Has somebody outside perform an effect; nothing where nobody outside does.
pub(super) fn performed(
    executor: &RunExecutor,
    performance: &Performance,
    place: &EffectPlace<'_>,
    cancel: &CancelFlag,
) -> Option<HostedOutcome> {
    let (session, key) = (place.start.session.to_string(), performance.id.to_string());
    let outside = executor.outside(&performance.request, || {
        let (session, found) = (session.clone(), performance.found.clone());
        let run = session.clone();
        let stamp = CallStamp { session, request_id: performance.id, at: place.at, found };
        let stamp = Ok((stamp, Repeats::Model));
        OutsideSetting { folder: place.folder.clone(), run, key, stamp }
    });
    let work = match outside? {
        Ok(work) => work,
        Err(answer) => return Some(HostedOutcome::Answered(answer, AnswerSource::Executor)),
    };
    let response = work.perform(cancel);
    Some(match response.unanswered {
        Some(why) => HostedOutcome::Unanswered(response.answer, why),
        None => HostedOutcome::Answered(response.answer, AnswerSource::Executor),
    })
}
