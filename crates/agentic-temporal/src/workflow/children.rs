//! Child sessions: workflows of their own, which report their end to the run that waits for them.
//!
//! The server's own policy for children also strikes at a roll-over, so it is always to leave them
//! alone; the run carries out the recorded one before it closes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use agentic_replay::{
    AnswerSource, CancelExtent, Path, ProgramFailure, RequestAnswer, SessionId, WithdrawnRequest,
    parent_of,
};
use agentic_session::hosted::{Close, begins_a_session, child_answer, close_policy};
use temporalio_sdk::{
    ChildWorkflowOptions, ChildWorkflowStartError, ParentClosePolicy, SignalWorkflowOptions,
    StartChildWorkflowExecutionFailedCause, WorkflowCancellationToken, WorkflowIdReusePolicy,
};

use crate::activity::ContinueActivity;
use crate::client::TASK_WITHIN;
use crate::decision::{CancelAsk, ChildEnd};
use crate::error::whole;
use crate::search::of_start;
use crate::wire::{self, ChildAsk, RunInput, WireAnswer};
use crate::workflow::ServedRun;
use crate::workflow::event::Event;
use crate::workflow::hosting::{Hosting, WorkflowFault, withdrawn};
use crate::workflow::launch::of_upkeep;

/// The children of a run.
#[derive(Debug, Default)]
pub struct OpenChildren {
    /// Those that are waited for, and at which request.
    open: BTreeMap<String, Path>,
    /// The ends of those that nobody knows yet: their spawn has not answered.
    early: BTreeMap<String, ChildEnd>,
    /// Those that begin as soon as a task takes their input.
    beginning: VecDeque<(String, RunInput)>,
    /// Those that were told to stop and have not.
    stopping: BTreeSet<String>,
    /// What they came to while the run waits to stop itself.
    held: VecDeque<ChildEnd>,
    /// The run is to stop, so, once they have.
    cancelling: Option<CancelAsk>,
}

impl OpenChildren {
    /// Lists those that are waited for.
    pub fn open(&self) -> impl Iterator<Item = &String> {
        self.open.keys()
    }

    /// Returns how many are waited for.
    pub fn n_open(&self) -> usize {
        self.open.len()
    }

    /// Says whether some have yet to begin.
    pub fn are_to_begin(&self) -> bool {
        !self.beginning.is_empty()
    }

    /// Says whether all that were told to stop have.
    pub fn have_stopped(&self) -> bool {
        self.stopping.is_empty() && self.cancelling.is_none()
    }

    fn at(&self, path: &Path) -> Option<String> {
        self.open.iter().find(|(_, at)| *at == path).map(|(child, _)| child.clone())
    }
}

