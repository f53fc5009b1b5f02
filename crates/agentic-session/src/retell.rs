//! What a run said, told again from its records.
//!
//! A session that was broken off and resumed has run in several processes, and none of them saw all
//! of it. Its records did: running the program over them once more gives every event with the
//! time at which it happened, in every process and as often as one likes.

use agentic_model::Instant;
use agentic_replay::{
    Delivery, Program, ProgramEvent, Seed, Session, SessionId, SessionSetting, Start, TraceDetail,
    Turn,
};

use super::folder::{Folder, Values};
use super::language::engine_of;
use super::language::kinds_of;
use super::load::replay_error;
use super::own::read_journal;
use super::shelf::{Shelf, flow_of};
use crate::{Result, SessionSpace};

/// Tells `listener` what the program of a session said so far, trace events included, in order.
/// Performs and writes nothing.
///
/// # Errors
/// Fails when there is no such session, when its records are damaged, and when its program does
/// something else than was recorded.
pub fn retell(
    space: &SessionSpace,
    id: &SessionId,
    listener: &mut dyn FnMut(ProgramEvent),
) -> Result<()> {
    let journal = read_journal(space, id)?;
    let folder = Folder::of(space, id);
    let flow = flow_of(space, &folder, &journal.flow())?;
    let (engine, kinds) = (engine_of(&flow, journal.start())?, kinds_of(&flow)?);
    let values = Values::of(space, &journal);
    let setting = SessionSetting { engine: &engine, kinds: &kinds, objects: &values };
    let shelf = Shelf { space, folder: &folder, given: &[] };
    let program = shelf.program(&flow, &engine, TraceDetail::Everything)?;
    let program = HeardProgram { program, listener };
    let loaded = Session::load(&journal, program, setting, &mut |_, _| {});
    let (_, _nothing_is_carried_on) = loaded.map_err(|error| replay_error(id, error))?;
    Ok(())
}

/// A program whose events are heard, which a replay would not show.
struct HeardProgram<'l> {
    program: Box<dyn Program>,
    listener: &'l mut dyn FnMut(ProgramEvent),
}

impl HeardProgram<'_> {
    fn listen(&mut self, mut turn: Turn) -> Turn {
        turn.events.drain(..).for_each(&mut *self.listener);
        turn
    }
}

impl Program for HeardProgram<'_> {
    fn start(&mut self, start: &Start) -> Turn {
        let turn = self.program.start(start);
        self.listen(turn)
    }

    fn deliver(&mut self, delivery: Delivery) -> Turn {
        let turn = self.program.deliver(delivery);
        self.listen(turn)
    }

    fn cancel(&mut self, reason: &str, at: Instant) -> Turn {
        let turn = self.program.cancel(reason, at);
        self.listen(turn)
    }

    fn reseed(&mut self, seed: Seed) {
        self.program.reseed(seed);
    }

    fn mean_as(&mut self, semantics: u32) {
        self.program.mean_as(semantics);
    }
}
