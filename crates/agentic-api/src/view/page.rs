//! Lists as a process that serves hands them out: a page at a time.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use crate::view::{PendingView, QuestionView};

/// A page of a list.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListPageView {
    /// The items, as the command prints them.
    pub items: Vec<Json>,
    /// What `after` is for the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// What could not be read, where a list can be told without it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The events that the list has in it already.
    pub as_of: EventPlaceView,
}

/// A place in the events of a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EventPlaceView {
    /// The name of the process's sequence of events.
    pub epoch: String,
    /// The number of the last event.
    pub n: u64,
}

/// One open hold, as a program is given it that puts it before a person.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PendingRequestView {
    /// The hold.
    #[serde(flatten)]
    pub hold: PendingView,
    /// The text that the person is to be shown.
    pub text: String,
    /// The hash of the text.
    pub shown: String,
    /// What made the text of it.
    pub renderer: String,
    /// When.
    pub at: String,
    /// What a decision brings back; missing where nothing may be decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

impl PendingRequestView {
    /// Puts a question together with what a decision of it brings back.
    pub fn new(question: QuestionView, token: Option<String>) -> PendingRequestView {
        let QuestionView { hold, text, shown, renderer, at } = question;
        PendingRequestView { hold, text, shown, renderer, at, token }
    }
}
