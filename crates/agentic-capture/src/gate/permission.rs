//! The question of a gate: a session of the built-in flow `permission`.

use std::path::Path;

use agentic_model::{Map, Value, json};
use agentic_replay::{SessionId, Summary};
use agentic_session::decide::{Action, ApprovalScope, Decision};
use agentic_session::error::SessionError;
use agentic_session::{Begin, KeySource, SessionSpace};
use serde_json::{Value as Json, json as made};

use super::ledger::{Ledger, LedgerFact};
use super::marker::{redacted, restored};
use super::verdict::GateVerdict;
use super::{
    CallKey, Gate, GateError, GatedCall, HOLD_VARIABLE, HeldBy, LeafRedactor, call_key, tool,
};
use crate::wiring::shell_word;

/// The flow: it asks once, and gives what was answered.
pub const PERMISSION_FLOW: &str = "hold(input.question, input.options)";
/// How much of one text of an input a person is shown, in bytes.
const SHOWN_BYTES_MAX: usize = 32 << 10;
/// How many digits name a commit.
const SHORT_DIGITS: usize = 10;

/// A question, for the N-th time.
pub struct PermissionQuestion<'p> {
    /// Who asks.
    pub gate: &'p Gate<'p>,
    /// Why.
    pub by: &'p HeldBy,
    /// About what.
    pub key: &'p CallKey,
    /// How many decisions were used before.
    pub n: u64,
    /// Where the call would run.
    pub folder: &'p Path,
}

/// How it stands with a question.
#[derive(Debug)]
pub enum PermissionState {
    /// It waits, under this name.
    Open(String),
    /// It has its answer.
    Decided(DecidedPermission),
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct DecidedPermission {
    /// The decision, as it is named to people.
    pub commit: String,
    /// What it does; nothing where the session ended without a decision.
    pub action: Option<Action>,
    /// Who decided.
    pub principal: String,
    /// Why.
    pub rationale: String,
    /// The value.
    pub value: Value,
    /// Whether it counts as long as the conversation lasts.
    pub lasts: bool,
}

impl PermissionQuestion<'_> {
    /// Asks. That it is asked is written down first, then the session begins: a crash in between is
    /// asked anew under the same number.
    pub fn ask(&self, ledger: &mut Ledger) -> Result<PermissionState, GateError> {
        let begin = self.begin()?;
        let session = begin.session().map_err(GateError::record)?;
        let named = session.to_string();
        ledger.add(self.key, LedgerFact::Asked { n: self.n, session: named.clone() })?;
        agentic_session::start(self.gate.space, begin).map_err(GateError::record)?;
        let state = look_at(self.gate.space, &named)?;
        state.ok_or(GateError::Damaged { what: "the session of the question" })
    }

    fn begin(&self) -> Result<Begin, GateError> {
        let conversation = self.gate.conversation;
        let flow = agentic_session::flow_object(PERMISSION_FLOW).map_err(GateError::record)?;
        let (source, native) = (conversation.source, &conversation.native);
        Ok(Begin {
            agent: self.gate.agent.clone(),
            flow,
            parts: Vec::new(),
            input: self.input(),
            key: format!("{source}/{native}/{}/{}", self.key.as_str(), self.n),
            key_source: KeySource::Named,
            allow: Vec::new(),
        })
    }

    /// Returns what the flow is given: the question, and what it asks of its decision.
    fn input(&self) -> Value {
        let (tool, shown) = self.shown();
        let question = format!("May {} use {tool}?", self.gate.conversation.source);
        let mut options = Map::from([
            ("payload".to_owned(), shown),
            ("scopes".to_owned(), texts(["once", "rest-of-session"])),
        ]);
        let actions: &[&str] = match tool::asks_person(&tool) {
            true => &["approve", "edit", "respond", "reject"],
            false => &["approve", "edit", "reject"],
        };
        options.insert("actions".to_owned(), texts(actions.iter().copied()));
        if let Some(rule) = &self.by.rule {
            if !rule.assignees.is_empty() {
                let people = rule.assignees.iter().map(String::as_str);
                options.insert("assignees".to_owned(), texts(people));
            }
            if let Some(ms) = rule.deadline_ms {
                let until = self.gate.space.now().plus_millis(ms);
                options.insert("deadline".to_owned(), Value::text(until.to_string()));
                let value = rule.on_expiry.as_deref().unwrap_or("reject");
                options.insert("on_expiry".to_owned(), Value::text(value));
            }
        }
        Value::map([("question", Value::text(question)), ("options", Value::Map(options))])
    }

