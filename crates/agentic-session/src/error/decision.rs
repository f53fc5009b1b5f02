//! What keeps a decision from counting.

use std::borrow::Cow;

use agentic_model::Oid;
use agentic_model::guidance::{ErrorClass, Guidance};

/// What keeps a decision from counting.
#[derive(Debug, thiserror::Error)]
pub enum DecisionError {
    /// Somebody was first.
    #[error("request {request} was decided: {action} by {principal}")]
    AlreadyDecided {
        /// The request.
        request: String,
        /// Who decided.
        principal: String,
        /// What.
        action: &'static str,
        /// The commit.
        commit: Option<Oid>,
    },
    /// A commit is no decision of a request that somebody could accept.
    #[error("commit {commit} is no unverified decision of request `{request}`")]
    NotADecision {
        /// The commit.
        commit: Oid,
        /// The request.
        request: String,
    },
    /// The one who asks may not do this.
    #[error("you may not {what}: {reason}")]
    NotAllowed {
        /// What was asked for.
        what: String,
        /// Why not.
        reason: String,
    },
    /// It is too late to decide.
    #[error("request {request} expired at {deadline}{}", went_on(value.as_ref(), *commit))]
    HoldExpired {
        /// The request.
        request: String,
        /// Its deadline.
        deadline: agentic_model::Instant,
        /// The value that the program got instead, if there was one.
        value: Option<agentic_model::Value>,
        /// The decision of the clock, once it is made.
        commit: Option<Oid>,
    },
    /// An answer cannot count for the rest of a session.
    #[error("request {request} cannot be approved for the rest of the session: {reason}")]
    NotForSession {
        /// The request.
        request: String,
        /// Why not.
        reason: &'static str,
    },
}

impl Guidance for DecisionError {
    fn class(&self) -> ErrorClass {
        match self {
            DecisionError::AlreadyDecided { .. } => ErrorClass::Decided,
            DecisionError::NotADecision { .. } => ErrorClass::Refused,
            DecisionError::NotAllowed { .. } => ErrorClass::NotAllowed,
            DecisionError::HoldExpired { .. } => ErrorClass::Expired,
            DecisionError::NotForSession { .. } => ErrorClass::Usage,
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            DecisionError::AlreadyDecided { .. } => {
                "`agentic log AGENT --kind decision` shows decisions".into()
            }
            DecisionError::NotADecision { .. } => {
                "`agentic pending` lists the unverified decisions of each hold".into()
            }
            DecisionError::NotAllowed { .. } => {
                "`agentic pending` shows who may decide what, and how".into()
            }
            DecisionError::HoldExpired { .. } => {
                "the session goes on as the hold said; `agentic session show` shows how".into()
            }
            DecisionError::NotForSession { .. } => {
                "answer it once, without `--scope`; `agentic pending` shows what is asked".into()
            }
        }
    }

    fn because(&self) -> Option<String> {
        match self {
            DecisionError::AlreadyDecided { commit: Some(commit), .. } => {
                Some(format!("the decision is commit {commit}"))
            }
            DecisionError::AlreadyDecided { .. }
            | DecisionError::NotADecision { .. }
            | DecisionError::NotAllowed { .. }
            | DecisionError::HoldExpired { .. }
            | DecisionError::NotForSession { .. } => None,
        }
    }
}

/// Says what became of a hold that nobody decided in time.
fn went_on(value: Option<&agentic_model::Value>, commit: Option<Oid>) -> String {
    let value = value.map_or(", without a value".to_owned(), |value| {
        format!(", with the value {}", agentic_model::json::to_text(value))
    });
    let commit = commit.map(|commit| format!(", by system:expiry in {commit}"));
    format!("{value}{}", commit.unwrap_or_default())
}
