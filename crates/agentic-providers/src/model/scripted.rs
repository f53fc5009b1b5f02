//! A model that replies from a list.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{
    Completion, FaultClass, Finish, Model, ModelCall, ModelFault, ModelPrompt, ReplyContent,
    ReplyPart, TokenUsage,
};

/// One prepared reply.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptedReply {
    /// A completion.
    Completed(Completion),
    /// A failure of the model.
    Failed(ModelFault),
}

impl ScriptedReply {
    /// Makes a complete reply of text, counted as one token a word.
    pub fn text(text: impl Into<String>) -> ScriptedReply {
        let text = text.into();
        let output_tokens = text.split_whitespace().count() as u64;
        ScriptedReply::Completed(Completion {
            usage: Some(TokenUsage::of(0, output_tokens)),
            content: ReplyContent::Text(text),
            finish: Finish::Stop,
            calls: Vec::new(),
            left_out: Vec::new(),
        })
    }
}

/// A model that gives its replies in the order in which it is called, whatever it is asked.
#[derive(Debug)]
pub struct ScriptedModel {
    replies: Vec<ScriptedReply>,
    next: AtomicUsize,
}

impl ScriptedModel {
    /// Takes the replies.
    pub fn new(replies: Vec<ScriptedReply>) -> ScriptedModel {
        ScriptedModel { replies, next: AtomicUsize::new(0) }
    }
}

impl Model for ScriptedModel {
    fn complete(
        &self,
        _prompt: &ModelPrompt,
        call: &mut ModelCall<'_>,
    ) -> Result<Completion, ModelFault> {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        let reply = self.replies.get(at).cloned().unwrap_or_else(|| {
            let message = format!("the script has no reply number {}", at + 1);
            ScriptedReply::Failed(ModelFault::new(FaultClass::Refused, message))
        });
        match reply {
            ScriptedReply::Completed(completion) => {
                if let (Some(listener), ReplyContent::Text(text)) =
                    (&mut call.listener, &completion.content)
                {
                    listener(ReplyPart::Text(text));
                }
                Ok(completion)
            }
            ScriptedReply::Failed(fault) => Err(fault),
        }
    }
}
