//! Who performs what needs no repository: any worker, on any machine.

use std::path::PathBuf;

use agentic_model::{Instant, Object};
use agentic_providers::host::CancelFlag;
use agentic_session::hosted::{CarriedProgram, EffectPlace, perform_outside};
use serde::{Deserialize, Serialize};

use crate::activity::{blocking, broken, reply_of_effect};
use crate::attempt::{ActivityAttempt, ActivityOutcome};
use crate::wire::{EffectAsk, EffectReply, packed, unpacked};

/// The longest program that goes along with what it asks, in bytes.
const PROGRAM_BYTES_MAX: usize = 64 << 10;

/// A program on its way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireProgram {
    /// Its object, and those that it names, in Base64.
    pub objects: Vec<String>,
    /// The run that agents are told they are called by.
    pub run_id: String,
}

impl WireProgram {
    /// Takes a program up; nothing where it is too long to go along.
    pub fn of(program: &CarriedProgram) -> Option<WireProgram> {
        let objects: Vec<Vec<u8>> =
            program.objects.iter().map(|object| object.bytes().to_vec()).collect();
        let n_bytes: usize = objects.iter().map(Vec::len).sum();
        let objects = objects.iter().map(|bytes| packed(bytes)).collect();
        let run_id = program.run_id.clone();
        (n_bytes <= PROGRAM_BYTES_MAX).then_some(WireProgram { objects, run_id })
    }

    /// Gives it back; nothing where it is none.
    fn program(&self) -> Option<CarriedProgram> {
        let object = |text: &String| Object::decode(&unpacked(text).ok()?).ok();
        let objects = self.objects.iter().map(object).collect::<Option<_>>()?;
        Some(CarriedProgram { objects, run_id: self.run_id.clone() })
    }
}

/// An effect that is performed without a repository.
#[derive(Debug)]
pub struct OutsideEffect {
    /// Where.
    pub folder: PathBuf,
    /// The effect.
    pub effect: EffectAsk,
    /// The program that goes along with it.
    pub program: WireProgram,
}

/// Performs an effect in a folder, by the program that goes along with it.
pub async fn perform(
    attempt: &ActivityAttempt,
    outside: OutsideEffect,
) -> ActivityOutcome<EffectReply> {
    let OutsideEffect { folder, effect, program } = outside;
    let start = effect.run.start().map_err(|error| broken(&error))?;
    let performance = effect.performance().map_err(|error| broken(&error))?;
    let bad = crate::wire::BadWire { what: "program" };
    let program = program.program().ok_or_else(|| broken(&bad))?;
    let flag = CancelFlag::new();
    let (told, at) = (flag.clone(), Instant::from_millis(effect.at));
    let class = performance.class;
    let done = blocking(attempt, Some(&flag), move || {
        let place = EffectPlace { start: &start, folder, at };
        perform_outside(&program, &performance, &place, &told)
    });
    reply_of_effect(done.await?, attempt, class)
}
