//! Models: what they are asked, and what they reply.
//!
//! A program's request of kind `model` becomes a [`ModelPrompt`]; a [`Model`] completes it; the
//! [`Completion`] becomes the answer. What a model replies is hostile text: it is bounded, it is
//! UTF-8, and nothing else is promised about it.

mod adapter;
mod address;
mod anthropic;
mod concession;
mod endpoint;
mod function;
mod mock;
mod ollama;
mod openai;
mod payload;
mod protocol;
mod registry;
mod role;
mod script;
mod scripted;
mod task;
mod token;
mod unfinished;

use std::time::Duration;

use crate::host::CancelFlag;

pub use crate::http::{Retry, RetryRule};
pub use crate::model::adapter::{
    ADAPTER_VARIABLE, AGENT_MODEL_VARIABLE, Adapter, TIMEOUT_VARIABLE,
};
pub use crate::model::address::{ModelAddress, ModelProtocol};
pub use crate::model::concession::Refusals;
pub use crate::model::endpoint::{Endpoint, REPLY_BYTES_MAX, TIME_LIMIT_DEFAULT};
pub use crate::model::function::{FunctionCall, FunctionTurn, ModelFunction};
pub use crate::model::mock::MockModel;
pub use crate::model::payload::{answer_of, prompt_of};
pub use crate::model::registry::{ModelRegistry, ResolvedModel, resolve};
pub use crate::model::role::{RETRY_AFTER_MS, role_answer, role_prompt};
pub use crate::model::script::{script_answer, script_prompt};
pub use crate::model::scripted::{ScriptedModel, ScriptedReply};
pub use crate::model::task::{TASK_REQUEST, task_answer, task_prompt};
pub use crate::model::token::{TOKENS_MAX, TokenCount, TokenUsage};

/// The kind of a request to a model.
pub const MODEL_REQUEST: &str = "model";

/// What a model is asked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelPrompt {
    /// Who the model is to be.
    pub system: String,
    /// What it is asked.
    pub user: String,
    /// The JSON Schema that the reply should match, as JSON text.
    pub schema: Option<String>,
    /// How it should be asked; what a model does not know is left out.
    pub options: ModelHints,
    /// The functions that it may call. With any, the reply comes whole, not in pieces.
    pub functions: Vec<ModelFunction>,
    /// What it called before, and what it was given.
    pub turns: Vec<FunctionTurn>,
}

/// Hints to a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelHints {
    /// The most tokens that it may reply with.
    pub max_output: Option<u64>,
    /// How freely it chooses its words.
    pub temperature: Option<f64>,
    /// How long it thinks first.
    pub think: Think,
    /// Whether its reply must match the schema to the letter.
    pub strict: bool,
}

/// How long a model thinks before it replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Think {
    /// As little as it can.
    #[default]
    Off,
    /// As long as it likes.
    Auto,
    /// A little.
    Low,
    /// Some time.
    Medium,
    /// Long.
    High,
}

/// What a model replied.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// The reply itself.
    pub content: ReplyContent,
    /// What it cost, if the model says so.
    pub usage: Option<TokenUsage>,
    /// Why it ended.
    pub finish: Finish,
    /// The functions that it wants to be called before it goes on.
    pub calls: Vec<FunctionCall>,
    /// What of the prompt the model was not told, because it does not take it.
    pub left_out: Vec<&'static str>,
}

/// A reply as text, or as a value that needs no reading.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyContent {
    /// Text, as the model wrote it.
    Text(String),
    /// A value as JSON text, its keys in order.
    Json(String),
}

/// Why a reply ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// It was complete.
    Stop,
    /// It reached the limit of its length.
    Length,
    /// The model did not want to go on; what it says is why.
    Refusal,
    /// Somebody between us and the model took the rest away.
    Filtered,
    /// Something else, in the model's own word.
    Other(String),
}

impl Finish {
    /// Reads the word for it. Servers that speak a protocol take their words from others.
    fn of_word(word: &str) -> Finish {
        match word.to_ascii_lowercase().as_str() {
            "stop" | "end_turn" | "stop_sequence" => Finish::Stop,
            "length"
            | "max_tokens"
            | "max_output_tokens"
            | "model_length"
            | "model_context_window_exceeded" => Finish::Length,
            "refusal" => Finish::Refusal,
            "content_filter" | "content-filter" | "safety" | "recitation" | "blocklist"
            | "prohibited_content" => Finish::Filtered,
            _ => Finish::Other(word.to_owned()),
        }
    }

