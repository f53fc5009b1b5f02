//! Chat completions, as OpenAI defined them and many servers speak them
//! (<https://platform.openai.com/docs/api-reference/chat>).

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};

use super::concession::Concessions;
use super::protocol::{
    ReplyDraft, ReplyFault, Wire, asks_for_object, bearer, ended, messages, offered,
};
use super::token::told_counts;
use super::{Finish, FunctionCall, FunctionTurn, ModelPrompt, Think, TokenCount, TokenUsage};
use crate::http::LineFlow;

/// The server of OpenAI itself, which has its own word for the length of replies.
const OWN_SERVER: &str = "https://api.openai.com";

/// The wire format.
pub(super) struct OpenAi;

#[derive(Deserialize)]
struct OpenaiResponse {
    #[serde(default)]
    choices: Vec<OpenaiChoice>,
    usage: Option<Box<RawValue>>,
    /// Some servers report success and a failure at once.
    error: Option<Json>,
}

#[derive(Deserialize)]
struct OpenaiChoice {
    #[serde(alias = "delta")]
    message: Option<OpenaiMessage>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct OpenaiMessage {
    content: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<OpenaiToolCall>>,
}

#[derive(Deserialize)]
struct OpenaiToolCall {
    id: Option<String>,
    function: Option<OpenaiFunctionCall>,
}

#[derive(Deserialize)]
struct OpenaiFunctionCall {
    name: Option<String>,
    arguments: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct OpenaiCounts {
    #[serde(default)]
    prompt_tokens: TokenCount,
    #[serde(default)]
    completion_tokens: TokenCount,
}

impl OpenaiCounts {
    fn usage(self) -> TokenUsage {
        TokenUsage { input_tokens: self.prompt_tokens, output_tokens: self.completion_tokens }
    }
}

impl Wire for OpenAi {
    fn path(&self) -> &'static str {
        "/chat/completions"
    }

    fn probe_path(&self) -> &'static str {
        "/models"
    }

    fn headers(&self, key: Option<&str>) -> Vec<(String, String)> {
        bearer(key)
    }

    fn body(&self, server: &str, name: &str, prompt: &ModelPrompt, conceded: Concessions) -> Json {
        let mut said = messages(prompt);
        said.extend(prompt.turns.iter().flat_map(told));
        let mut body = json!({"model": name, "messages": said});
        if !prompt.functions.is_empty() {
            body["tools"] = json!(offered(prompt));
        }
        let options = &prompt.options;
        if let Some(tokens) = options.max_output {
            let is_newer = server.starts_with(OWN_SERVER) || conceded.limit;
            body[if is_newer { "max_completion_tokens" } else { "max_tokens" }] = json!(tokens);
        }
        if asks_for_object(prompt) {
            body["response_format"] = reply_format(prompt, conceded);
        }
        if let Some(temperature) = options.temperature.filter(|_| !conceded.temperature) {
            body["temperature"] = json!(temperature);
        }
        let effort = match options.think {
            Think::Off | Think::Auto => None,
            Think::Low => Some("low"),
            Think::Medium => Some("medium"),
            Think::High => Some("high"),
        };
        if let Some(effort) = effort.filter(|_| !conceded.think) {
            body["reasoning_effort"] = json!(effort);
        }
        body
    }

    fn stream(&self, body: &mut Json) {
        body["stream"] = json!(true);
        body["stream_options"] = json!({"include_usage": true});
    }

    fn read(&self, text: &str, draft: &mut ReplyDraft) -> Result<(), ReplyFault> {
        let response: OpenaiResponse = serde_json::from_str(text)?;
        if let Some(error) = response.error {
            return Err(ReplyFault::Failed(error.to_string()));
        }
        if let Some(told) = response.usage {
            let counts = told_counts::<OpenaiCounts>(&told);
            draft.usage = Some(counts.map_or_else(TokenUsage::from, OpenaiCounts::usage));
        }
        let Some(choice) = response.choices.into_iter().next() else { return Ok(()) };
        if let Some(message) = choice.message {
            if let Some(text) = message.content {
                draft.add(&text);
            }
            if let Some(words) = message.refusal.filter(|words| !words.is_empty()) {
                draft.refuse(&words);
            }
            draft.calls.extend(message.tool_calls.unwrap_or_default().into_iter().map(|call| {
                let (name, args) = call.function.map_or((None, None), |it| (it.name, it.arguments));
                FunctionCall::new(call.id, name, args.as_deref())
            }));
        }
        if let Some(reason) = choice.finish_reason {
            draft.finish.get_or_insert(Finish::of_word(&reason));
        }
        Ok(())
    }

    fn read_event(&self, line: &str, draft: &mut ReplyDraft) -> Result<LineFlow, ReplyFault> {
        match line.strip_prefix("data:").map(str::trim) {
            Some("[DONE]") => Ok(LineFlow::Enough),
            Some(data) => self.read(data, draft).map(|()| LineFlow::More),
            // Names of events, remarks and the lines between them.
            None => Ok(LineFlow::More),
        }
    }

    fn missing(&self, draft: &ReplyDraft) -> Option<&'static str> {
        ended(draft, "choices[0].message.content")
    }
}

/// Says which form the reply is to have: an object, or to the letter what the schema says.
fn reply_format(prompt: &ModelPrompt, conceded: Concessions) -> Json {
    let schema = prompt.schema.as_deref().and_then(|schema| serde_json::from_str(schema).ok());
    let schema: Option<Json> = schema.filter(|_| prompt.options.strict && !conceded.schema);
    match schema {
        Some(schema) => {
            let asked = json!({"name": "reply", "strict": true, "schema": schema});
            json!({"type": "json_schema", "json_schema": asked})
        }
        None => json!({"type": "json_object"}),
    }
}

/// The messages of a turn: what the model asked for, then each result.
fn told(turn: &FunctionTurn) -> Vec<Json> {
    let call = |call: &FunctionCall| {
        let FunctionCall { id, name, args } = call;
        json!({"id": id, "type": "function", "function": {"name": name, "arguments": args}})
    };
    let calls: Vec<Json> = turn.calls.iter().map(call).collect();
    let asked = json!({"role": "assistant", "content": turn.said, "tool_calls": calls});
    let given = turn
        .answered()
        .map(|(call, result)| json!({"role": "tool", "tool_call_id": call.id, "content": result}));
    std::iter::once(asked).chain(given).collect()
}
