//! Replies that do not count: the model refused, or the reply was cut or filtered before its end.
//!
//! Half a reply looks like a whole one, and a refusal like an answer. So they are failures in every
//! language. This is decided where the reply comes in, before it is recorded, so that what earlier
//! versions recorded replays as it was.

use agentic_model::{Map, Value};
use agentic_replay::ProgramFailure;

use super::payload::usage_value;
use super::{Completion, Finish, ReplyContent, TokenUsage};

/// How many letters of such a reply the message of the failure shows.
const SHOWN_MAX: usize = 300;
/// How many bytes of such a reply the details of the failure hold: 64 KiB.
const KEPT_BYTES_MAX: usize = 64 << 10;

/// A reply that does not count.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnfinishedReply<'c> {
    reason: UnfinishedReason,
    word: &'c str,
    said: &'c str,
    usage: Option<TokenUsage>,
}

/// Why it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnfinishedReason {
    Refused,
    Cut,
    Filtered,
}

impl<'c> UnfinishedReply<'c> {
    /// Looks at how a reply ended; nothing if it is whole.
    pub fn of(completion: &'c Completion) -> Option<UnfinishedReply<'c>> {
        let reason = match &completion.finish {
            Finish::Stop | Finish::Other(_) => return None,
            Finish::Length => UnfinishedReason::Cut,
            Finish::Refusal => UnfinishedReason::Refused,
            Finish::Filtered => UnfinishedReason::Filtered,
        };
        let (ReplyContent::Text(said) | ReplyContent::Json(said)) = &completion.content;
        let word = completion.finish.as_str();
        Some(UnfinishedReply { reason, word, said, usage: completion.usage })
    }

    /// Returns why it does not count.
    pub fn reason(&self) -> UnfinishedReason {
        self.reason
    }

    /// Returns the code under which most languages see it.
    pub fn code(&self) -> &'static str {
        match self.reason {
            UnfinishedReason::Refused => "model-refused",
            UnfinishedReason::Cut => "reply-cut",
            UnfinishedReason::Filtered => "reply-filtered",
        }
    }

    /// Makes the failure, which holds what the model said and what it cost.
    pub fn failure(&self, code: &str) -> ProgramFailure {
        let mut details = Map::from([
            ("finish".to_owned(), Value::text(self.word)),
            ("text".to_owned(), Value::text(beginning(self.said))),
        ]);
        details.extend(self.usage.map(|usage| ("usage".to_owned(), usage_value(usage))));
        let details = Value::Map(details);
        ProgramFailure { details, ..ProgramFailure::new(code, self.message()) }
    }

    fn message(&self) -> String {
        let what = match self.reason {
            UnfinishedReason::Refused => "the model refuses to answer",
            UnfinishedReason::Cut => {
                "the reply was cut at its most tokens (`length`), a larger `max_output` gives it room"
            }
            UnfinishedReason::Filtered => "the reply was filtered",
        };
        let words: Vec<&str> = self.said.split_whitespace().collect();
        let line: String = words.join(" ").chars().filter(|letter| !letter.is_control()).collect();
        match line.char_indices().nth(SHOWN_MAX) {
            Some((at, _)) => format!("{what}: {}…", &line[..at]),
            None if line.is_empty() => what.to_owned(),
            None => format!("{what}: {line}"),
        }
    }
}

/// Returns as much of a text as is kept, whole letters only.
fn beginning(text: &str) -> &str {
    let mut end = text.len().min(KEPT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(finish: Finish, said: &str, wanted: &str) {
        let content = ReplyContent::Text(said.to_owned());
        let usage = Some(TokenUsage::of(1, 2));
        let completion =
            Completion { content, usage, finish, calls: Vec::new(), left_out: Vec::new() };
        let found = UnfinishedReply::of(&completion).map(|unfinished| {
            let failure = unfinished.failure(unfinished.code());
            assert_eq!(failure.details.get("text").and_then(Value::as_text), Some(said));
            assert!(failure.details.get("usage").is_some());
            format!("{}: {}", failure.code, failure.message)
        });
        assert_eq!(found.unwrap_or_default(), wanted);
    }

    #[test]
    fn a_reply_that_is_not_whole_is_a_failure_with_its_words() {
        check(Finish::Stop, "whole", "");
        check(Finish::Other("tool_calls".to_owned()), "whole", "");
        let refused = "model-refused: the model refuses to answer: I cannot";
        check(Finish::Refusal, "I\u{1b} cannot\n", refused);
        check(Finish::Refusal, "", "model-refused: the model refuses to answer");
        check(Finish::Filtered, "Half", "reply-filtered: the reply was filtered: Half");
        let cut = "reply-cut: the reply was cut at its most tokens (`length`), \
            a larger `max_output` gives it room: Half of a sent";
        check(Finish::Length, "Half of a sent", cut);
    }

    #[test]
    fn a_long_reply_is_kept_in_part() {
        let said = "ä".repeat(KEPT_BYTES_MAX);
        assert_eq!(beginning(&said).len(), KEPT_BYTES_MAX);
        let odd = format!("x{said}");
        assert_eq!(beginning(&odd).len(), KEPT_BYTES_MAX - 1);
    }

    #[test]
    fn servers_have_many_words_for_the_same() {
        for word in ["length", "max_tokens", "MAX_TOKENS", "model_context_window_exceeded"] {
            assert_eq!(Finish::of_word(word), Finish::Length, "{word}");
        }
        for word in ["content_filter", "SAFETY", "recitation"] {
            assert_eq!(Finish::of_word(word), Finish::Filtered, "{word}");
        }
        assert_eq!(Finish::of_word("refusal"), Finish::Refusal);
        assert_eq!(Finish::of_word("end_turn"), Finish::Stop);
        assert_eq!(Finish::of_word("tool_use"), Finish::Other("tool_use".to_owned()));
    }
}