    /// Returns the call as people see it: without secrets, and no longer than they can read.
    fn shown(&self) -> (String, Value) {
        let (gate, redactor) = (self.gate, self.gate.redactor);
        let input = json::to_json(&gate.call.input);
        let input = shortened(&redacted(&input, "", redactor));
        let tool = redactor("", &gate.call.tool).text;
        let mut shown = made!({
            "tool": tool,
            "input": input,
            "cwd": redactor("", &self.folder.to_string_lossy()).text,
            "agent": gate.agent.as_str(),
            "conversation": redactor("", &gate.conversation.to_string()).text,
        });
        if gate.may_defer(self.by.enforce) {
            shown["resume"] = Json::String(self.resume());
        }
        (tool, json::from_json(shown).unwrap_or(Value::Null))
    }
}

impl PermissionQuestion<'_> {
    /// Returns the line that goes on with a run which was put down. It does not remember its mode.
    fn resume(&self) -> String {
        let id = shell_word(&self.gate.conversation.native);
        let mode = shell_word(self.gate.call.mode.as_deref().unwrap_or("default"));
        format!("{HOLD_VARIABLE}=defer claude -p --resume {id} --permission-mode {mode}")
    }
}

fn texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> Value {
    Value::List(texts.into_iter().map(Value::text).collect())
}

