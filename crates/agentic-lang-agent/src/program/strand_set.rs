//! The strands of a run and the agenda: which of them can go on.

use std::collections::VecDeque;

use crate::code;
use crate::program::fault::MachineFault;
use crate::program::strand::{Strand, StrandId};

/// How many strands there may be at once.
pub const STRANDS_MAX: usize = 100_000;

/// Something that can go on.
#[derive(Debug, Clone, Copy)]
pub(super) enum Todo {
    Advance(StrandId),
    /// Start branches that have room, or end the parallel block.
    Branches(StrandId),
}

/// All strands of a run, by their places. A strand that runs is taken out.
#[derive(Debug, Default)]
pub(super) struct StrandSet {
    strands: Vec<Option<Strand>>,
    free: Vec<StrandId>,
    agenda: VecDeque<Todo>,
}

impl StrandSet {
    /// Adds a strand.
    pub fn add(&mut self, strand: Strand) -> Result<StrandId, MachineFault> {
        if let Some(id) = self.free.pop() {
            self.strands[id] = Some(strand);
            return Ok(id);
        }
        if self.strands.len() == STRANDS_MAX {
            let text = format!("more than {STRANDS_MAX} branches run at once");
            return Err(MachineFault::new(code::TOO_MANY_BRANCHES, text));
        }
        self.strands.push(Some(strand));
        Ok(self.strands.len() - 1)
    }

    /// Takes a strand out to run it.
    pub fn take(&mut self, id: StrandId) -> Strand {
        self.strands[id].take().expect("a strand on the agenda is there")
    }

    /// Puts a strand back to its place, unless the run ended meanwhile.
    pub fn put_back(&mut self, id: StrandId, strand: Strand) {
        if let Some(place) = self.strands.get_mut(id) {
            *place = Some(strand);
        }
    }

    /// Forgets a strand that has ended, or never began.
    pub fn release(&mut self, id: StrandId) {
        self.free.push(id);
    }

    /// Returns a strand that waits for its branches.
    pub fn parent(&self, id: StrandId) -> &Strand {
        self.strands[id].as_ref().expect("a parent waits for its branches")
    }

    /// Returns a strand that waits for its branches, to change it.
    pub fn parent_mut(&mut self, id: StrandId) -> &mut Strand {
        self.strands[id].as_mut().expect("a parent waits for its branches")
    }

    /// Lets something go on after all that can go on already.
    pub fn later(&mut self, todo: Todo) {
        self.agenda.push_back(todo);
    }

    /// Returns what goes on next.
    pub fn next(&mut self) -> Option<Todo> {
        self.agenda.pop_front()
    }

    /// Returns all strands but the one that runs.
    pub fn resting(&self) -> impl Iterator<Item = &Strand> {
        self.strands.iter().flatten()
    }

    /// Forgets all strands.
    pub fn clear(&mut self) {
        self.agenda.clear();
        self.strands.clear();
        self.free.clear();
    }
}
