//! Requests that are under way: which ids they have, and which of them the client gave up.
//!
//! A client may give a request up at any moment. Where that comes before the request begins to write,
//! nothing is written, and nothing is answered. Where it comes later, the request is answered as if nobody
//! had given it up: so the client hears what was written.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use agentic_api::Refusal;
use rmcp::model::RequestId;
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::watch;

/// How far a request is. Copies are of the same request.
#[derive(Debug, Clone)]
pub struct CallProgress(watch::Sender<CallStand>);

/// How a request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallStand {
    /// It has written nothing yet.
    Open,
    /// It writes, or has written.
    Writing,
    /// The client gave it up before it wrote: it writes nothing any more.
    GivenUp,
    /// The client gave it up when it had begun to write.
    LetGo,
}

impl CallProgress {
    /// Makes that of a request that begins.
    pub fn begin() -> CallProgress {
        CallProgress(watch::Sender::new(CallStand::Open))
    }

    /// Returns that of the request which is answered.
    pub fn of(context: &RequestContext<RoleServer>) -> CallProgress {
        context.extensions.get().cloned().unwrap_or_else(CallProgress::begin)
    }

    /// Notes that the client gave the request up.
    pub fn give_up(&self) {
        self.0.send_modify(|stand| {
            *stand = match *stand {
                CallStand::Open | CallStand::GivenUp => CallStand::GivenUp,
                CallStand::Writing | CallStand::LetGo => CallStand::LetGo,
            }
        });
    }

    /// Says that the request writes now. From here on it is answered, whatever the client does.
    ///
    /// # Errors
    /// Fails when the client gave the request up: then nothing may be written.
    pub fn write(&self) -> Result<(), Refusal> {
        self.0.send_modify(|stand| {
            if *stand == CallStand::Open {
                *stand = CallStand::Writing;
            }
        });
        self.check()
    }

    /// Checks that the answer is still wanted.
    ///
    /// # Errors
    /// Fails when the client gave the request up before it wrote.
    pub fn check(&self) -> Result<(), Refusal> {
        match self.is_answered() {
            true => Ok(()),
            false => Err(Refusal::refused("the call was given up", "nothing was done")),
        }
    }

    /// Waits until the client gives the request up.
    pub async fn given_up(&self) {
        let is_over = |stand: &CallStand| match stand {
            CallStand::Open | CallStand::Writing => false,
            CallStand::GivenUp | CallStand::LetGo => true,
        };
        // Who waits has a sender itself, so that there always is one.
        let _ = self.0.subscribe().wait_for(is_over).await;
    }

    fn is_answered(&self) -> bool {
        match *self.0.borrow() {
            CallStand::Open | CallStand::Writing | CallStand::LetGo => true,
            CallStand::GivenUp => false,
        }
    }
}

/// The requests of a client that are under way. Copies are the same book.
#[derive(Debug, Clone, Default)]
pub struct CallBook(Arc<Mutex<HashMap<RequestId, CallProgress>>>);

impl CallBook {
    /// Enters a request; nothing, if another one has its id.
    pub fn enter(&self, id: &RequestId) -> Option<CallProgress> {
        let mut under_way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if under_way.contains_key(id) {
            return None;
        }
        let progress = CallProgress::begin();
        under_way.insert(id.clone(), progress.clone());
        Some(progress)
    }

    /// Notes that the client gave a request up.
    pub fn give_up(&self, id: &RequestId) {
        let under_way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(progress) = under_way.get(id) {
            progress.give_up();
        }
    }

    /// Takes a request out. Tells whether the client is answered.
    pub fn leave(&self, id: &RequestId) -> bool {
        let mut under_way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        under_way.remove(id).is_none_or(|progress| progress.is_answered())
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;

    use super::{CallBook, CallProgress};

    #[test]
    fn what_is_given_up_before_it_writes_writes_nothing() {
        let call = CallProgress::begin();
        call.give_up();
        assert!(call.write().is_err() && call.check().is_err());
    }

    #[test]
    fn what_is_given_up_while_it_writes_is_answered() {
        let (book, id) = (CallBook::default(), NumberOrString::Number(1));
        let call = book.enter(&id).expect("the id is free");
        call.write().expect("nobody gave it up");
        book.give_up(&id);
        assert!(call.write().is_ok() && book.leave(&id));
    }

    #[test]
    fn an_id_is_free_again_when_its_request_was_answered() {
        let (book, id) = (CallBook::default(), NumberOrString::String("a".into()));
        let _ = book.enter(&id).expect("the id is free");
        assert!(book.enter(&id).is_none());
        book.give_up(&id);
        assert!(!book.leave(&id));
        assert!(book.enter(&id).is_some());
    }
}
