//! The texts of holds that pages have shown, by their hashes: whoever answers a text that is another one
//! meanwhile is told what changed.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many bytes of texts are kept.
const KEPT_BYTES_MAX: usize = 8 << 20;

/// The texts that were shown last.
#[derive(Debug, Default)]
pub struct ShownTexts {
    kept: Mutex<KeptTexts>,
}

#[derive(Debug, Default)]
struct KeptTexts {
    /// By their hashes.
    texts: HashMap<String, String>,
    /// The hashes, oldest first.
    order: VecDeque<String>,
    n_bytes: usize,
}

impl ShownTexts {
    /// Keeps a text that is shown, and lets go of the oldest.
    pub fn keep(&self, hash: &str, text: &str) {
        let mut kept = self.kept();
        if text.len() > KEPT_BYTES_MAX || kept.texts.contains_key(hash) {
            return;
        }
        kept.n_bytes += text.len();
        kept.texts.insert(hash.to_owned(), text.to_owned());
        kept.order.push_back(hash.to_owned());
        while kept.n_bytes > KEPT_BYTES_MAX {
            let Some(oldest) = kept.order.pop_front() else { return };
            kept.n_bytes -= kept.texts.remove(&oldest).map_or(0, |text| text.len());
        }
    }

    /// Returns the text of a hash, if it was shown lately.
    pub fn find(&self, hash: &str) -> Option<String> {
        self.kept().texts.get(hash).cloned()
    }

    /// No code that can panic runs under the lock, so a poisoned one still holds whole texts.
    fn kept(&self) -> MutexGuard<'_, KeptTexts> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT_BYTES_MAX, ShownTexts};

    #[test]
    fn the_texts_that_were_shown_last_are_known() {
        let texts = ShownTexts::default();
        texts.keep("a", "first");
        texts.keep("a", "the same hash is the same text");
        assert_eq!(texts.find("a").as_deref(), Some("first"));
        assert_eq!(texts.find("b"), None);
        let half = "x".repeat(KEPT_BYTES_MAX / 2);
        texts.keep("b", &half);
        texts.keep("c", &half);
        assert_eq!(texts.find("a"), None, "it was the oldest");
        assert!(texts.find("b").is_some() && texts.find("c").is_some());
        texts.keep("d", &"x".repeat(KEPT_BYTES_MAX + 1));
        assert_eq!(texts.find("d"), None);
    }
}
