//! What a gate says, whoever hears it.

use serde_json::Value as Json;

/// The answer of a gate.
#[derive(Debug, Clone, PartialEq)]
pub enum GateVerdict {
    /// No rule names the call: whatever would happen happens.
    Silent,
    /// It waits for a person under this name, and must not run.
    Held {
        /// The request.
        request: String,
    },
    /// The run is to be put down until it is decided.
    Defer {
        /// The request.
        request: String,
    },
    /// The vendor's own dialog decides.
    Ask {
        /// The number of the rule; none for files of ours.
        number: usize,
    },
    /// It may run.
    Allow {
        /// Who says so, and where.
        reason: String,
        /// With this input instead, whole.
        input: Option<Json>,
    },
    /// It must not run.
    Deny {
        /// Who says so, and where.
        reason: String,
    },
}

impl GateVerdict {
    /// Returns what the model is told, or a person.
    pub fn reason(&self) -> String {
        match self {
            GateVerdict::Silent => String::new(),
            GateVerdict::Held { request } => format!(
                "Held for a human as {request}. Go on with other work; ask again when it was \
                 decided (agentic pending)."
            ),
            GateVerdict::Defer { .. } => self.short(),
            GateVerdict::Ask { number: 0 } => "agentic: this call needs a human.".to_owned(),
            GateVerdict::Ask { number } => {
                format!("agentic: this call needs a human (rule {number}).")
            }
            GateVerdict::Allow { reason, .. } | GateVerdict::Deny { reason } => reason.clone(),
        }
    }

    /// Returns the same for a person, who knows what to do.
    pub fn short(&self) -> String {
        match self {
            GateVerdict::Held { request } | GateVerdict::Defer { request } => {
                format!("Held for a human as {request}.")
            }
            GateVerdict::Silent
            | GateVerdict::Ask { .. }
            | GateVerdict::Allow { .. }
            | GateVerdict::Deny { .. } => self.reason(),
        }
    }
}
