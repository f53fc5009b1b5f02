//! The words of a text: what can be asked for.
//!
//! A word is a run of letters and digits, in lower case. Identifiers are found whole (`src/a.rs`,
//! `retry-count`), by their parts and by the humps of camel case. Scripts that put no blanks between
//! words are cut into pairs of characters.

use std::collections::BTreeSet;

/// The longest term, in bytes; what is longer is cut, in texts and in queries alike.
pub const TERM_BYTES_MAX: usize = 64;
/// What joins the parts of an identifier.
const JOINERS: [char; 4] = ['_', '-', '.', '/'];

/// A run of letters and digits in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordSpan {
    /// The byte at which it begins.
    pub start: usize,
    /// The byte after it.
    pub end: usize,
    /// Whether its script puts no blanks between words.
    pub is_blankless: bool,
}

/// Returns all terms of a text.
pub fn terms(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    each_term(text, &mut |term, _, _| {
        if !found.contains(term) {
            found.insert(term.to_owned());
        }
    });
    found
}

/// Takes a term, and the bytes that it covers.
pub type TermVisitor<'v> = dyn FnMut(&str, usize, usize) + 'v;

/// Visits the terms of a text, with the bytes that each covers. A term may come more than once.
pub fn each_term(text: &str, visit: &mut TermVisitor<'_>) {
    let words = words(text);
    let mut term = String::new();
    for word in &words {
        match word.is_blankless {
            true => pairs(text, *word, visit),
            false => parts(text, *word, &mut term, visit),
        }
    }
    identifiers(text, &words, &mut term, visit);
}

/// Lists the runs of letters and digits of a text.
pub fn words(text: &str) -> Vec<WordSpan> {
    let mut found: Vec<WordSpan> = Vec::new();
    for (at, c) in text.char_indices().filter(|(_, c)| is_word_character(*c)) {
        let (end, is_blankless) = (at + c.len_utf8(), is_blankless(c));
        match found.last_mut() {
            Some(last) if last.end == at && last.is_blankless == is_blankless => last.end = end,
            Some(_) | None => found.push(WordSpan { start: at, end, is_blankless }),
        }
    }
    found
}

/// Makes the term that a word is found by: lower case, cut where it is too long.
pub fn term_of(word: &str) -> String {
    let mut term = String::new();
    write_term(word, &mut term);
    term
}

/// Puts a character in the form by which texts, queries and terms are compared: in lower case, with the
/// sigma that ends Greek words as any other one, since a capital stands for both.
pub fn folded_character(c: char) -> impl Iterator<Item = char> {
    c.to_lowercase().map(|c| if c == 'ς' { 'σ' } else { c })
}

/// Writes the term of a word in place of what was there.
fn write_term(word: &str, term: &mut String) {
    term.clear();
    match word.is_ascii() {
        true => {
            term.push_str(&word[..word.len().min(TERM_BYTES_MAX)]);
            term.make_ascii_lowercase();
        }
        false => {
            term.extend(word.chars().flat_map(folded_character));
            term.truncate(term.floor_char_boundary(TERM_BYTES_MAX));
        }
    }
}

/// Says whether a character belongs to words.
pub fn is_word_character(c: char) -> bool {
    // The blocks of marks that combine with the letter before them: such a letter is one character.
    c.is_alphanumeric()
        || matches!(c, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}')
}

/// Says whether a character is of a script that puts no blanks between words.
pub fn is_blankless(c: char) -> bool {
    matches!(u32::from(c),
        // Thai, Lao, Tibetan, Burmese, Khmer.
        0x0e00..=0x0eff | 0x0f00..=0x0fff | 0x1000..=0x109f | 0x1780..=0x17ff
        // Kana, Bopomofo, ideographs and their extensions.
        | 0x3005..=0x3007 | 0x3040..=0x30ff | 0x3100..=0x312f | 0x31a0..=0x31bf | 0x31f0..=0x31ff
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0xff66..=0xff9f
        | 0x20000..=0x3ffff)
}

/// Each pair of characters that stand beside each other, and the last one alone: with it, whoever asks
/// for one character finds it as the beginning of a term.
fn pairs(text: &str, word: WordSpan, visit: &mut TermVisitor<'_>) {
    let mut characters = text[word.start..word.end].char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map_or(0, |(_, next)| next.len_utf8());
        let (start, end) = (word.start + at, word.start + at + c.len_utf8() + next);
        visit(&text[start..end], start, end);
    }
}

/// The word itself, and its humps where it is in camel case.
fn parts(text: &str, word: WordSpan, term: &mut String, visit: &mut TermVisitor<'_>) {
    let content = &text[word.start..word.end];
    write_term(content, term);
    visit(term, word.start, word.end);
    let mut start = 0;
    each_hump_end(content, &mut |end| {
        // A word without humps is not visited twice.
        if end - start < content.len() {
            write_term(&content[start..end], term);
            visit(term, word.start + start, word.start + end);
        }
        start = end;
    });
}

/// Finds where humps end: before a capital that follows a small letter or begins the next word
/// (`HTTPServer`), and where digits begin or end.
fn each_hump_end(word: &str, take: &mut dyn FnMut(usize)) {
    let mut before: Option<char> = None;
    let mut characters = word.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        if let Some(before) = before.replace(c) {
            let next_is_small = characters.peek().is_some_and(|(_, next)| next.is_lowercase());
            let rises = c.is_uppercase() && (before.is_lowercase() || next_is_small);
            if rises || (before.is_numeric() != c.is_numeric()) {
                take(at);
            }
        }
    }
    take(word.len());
}

/// Words that are joined by one character: file names, options, names of functions.
fn identifiers(text: &str, words: &[WordSpan], term: &mut String, visit: &mut TermVisitor<'_>) {
    let is_joined = |left: &WordSpan, right: &WordSpan| {
        let between = &text[left.end..right.start];
        between.is_empty()
            || between.chars().eq(between.chars().take(1).filter(|c| JOINERS.contains(c)))
    };
    for run in words.chunk_by(is_joined).filter(|run| run.len() > 1) {
        let (start, end) = (run[0].start, run[run.len() - 1].end);
        let is_pure = run.iter().all(|word| !word.is_blankless);
        // Scripts beside each other are no identifier.
        if is_pure {
            write_term(&text[start..end], term);
            visit(term, start, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::terms;

    fn check(text: &str, expected: &[&str]) {
        let found = terms(text);
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn words_are_in_lower_case() {
        check("Fix THE bug, über alles!", &["fix", "the", "bug", "über", "alles"]);
    }

    #[test]
    fn the_sigma_that_ends_a_word_is_a_sigma() {
        check("Οδυσσεύς ΟΔΥΣΣΕΎΣ οδυσσεύσ", &["οδυσσεύσ"]);
    }

    #[test]
    fn identifiers_are_found_whole_and_by_their_parts() {
        check("src/retry_count.rs", &["src/retry_count.rs", "src", "retry", "count", "rs"]);
        check("end. Begin", &["end", "begin"]);
        check("a--b", &["a", "b"]);
    }

    #[test]
    fn camel_case_is_found_by_its_humps() {
        check("RefreshToken", &["refreshtoken", "refresh", "token"]);
        check("HTTPServer2", &["httpserver2", "http", "server", "2"]);
    }

    #[test]
    fn scripts_without_blanks_are_cut_into_pairs() {
        check("没有空格", &["没有", "有空", "空格", "格"]);
        check("令牌abc", &["令牌", "牌", "abc"]);
    }

    #[test]
    fn long_words_are_cut() {
        let found = terms(&"é".repeat(100));
        assert_eq!(found.first().map(String::len), Some(64));
    }
}
