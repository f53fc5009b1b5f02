//! What a hook has got to know so far, for the line in the error log.

use std::cell::{Cell, RefCell};

use agentic_store::Layout;

use super::HookRequest;
use crate::Source;
use crate::error_log::{CaptureFault, note};
use crate::event::HookEvent;

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
        event.name.clone_into(&mut self.event.borrow_mut());
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
