//! What the protocols of models have in common, and what each must say about itself.

use serde_json::{Value as Json, json};

use super::concession::Concessions;
use super::{
    Completion, Finish, FunctionCall, ModelFunction, ModelPrompt, ReplyContent, TokenUsage,
};
use crate::http::LineFlow;

/// The format in which a server of models is spoken to.
pub(super) trait Wire: Sync {
    /// Where completions are asked for, below the address of the server.
    fn path(&self) -> &'static str;

    /// What can be read to see whether the server is there and lets us in.
    fn probe_path(&self) -> &'static str;

    /// The headers that identify us.
    fn headers(&self, key: Option<&str>) -> Vec<(String, String)>;

    /// The request for one whole reply.
    fn body(&self, server: &str, name: &str, prompt: &ModelPrompt, conceded: Concessions) -> Json;

    /// Changes the request into one for a reply in pieces.
    fn stream(&self, body: &mut Json);

    /// Takes in a whole reply.
    fn read(&self, text: &str, draft: &mut ReplyDraft) -> Result<(), ReplyFault>;

    /// Takes in one line of a reply in pieces, and says whether more may come.
    fn read_event(&self, line: &str, draft: &mut ReplyDraft) -> Result<LineFlow, ReplyFault>;

    /// Names what a reply lacks to be one.
    fn missing(&self, draft: &ReplyDraft) -> Option<&'static str>;
}

/// Why a reply could not be taken in.
#[derive(Debug)]
pub(super) enum ReplyFault {
    /// It is not what the protocol says.
    Garbled(String),
    /// The server says in it that it failed.
    Failed(String),
}

impl From<serde_json::Error> for ReplyFault {
    fn from(error: serde_json::Error) -> ReplyFault {
        ReplyFault::Garbled(error.to_string())
    }
}

/// A reply that is being put together.
#[derive(Debug, Default)]
pub(super) struct ReplyDraft {
    text: Option<String>,
    /// What the model says in place of a reply.
    refusal: String,
    /// How much of the text has been handed on.
    told: usize,
    pub usage: Option<TokenUsage>,
    pub finish: Option<Finish>,
    pub calls: Vec<FunctionCall>,
}

impl ReplyDraft {
    /// Adds text.
    pub fn add(&mut self, text: &str) {
        self.text.get_or_insert_default().push_str(text);
    }

    /// Adds to what the model says in place of a reply.
    pub fn refuse(&mut self, words: &str) {
        self.refusal.push_str(words);
        self.finish = Some(Finish::Refusal);
    }

    /// Returns the text that came since the last call.
    pub fn take_news(&mut self) -> &str {
        let text = self.text.as_deref().unwrap_or_default();
        let news = &text[self.told..];
        self.told = text.len();
        news
    }

    /// Ends the reply.
    pub fn complete(self) -> Completion {
        let has_refused = !self.refusal.is_empty();
        let text = if has_refused { self.refusal } else { self.text.unwrap_or_default() };
        Completion {
            content: ReplyContent::Text(text),
            usage: self.usage,
            finish: self.finish.unwrap_or(Finish::Stop),
            calls: self.calls,
            left_out: Vec::new(),
        }
    }
}

/// The header of a key, if there is one.
pub(super) fn bearer(key: Option<&str>) -> Vec<(String, String)> {
    let key = key.map(|key| ("authorization".to_owned(), format!("Bearer {key}")));
    key.into_iter().collect()
}

/// The two messages of a prompt.
pub(super) fn messages(prompt: &ModelPrompt) -> Vec<Json> {
    vec![
        json!({"role": "system", "content": prompt.system}),
        json!({"role": "user", "content": prompt.user}),
    ]
}

/// The functions of a prompt in the words of OpenAI, which others have taken over.
pub(super) fn offered(prompt: &ModelPrompt) -> Vec<Json> {
    let offered = |function: &ModelFunction| {
        let ModelFunction { name, parameters } = function;
        json!({"type": "function", "function": {"name": name, "parameters": parameters}})
    };
    prompt.functions.iter().map(offered).collect()
}

/// Names the text as missing, unless it came, or calls in its place, or the model says why it did
/// not.
pub(super) fn ended(draft: &ReplyDraft, place: &'static str) -> Option<&'static str> {
    let has_nothing = draft.text.is_none() && draft.calls.is_empty() && draft.finish.is_none();
    has_nothing.then_some(place)
}

/// Tells whether the schema of a prompt asks for an object.
pub(super) fn asks_for_object(prompt: &ModelPrompt) -> bool {
    let schema = prompt.schema.as_deref().map(serde_json::from_str::<Json>);
    matches!(schema, Some(Ok(schema)) if schema["type"] == "object")
}
