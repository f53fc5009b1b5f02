//! What a hook has got to know so far, for the line in the error log.

use std::cell::{Cell, RefCell};

use agentic_store::Layout;

use super::HookRequest;
use crate::Source;
use crate::error_log::{CaptureFault, note};
use crate::event::HookEvent;

/// The longest name of an event that a line has, in bytes.
const NAME_BYTES_MAX: usize = 40;

/// Keeps what a line needs, and writes it.
pub(crate) struct HookLog {
    layout: RefCell<Option<Layout>>,
    source: Cell<Source>,
    event: RefCell<String>,
    asks: Cell<LeaveAsked>,
    clock: agentic_space::Clock,
}

/// Whether the event asks if a tool may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeaveAsked {
    Asked,
    NotAsked,
}

impl HookLog {
    pub fn new(request: &HookRequest<'_>) -> HookLog {
        HookLog {
            layout: RefCell::default(),
            source: Cell::new(request.source),
            event: RefCell::default(),
            asks: Cell::new(LeaveAsked::NotAsked),
            clock: request.options.space.clock,
        }
    }

    /// The event is known from now on.
    pub fn hears_of(&self, event: &HookEvent) {
        self.source.set(event.source);
        // What is no word is no vendor's name of an event.
        let is_word = event.name.len() <= NAME_BYTES_MAX && event.name.chars().all(is_of_name);
        let name = if is_word { event.name.as_str() } else { "unknown" };
        name.clone_into(&mut self.event.borrow_mut());
        let asks = event.asks_for_leave();
        self.asks.set(if asks { LeaveAsked::Asked } else { LeaveAsked::NotAsked });
    }

    /// The repository is known from now on. Before that nothing is written.
    pub fn opens(&self, layout: Option<Layout>) {
        *self.layout.borrow_mut() = layout;
    }

    pub fn asks_for_leave(&self) -> bool {
        self.asks.get() == LeaveAsked::Asked
    }

    /// Writes a line.
    pub fn note(&self, code: &str) {
        let Some(layout) = &*self.layout.borrow() else { return };
        let (at, source) = (self.clock.now(), Some(self.source.get()));
        let (event, code) = (self.event.borrow().clone(), code.to_owned());
        note(layout, &CaptureFault { at, source, event, code });
    }
}

/// Tells whether vendors' names of events have this character.
fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphabetic() || matches!(letter, '.' | '_' | '-')
}
