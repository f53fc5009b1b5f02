//! The standard ways to split a question and to put answers together. Neither needs a model.

/// What separates the parts of a question, the first that yields two parts first.
const SEPARATORS: [&str; 6] = ["; ", " versus ", " compared to ", " vs. ", " vs ", " and "];

/// Splits a question: at its question marks if there are two, else at the first separator that
/// yields two parts, else not at all.
pub(super) fn decompose(question: &str) -> Vec<String> {
    if question.matches('?').count() >= 2 {
        return parts(question.split_inclusive('?'));
    }
    for separator in SEPARATORS {
        let found = parts(split_ignoring_case(question, separator).into_iter());
        if found.len() >= 2 {
            return found;
        }
    }
    parts(std::iter::once(question))
}

fn parts<'a>(pieces: impl Iterator<Item = &'a str>) -> Vec<String> {
    pieces.map(str::trim).filter(|piece| !piece.is_empty()).map(str::to_owned).collect()
}

/// Splits at every place where the separator stands in any case. Separators are ASCII, so the
/// places are character boundaries.
fn split_ignoring_case<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let lower = text.to_ascii_lowercase();
    let mut pieces = Vec::new();
    let mut from = 0;
    while let Some(found) = lower[from..].find(separator) {
        pieces.push(&text[from..from + found]);
        from += found + separator.len();
    }
    pieces.push(&text[from..]);
    pieces
}

/// An answer to a part of a question, or why there is none.
pub(super) struct SubAnswer {
    pub question: String,
    pub outcome: Result<String, String>,
}

/// Puts answers together: a heading and the answer for each, then what failed.
pub(super) fn synthesize(question: &str, answers: &[SubAnswer]) -> String {
    let mut out = format!("# {question}\n");
    let mut failures = String::new();
    for answer in answers {
        match &answer.outcome {
            Ok(text) => out.push_str(&format!("\n## {}\n\n{text}\n", answer.question)),
            Err(error) => failures.push_str(&format!("- {}: {error}\n", answer.question)),
        }
    }
    if !failures.is_empty() {
        out.push_str(&format!("\n## Without an answer\n\n{failures}"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, expected: &[&str]) {
        assert_eq!(decompose(question), expected, "{question:?}");
    }

    #[test]
    fn questions_split_where_they_say_so() {
        check("What is a? What is b?", &["What is a?", "What is b?"]);
        check("tea versus coffee and milk", &["tea", "coffee and milk"]);
        check("Tea VS. coffee", &["Tea", "coffee"]);
        check("a; b; c", &["a", "b", "c"]);
        check("Compare pricing strategies", &["Compare pricing strategies"]);
        check("ümläut AND ñ", &["ümläut", "ñ"]);
        check(" and ", &["and"]);
    }
}
