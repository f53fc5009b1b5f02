//! Answers that are kept in memory: those that take long, for as long as they are the same.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use agentic_model::Instant;

use super::answer::ApiAnswer;
use super::ground::GroundTag;

/// How many answers are kept.
const ANSWERS_MAX: usize = 16;
/// Longer answers are not kept, in bytes.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// The answers that were given last.
#[derive(Default)]
pub struct KeptAnswers {
    newest_first: Mutex<VecDeque<KeptAnswer>>,
}

struct KeptAnswer {
    ground: GroundTag,
    answer: ApiAnswer,
}

impl KeptAnswers {
    /// Returns the answer that would be given now, if it was given before.
    pub fn find(&self, ground: &GroundTag, now: Instant) -> Option<ApiAnswer> {
        let kept = self.newest_first();
        let found = kept.iter().find(|kept| ground.is_reached_by(&kept.ground, now));
        found.map(|kept| kept.answer.clone())
    }

    /// Keeps an answer, if it can be told for how long it is the same.
    pub fn keep(&self, answer: &ApiAnswer) {
        let Some(ground) = answer.lasting_ground().filter(|_| answer.len() <= ANSWER_BYTES_MAX)
        else {
            return;
        };
        let mut kept = self.newest_first();
        kept.push_front(KeptAnswer { ground, answer: answer.clone() });
        kept.truncate(ANSWERS_MAX);
    }

    fn newest_first(&self) -> MutexGuard<'_, VecDeque<KeptAnswer>> {
        // Whoever panicked here left each answer whole.
        self.newest_first.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use agentic_model::Instant;
    use agentic_session::outlook::Permanence;

    use super::{ANSWERS_MAX, ApiAnswer, GroundTag, KeptAnswers};

    fn ground(mark: &str) -> GroundTag {
        GroundTag::read(&format!("{mark}.1000.")).expect("a tag")
    }

    fn answer(mark: &str) -> ApiAnswer {
        let until = Permanence::Until(Instant::from_millis(2_000));
        ApiAnswer::one(&mark).derived(Some(ground(mark))).lasting(until)
    }

    #[test]
    fn an_answer_is_kept_until_it_changes_by_itself_and_the_newest_stay() {
        let (kept, mark) = (KeptAnswers::default(), |n: usize| format!("{n:032x}"));
        (0..=ANSWERS_MAX).for_each(|n| kept.keep(&answer(&mark(n))));
        let is_kept =
            |n: usize, at: i64| kept.find(&ground(&mark(n)), Instant::from_millis(at)).is_some();
        assert!(is_kept(1, 1_500) && is_kept(ANSWERS_MAX, 1_999));
        assert!(!is_kept(0, 1_500), "others came after it");
        assert!(!is_kept(1, 999) && !is_kept(1, 2_000), "it is of another time");
        kept.keep(&answer(&mark(0)).lasting(Permanence::Moves));
        assert!(!is_kept(0, 1_500), "nobody knows for how long it is the same");
    }
}
