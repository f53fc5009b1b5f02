//! Decisions on their way: what is asked of the run, of the activity that commits, and what they answer.

use agentic_model::guidance::ErrorClass;
use agentic_model::{Instant, Oid, Value};
use agentic_replay::Hold;
use agentic_replay::engine::OwnRefusal;
use agentic_replay::record::PermitScope;
use agentic_session::decide::{
    Action, ApprovalScope, COMMAND_LINE, DecisionDraft, ShownQuestion, VALUE_BYTES_MAX,
};
use agentic_session::hosted::{HostedFate, signal_id};
use serde::{Deserialize, Serialize};

use crate::wire::{BadWire, EffectAsk, WireAnswer, WireValue};

/// The clients through which people decide, beside the command line.
const CLIENTS: [&str; 5] = [COMMAND_LINE, "web", "mcp", "a2a", "tui"];
/// How a client is named that is none of them.
const CLIENT: &str = "temporal";
/// How much of a question stands in the memo of its run, in characters.
const QUESTION_CHARS_MAX: usize = 200;
/// The longest text of a decision, in bytes.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// A decision that somebody asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecideAsk {
    /// The session.
    pub session: String,
    /// The id of the request.
    pub request: String,
    /// Who decides.
    pub principal: String,
    /// What.
    pub action: String,
    /// The value, where the action takes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<WireValue>,
    /// For how long it counts.
    pub scope: String,
    /// Why.
    #[serde(default)]
    pub rationale: String,
    /// The hash that the request must have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<String>,
    /// Through what.
    pub client: String,
    /// What a human was shown before deciding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<WireShown>,
    /// How it is known who decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authn: Option<String>,
    /// The unverified decision that it makes its own, and who that says made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepts: Option<(String, String)>,
    /// Which attempt it is: the server repeats what it said of the same decision before.
    #[serde(default)]
    pub attempt: String,
}

impl DecideAsk {
    /// Takes up what somebody decides.
    pub fn of(session: String, request: String, draft: &DecisionDraft) -> DecideAsk {
        DecideAsk {
            session,
            request,
            principal: draft.principal.clone(),
            action: draft.action.name().to_owned(),
            value: draft.value.as_ref().map(WireValue::of),
            scope: draft.scope.name().to_owned(),
            rationale: draft.rationale.clone(),
            expect: draft.expect.clone(),
            client: draft.client.to_owned(),
            shown: draft.shown.as_ref().map(WireShown::of),
            authn: draft.authn.clone(),
            accepts: draft.accepts.as_ref().map(|(oid, who)| (oid.to_string(), who.clone())),
            attempt: signal_id(),
        }
    }

    /// Gives it back.
    ///
    /// # Errors
    /// Fails when something in it is not what it should be.
    pub fn draft(&self) -> Result<DecisionDraft, BadWire> {
        let bad = |what| BadWire { what };
        let client = CLIENTS.into_iter().find(|client| *client == self.client);
        let accepts = match &self.accepts {
            Some((oid, who)) => Some((Oid::parse(oid).map_err(|_| bad("commit"))?, who.clone())),
            None => None,
        };
        Ok(DecisionDraft {
            action: Action::parse(&self.action).ok_or(bad("action"))?,
            value: self.value.clone().map(WireValue::value).transpose()?,
            scope: ApprovalScope::parse(&self.scope).ok_or(bad("scope"))?,
            rationale: self.rationale.clone(),
            expect: self.expect.clone(),
            principal: self.principal.clone(),
            client: client.unwrap_or(CLIENT),
            authn: self.authn.clone(),
            shown: self.shown.clone().map(WireShown::shown),
            accepts,
        })
    }

    /// Says what is wrong with its shape; nothing of it depends on how far the run is.
    pub fn misshapen(&self) -> Option<&'static str> {
        let texts = [&self.principal, &self.action, &self.scope, &self.rationale, &self.client];
        let shown = self.shown.iter().flat_map(|shown| [&shown.hash, &shown.renderer]);
        let mut texts = texts.into_iter().chain(shown);
        let value = self.value.as_ref().map_or(0, |value| match value {
            WireValue::Json(json) => json.to_string().len(),
            WireValue::Canonical(text) => text.len(),
        });
        if texts.any(|text| text.len() > TEXT_BYTES_MAX) || value > 2 * VALUE_BYTES_MAX {
            return Some("it is too long");
        }
        self.draft().is_err().then_some("it is no decision")
    }
}

/// What a human was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireShown {
    /// The hash of the text.
    pub hash: String,
    /// What showed it, with its version.
    pub renderer: String,
    /// When, in milliseconds.
    pub at: i64,
}

impl WireShown {
    fn of(shown: &ShownQuestion) -> WireShown {
        let ShownQuestion { hash, renderer, at } = shown;
        WireShown { hash: hash.clone(), renderer: renderer.clone(), at: at.millis() }
    }

