//! The piece of a text that is shown of a hit, and what of it was asked for.

use crate::search::{SearchQuery, SearchTerm, find_phrase, folded};
use crate::word::each_term;

/// How long an excerpt is, in characters.
pub const EXCERPT_CHARS_MAX: usize = 200;
/// How much of it stands before what was found, in characters.
const LEAD_CHARS: usize = 60;
/// How much of a text is looked through for the place to show, in bytes.
const SOUGHT_BYTES_MAX: usize = 64 << 10;
/// How many marks an excerpt has at most.
const MARKS_MAX: usize = 32;

/// A piece of a text on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchExcerpt {
    /// The piece, with single blanks.
    pub text: String,
    /// What was asked for in it: where it begins and ends, counted in characters.
    pub marks: Vec<(usize, usize)>,
}

impl SearchExcerpt {
    /// Cuts the piece of a text that shows what a query found there.
    pub fn of(text: &str, query: &SearchQuery) -> SearchExcerpt {
        let text = &text[..text.floor_char_boundary(SOUGHT_BYTES_MAX)];
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let first = places(&flat, query).first().map_or(0, |place| place.0);
        let before = flat[..first].char_indices().rev().take(LEAD_CHARS).last();
        let start = before.map_or(first, |(at, _)| at);
        let rest = &flat[start..];
        let is_cut_before = start > 0;
        let room = EXCERPT_CHARS_MAX - usize::from(is_cut_before);
        let end = rest.char_indices().nth(room);
        let piece = match end {
            // Room for the sign that more follows.
            Some(_) => &rest[..rest.char_indices().nth(room - 1).map_or(rest.len(), |(at, _)| at)],
            None => rest,
        };
        let lead = if is_cut_before { "…" } else { "" };
        let tail = if end.is_some() { "…" } else { "" };
        let text = format!("{lead}{piece}{tail}");
        let marks = marks(&text, places(&text, query));
        SearchExcerpt { text, marks }
    }

    /// Cuts the text where marks begin and end; each piece says whether it was asked for.
    pub fn pieces(&self) -> Vec<(bool, String)> {
        let mut pieces = Vec::new();
        let mut characters = self.text.chars();
        let mut at = 0;
        for (start, end) in &self.marks {
            let before: String = characters.by_ref().take(start - at).collect();
            let marked: String = characters.by_ref().take(end - start).collect();
            pieces.extend((!before.is_empty()).then_some((false, before)));
            pieces.push((true, marked));
            at = *end;
        }
        let rest: String = characters.collect();
        pieces.extend((!rest.is_empty()).then_some((false, rest)));
        pieces
    }
}

/// Finds the bytes of a text that a query asks for, in order.
fn places(text: &str, query: &SearchQuery) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    each_term(text, &mut |term, start, end| {
        let is_wanted = |wanted: &SearchTerm| match wanted {
            SearchTerm::Word(word) => term == word,
            SearchTerm::Prefix(prefix) => term.starts_with(prefix.as_str()),
            SearchTerm::Phrase { .. } => false,
        };
        if query.wanted.iter().any(is_wanted) {
            found.push((start, end));
        }
    });
    for term in &query.wanted {
        if let SearchTerm::Phrase { text: phrase, words } = term {
            phrase_places(text, phrase, words, &mut found);
        }
    }
    found.sort_unstable();
    found
}

/// Finds a phrase in a text; where lower case is of another length than the text, its words.
fn phrase_places(text: &str, phrase: &str, words: &[String], found: &mut Vec<(usize, usize)>) {
    let flat = folded(text);
    let is_alike = flat.len() == text.len()
        && flat.char_indices().map(|(at, _)| at).eq(text.char_indices().map(|(at, _)| at));
    if !is_alike {
        each_term(text, &mut |term, start, end| {
            found.extend(words.iter().any(|word| word == term).then_some((start, end)));
        });
        return;
    }
    let mut from = 0;
    while let Some(at) = find_phrase(&flat, phrase, from) {
        from = at + phrase.len();
        found.push((at, from));
    }
}

/// Counts places in characters, and makes one of those that touch.
fn marks(text: &str, places: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    let mut marks: Vec<(usize, usize)> = Vec::new();
    let count = |at: usize| text[..at].chars().count();
    for (start, end) in places.into_iter().map(|(start, end)| (count(start), count(end))) {
        match marks.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            Some(_) | None => marks.push((start, end)),
        }
    }
    marks.truncate(MARKS_MAX);
    marks
}

#[cfg(test)]
mod tests {
    use agentic_model::Instant;

    use super::{EXCERPT_CHARS_MAX, SearchExcerpt};
    use crate::search::SearchQuery;

    fn shown(text: &str, query: &str) -> String {
        let query = SearchQuery::parse(query, Instant::from_millis(0)).expect("a query");
        let excerpt = SearchExcerpt::of(text, &query);
        assert!(excerpt.text.chars().count() <= EXCERPT_CHARS_MAX, "{}", excerpt.text);
        let mark = |(is_marked, text)| if is_marked { format!("[{text}]") } else { text };
        excerpt.pieces().into_iter().map(mark).collect()
    }

    #[test]
    fn what_was_asked_for_is_marked() {
        assert_eq!(shown("Fix the\n token race", "token fix"), "[Fix] the [token] race");
        assert_eq!(shown("RefreshToken is null", "token"), "Refresh[Token] is null");
        assert_eq!(shown("a Two  Workers b", "\"two workers\""), "a [Two Workers] b");
        assert_eq!(shown("retry_count = 3", "retr*"), "[retry_count] = 3");
        assert_eq!(shown("İ says hello world", "\"hello world\""), "İ says [hello] [world]");
        assert_eq!(shown("令牌过期了", "过期"), "令牌[过期]了");
    }

    #[test]
    fn long_texts_are_cut_around_the_place() {
        let text = format!("{} needle {}", "héy ".repeat(400), "end ".repeat(400));
        let shown = shown(&text, "needle");
        assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        assert!(shown.contains("[needle]"), "{shown}");
    }
}
