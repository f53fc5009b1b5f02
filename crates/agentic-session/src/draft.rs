//! What a human offers as an answer to a hold.

use agentic_model::object::OBJECT_BYTES_MAX;
use agentic_model::{Instant, Oid, Value};

use crate::action::{Action, ApprovalScope};

/// The longest value of an answer, as JSON, in bytes.
pub const VALUE_BYTES_MAX: usize = 256 << 10;

/// The longest value that is approved as it was offered, in canonical bytes: it is kept with the decision, in
/// one object.
pub const APPROVED_BYTES_MAX: usize = OBJECT_BYTES_MAX - (16 << 10);

/// What a human may offer as an answer.
#[derive(Debug, Clone)]
pub struct DecisionDraft {
    /// What to do.
    pub action: Action,
    /// The value, where the action takes one.
    pub value: Option<Value>,
    /// For how long it counts.
    pub scope: ApprovalScope,
    /// Why.
    pub rationale: String,
    /// The hash that the request must have.
    pub expect: Option<String>,
    /// Who decides.
    pub principal: String,
    /// Through what.
    pub client: &'static str,
    /// How it is known who decides, where another program says so; else by the user of this process,
    /// or by the key that signs.
    pub authn: Option<String>,
    /// What a human was shown before deciding, where something was.
    pub shown: Option<ShownQuestion>,
    /// The unverified decision that this one makes its own, and who it says made it.
    pub accepts: Option<(Oid, String)>,
}

/// What a human was shown before deciding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownQuestion {
    /// The hash of the text.
    pub hash: String,
    /// What showed it, with its version.
    pub renderer: String,
    /// When.
    pub at: Instant,
}
