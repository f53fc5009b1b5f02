//! What was asked for at an address of the API, and what there is to answer it.

use std::collections::BTreeMap;

use agentic_api::verb::ForeignQueries;
use agentic_api::view::QuestionView;
use agentic_api::{Caller, Refusal};
use agentic_resident::IndexDesk;

use super::kept::KeptAnswers;

/// What was asked for at an address.
pub struct ApiCall<'c> {
    /// Who asks the verb.
    pub caller: &'c Caller<'c>,
    /// Who asks for its answer.
    pub asker: &'c str,
    /// Whether a decision would be taken from them, and what seals it.
    pub token: &'c dyn Fn(&QuestionView) -> Option<String>,
    /// The queries of others that are being answered.
    pub queries: &'c ForeignQueries,
    /// What is kept for faster answers.
    pub index: &'c IndexDesk,
    /// The answers that take long, as they were given last.
    pub kept: &'c KeptAnswers,
    /// What no other start of the process is called.
    pub epoch: &'c str,
    /// The parts of the address, by name.
    pub path: BTreeMap<String, String>,
    /// What stands behind `?`, by name.
    pub query: BTreeMap<String, String>,
}

impl ApiCall<'_> {
    /// Returns a part of the address.
    pub fn part(&self, name: &str) -> String {
        self.path.get(name).cloned().unwrap_or_default()
    }

    /// Returns what stands behind `?` under a name.
    pub fn given(&self, name: &str) -> Option<String> {
        self.query.get(name).cloned()
    }

    /// Returns a number that stands behind `?`.
    ///
    /// # Errors
    /// Fails when it is none.
    pub fn number(&self, name: &str) -> Result<Option<u64>, Refusal> {
        let wrong = |_| {
            let message = format!("`{name}` is no whole number");
            Refusal::usage(&message, "write it in digits")
        };
        self.given(name).map(|text| text.parse().map_err(wrong)).transpose()
    }

    /// Returns a number behind `?` that counts things in memory.
    ///
    /// # Errors
    /// Fails when it is none, and when there can be no so many.
    pub fn place(&self, name: &str) -> Result<Option<usize>, Refusal> {
        let many = |_| Refusal::usage(&format!("`{name}` is too large"), "there are fewer");
        self.number(name)?.map(|number| usize::try_from(number).map_err(many)).transpose()
    }

    /// Returns what is said with `true` or `false` behind `?`.
    ///
    /// # Errors
    /// Fails when it is neither.
    pub fn flag(&self, name: &str) -> Result<bool, Refusal> {
        match self.given(name).as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => {
                let message = format!("`{name}` is neither `true` nor `false`");
                Err(Refusal::usage(&message, "say one of them, or leave it out"))
            }
        }
    }
}
