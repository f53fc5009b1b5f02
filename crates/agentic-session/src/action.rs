//! What a decision does, and for how long it counts.

use agentic_model::Value;

/// What a decision does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Yes, as it was asked.
    Approve,
    /// No.
    Reject,
    /// Yes, with this instead.
    Edit,
    /// This is the answer.
    Respond,
    /// Nobody answered in time.
    Expire,
    /// Nobody waits for the answer any more.
    Withdrawn,
}

/// For how long an approval counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ApprovalScope {
    /// For this request.
    #[default]
    Once,
    /// For later requests like it of the same session too.
    RestOfSession,
}

impl ApprovalScope {
    /// Parses the name.
    pub fn parse(text: &str) -> Option<ApprovalScope> {
        [ApprovalScope::Once, ApprovalScope::RestOfSession]
            .into_iter()
            .find(|scope| scope.name() == text)
    }

    /// Returns the name, as decisions record it.
    pub fn name(self) -> &'static str {
        match self {
            ApprovalScope::Once => "once",
            ApprovalScope::RestOfSession => "rest-of-session",
        }
    }
}

impl Action {
    /// Parses an action that a human may take.
    pub fn parse(text: &str) -> Option<Action> {
        match text {
            "approve" => Some(Action::Approve),
            "reject" => Some(Action::Reject),
            "edit" => Some(Action::Edit),
            "respond" => Some(Action::Respond),
            _ => None,
        }
    }

    /// Returns the action of a choice that a pipeline offers, with its value.
    pub fn of_choice(choice: &str) -> (Action, Option<Value>) {
        match choice {
            "accept" => (Action::Approve, None),
            "reject" => (Action::Reject, None),
            other => (Action::Respond, Some(Value::text(other))),
        }
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Action::Approve => "approve",
            Action::Reject => "reject",
            Action::Edit => "edit",
            Action::Respond => "respond",
            Action::Expire => "expire",
            Action::Withdrawn => "withdrawn",
        }
    }

    /// Parses any action.
    pub(crate) fn parse_any(text: &str) -> Option<Action> {
        Action::parse(text).or(match text {
            "expire" => Some(Action::Expire),
            "withdrawn" => Some(Action::Withdrawn),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests;
