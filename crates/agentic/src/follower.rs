//! Verbs that tell something while they are under way.

use agentic_api::{Surroundings, VerbEvent, VerbWatcher};
use agentic_providers::host::CancelFlag;

use crate::commands::flow::status;
use crate::commands::session::{brief_line, print_record};
use crate::context::Context;
use crate::line_writer::LineWriter;
use crate::live::RunDisplay;
use crate::output::{Format, talk, warn_of};
use crate::program;
use crate::screen::{hear, plain};

/// Does something where this command stands, until the flag stops it; shows meanwhile what is told.
/// All of it is shown when this returns.
pub fn followed<T>(
    context: &Context,
    stop: &CancelFlag,
    mut show: impl FnMut(VerbEvent) + Send,
    act: impl FnOnce(Surroundings) -> T,
) -> T {
    let (mut watcher, told) = VerbWatcher::channel(stop.clone());
    (watcher.observer, watcher.grace) = (context.person(), context.grace());
    std::thread::scope(|scope| {
        scope.spawn(move || told.into_iter().for_each(&mut show));
        act(Surroundings { watcher, ..context.surroundings() })
    })
}

/// Prints what verbs tell.
pub struct EventPrinter<'c> {
    context: &'c Context,
    live: RunDisplay,
    lines: LineWriter,
}

impl<'c> EventPrinter<'c> {
    /// Begins to print; of programs of AgentLang what people are to see of them.
    pub fn new(context: &'c Context, live: RunDisplay) -> EventPrinter<'c> {
        EventPrinter { context, live, lines: LineWriter::default() }
    }

    /// Prints something.
    pub fn show(&mut self, event: VerbEvent) {
        match event {
            VerbEvent::Record(view) => print_record(self.context, &view),
            VerbEvent::Run(view) => status::show(self.context, &view),
            VerbEvent::Session(view) => self.context.format.answer(&view, brief_line),
            VerbEvent::Findings(findings) => match self.context.format {
                // Who reads JSON has them from `agentic check`, and an error here as one value.
                Format::Json => {}
                Format::Text => program::show(&findings),
            },
            VerbEvent::Said(event) => match self.live.line(&event) {
                Some(line) => self.lines.say(line),
                None => hear(&event),
            },
            VerbEvent::Shown(text) => talk(&plain(&text)),
            VerbEvent::Notice(notice) => warn_of(&[notice]),
        }
    }

    /// Waits until everything is printed.
    pub fn end(self) {
        self.lines.end();
    }
}
