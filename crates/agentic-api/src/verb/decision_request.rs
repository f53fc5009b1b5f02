//! A decision as a program sends it to a process that serves: what `decide` takes, without what the
//! address and the token say.

use agentic_model::{Instant, Value};
use agentic_session::decide::{Action, ApprovalScope};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::verb::{AfterDecision, Decide, HoldAnswer, SeenQuestion, value};

/// What a program sends that decides a hold.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecisionRequest {
    /// `approve`, `reject`, `edit` or `respond`.
    #[serde(deserialize_with = "value::read_action")]
    #[schemars(with = "String")]
    pub action: Action,
    /// The value, where the action takes one.
    #[serde(default, deserialize_with = "value::read_given")]
    #[schemars(with = "serde_json::Value")]
    pub value: Option<Value>,
    /// Why.
    #[serde(default)]
    pub reason: String,
    /// For how long an approval counts: `once` or `rest-of-session`.
    #[serde(default, deserialize_with = "value::read_scope")]
    #[schemars(with = "String")]
    pub scope: ApprovalScope,
    /// The hash of the request that is meant.
    pub request_hash: String,
    /// The hash of the text that was shown.
    pub shown: String,
    /// What came with the text, and is good for an hour.
    pub token: String,
}

impl DecisionRequest {
    /// Makes the verb of it, for a hold that was shown at an instant. Somebody else goes on with the
    /// session.
    pub fn verb(self, request: &str, shown_at: Instant) -> Decide {
        let DecisionRequest { action, value, reason, scope, request_hash, shown, .. } = self;
        Decide {
            request: request.to_owned(),
            node: None,
            answer: HoldAnswer::Act { action, value, scope },
            why: reason,
            expect: Some(request_hash),
            by: None,
            seen: Some(SeenQuestion { shown, at: shown_at }),
            then: AfterDecision::Leave,
            for_person: None,
            grant: None,
        }
    }
}
