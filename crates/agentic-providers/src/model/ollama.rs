//! The chat of Ollama (<https://github.com/ollama/ollama/blob/main/docs/api.md>).

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};

use super::concession::Concessions;
use super::protocol::{ReplyDraft, ReplyFault, Wire, bearer, ended, messages, offered};
use super::{Finish, FunctionCall, FunctionTurn, ModelPrompt, Think, TokenCount, TokenUsage};
use crate::http::LineFlow;

/// The wire format.
pub(super) struct Ollama;

#[derive(Deserialize)]
struct OllamaResponse {
    message: Option<OllamaMessage>,
    #[serde(default)]
    done: bool,
    done_reason: Option<String>,
    prompt_eval_count: Option<TokenCount>,
    eval_count: Option<TokenCount>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct OllamaMessage {
    content: Option<String>,
    tool_calls: Option<Vec<OllamaToolCall>>,
}

#[derive(Deserialize)]
struct OllamaToolCall {
    function: Option<OllamaCalled>,
}

#[derive(Deserialize)]
struct OllamaCalled {
    name: Option<String>,
    arguments: Option<Box<RawValue>>,
}

impl Wire for Ollama {
    fn path(&self) -> &'static str {
        "/api/chat"
    }

    fn probe_path(&self) -> &'static str {
        "/api/tags"
    }

    fn headers(&self, key: Option<&str>) -> Vec<(String, String)> {
        bearer(key)
    }

    fn body(&self, _server: &str, name: &str, prompt: &ModelPrompt, conceded: Concessions) -> Json {
        let mut said = messages(prompt);
        said.extend(prompt.turns.iter().flat_map(told));
        let mut body = json!({"model": name, "messages": said, "stream": false});
        if !prompt.functions.is_empty() {
            // A reply that is held to a schema can call nothing.
            body["tools"] = json!(offered(prompt));
        } else if let Some(schema) = &prompt.schema {
            // A schema that is no JSON cannot be one either.
            body["format"] = serde_json::from_str(schema).unwrap_or_else(|_| json!("json"));
        }
        let options = &prompt.options;
        if let Some(tokens) = options.max_output {
            body["options"]["num_predict"] = json!(tokens);
        }
        if let Some(temperature) = options.temperature.filter(|_| !conceded.temperature) {
            body["options"]["temperature"] = json!(temperature);
        }
        let think = match options.think {
            Think::Off => None,
            Think::Auto => Some(json!(true)),
            Think::Low => Some(json!("low")),
            Think::Medium => Some(json!("medium")),
            Think::High => Some(json!("high")),
        };
        if let Some(think) = think.filter(|_| !conceded.think) {
            body["think"] = think;
        }
        body
    }

    fn stream(&self, body: &mut Json) {
        body["stream"] = json!(true);
    }

    fn read(&self, text: &str, draft: &mut ReplyDraft) -> Result<(), ReplyFault> {
        let response: OllamaResponse = serde_json::from_str(text)?;
        if let Some(error) = response.error {
            return Err(ReplyFault::Failed(error));
        }
        if let Some(message) = response.message {
            if let Some(text) = message.content {
                draft.add(&text);
            }
            let calls = message.tool_calls.unwrap_or_default().into_iter();
            draft.calls.extend(calls.filter_map(|call| call.function).map(|function| {
                FunctionCall::new(None, function.name, function.arguments.as_deref())
            }));
        }
        if response.prompt_eval_count.is_some() || response.eval_count.is_some() {
            draft.usage = Some(TokenUsage {
                input_tokens: response.prompt_eval_count.unwrap_or_default(),
                output_tokens: response.eval_count.unwrap_or_default(),
            });
        }
        if response.done {
            let reason = response.done_reason.as_deref();
            draft.finish = Some(reason.map_or(Finish::Stop, Finish::of_word));
        }
        Ok(())
    }

    fn read_event(&self, line: &str, draft: &mut ReplyDraft) -> Result<LineFlow, ReplyFault> {
        if line.trim().is_empty() {
            return Ok(LineFlow::More);
        }
        self.read(line, draft)?;
        Ok(if draft.finish.is_some() { LineFlow::Enough } else { LineFlow::More })
    }

    fn missing(&self, draft: &ReplyDraft) -> Option<&'static str> {
        ended(draft, "message.content")
    }
}

/// The messages of a turn: what the model asked for, then each result.
fn told(turn: &FunctionTurn) -> Vec<Json> {
    let call =
        |call: &FunctionCall| json!({"function": {"name": call.name, "arguments": call.input()}});
    let calls: Vec<Json> = turn.calls.iter().map(call).collect();
    let asked = json!({"role": "assistant", "content": turn.said, "tool_calls": calls});
    let given = turn
        .answered()
        .map(|(call, result)| json!({"role": "tool", "tool_name": call.name, "content": result}));
    std::iter::once(asked).chain(given).collect()
}
