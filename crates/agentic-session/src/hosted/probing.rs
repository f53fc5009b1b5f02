//! Effects that may happen once only and whose worker was lost: what is known of them, before people are
//! asked.

use std::sync::mpsc;

use agentic_model::Value;
use agentic_providers::host::CancelFlag;
use agentic_providers::process::remains_of;
use agentic_replay::{Performance, RequestAnswer};

use super::HostedStart;
use super::outside::in_charge;
use crate::folder::Folder;
use crate::orphan::{OrphanFate, settle};
use crate::outcome::EffectOutcome;
use crate::probe::{CLEARED, DID_NOT_HAPPEN, HAPPENED};
use crate::process::{Process, probe_of};
use crate::{Result, SessionSpace};

/// What is known of an effect whose worker was lost.
#[derive(Debug, Clone, PartialEq)]
pub enum LostEffect {
    /// It happened, and came to this.
    Happened(RequestAnswer),
    /// It has not happened, for this reason.
    NotHappened(&'static str),
    /// Nobody knows.
    Unknown,
}

/// Whether programs of an effect live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgramsLeft {
    /// None does.
    None,
    /// One may.
    SomeLive,
}

/// Waits for the program of an effect that was lost sight of, and asks its probe, if it names one.
///
/// # Errors
/// Fails when it cannot be told which programs live.
pub fn probe_hosted(
    space: &SessionSpace,
    start: &HostedStart,
    performance: &Performance,
    cancel: &CancelFlag,
) -> Result<LostEffect> {
    let folder = Folder::of(space, &start.session);
    let left = settle_programs(&folder, performance, OrphanFate::AwaitedFirst, cancel)?;
    let probe = probe_of(&performance.request.payload);
    // What may still run cannot be told by a probe.
    let (ProgramsLeft::None, "exec", Some(Ok(probe))) =
        (left, performance.request.kind.as_str(), probe)
    else {
        return Ok(LostEffect::Unknown);
    };
    let cancel = in_charge(start, performance, cancel, Some(folder.processes()));
    let (sender, receiver) = mpsc::channel();
    let work_folder = space.work_folder(&start.agent);
    let _process = Process::probe(performance, probe, &work_folder, cancel, sender);
    let Ok((_, EffectOutcome::Probe(ended))) = receiver.recv() else {
        return Ok(LostEffect::Unknown);
    };
    let RequestAnswer::Ok(value) = &ended.answer else { return Ok(LostEffect::Unknown) };
    Ok(match value.get("status").and_then(Value::as_int) {
        Some(HAPPENED) => LostEffect::Happened(ended.answer),
        Some(DID_NOT_HAPPEN) => LostEffect::NotHappened(CLEARED),
        Some(_) | None => LostEffect::Unknown,
    })
}

/// Waits for the programs that were started for a request, or ends them.
pub(super) fn settle_programs(
    folder: &Folder,
    performance: &Performance,
    fate: OrphanFate,
    cancel: &CancelFlag,
) -> Result<ProgramsLeft> {
    let place = folder.processes();
    let left = remains_of(&place, &performance.id.to_string());
    let left = left.map_err(agentic_store::Error::io("read", &place))?;
    for unbegun in &left.unbegun {
        unbegun.forget();
    }
    let settled = settle(&left.orphans, fate, cancel);
    Ok(match settled {
        EffectOutcome::Orphans { are_over: false } => ProgramsLeft::SomeLive,
        EffectOutcome::Orphans { are_over: true }
        | EffectOutcome::Exec(_)
        | EffectOutcome::Probe(_)
        | EffectOutcome::Answer(_)
        | EffectOutcome::Child(_) => ProgramsLeft::None,
    })
}
