//! Answers of clients of other protocols: `agentic decide --from`.

use std::process::ExitCode;

use agentic_api::view::AnsweredView;
use agentic_api::view::interop::{Protocol, Reply, ReplyAnswer, read_reply};
use agentic_model::{Kind, json};
use agentic_session::decide::{ApprovalScope, Draft, check, decide};
use agentic_session::error::{DecisionError, RequestError};
use agentic_session::hold::{Named, Pending, find_hold, winner};
use agentic_session::ticket::take_back;
use agentic_session::{Error, SessionSpace, go_on};

use crate::commands::Outcome;
use crate::context::{Context, read_stdin};
use crate::failure::Failure;
use crate::output::{talk, warn, warn_deferred};

/// The longest reply that is read, in bytes.
const REPLY_BYTES_MAX: usize = 4 << 20;

/// Applies the answers on standard input: all are checked before the first is applied.
pub fn run(
    context: &Context,
    space: &SessionSpace,
    protocol: Protocol,
    principal: String,
) -> Outcome {
    let reply = read(protocol)?;
    let ticket = take_back(space, &reply.ticket, &principal)?;
    let mut checked = Vec::new();
    for answer in &reply.answers {
        let pending = open(space, answer)?;
        ticket.check(space, &pending)?;
        let draft = draft(&pending, answer, protocol, &principal);
        if let Some(draft) = &draft {
            check(space, &pending.hold, &pending.policy, draft)?;
        }
        checked.push((pending, draft));
    }
    let mut views = Vec::new();
    for (pending, draft) in &checked {
        views.push(apply(space, pending, draft.as_ref(), &principal)?);
    }
    context.format.answer(views.as_slice(), |views| {
        let line = |view: &AnsweredView| match &view.commit {
            Some(commit) => format!("{} {commit}\n", view.action),
            None => format!("{} {}\n", view.action, view.request),
        };
        views.iter().map(line).collect()
    });
    Ok(ExitCode::SUCCESS)
}

fn read(protocol: Protocol) -> Result<Reply, Failure> {
    let bytes = read_stdin()?;
    let form = || match protocol {
        Protocol::Mcp => "an MCP reply has `inputResponses` and `requestState`",
        Protocol::A2a => {
            "an A2A message has `taskId`, `parts` with `request` and `action`, and `metadata.requestState`"
        }
    };
    let text = std::str::from_utf8(&bytes).ok().filter(|text| text.len() <= REPLY_BYTES_MAX);
    let value = text.and_then(|text| json::from_text(text).ok());
    let reply = value.and_then(|value| read_reply(protocol, &value));
    reply.ok_or_else(|| Failure::schema("the reply does not have the form of the protocol", form()))
}

fn open(space: &SessionSpace, answer: &ReplyAnswer) -> Result<Pending, Failure> {
    let unknown = || Error::Request(RequestError::Unknown { id: answer.request.clone() });
    // A name of an agent is no name of a request here.
    if !answer.request.contains('.') {
        return Err(unknown().into());
    }
    match find_hold(space, &answer.request)? {
        Named::Open(pending) => {
            let session = pending.hold.session.to_string();
            let is_named = answer.session.as_ref().is_none_or(|named| *named == session);
            if is_named { Ok(*pending) } else { Err(unknown().into()) }
        }
        Named::Decided { session, id, commit, decision, cancelled_by } => {
            let request = session.short_request(&id);
            let (principal, action) = winner(decision.as_deref(), cancelled_by.as_deref());
            Err(Error::Decision(DecisionError::AlreadyDecided {
                request,
                principal,
                action,
                commit,
            })
            .into())
        }
    }
}

fn draft(
    pending: &Pending,
    answer: &ReplyAnswer,
    protocol: Protocol,
    principal: &str,
) -> Option<Draft> {
    let (action, value) = answer.choice.decision(&pending.policy)?;
    let client = match protocol {
        Protocol::Mcp => "mcp",
        Protocol::A2a => "a2a",
    };
    Some(Draft {
        action,
        value,
        scope: ApprovalScope::Once,
        rationale: String::new(),
        expect: None,
        principal: principal.to_owned(),
        client,
        shown: None,
        accepts: None,
    })
}

/// Decides, or notes in the agent's trace that somebody looked and did not.
fn apply(
    space: &SessionSpace,
    pending: &Pending,
    draft: Option<&Draft>,
    principal: &str,
) -> Result<AnsweredView, Failure> {
    let request = pending.hold.session.short_request(&pending.hold.id);
    let (action, commit) = match draft {
        Some(draft) => {
            let done = decide(space, pending, draft)?;
            warn_deferred(&done.written);
            if let Err(error) = go_on(space, &done.session) {
                warn(&format!("the decision stands; the session cannot go on: {error}"));
            }
            space.take_mended().iter().for_each(|what| talk(what));
            (done.decision.action.name(), Some(done.commit.to_string()))
        }
        None => {
            let kind = Kind::parse("session").expect("a valid name");
            let text = format!("dismissed {request} by {principal}");
            space.add_trace(&pending.hold.agent, &kind, text.as_bytes())?;
            ("cancel", None)
        }
    };
    let summary = space.session(&pending.hold.session)?;
    Ok(AnsweredView {
        request,
        action: action.to_owned(),
        commit,
        agent: summary.agent.to_string(),
        principal: principal.to_owned(),
        state: summary.state.as_str().to_owned(),
        session: pending.hold.session.to_string(),
    })
}