/// Cuts long texts.
fn shortened(value: &Json) -> Json {
    match value {
        Json::String(text) if text.len() > SHOWN_BYTES_MAX => {
            let end = text.floor_char_boundary(SHOWN_BYTES_MAX);
            let left = text.len() - end;
            Json::String(format!("{}[… {left} bytes left out …]", &text[..end]))
        }
        Json::Array(items) => items.iter().map(shortened).collect(),
        Json::Object(members) => {
            members.iter().map(|(key, value)| (key.clone(), shortened(value))).collect()
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value.clone(),
    }
}

/// Looks at the session of a question, after what has become of it meanwhile: a decision that
/// arrived, a deadline that passed.
pub fn look_at(space: &SessionSpace, session: &str) -> Result<Option<PermissionState>, GateError> {
    let damaged = || GateError::Damaged { what: "the session of the question" };
    let id = SessionId::parse(session).ok_or_else(damaged)?;
    let Some(summary) = known(space, &id)? else { return Ok(None) };
    if !summary.state.is_over() {
        agentic_session::go_on(space, &id).map_err(GateError::record)?;
    }
    let summary = known(space, &id)?.ok_or_else(damaged)?;
    if let Some(hold) = summary.holds.first() {
        return Ok(Some(PermissionState::Open(id.short_request(&hold.id))));
    }
    Ok(Some(PermissionState::Decided(decided(space, &summary))))
}

/// Reads a session; nothing if there is none.
fn known(space: &SessionSpace, id: &SessionId) -> Result<Option<Summary>, GateError> {
    match space.session(id) {
        Ok(summary) => Ok(Some(summary)),
        Err(agentic_session::Error::Session(SessionError::Unknown { .. })) => Ok(None),
        Err(_) => Err(GateError::Damaged { what: "the session of the question" }),
    }
}

fn decided(space: &SessionSpace, summary: &Summary) -> DecidedPermission {
    let decisions = agentic_session::decisions(space, summary);
    let Some((commit, decision)) = decisions.into_iter().next_back() else {
        return DecidedPermission {
            commit: summary.id.short(),
            action: None,
            principal: "system:engine".to_owned(),
            rationale: String::new(),
            value: Value::Null,
            lasts: false,
        };
    };
    let value = summary.result.as_ref().and_then(|result| result.get("value")).cloned();
    let lasts = decision.scope() == Some(ApprovalScope::RestOfSession);
    let Decision { action, principal, rationale, .. } = decision;
    DecidedPermission {
        commit: commit.to_string()[..SHORT_DIGITS].to_owned(),
        action: Some(action),
        principal,
        rationale: first_line(&rationale, action),
        value: value.unwrap_or(Value::Null),
        lasts,
    }
}

/// Returns why, as far as somebody said so: a commit has a message in any case.
fn first_line(rationale: &str, action: Action) -> String {
    let line = rationale.lines().next().unwrap_or_default().trim();
    let by_itself = format!("{} by ", action.name());
    match line.to_lowercase().starts_with(&by_itself) {
        true => String::new(),
        false => line.to_owned(),
    }
}

impl DecidedPermission {
    /// Returns what follows for a call.
    pub fn verdict(&self, call: &GatedCall, redactor: &LeafRedactor<'_>) -> GateVerdict {
        let asking = &call.input;
        let DecidedPermission { commit, principal, .. } = self;
        let approved = format!("Approved by {principal} in {commit}.");
        match self.action {
            Some(Action::Approve) => GateVerdict::Allow { reason: approved, input: None },
            Some(Action::Edit) => self.edited(approved, asking, redactor),
            Some(Action::Respond) => self.responded(approved, call),
            Some(Action::Reject) => self.denied("Rejected"),
            Some(Action::Expire) => self.denied("Expired"),
            Some(Action::Withdrawn) | None => self.denied("Withdrawn"),
        }
    }

    fn denied(&self, what: &str) -> GateVerdict {
        let DecidedPermission { commit, principal, rationale, .. } = self;
        let why = if rationale.is_empty() { ".".to_owned() } else { format!(": {rationale}") };
        GateVerdict::Deny { reason: format!("{what} by {principal} in {commit}{why}") }
    }

    fn edited(&self, reason: String, asking: &Value, redactor: &LeafRedactor<'_>) -> GateVerdict {
        let deny = |why: &str| GateVerdict::Deny {
            reason: format!("Edited by {} in {}, but {why}", self.principal, self.commit),
        };
        // A person may give the input, or all that was shown with another input in it.
        let is_whole = self.value.get("tool").is_some() && self.value.get("conversation").is_some();
        let input = if is_whole { self.value.get("input") } else { Some(&self.value) };
        let Some(Value::Map(input)) = input else { return deny("the input is no map.") };
        let mut input = input.clone();
        call_key::with_wording(&mut input, asking);
        let edited = json::to_json(&Value::Map(input));
        if edited.to_string().contains(" bytes left out …]") {
            return deny("parts of the input were not shown.");
        }
        match restored(&edited, Some(&json::to_json(asking)), "", redactor) {
            Ok(input) => GateVerdict::Allow { reason, input: Some(input) },
            Err(unplaced) => deny(&format!("{} cannot be placed.", unplaced.mark)),
        }
    }

    /// Answers a question that the model asks.
    fn responded(&self, reason: String, call: &GatedCall) -> GateVerdict {
        let (tool, asking) = (call.tool.as_str(), &call.input);
        let questions = asking.get("questions").and_then(Value::as_list).unwrap_or_default();
        let named =
            |question: &Value| question.get("question").and_then(Value::as_text).map(str::to_owned);
        let answers = match (&self.value, questions) {
            (Value::Map(map), _) => match map.get("answers") {
                Some(answers) => answers.clone(),
                None => self.value.clone(),
            },
            (answer, [only]) => match named(only) {
                Some(question) => Value::map([(question, answer.clone())]),
                None => Value::Null,
            },
            (_, _) => Value::Null,
        };
        if !tool::asks_person(tool) || answers == Value::Null {
            return GateVerdict::Deny {
                reason: format!(
                    "Answered by {} in {}: {}",
                    self.principal,
                    self.commit,
                    said(&self.value)
                ),
            };
        }
        let mut input = asking.as_map().cloned().unwrap_or_default();
        input.insert("answers".to_owned(), answers);
        GateVerdict::Allow { reason, input: Some(json::to_json(&Value::Map(input))) }
    }
}

fn said(value: &Value) -> String {
    value.as_text().map_or_else(|| json::to_text(value), str::to_owned)
}
