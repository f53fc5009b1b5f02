//! Answers of clients of other protocols.

use agentic_model::{Kind, Value, json};
use agentic_replay::OpenHold;
use agentic_replay::engine::RunId;
use agentic_session::decide::{Action, ApprovalScope, DecisionDraft, check, decide};
use agentic_session::error::RequestError;
use agentic_session::hold::PendingHold;
use agentic_session::hold::name::{NamedRequest, find_hold};
use agentic_session::ticket::take_back;
use agentic_session::{Error, SessionSpace, go_on};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::redaction::CallerRedactor;
use crate::verb::form::{check_form, filled_in};
use crate::verb::{Reply, SeenQuestion, Verb, VerbCompletion, value};
use crate::view::interop::{Choice, ClientReply, Protocol, ReplyAnswer, read_reply};
use crate::view::{AnsweredView, PendingView};
use crate::{AddressedEngine, Caller, HeldRequest, Notice, Refusal, principal};

/// The longest reply that is read, in bytes.
const REPLY_BYTES_MAX: usize = 4 << 20;

/// Decide as a client of another protocol answered. All answers are checked before the first is
/// applied. Only a person may do that.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecideFrom {
    /// The protocol.
    pub protocol: Protocol,
    /// What the client sent, in the form of the protocol.
    #[serde(deserialize_with = "value::read_value")]
    #[schemars(with = "serde_json::Value")]
    pub reply: Value,
    /// Who answers, such as `user:ada`; else whom git knows here.
    #[serde(default)]
    pub by: Option<String>,
}

impl DecideFrom {
    /// Reads a reply from a stream.
    ///
    /// # Errors
    /// Fails when it is too long, or no JSON.
    pub fn of_bytes(
        protocol: Protocol,
        bytes: &[u8],
        by: Option<String>,
    ) -> Result<DecideFrom, Refusal> {
        let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= REPLY_BYTES_MAX);
        let reply = text.and_then(|text| json::from_text(text).ok());
        let reply = reply.ok_or_else(|| formless(protocol))?;
        Ok(DecideFrom { protocol, reply, by })
    }

    /// Checks all answers, then applies them one by one as they are asked for.
    ///
    /// # Errors
    /// Fails when an agent asks, when the ticket is not good and when an answer cannot count; nothing
    /// is decided then. An item fails when its answer came too late all the same.
    pub fn apply<'s>(
        self,
        caller: &Caller<'s>,
    ) -> Result<impl Iterator<Item = Result<Reply<AnsweredView>, Refusal>> + use<'s>, Refusal> {
        caller.require_person("decide")?;
        let (space, protocol) = (caller.space, self.protocol);
        let mut redactor = CallerRedactor::new(caller)?;
        redactor.refuse_text("the name of who decides", self.by.as_deref().unwrap_or_default())?;
        let principal = self.by.map_or_else(|| principal(space), Ok)?;
        check_form(caller, protocol, &principal)?;
        let reply: ClientReply =
            read_reply(protocol, &self.reply).ok_or_else(|| formless(protocol))?;
        let ticket = take_back(space, &reply.ticket, &principal)?;
        let mut checked = Vec::new();
        for answer in &reply.answers {
            let pending = open(space, answer)?;
            let request = pending.hold.session.short_request(&pending.hold.id);
            ticket.check(space, &pending)?;
            let mut draft = draft(&pending, answer, protocol, &principal)?;
            if let Some(draft) = &mut draft {
                let shown = ticket.shown(&request);
                let seen = shown.map(|(shown, at)| SeenQuestion { shown, at });
                draft.shown = seen.map(|seen| seen.check(&pending)).transpose()?;
                let rationale = std::mem::take(&mut draft.rationale);
                draft.rationale = redactor.text("the reason", rationale);
                draft.value.iter().try_for_each(|value| redactor.refuse("a value", value))?;
            }
            if let Some(draft) = &draft {
                check(space, &pending.hold, &pending.policy, draft)?;
            }
            let host = caller.host_of(&pending.hold.session)?;
            checked.push(CheckedAnswer { pending, draft, host });
        }
        // A form is good once, also one that is closed; one that was filled in wrong may be corrected.
        if protocol == Protocol::Mcp {
            for CheckedAnswer { pending, .. } in &checked {
                ticket.spend(space, &pending.hold.session.short_request(&pending.hold.id))?;
            }
        }
        let mut notices = redactor.notices();
        let client = caller.client;
        let one = move |checked: CheckedAnswer| {
            let mut reply = checked.apply(space, &principal, client)?;
            reply.notices.append(&mut notices);
            Ok(reply)
        };
        Ok(checked.into_iter().map(one))
    }
}

impl Verb for DecideFrom {
    type Answer = Vec<AnsweredView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<AnsweredView>>, Refusal> {
        let mut all = Reply::plain(Vec::new());
        for reply in self.apply(caller)? {
            let Reply { answer, notices, .. } = reply?;
            all.answer.push(answer);
            all.notices.extend(notices);
        }
        Ok(all)
    }
}