    /// Returns our word for it.
    fn as_str(&self) -> &str {
        match self {
            Finish::Stop => "stop",
            Finish::Length => "length",
            Finish::Refusal => "refusal",
            Finish::Filtered => "filtered",
            Finish::Other(word) => word,
        }
    }
}

/// What surrounds a call of a model.
pub struct ModelCall<'a> {
    /// Tells when nobody waits for the reply any more.
    pub cancel: &'a CancelFlag,
    /// How long all attempts together may take; the model's own limit without one.
    pub limit: Option<Duration>,
    /// Hears the reply piece by piece as it comes; an attempt that is repeated begins anew.
    pub listener: Option<&'a mut dyn FnMut(ReplyPart<'_>)>,
    /// Who makes the call again where that helps.
    pub repeats: Repeats,
}

/// Who makes a call again that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// The model, as it is configured.
    Model,
    /// Whoever calls: each attempt is a call of its own.
    Caller,
}

/// A piece of a reply that is still being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyPart<'a> {
    /// More text.
    Text(&'a str),
    /// What came so far is void, for the call is made again.
    Again,
}

impl<'a> ModelCall<'a> {
    /// Makes a call that only listens for its end.
    pub fn new(cancel: &'a CancelFlag) -> ModelCall<'a> {
        ModelCall { cancel, limit: None, listener: None, repeats: Repeats::Model }
    }
}

/// A failed call of a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelFault {
    /// What sort of failure.
    pub class: FaultClass,
    /// What happened. Never holds a secret.
    pub message: String,
    /// Whether the same call may be made again, and when.
    pub retry: Retry,
}

/// The sorts of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultClass {
    /// The model cannot be reached, or broke off.
    Transport,
    /// The model was reached and refused: no such model, a bad request.
    Refused,
    /// The model was reached and lets nobody like us in for now: no right, no quota, too many calls.
    Unadmitted,
    /// What came back cannot be understood.
    Invalid,
    /// The time limit passed first.
    TimedOut,
    /// Nobody waits any more.
    Cancelled,
    /// Something is missing here: a model, a key, an address.
    Unconfigured,
}

impl FaultClass {
    /// Returns the code under which a program sees the failure.
    pub fn code(self) -> &'static str {
        match self {
            FaultClass::Transport => "transport",
            FaultClass::Refused | FaultClass::Unadmitted => "refused",
            FaultClass::Invalid => "invalid",
            FaultClass::TimedOut => "timed-out",
            FaultClass::Cancelled => "cancelled",
            FaultClass::Unconfigured => "unconfigured",
        }
    }
}

impl ModelFault {
    /// Makes a failure that would happen again.
    pub fn new(class: FaultClass, message: impl Into<String>) -> ModelFault {
        ModelFault { class, message: message.into(), retry: Retry::Never }
    }

    /// Says whether it tells nothing about what was asked: another key, another hour, and the same
    /// call is answered. `limit` is the time that whoever calls gave it: when that is over, that is
    /// an answer.
    pub fn is_passing(&self, limit: Option<Duration>) -> bool {
        match self.class {
            FaultClass::Transport | FaultClass::Unadmitted | FaultClass::Unconfigured => true,
            FaultClass::TimedOut => limit.is_none(),
            FaultClass::Refused | FaultClass::Invalid | FaultClass::Cancelled => false,
        }
    }

    /// Adds when the call may be made again.
    pub fn with_retry(self, retry: Retry) -> ModelFault {
        ModelFault { retry, ..self }
    }
}

/// Completes prompts. One model serves many threads at once.
pub trait Model: Send + Sync {
    /// Completes one prompt.
    ///
    /// # Errors
    /// Fails as [`FaultClass`] says; models over networks repeat a call themselves where it helps,
    /// unless the caller wants to.
    fn complete(
        &self,
        prompt: &ModelPrompt,
        call: &mut ModelCall<'_>,
    ) -> Result<Completion, ModelFault>;
}
