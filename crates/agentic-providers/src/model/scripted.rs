//! A model that replies from a list.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{
    Call, Completion, Content, FaultClass, Finish, Model, ModelFault, Piece, Prompt, Usage,
};

/// One prepared reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// A completion.
    Completed(Completion),
    /// A failure of the model.
    Failed(ModelFault),
}

impl Reply {
    /// Makes a complete reply of text, counted as one token a word.
    pub fn text(text: impl Into<String>) -> Reply {
        let text = text.into();
        let output_tokens = text.split_whitespace().count() as u64;
        Reply::Completed(Completion {
            usage: Some(Usage { input_tokens: 0, output_tokens }),
            content: Content::Text(text),
            finish: Finish::Stop,
            calls: Vec::new(),
            left_out: Vec::new(),
        })
    }
}

/// A model that gives its replies in the order in which it is called, whatever it is asked.
#[derive(Debug)]
pub struct ScriptedModel {
    replies: Vec<Reply>,
    next: AtomicUsize,
}

impl ScriptedModel {
    /// Takes the replies.
    pub fn new(replies: Vec<Reply>) -> ScriptedModel {
        ScriptedModel { replies, next: AtomicUsize::new(0) }
    }
}

impl Model for ScriptedModel {
    fn complete(&self, _prompt: &Prompt, call: &mut Call<'_>) -> Result<Completion, ModelFault> {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        let reply = self.replies.get(at).cloned().unwrap_or_else(|| {
            let message = format!("the script has no reply number {}", at + 1);
            Reply::Failed(ModelFault::new(FaultClass::Refused, message))
        });
        match reply {
            Reply::Completed(completion) => {
                if let (Some(listener), Content::Text(text)) =
                    (&mut call.listener, &completion.content)
                {
                    listener(Piece::Text(text));
                }
                Ok(completion)
            }
            Reply::Failed(fault) => Err(fault),
        }
    }
}
