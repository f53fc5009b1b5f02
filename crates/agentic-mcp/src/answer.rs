//! Answers of tools: data that fits the schema, a short text of it, and links to what is long.

use agentic_api::view::ErrorView;
use agentic_api::{Notice, Refusal, Reply, VerbCompletion};
use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use crate::MESSAGE_BYTES_MAX;
use crate::hint::in_tool_words;
use crate::shorten::shortened;

/// The longest text of an answer, in bytes.
const TEXT_BYTES_MAX: usize = 64 << 10;
/// What a message may hold besides its data, in bytes.
const MESSAGE_ROOM_BYTES: usize = 128 << 10;

/// How much is left of the texts of an answer that no message can hold, in bytes.
const CUT_BYTES: usize = 512 << 10;

/// How to read what has no resource and is too long for a text.
const THE_REST: &str = "The structured content of this answer has all of it. For shorter answers ask with a \
    smaller `limit`, and go on with `next` as `after`, where the tool takes them.";

/// What a tool answers.
#[derive(Debug)]
pub struct ToolAnswer {
    /// The data.
    pub data: Json,
    /// What is to be told besides.
    pub notices: Vec<String>,
    /// The resource that has all of it.
    pub resource: Option<String>,
}

impl ToolAnswer {
    /// Answers with data.
    pub fn of(data: Json) -> ToolAnswer {
        ToolAnswer { data, notices: Vec::new(), resource: None }
    }

    /// Answers as a verb did.
    ///
    /// # Errors
    /// Fails where the verb fell short of what was asked.
    pub fn of_reply<A: Serialize>(reply: Reply<A>) -> Result<ToolAnswer, Refusal> {
        match reply.completion {
            VerbCompletion::Whole | VerbCompletion::Held | VerbCompletion::Over(_) => {}
            VerbCompletion::Short(refusal) => return Err(refusal),
        }
        let data = serde_json::to_value(&reply.answer).expect("views have text keys");
        let notices = reply.notices.iter().map(Notice::sentence).collect();
        Ok(ToolAnswer { data, notices, resource: None })
    }

    /// Names the resource that has all of it.
    pub fn at(self, uri: String) -> ToolAnswer {
        ToolAnswer { resource: Some(uri), ..self }
    }

    /// Names the resource that has all of it, unless that is too long to be read.
    pub fn at_whole(self, uri: String, whole: &Json) -> ToolAnswer {
        match is_readable(&whole.to_string()) {
            true => self.at(uri),
            false => self,
        }
    }

    /// Makes the result of a call.
    pub fn result(self) -> CallToolResult {
        let text = self.data.to_string();
        if text.len() > MESSAGE_BYTES_MAX - MESSAGE_ROOM_BYTES {
            return self.cut(text.len());
        }
        let mut content = Vec::new();
        match self.resource {
            _ if text.len() <= TEXT_BYTES_MAX => content.push(ContentBlock::text(text)),
            Some(uri) => {
                let said =
                    format!("The answer has {} bytes. The resource has all of it.", text.len());
                content.push(ContentBlock::text(said));
                let resource = Resource::new(uri.clone(), uri).with_mime_type("application/json");
                content.push(ContentBlock::resource_link(resource));
            }
            None => {
                content.push(ContentBlock::text(beginning(&text)));
                content.push(ContentBlock::text(THE_REST));
            }
        }
        if !self.notices.is_empty() {
            content.push(ContentBlock::text(beginning(&self.notices.join("\n"))));
        }
        let mut result = CallToolResult::success(content);
        result.structured_content = Some(self.data);
        result
    }
}

impl ToolAnswer {
    /// Makes the result of a call whose answer no message can hold: what was done is told all the same.
    fn cut(self, n_bytes: usize) -> CallToolResult {
        let data = shortened(&self.data, CUT_BYTES);
        if data.to_string().len() > MESSAGE_BYTES_MAX - MESSAGE_ROOM_BYTES {
            return refused(&too_long(n_bytes));
        }
        let said = format!(
            "The answer has {n_bytes} bytes, more than a message may have: long texts are cut in it, and \
             long lists. The command has no such bound."
        );
        let notices = std::iter::once(said).chain(self.notices).collect();
        ToolAnswer { data, notices, resource: None }.result()
    }
}

/// Tells whether a text can be sent as that of a resource: in a message it is longer.
pub fn is_readable(text: &str) -> bool {
    let sent = serde_json::to_string(text).map_or(0, |sent| sent.len());
    sent <= MESSAGE_BYTES_MAX - MESSAGE_ROOM_BYTES
}

/// Makes the result of a call that was refused.
pub fn refused(refusal: &Refusal) -> CallToolResult {
    refused_with(refusal, Map::new())
}

/// Does the same with more to know besides.
pub fn refused_with(refusal: &Refusal, mut besides: Map<String, Json>) -> CallToolResult {
    let because = refusal.because.as_ref().map(|because| format!(", because {because}"));
    let hint = in_tool_words(&refusal.hint);
    let text = format!("{}{}\nhint: {hint}", refusal.message, because.unwrap_or_default());
    let mut result = CallToolResult::error(vec![ContentBlock::text(beginning(&text))]);
    let view = ErrorView { hint, ..refusal.view() };
    let view = serde_json::to_value(view).expect("views have text keys");
    besides.insert("error".to_owned(), view);
    result.structured_content = Some(Json::Object(besides));
    result
}

fn too_long(n_bytes: usize) -> Refusal {
    Refusal::refused(
        &format!("the answer has {n_bytes} bytes, more than a message may have"),
        "ask for less with `limit`, or run the command, which has no such bound",
    )
}

/// Cuts a text to what an answer may have, and says so.
fn beginning(text: &str) -> String {
    if text.len() <= TEXT_BYTES_MAX {
        return text.to_owned();
    }
    let said = format!("\n… cut: the whole has {} bytes", text.len());
    let end = text.floor_char_boundary(TEXT_BYTES_MAX - said.len());
    format!("{}{said}", &text[..end])
}

/// Returns what a client is told whose call could not be begun.
pub fn busy_hint() -> Json {
    json!({ "hint": "wait until one of the calls under way is answered, then ask again" })
}