fn formless(protocol: Protocol) -> Refusal {
    let form = match protocol {
        Protocol::Mcp => "an MCP reply has `inputResponses` and `requestState`",
        Protocol::A2a => {
            "an A2A message has `taskId`, `parts` with `request` and `action`, and `metadata.requestState`"
        }
    };
    Refusal::schema("the reply does not have the form of the protocol", form)
}

fn open(space: &SessionSpace, answer: &ReplyAnswer) -> Result<PendingHold, Refusal> {
    let unknown = || Error::Request(RequestError::Unknown { id: answer.request.clone() });
    // A name of an agent is no name of a request here.
    if !answer.request.contains('.') {
        return Err(unknown().into());
    }
    match find_hold(space, &answer.request)? {
        NamedRequest::Open(pending) => {
            let session = pending.hold.session.to_string();
            let is_named = answer.session.as_ref().is_none_or(|named| *named == session);
            if is_named { Ok(*pending) } else { Err(unknown().into()) }
        }
        NamedRequest::Decided(earlier) => Err(earlier.already_decided().into()),
    }
}

/// Makes the decision that an answer is; nothing, where the dialog was closed.
fn draft(
    pending: &PendingHold,
    answer: &ReplyAnswer,
    protocol: Protocol,
    principal: &str,
) -> Result<Option<DecisionDraft>, Refusal> {
    let (action, value, rationale) = match &answer.choice {
        Choice::Dismiss => return Ok(None),
        Choice::Decline => (Action::Reject, None, String::new()),
        Choice::Act(action, value) => (*action, value.clone(), String::new()),
        Choice::Accept(filled) => {
            filled_in(&PendingView::new(pending, pending.hold.asked_at), filled.clone())?
        }
    };
    Ok(Some(DecisionDraft {
        action,
        value,
        scope: ApprovalScope::Once,
        rationale,
        expect: None,
        principal: principal.to_owned(),
        client: protocol.name(),
        authn: None,
        shown: None,
        accepts: None,
    }))
}

/// An answer that may count.
struct CheckedAnswer {
    pending: PendingHold,
    /// Nothing, where the dialog was closed.
    draft: Option<DecisionDraft>,
    /// Who drives the session, where that is another engine.
    host: Option<AddressedEngine>,
}

impl CheckedAnswer {
    /// Decides, or notes in the agent's trace that somebody looked and did not.
    fn apply(
        self,
        space: &SessionSpace,
        principal: &str,
        client: &'static str,
    ) -> Result<Reply<AnsweredView>, Refusal> {
        let OpenHold { session, id, .. } = &self.pending.hold;
        let request = session.short_request(id);
        let mut notices = Vec::new();
        let (action, commit) = match (&self.draft, &self.host) {
            (Some(draft), None) => {
                let done = decide(space, &self.pending, draft)?;
                notices.extend(Notice::of(&done.written));
                notices.extend(not_followed(go_on(space, &done.session)));
                notices.extend(Notice::mended(space));
                (done.decision.action.name().to_owned(), Some(done.commit.to_string()))
            }
            (Some(draft), Some((address, engines))) => {
                let hold = HeldRequest { session: *session, request: *id };
                let done = engines.decide(address, space, hold, draft)?;
                // The engine drives it by itself: here it is only waited for.
                let run = RunId::new(session.to_string());
                let engine = engines.connect(address, space, client)?;
                let followed = engine.go_on(&run).and_then(|()| engine.status(&run)).map(drop);
                notices.extend(not_followed(followed));
                (done.action, Some(done.commit))
            }
            (None, _) => {
                note_dismissal(space, &self.pending, principal)?;
                ("cancel".to_owned(), None)
            }
        };
        let summary = space.session(session)?;
        let answer = AnsweredView {
            request,
            action,
            commit,
            agent: summary.agent.to_string(),
            principal: principal.to_owned(),
            state: summary.state.as_str().to_owned(),
            session: session.to_string(),
        };
        Ok(Reply { answer, notices, completion: VerbCompletion::Whole })
    }
}

/// Notes in the trace of the agent that a person looked at its hold and did not decide it.
pub(super) fn note_dismissal(
    space: &SessionSpace,
    pending: &PendingHold,
    principal: &str,
) -> Result<(), Refusal> {
    let request = pending.hold.session.short_request(&pending.hold.id);
    let kind = Kind::parse("session").expect("a valid name");
    let text = format!("dismissed {request} by {principal}");
    space.add_trace(&pending.hold.agent, &kind, text.as_bytes())?;
    Ok(())
}

fn not_followed<E: std::fmt::Display>(followed: Result<(), E>) -> Option<Notice> {
    followed.err().map(|error| Notice::NotFollowed { why: error.to_string() })
}