    fn shown(self) -> ShownQuestion {
        let WireShown { hash, renderer, at } = self;
        ShownQuestion { hash, renderer, at: Instant::from_millis(at) }
    }
}

/// What became of a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecideReply {
    /// It is durable.
    Decided {
        /// Its commit.
        commit: String,
        /// Who decided.
        principal: String,
        /// What.
        action: String,
        /// What it makes of the hold, if it settles that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        settled: Option<SettledHold>,
        /// The commit of a vote that does not settle it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        vote: Option<String>,
    },
    /// It does not count, for this reason.
    Refused(WireRefusal),
}

/// Why a decision does not count, in the words of the session layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct WireRefusal {
    /// What sort of error.
    pub class: String,
    /// What happened.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Which attempt was refused.
    #[serde(default)]
    pub attempt: String,
}

impl WireRefusal {
    /// Returns it in the words of all engines.
    pub fn told(self) -> OwnRefusal {
        let class = CLASSES.into_iter().find(|class| class.word() == self.class);
        let WireRefusal { message, hint, because, .. } = self;
        OwnRefusal { class: class.unwrap_or(ErrorClass::Refused), message, hint, because }
    }
}

/// What sorts of errors there are.
const CLASSES: [ErrorClass; 10] = [
    ErrorClass::Refused,
    ErrorClass::Usage,
    ErrorClass::Conflict,
    ErrorClass::Diverged,
    ErrorClass::Corrupt,
    ErrorClass::Schema,
    ErrorClass::Decided,
    ErrorClass::NotAllowed,
    ErrorClass::Unreachable,
    ErrorClass::Expired,
];

/// A hold that is settled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettledHold {
    /// The commit of the decision.
    pub commit: String,
    /// What it makes of the hold.
    pub fate: WireFate,
}

/// What a decision makes of its hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireFate {
    /// The request has this answer.
    Answer(WireAnswer),
    /// Its effect may begin.
    Permit {
        /// The payload that the decision put in place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edited: Option<WireValue>,
        /// Whether that counts for the rest of the session.
        is_wide: bool,
    },
}

impl WireFate {
    /// Takes it up; nothing of a hold that stays open.
    pub fn of(fate: HostedFate) -> Option<WireFate> {
        Some(match fate {
            HostedFate::Answer(answer) => WireFate::Answer(WireAnswer::of(&answer)),
            HostedFate::Permit(edited, scope) => WireFate::Permit {
                edited: edited.as_ref().map(WireValue::of),
                is_wide: scope == PermitScope::RestOfSession,
            },
            HostedFate::Open => return None,
        })
    }
}

/// A hold that nobody decided in time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExpireAsk {
    /// The session.
    pub session: String,
    /// The id of the request.
    pub request: String,
    /// When, in milliseconds.
    pub at: i64,
}

/// A hold that nobody waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WithdrawAsk {
    /// What was asked.
    pub withdrawn: EffectAsk,
}

/// Somebody asks a run to stop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CancelAsk {
    /// Who.
    pub who: String,
    /// Why.
    pub why: String,
    /// At once, without a chance to clean up.
    pub kill: bool,
}

/// Something that a run waits for, or will.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SignalAsk {
    /// What tells it from every other.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its data.
    pub value: WireValue,
}

/// A child has ended, and says so to the run that waits for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildEnd {
    /// The child session.
    pub child: String,
    /// What it came to.
    pub answer: WireAnswer,
}

/// A hold as the memo of its run tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldNote {
    /// The id of the request.
    pub id: String,
    /// Where in the program.
    pub path: String,
    /// The beginning of what is asked.
    pub question: String,
}

impl HoldNote {
    /// Takes a hold up.
    pub fn of(hold: &Hold) -> HoldNote {
        let question = hold.request.payload.get("question").and_then(Value::as_text);
        let question = question.unwrap_or(&hold.request.kind);
        HoldNote {
            id: hold.id.to_string(),
            path: hold.request.path.to_string(),
            question: question.chars().take(QUESTION_CHARS_MAX).collect(),
        }
    }

    /// Returns about how long it is, in bytes.
    pub fn n_bytes(&self) -> usize {
        self.id.len() + self.path.len() + self.question.len()
    }
}

/// How a run stands, as it tells whoever asks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunView {
    /// How many records it has made.
    pub records: usize,
    /// How many of them are sealed.
    pub sealed: usize,
    /// What waits for a human: the ids of the requests.
    pub holds: Vec<String>,
    /// Whether nothing else is under way.
    pub rests: bool,
    /// Whether its program has ended.
    pub over: bool,
}

impl RunView {
    /// Says whether everything is sealed.
    pub fn is_sealed(&self) -> bool {
        self.sealed >= self.records
    }
}

/// Returns an instant of the server.
pub fn instant(at: std::time::SystemTime) -> Instant {
    let since = at.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Instant::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