impl Hosting<'_> {
    /// Takes in that a session is the child of a request, and has it run unless it does.
    pub(super) fn spawned(&mut self, path: Path, ask: ChildAsk) -> Result<(), WorkflowFault> {
        let ChildAsk { session: child, input } = ask;
        if let Some(end) = self.children.early.remove(&child) {
            self.children.open.insert(child, path);
            return self.child_ended(end);
        }
        let is_withdrawn = self.withdrawn.remove(&path);
        let close = self.session.unanswered().find(|request| request.path == path);
        let close = close.and_then(|request| close_policy(request));
        if is_withdrawn && close == Some(Close::Cancel) {
            if input.is_none() {
                self.stop_child(&child, &nobody_waits());
            }
            let answer = RequestAnswer::Cancelled(CancelExtent::NotStarted);
            self.computed.push_back((path, answer, withdrawn()));
            return Ok(());
        }
        if let Some(input) = input {
            let input = self.input_of(input);
            self.children.beginning.push_back((child.clone(), input));
        }
        if is_withdrawn && close == Some(Close::Abandon) {
            let answer = RequestAnswer::Cancelled(CancelExtent::Stopped);
            self.computed.push_back((path, answer, withdrawn()));
            return Ok(());
        }
        self.children.open.insert(child, path);
        Ok(())
    }

    /// Returns the input of a run that this one begins.
    fn input_of(&self, input: RunInput) -> RunInput {
        let clock = self.input.clock.map(|_| self.now().millis());
        RunInput { clock, ..input.under(&self.input) }
    }

    /// Begins the children that were spawned, as many as this task takes.
    pub(super) fn begin_children(&mut self) {
        while let Some((_, input)) = self.children.beginning.front() {
            let n_bytes = serde_json::to_string(input).map_or(0, |text| text.len());
            if !self.has_room(n_bytes) {
                return;
            }
            if let Some((child, input)) = self.children.beginning.pop_front() {
                self.begin_child(&child, input);
            }
        }
    }

    /// Starts the workflow of a child. One that is there already is the child.
    fn begin_child(&mut self, child: &str, input: RunInput) {
        let summary = format!("{} as {}", input.start.key, input.start.agent);
        let mut options = of_child(child, &input);
        options.static_summary = Some(summary);
        let started = self.ctx.start_child_workflow(ServedRun::run, input, options);
        let child = child.to_owned();
        self.flight.begin(async move {
            let exists = StartChildWorkflowExecutionFailedCause::WorkflowAlreadyExists;
            match started.await {
                Ok(started) => {
                    let _it_said_itself = started.result().await;
                    Event::ChildClosed(child)
                }
                Err(ChildWorkflowStartError::StartFailed { cause, .. }) if cause == exists => {
                    Event::Looked
                }
                Err(error) => Event::Broken(whole(&error)),
            }
        });
    }

    /// Takes in what a child says that it came to.
    pub(super) fn child_ended(&mut self, end: ChildEnd) -> Result<(), WorkflowFault> {
        self.children.stopping.remove(&end.child);
        if self.children.cancelling.is_some() {
            self.children.held.push_back(end);
            return Ok(());
        }
        let Some(path) = self.children.open.remove(&end.child) else {
            self.children.early.insert(end.child.clone(), end);
            return Ok(());
        };
        let Some(id) = SessionId::parse(&end.child) else { return Ok(()) };
        if !self.session.unanswered().any(|request| request.path == path) {
            return Ok(());
        }
        let answer = match end.answer.answer()? {
            RequestAnswer::Ok(value) => RequestAnswer::Ok(self.language.child_result(value)),
            answer => answer,
        };
        let progress = self.session.answered(&path, answer, AnswerSource::Child(id), self.now())?;
        self.take_in(progress)
    }

    /// Takes in that the workflow of a child is closed. One that the server ended has said nothing.
    pub(super) fn child_closed(&mut self, child: String) -> Result<(), WorkflowFault> {
        self.children.stopping.remove(&child);
        let is_held = self.children.held.iter().any(|end| end.child == child);
        if is_held || !self.children.open.contains_key(&child) {
            return Ok(());
        }
        let failure = ProgramFailure::new("cancelled", "the server ended the child");
        let answer = WireAnswer::of(&RequestAnswer::Failed(failure));
        self.child_ended(ChildEnd { child, answer })
    }

    /// Takes in that a wish to stop has reached a child, or that there is none.
    pub(super) fn told(&mut self, gone: Option<String>) {
        self.n_activities -= 1;
        if let Some(child) = gone {
            self.children.stopping.remove(&child);
        }
    }

    fn stop_child(&mut self, child: &str, cancel: &CancelAsk) {
        let n_before = self.children.beginning.len();
        self.children.beginning.retain(|(one, _)| one != child);
        if self.children.beginning.len() < n_before {
            // It has not begun, and does not.
            return;
        }
        self.children.stopping.insert(child.to_owned());
        let other = self.ctx.external_workflow(child, None);
        let told = other.signal(ServedRun::cancel, wire::told(cancel), detached_signal());
        self.n_activities += 1;
        let child = child.to_owned();
        self.flight.begin(async move { Event::Told(told.await.err().map(|_| child)) });
    }

    /// Does with the child of a request that nobody waits for any more what its policy says. Says
    /// whether the request has or gets its answer that way.
    pub(super) fn withdraw_child(&mut self, request: &WithdrawnRequest) -> bool {
        let path = &request.request.path;
        if !begins_a_session(&request.request) {
            return false;
        }
        let Some(child) = self.children.at(path) else {
            let is_under_way = self.tokens.contains_key(path);
            if is_under_way {
                self.withdrawn.insert(path.clone());
            }
            return is_under_way;
        };
        match close_policy(&request.request) {
            // It goes on, and its request is answered with what it comes to.
            Some(Close::Wait) => return true,
            Some(Close::Abandon) => {}
            Some(Close::Cancel) | None => self.stop_child(&child, &nobody_waits()),
        }
        self.children.open.remove(&child);
        let answer = RequestAnswer::Cancelled(CancelExtent::Stopped);
        self.computed.push_back((path.clone(), answer, withdrawn()));
        true
    }

    /// Tells the children to stop that stop with the run, before it stops itself. Says whether there are
    /// such.
    pub(super) fn stop_children(&mut self, cancel: &CancelAsk) -> bool {
        let stops = |path: &Path| {
            let request = self.session.unanswered().find(|request| request.path == *path);
            request.is_some_and(|request| close_policy(request) == Some(Close::Cancel))
        };
        let open = self.children.open.iter().filter(|(_, path)| stops(path));
        let children: Vec<String> = open.map(|(child, _)| child.clone()).collect();
        for child in &children {
            self.stop_child(child, cancel);
        }
        if children.is_empty() && self.children.stopping.is_empty() {
            return false;
        }
        self.children.cancelling = Some(cancel.clone());
        true
    }

    /// Stops the run that waited for its children, once they have stopped, and takes in what they came
    /// to.
    pub(super) fn stop_after_children(&mut self) -> Result<(), WorkflowFault> {
        if !self.children.stopping.is_empty() {
            return Ok(());
        }
        let Some(cancel) = self.children.cancelling.take() else { return Ok(()) };
        self.stop(cancel)?;
        while let Some(end) = self.children.held.pop_front() {
            self.child_ended(end)?;
        }
        Ok(())
    }

    /// Tells the run that waits for this one, if one does, what it came to; and begins the session that
    /// it goes on as.
    pub(super) async fn pass_on(&mut self) {
        let Some(end) = self.end.clone() else { return };
        if end.continued_with().is_some() {
            self.go_on().await;
        }
        let Some(parent) = parent_of(&self.session.started().key) else { return };
        let child = self.session.started().session.to_string();
        let answer = WireAnswer::bounded(&child_answer(&end), "the result");
        let end = ChildEnd { child, answer };
        let other = self.ctx.external_workflow(parent.to_string(), None);
        // One that is over waits for nobody.
        let _ = other.signal(ServedRun::child_ended, wire::told(&end), detached_signal()).await;
    }

    async fn go_on(&mut self) {
        let run = self.input.start.clone();
        let options = of_upkeep("continue".to_owned());
        let next = self.ctx.execute_activity(ContinueActivity, run, options).await;
        let Ok(Some(ChildAsk { session, input: Some(input) })) = next else { return };
        let input = self.input_of(input);
        let options = of_child(&session, &input);
        let _it_may_be_there = self.ctx.start_child_workflow(ServedRun::run, input, options).await;
    }
}

/// How the workflow of a child begins: it goes on whatever becomes of this one.
fn of_child(session: &str, input: &RunInput) -> ChildWorkflowOptions {
    ChildWorkflowOptions::builder()
        .search_attributes(of_start(&input.start, &input.search))
        .workflow_id(session.to_owned())
        .parent_close_policy(ParentClosePolicy::Abandon)
        .id_reuse_policy(WorkflowIdReusePolicy::RejectDuplicate)
        .cancellation_token(WorkflowCancellationToken::new())
        .task_timeout(TASK_WITHIN)
        .build()
}

/// Says that nobody waits for a child any more.
fn nobody_waits() -> CancelAsk {
    CancelAsk {
        who: "system:withdrawn".to_owned(),
        why: "nobody waits for the result any more".to_owned(),
        kill: false,
    }
}

/// What is sent to other runs is sent whatever becomes of this one.
fn detached_signal() -> SignalWorkflowOptions {
    SignalWorkflowOptions::builder().cancellation_token(WorkflowCancellationToken::new()).build()
}
