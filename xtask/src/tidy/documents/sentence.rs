//! Sentences that can be followed at the first reading.

/// How many words a sentence may have; what is in backticks is one word.
pub const WORDS_MAX: usize = 36;
/// How many words of a sentence are shown.
const WORDS_SHOWN: usize = 5;
/// What may stand between the end of a sentence and the blank after it.
const CLOSERS: [char; 5] = ['"', ')', '*', '”', '_'];

/// Finds the sentences of a passage that are too long.
pub fn check(passage: &str) -> Vec<String> {
    sentences(passage).iter().filter_map(|words| told(words)).collect()
}

fn told(words: &[String]) -> Option<String> {
    let is_word = |word: &&String| word.contains(|it: char| it.is_alphanumeric());
    let n_words = words.iter().filter(is_word).count();
    let begin = words.iter().take(WORDS_SHOWN).map(String::as_str).collect::<Vec<_>>().join(" ");
    (n_words > WORDS_MAX)
        .then(|| format!("has a sentence of {n_words} words, more than {WORDS_MAX}: \"{begin} …\""))
}

/// Splits a passage into sentences of words.
fn sentences(passage: &str) -> Vec<Vec<String>> {
    let mut sentences = vec![Vec::new()];
    for word in words(passage) {
        let begins = word.starts_with(|it: char| !it.is_lowercase());
        let last = sentences.last_mut().expect("BUG: there is always a sentence");
        if begins && last.last().is_some_and(|before: &String| ends(before)) {
            sentences.push(vec![word]);
        } else {
            last.push(word);
        }
    }
    sentences
}

fn ends(word: &str) -> bool {
    word.trim_end_matches(CLOSERS).ends_with(['.', '!', '?'])
}

/// Splits at blanks that are not between backticks.
fn words(passage: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_code = false;
    for letter in passage.chars() {
        is_code ^= letter == '`';
        if letter.is_whitespace() && !is_code {
            words.push(String::new());
        } else if let Some(last) = words.last_mut() {
            last.push(letter);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
