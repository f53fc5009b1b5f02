//! Sessions that a run of another host begins: the children that it waits for, and what it goes on as.

use agentic_replay::{AnswerSource, Body, End, Performance, RequestAnswer, SessionId};

use super::claim::{address_of, claim_as_it_is};
use super::{HostClaim, HostedOpening, HostedStart};
use crate::begin::{Begin, KeySource};
use crate::children::Child;
use crate::effect::{AskingSession, SpawnStep, answer_of, begin_spawn};
use crate::folder::{Folder, Values, damaged};
use crate::listing::newest_with_key;
use crate::own::read_journal;
use crate::shelf::flow_of;
use crate::start::continuation_key;
use crate::{Result, SessionSpace, summary};

/// What becomes of a spawn of a run of another host.
#[derive(Debug, Clone, PartialEq)]
pub enum HostedSpawn {
    /// It has an answer.
    Answered(RequestAnswer, AnswerSource),
    /// This session is its child; its host starts it, unless it has begun there.
    Child(SessionId, Option<Box<HostedOpening>>),
}

/// Makes the agent of a spawn, and claims the session that it runs for the host of the one that asks.
/// A repetition finds the same.
///
/// # Errors
/// Fails with a fault of our own, and when the child is driven by nobody of that host.
pub fn spawn_hosted(
    space: &SessionSpace,
    start: &HostedStart,
    performance: &Performance,
    kind: &str,
) -> Result<HostedSpawn> {
    let record = start.record();
    let asking = AskingSession {
        start: &record,
        flow: start.flow,
        behaviour: start.stamp.then_some(start.flow),
    };
    let begin = match begin_spawn(space, asking, performance)? {
        SpawnStep::Answered(answer, by) => return Ok(HostedSpawn::Answered(answer, by)),
        SpawnStep::Adopted(id) | SpawnStep::Child(Child::Begun(id)) => {
            return begun(space, id);
        }
        SpawnStep::Child(Child::New(begin)) => *begin,
    };
    let id = begin.session()?;
    match claim_as_it_is(space, begin, kind, &address_of(space, &start.session)?)? {
        HostClaim::Open(opening) => Ok(HostedSpawn::Child(id, Some(opening))),
        HostClaim::Begun => begun(space, id),
    }
}

/// Tells what a child has come to that has begun before.
fn begun(space: &SessionSpace, id: SessionId) -> Result<HostedSpawn> {
    let found = summary::read(space, &id)?;
    let end = match (found.state, found.result, found.failure) {
        (agentic_replay::SessionState::Done, Some(result), _) => End::Done(result),
        (agentic_replay::SessionState::Failed, _, Some(failure)) => End::Failed(failure),
        (agentic_replay::SessionState::Cancelled, ..) => End::Cancelled,
        _ => return Ok(HostedSpawn::Child(id, None)),
    };
    Ok(HostedSpawn::Answered(child_answer(&end), AnswerSource::Child(id)))
}

/// Returns what a run is told of the end of a child, before its language says what its program is
/// given of that.
pub fn child_answer(end: &End) -> RequestAnswer {
    answer_of(end)
}

/// Claims the session that a run goes on as which has ended so, for the same host.
///
/// # Errors
/// Fails when the end of the run is not sealed.
pub fn continue_hosted(
    space: &SessionSpace,
    id: &SessionId,
    kind: &str,
) -> Result<Option<(SessionId, Option<Box<HostedOpening>>)>> {
    let journal = read_journal(space, id)?;
    let last = journal.records().last().map(|record| &record.body);
    let Some(Body::Continue(next)) = last else { return Ok(None) };
    let state = next.state.value(&Values::of(space, &journal));
    let input = state.map_err(|error| damaged(id, &error.to_string()))?;
    let flow = flow_of(space, &Folder::of(space, id), &journal.flow())?;
    let start = journal.start();
    let begin = Begin {
        agent: start.agent.clone(),
        flow,
        parts: Vec::new(),
        input,
        key: continuation_key(id),
        key_source: KeySource::Named,
        allow: start.allow.clone(),
    };
    let next = begin.session()?;
    Ok(match claim_as_it_is(space, begin, kind, &address_of(space, id)?)? {
        HostClaim::Open(opening) => Some((next, Some(opening))),
        HostClaim::Begun => Some((next, None)),
    })
}

/// Returns the session that one goes on as, if it does.
///
/// # Errors
/// Fails when the sessions cannot be listed.
pub fn continued_as(space: &SessionSpace, id: &SessionId) -> Result<Option<SessionId>> {
    newest_with_key(space, &continuation_key(id))
}
