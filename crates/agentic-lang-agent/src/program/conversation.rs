//! What a model and tools have said to each other, and how much that may be.

use agentic_model::Instant;

use crate::data::json;
use crate::program::attempt::AttemptFault;
use crate::program::tool::{CheckedToolCall, shown};

/// How often a model may ask for tools in one attempt.
pub const ROUNDS_MAX: usize = 8;
/// How many calls of tools a model may ask for at once.
pub const CALLS_MAX: usize = 64;
/// How long a conversation may be that a model is asked to go on with, in bytes of JSON.
pub const CONVERSATION_BYTES_MAX: usize = 512 << 10;

/// What a model and tools have said to each other in one attempt.
#[derive(Debug)]
pub(super) struct Conversation {
    /// The rounds so far as JSON, the last one without its end.
    pub turns: String,
    pub n_rounds: usize,
    /// The calls of this round.
    pub uses: Vec<CheckedToolCall>,
    /// How many of them have a result.
    pub n_results: usize,
    /// When the tool that is called now was called.
    pub called: Instant,
}

impl Conversation {
    pub fn new(now: Instant) -> Conversation {
        let (turns, uses) = (String::new(), Vec::new());
        Conversation { turns, n_rounds: 0, uses, n_results: 0, called: now }
    }

    /// Returns the rounds that are over, as JSON.
    pub fn turns(&self) -> String {
        format!("[{}]", self.turns)
    }

    /// Returns how long the rounds so far are, in bytes.
    pub fn n_bytes(&self) -> usize {
        self.turns.len()
    }

    /// Returns the tool that is called, and when it was.
    pub fn current(&self) -> (&CheckedToolCall, Instant) {
        (&self.uses[self.n_results], self.called)
    }

    pub fn begin_round(&mut self, said: &str, uses: Vec<CheckedToolCall>) {
        let out = &mut self.turns;
        out.push_str(if self.n_rounds == 0 { "{\"said\":" } else { ",{\"said\":" });
        json::write_text(said, out);
        out.push_str(",\"calls\":[");
        for (at, tool) in uses.iter().enumerate() {
            out.push_str(if at == 0 { "{\"id\":" } else { ",{\"id\":" });
            json::write_text(&tool.id, out);
            out.push_str(",\"name\":");
            json::write_text(&tool.name, out);
            out.push_str(",\"args\":");
            out.push_str(&tool.args);
            out.push('}');
        }
        out.push_str("],\"results\":[");
        (self.uses, self.n_results) = (uses, 0);
        self.n_rounds += 1;
    }

    pub fn add_result(&mut self, result: &str) {
        self.turns.push_str(if self.n_results == 0 { "" } else { "," });
        self.turns.push_str(result);
        self.n_results += 1;
    }

    /// Refuses what is too long to be told to a model again.
    pub fn check(&self) -> Result<(), AttemptFault> {
        let n_bytes = self.turns.len();
        if n_bytes <= CONVERSATION_BYTES_MAX {
            return Ok(());
        }
        let last = self.n_results.checked_sub(1).map(|at| &self.uses[at]);
        let who = last.map_or("The model".to_owned(), |tool| format!("Tool {}", shown(&tool.name)));
        Err(AttemptFault::failed(format!(
            "{who} said too much: the conversation has {n_bytes} bytes, more than the \
             {CONVERSATION_BYTES_MAX} that a model is told."
        )))
    }
}
