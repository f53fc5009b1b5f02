//! Messages, as Anthropic defined them (<https://docs.anthropic.com/en/api/messages>).

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};

use super::concession::Concessions;
use super::protocol::{ReplyDraft, ReplyFault, Wire, ended};
use super::token::told_counts;
use super::{Finish, FunctionCall, FunctionTurn, ModelPrompt, Think, TokenCount, TokenUsage};
use crate::http::LineFlow;

/// The version of the protocol that is spoken.
const VERSION: &str = "2023-06-01";
/// The most tokens of a reply where the program does not say: the protocol wants a number.
const MAX_OUTPUT_DEFAULT: u64 = 4096;

/// The wire format.
pub(super) struct Anthropic;

#[derive(Deserialize)]
struct AnthropicResponse {
    #[serde(default)]
    content: Vec<AnthropicBlock>,
    #[serde(default)]
    stop_reason: Option<String>,
    usage: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct AnthropicBlock {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    id: Option<String>,
    name: Option<String>,
    input: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct AnthropicCounts {
    input_tokens: Option<TokenCount>,
    output_tokens: Option<TokenCount>,
}

#[derive(Deserialize)]
struct AnthropicEvent {
    #[serde(rename = "type")]
    kind: String,
    message: Option<AnthropicResponse>,
    delta: Option<AnthropicDelta>,
    usage: Option<Box<RawValue>>,
    error: Option<Json>,
}

#[derive(Deserialize)]
struct AnthropicDelta {
    text: Option<String>,
    stop_reason: Option<String>,
}

impl Wire for Anthropic {
    fn path(&self) -> &'static str {
        "/v1/messages"
    }

    fn probe_path(&self) -> &'static str {
        "/v1/models"
    }

    fn headers(&self, key: Option<&str>) -> Vec<(String, String)> {
        let key = key.map(|key| ("x-api-key".to_owned(), key.to_owned()));
        let version = ("anthropic-version".to_owned(), VERSION.to_owned());
        key.into_iter().chain([version]).collect()
    }

    fn body(&self, _server: &str, name: &str, prompt: &ModelPrompt, conceded: Concessions) -> Json {
        let options = &prompt.options;
        let max_output = options.max_output.unwrap_or(MAX_OUTPUT_DEFAULT);
        let mut said = vec![json!({"role": "user", "content": prompt.user})];
        said.extend(prompt.turns.iter().flat_map(told));
        let mut body = json!({
            "model": name,
            "max_tokens": max_output,
            "system": prompt.system,
            "messages": said,
        });
        if !prompt.functions.is_empty() {
            let offered = prompt.functions.iter().map(
                |function| json!({"name": function.name, "input_schema": function.parameters}),
            );
            body["tools"] = offered.collect();
        }
        let thinking = thinking_tokens(options.think).filter(|_| !conceded.think);
        match (thinking, options.temperature.filter(|_| !conceded.temperature)) {
            (Some(tokens), _) => {
                // What is thought counts as output, and the temperature must then be left alone.
                body["max_tokens"] = json!(max_output.saturating_add(tokens));
                body["thinking"] = json!({"type": "enabled", "budget_tokens": tokens});
            }
            (None, Some(temperature)) => body["temperature"] = json!(temperature),
            (None, None) => {}
        }
        body
    }

    fn stream(&self, body: &mut Json) {
        body["stream"] = json!(true);
    }

    fn read(&self, text: &str, draft: &mut ReplyDraft) -> Result<(), ReplyFault> {
        let response: AnthropicResponse = serde_json::from_str(text)?;
        take(response, draft);
        Ok(())
    }

    fn read_event(&self, line: &str, draft: &mut ReplyDraft) -> Result<LineFlow, ReplyFault> {
        // Events name themselves again in their data.
        let Some(data) = line.strip_prefix("data:") else { return Ok(LineFlow::More) };
        let event: AnthropicEvent = serde_json::from_str(data.trim())?;
        if let Some(message) = event.message {
            take(message, draft);
        }
        if let Some(delta) = event.delta {
            if let Some(text) = delta.text {
                draft.add(&text);
            }
            draft.finish = finish_of(delta.stop_reason).or(draft.finish.take());
        }
        count(event.usage.as_deref(), draft);
        match (event.kind.as_str(), event.error) {
            ("message_stop", _) => Ok(LineFlow::Enough),
            ("error", error) => Err(ReplyFault::Failed(error.unwrap_or_default().to_string())),
            _ => Ok(LineFlow::More),
        }
    }

    fn missing(&self, draft: &ReplyDraft) -> Option<&'static str> {
        ended(draft, "content[0].text")
    }
}

fn take(response: AnthropicResponse, draft: &mut ReplyDraft) {
    for block in response.content {
        match (block.kind.as_str(), block.text) {
            ("text", Some(text)) => draft.add(&text),
            ("tool_use", _) => {
                let call = FunctionCall::new(block.id, block.name, block.input.as_deref());
                draft.calls.push(call);
            }
            _ => {}
        }
    }
    draft.finish = finish_of(response.stop_reason).or(draft.finish.take());
    count(response.usage.as_deref(), draft);
}

/// The two messages of a turn: what the model said and asked for, and the results.
fn told(turn: &FunctionTurn) -> Vec<Json> {
    // A text without letters is refused.
    let said = (!turn.said.trim().is_empty()).then(|| json!({"type": "text", "text": turn.said}));
    let calls = turn.calls.iter().map(
        |call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.input()}),
    );
    let given = turn.answered().map(
        |(call, result)| json!({"type": "tool_result", "tool_use_id": call.id, "content": result}),
    );
    let (asked, given): (Vec<Json>, Vec<Json>) =
        (said.into_iter().chain(calls).collect(), given.collect());
    vec![json!({"role": "assistant", "content": asked}), json!({"role": "user", "content": given})]
}

/// Takes in counts; those of a stream come in parts, the later ones being whole.
fn count(told: Option<&RawValue>, draft: &mut ReplyDraft) {
    let Some(told) = told else { return };
    let before = draft.usage.unwrap_or(TokenUsage::of(0, 0));
    let counts = told_counts::<AnthropicCounts>(told);
    draft.usage = Some(counts.map_or_else(TokenUsage::from, |counts| TokenUsage {
        input_tokens: counts.input_tokens.unwrap_or(before.input_tokens),
        output_tokens: counts.output_tokens.unwrap_or(before.output_tokens),
    }));
}

fn finish_of(reason: Option<String>) -> Option<Finish> {
    reason.map(|word| Finish::of_word(&word))
}

fn thinking_tokens(think: Think) -> Option<u64> {
    match think {
        Think::Off => None,
        Think::Low => Some(1024),
        Think::Auto | Think::Medium => Some(4096),
        Think::High => Some(16 << 10),
    }
}
