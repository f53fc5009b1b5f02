//! What activities answer.

use agentic_model::canonical;
use agentic_replay::{
    AnswerSource, CancelExtent, HOSTED_VALUE_BYTES_MAX, ProgramFailure, RequestAnswer, SessionId,
    too_large,
};
use serde::{Deserialize, Serialize};

use super::{BadWire, ChildAsk, WireValue};

/// An answer on its way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireAnswer {
    /// A value.
    Ok(WireValue),
    /// A failure.
    Failed {
        /// What sort.
        code: String,
        /// What happened.
        message: String,
        /// More data.
        details: WireValue,
    },
    /// The time limit came first.
    Timeout,
    /// It was cancelled before it began.
    NotStarted,
    /// It was stopped.
    Stopped,
    /// It was cancelled, and nobody knows whether it happened.
    Unknown,
}

impl WireAnswer {
    /// Takes an answer up.
    pub fn of(answer: &RequestAnswer) -> WireAnswer {
        match answer {
            RequestAnswer::Ok(value) => WireAnswer::Ok(WireValue::of(value)),
            RequestAnswer::Failed(failure) => WireAnswer::Failed {
                code: failure.code.clone(),
                message: failure.message.clone(),
                details: WireValue::of(&failure.details),
            },
            RequestAnswer::TimedOut => WireAnswer::Timeout,
            RequestAnswer::Cancelled(CancelExtent::NotStarted) => WireAnswer::NotStarted,
            RequestAnswer::Cancelled(CancelExtent::Stopped) => WireAnswer::Stopped,
            RequestAnswer::Cancelled(CancelExtent::Unknown) => WireAnswer::Unknown,
        }
    }

    /// Takes an answer up, unless it is longer than the server takes: then a failure that names `what`.
    pub fn bounded(answer: &RequestAnswer, what: &str) -> WireAnswer {
        let value = match answer {
            RequestAnswer::Ok(value) => value,
            RequestAnswer::Failed(failure) => &failure.details,
            RequestAnswer::TimedOut | RequestAnswer::Cancelled(_) => return WireAnswer::of(answer),
        };
        match canonical::encode(value) {
            Ok(bytes) if bytes.len() > HOSTED_VALUE_BYTES_MAX => {
                WireAnswer::of(&RequestAnswer::Failed(too_large(what, bytes.len())))
            }
            Ok(_) | Err(_) => WireAnswer::of(answer),
        }
    }

    /// Gives it back.
    ///
    /// # Errors
    /// Fails when its value is none.
    pub fn answer(self) -> Result<RequestAnswer, BadWire> {
        Ok(match self {
            WireAnswer::Ok(value) => RequestAnswer::Ok(value.value()?),
            WireAnswer::Failed { code, message, details } => {
                let details = details.value()?;
                RequestAnswer::Failed(ProgramFailure { code, message, details })
            }
            WireAnswer::Timeout => RequestAnswer::TimedOut,
            WireAnswer::NotStarted => RequestAnswer::Cancelled(CancelExtent::NotStarted),
            WireAnswer::Stopped => RequestAnswer::Cancelled(CancelExtent::Stopped),
            WireAnswer::Unknown => RequestAnswer::Cancelled(CancelExtent::Unknown),
        })
    }
}

/// What became of an effect, as its activity tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectReply {
    /// It has an answer.
    Answered {
        /// The answer.
        answer: WireAnswer,
        /// The child session that gave it, if one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        child: Option<String>,
    },
    /// Nobody could answer, for this reason; a run that is to stop takes the answer.
    Unanswered {
        /// The answer.
        answer: WireAnswer,
        /// The reason.
        why: String,
    },
    /// It may be tried again, for this reason; else it has this answer.
    Faulted {
        /// The answer.
        answer: WireAnswer,
        /// The reason.
        why: String,
    },
    /// This session is its child.
    Child(Box<ChildAsk>),
}

/// What is known of an effect whose worker was lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LostReply {
    /// It happened, and came to this.
    Happened(WireAnswer),
    /// It has not happened, for this reason.
    NotHappened(String),
    /// Nobody knows.
    Unknown,
}

/// Says who gave an answer.
pub fn source_of(child: Option<&str>) -> AnswerSource {
    let child = child.and_then(SessionId::parse);
    child.map_or(AnswerSource::Executor, AnswerSource::Child)
}
