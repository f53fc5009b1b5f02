//! Sessions that wait because nobody could answer: a key is missing, a server is gone.
//!
//! That says nothing about what was asked, so it is no answer and the program never hears of it. The
//! request stays open, with the reason, until somebody goes on with the session.

use agentic_replay::{ProgramFailure, SessionId, Summary, UNANSWERED};

use super::children::children;
use crate::SessionSpace;

/// Says why nobody could answer what a session asks, or a child that it waits for, and which of them
/// asks.
pub fn unanswered(space: &SessionSpace, summary: &Summary) -> Option<(SessionId, ProgramFailure)> {
    if summary.state.is_over() {
        return None;
    }
    let own = summary.failure.as_ref().filter(|failure| failure.code == UNANSWERED);
    if let Some(failure) = own {
        return Some((summary.id, failure.clone()));
    }
    let children = children(space, &summary.id).unwrap_or_default();
    let mut summaries = children.iter().filter_map(|id| space.session(id).ok());
    summaries.find_map(|child| unanswered(space, &child))
}
