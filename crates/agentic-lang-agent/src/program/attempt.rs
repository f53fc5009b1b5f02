//! Why an attempt of a task failed.

use crate::program::fault::MachineFault;

/// Why an attempt failed.
pub(super) struct AttemptFault {
    pub class: String,
    pub text: String,
    pub is_timeout: bool,
    /// The error of a result that does not conform, reported as it is.
    pub invalid: Option<MachineFault>,
}

impl AttemptFault {
    /// Makes a failure in the language's own words.
    pub fn failed(text: String) -> AttemptFault {
        AttemptFault { class: "ExecutionError".to_owned(), text, is_timeout: false, invalid: None }
    }
}
