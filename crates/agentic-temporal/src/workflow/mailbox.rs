//! What a run waits for: what is told it first, then completions by request.

use std::future::Future;
use std::task::Poll;

use crate::decision::CancelAsk;
use crate::workflow::event::Event;
use crate::workflow::hosting::Hosting;
use crate::workflow::{ServedRun, detached};

impl Hosting<'_> {
    /// Waits for what comes next: decisions, signals and requests to stop first, then completions by
    /// request.
    pub(super) async fn next(&mut self) -> Event {
        loop {
            if let Some(event) = self.mail() {
                return event;
            }
            let arrived = std::future::poll_fn(|cx| Poll::Ready(self.flight.poll(cx))).await;
            if let Some(event) = arrived {
                return event;
            }
            self.ctx.state_mut(|run| run.desk.all_seen());
            let has_mail = |run: &ServedRun| run.desk.has_mail();
            let mut mailed = Box::pin(self.ctx.wait_condition_with_options(has_mail, detached()));
            let root = self.ctx.cancellation_token();
            let mut stopped = Box::pin(root.cancelled());
            let (flight, watches) = (&mut self.flight, !self.is_stopping);
            let event = std::future::poll_fn(|cx| {
                if mailed.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(None);
                }
                if let Some(event) = flight.poll(cx) {
                    return Poll::Ready(Some(event));
                }
                let is_stopped = watches && stopped.as_mut().poll(cx).is_ready();
                if is_stopped { Poll::Ready(None) } else { Poll::Pending }
            });
            if let Some(event) = event.await {
                return event;
            }
            let have_answered = self.ctx.state_mut(|run| run.desk.have_answered());
            if have_answered || self.ctx.state(|run| run.desk.is_seal_wanted) {
                return Event::Looked;
            }
        }
    }

    fn mail(&mut self) -> Option<Event> {
        let token = self.ctx.cancellation_token();
        if !self.is_stopping && token.is_cancelled() {
            let why = token.reason().unwrap_or_default();
            return Some(Event::Cancel(CancelAsk { who: "temporal".to_owned(), why, kill: false }));
        }
        self.ctx.state_mut(|run| {
            let desk = &mut run.desk;
            let cancel = desk.cancels.pop_front().map(Event::Cancel);
            let told = cancel.or_else(|| desk.take_decided().map(Event::Decided));
            let told = told.or_else(|| desk.signals.pop_front().map(Event::Signal));
            told.or_else(|| desk.child_ends.pop_front().map(Event::ChildEnded))
        })
    }
}
