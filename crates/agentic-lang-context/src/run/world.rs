//! What all tasks of a run share.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use agentic_model::{Instant, Value as Data};
use agentic_replay::{End, Path, ProgramEvent, ProgramFailure, ProgramPosition, Request};

use crate::code::CodePlace;
use crate::error::{LIMIT, PROGRAM_FAILED};
use crate::json::{self, Json};
use crate::module::{ContextOptions, ModuleShared, TraceMode};
use crate::value::ContextValue;

use super::fault::{FaultKind, TaskFault};
use super::meaning::DialectMeaning;
use super::task::ContextTask;

/// The kind of events that carry one event of the language's trace.
pub const TRACE_EVENT: &str = "trace";
/// The kind of events that carry text for the people who watch.
pub const DEBUG_EVENT: &str = "debug";

/// What all tasks of a run share.
pub(super) struct RunWorld {
    pub module: Arc<ModuleShared>,
    pub options: ContextOptions,
    pub meaning: DialectMeaning,
    /// The data of imported files, shared by reference like any value.
    pub files: Vec<ContextValue>,
    /// The candidate of every `use`, and the hint that named none of them.
    pub picked: Vec<PickedCandidate>,
    pub opened: Vec<Request>,
    pub events: Vec<ProgramEvent>,
    pub now: Instant,
    pub steps_left: u64,
    /// What was done since the last instruction beyond it, in instructions.
    pub touched: Cell<u64>,
    /// How many bytes of values were made since all were measured.
    pub made_bytes: Cell<u64>,
    /// How many bytes of events wait for the calls around them.
    pub held_bytes: u64,
    /// How many programs lie around this one.
    pub child_depth: u32,
}

/// Which candidate of a `use` a run takes, and why.
#[derive(Debug, Clone)]
pub(super) struct PickedCandidate {
    pub candidate: usize,
    pub reason: PickReason,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PickReason {
    /// There was nothing to choose.
    Plain,
    Trial,
    Selected,
    First,
    /// The hint names a candidate that is not there.
    UnknownHint(Rc<str>),
}

/// How a task stopped running for now.
pub(super) enum TaskPause {
    /// It waits for the answer to a request.
    Asked(Path),
    /// It waits for the iterations of a `parallel for`.
    Forked,
    /// It made so much that all values of the run have to be measured.
    Grown,
    Ended(ContextValue),
    Failed(TaskFault),
}

impl RunWorld {
    pub fn result(&self, value: &ContextValue) -> End {
        match value.to_json(&self.module.code) {
            Ok(json) => End::Done(json::to_value(&json)),
            Err(unshowable) => {
                let failure = ProgramFailure::new(LIMIT, format!("the result: {unshowable}"));
                End::Failed(failure)
            }
        }
    }

    /// Opens a request at the next place of the task's context.
    pub fn ask(
        &mut self,
        task: &mut ContextTask,
        place: CodePlace,
        kind: &str,
        payload: Data,
    ) -> Path {
        let path = task.context_mut().scope.next_path();
        self.open(place, Request::new(path.clone(), kind, payload));
        path
    }

    /// Opens a request that was made at a place of the program.
    pub fn open(&mut self, place: CodePlace, mut request: Request) {
        let position = self.module.position(place);
        request.position = Some(ProgramPosition {
            line: u32::try_from(position.line).unwrap_or(u32::MAX),
            column: u32::try_from(position.column).unwrap_or(u32::MAX),
        });
        self.opened.push(request);
    }

    pub fn traces(&self) -> bool {
        self.options.tracing == TraceMode::Full
    }

    /// Adds an event to the trace of the task's context; that of the outermost goes out at once.
    pub fn trace(&mut self, task: &mut ContextTask, event: Json) {
        if task.is_outermost() {
            self.events
                .push(ProgramEvent { kind: TRACE_EVENT.to_owned(), data: json::to_value(&event) });
        } else {
            task.trace_mut().push(event, &mut self.held_bytes);
        }
    }

    /// Returns the message of a fault with its position.
    pub fn message(&self, fault: &TaskFault) -> String {
        match fault.kind {
            FaultKind::Program | FaultKind::Limit => {
                let position = self.module.position(fault.place);
                format!("{} at {}:{}", fault.message, position.line, position.column)
            }
            FaultKind::Inner => fault.message.clone(),
        }
    }

    pub fn failure(&self, fault: &TaskFault) -> ProgramFailure {
        let position = self.module.position(fault.place);
        let code = match fault.kind {
            FaultKind::Program | FaultKind::Inner => PROGRAM_FAILED,
            FaultKind::Limit => LIMIT,
        };
        let details = Data::map([
            ("file", Data::Int(i64::from(fault.place.file))),
            ("line", Data::Int(position.line as i64)),
            ("column", Data::Int(position.column as i64)),
            ("start", Data::Int(i64::from(fault.place.start))),
            ("end", Data::Int(i64::from(fault.place.end))),
        ]);
        ProgramFailure { details, ..ProgramFailure::new(code, self.message(fault)) }
    }
}

/// Chooses the candidate of a `use`: the hint, the selected one, or the first.
pub(super) fn pick(site: &crate::code::UseSite, options: &ContextOptions) -> PickedCandidate {
    let Some(choice) = &site.choice else {
        return PickedCandidate { candidate: 0, reason: PickReason::Plain };
    };
    if let Some(hint) = options.variant.get(&*choice.site_id) {
        let named = site.candidates.iter().position(|candidate| *candidate.name == **hint);
        return match named {
            Some(candidate) => PickedCandidate { candidate, reason: PickReason::Trial },
            None => PickedCandidate {
                candidate: 0,
                reason: PickReason::UnknownHint(hint.as_str().into()),
            },
        };
    }
    match choice.selected {
        Some(candidate) => PickedCandidate { candidate, reason: PickReason::Selected },
        None => PickedCandidate { candidate: 0, reason: PickReason::First },
    }
}
