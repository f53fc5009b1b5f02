//! Patterns of expected lines: text with a few wildcards.

use regex_lite::Regex;

/// The wildcards inside a line, and what they stand for.
const WILDCARDS: [(&str, &str); 5] = [
    ("[..]", ".*"),
    ("[oid]", "(?:[0-9a-f]{40}|[0-9a-f]{64})"),
    ("[short]", "[0-9a-f]{10}"),
    ("[cid]", "bafyr4i[a-z2-7]{52}"),
    ("[at]", r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z"),
];
/// The wildcard that stands alone on a line, for any number of lines.
const ANY_LINES: &str = "[...]";

/// Tells whether a line is like the pattern, from beginning to end.
pub(crate) fn line_matches(pattern: &str, line: &str) -> bool {
    let mut expression = String::from("^(?s:");
    let mut rest = pattern;
    while !rest.is_empty() {
        let wildcard = WILDCARDS.iter().find(|(wildcard, _)| rest.starts_with(wildcard));
        let n_bytes = match wildcard {
            Some((wildcard, meaning)) => {
                expression.push_str(meaning);
                wildcard.len()
            }
            None => {
                let length = rest.chars().next().map_or(1, char::len_utf8);
                expression.push_str(&regex_lite::escape(&rest[..length]));
                length
            }
        };
        rest = &rest[n_bytes..];
    }
    expression.push_str(")$");
    Regex::new(&expression).is_ok_and(|regex| regex.is_match(line))
}

/// Tells whether lines are like the patterns, one by one, `[...]` standing for any number.
pub(crate) fn lines_match(patterns: &[String], lines: &[&str]) -> bool {
    // `reachable[n]`: the patterns so far can end just before line `n`.
    let mut reachable = vec![false; lines.len() + 1];
    reachable[0] = true;
    for pattern in patterns {
        let mut next = vec![false; lines.len() + 1];
        if pattern == ANY_LINES {
            let first = reachable.iter().position(|is_reachable| *is_reachable);
            next[first.unwrap_or(lines.len() + 1).min(lines.len())..].fill(first.is_some());
        } else {
            for (at, line) in lines.iter().enumerate() {
                next[at + 1] = reachable[at] && line_matches(pattern, line);
            }
        }
        reachable = next;
    }
    reachable[lines.len()]
}

/// Shows how lines differ from the patterns: what both have at the beginning, then both rests.
pub(crate) fn difference(patterns: &[String], lines: &[&str]) -> String {
    let same = patterns
        .iter()
        .zip(lines)
        .take_while(|(pattern, line)| line_matches(pattern, line))
        .count();
    let mut text = String::new();
    for line in &lines[..same] {
        text.push_str(&format!("    {line}\n"));
    }
    for pattern in &patterns[same..] {
        text.push_str(&format!("  - {pattern}\n"));
    }
    for line in &lines[same..] {
        text.push_str(&format!("  + {line}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(patterns: &[&str], lines: &[&str], expected: bool) {
        let patterns: Vec<String> = patterns.iter().map(ToString::to_string).collect();
        assert_eq!(lines_match(&patterns, lines), expected, "{patterns:?} on {lines:?}");
    }

    #[test]
    fn a_line_is_matched_whole() {
        assert!(line_matches("a.c", "a.c"));
        assert!(!line_matches("a.c", "abc"));
        assert!(!line_matches("a", "ab"));
        assert!(line_matches("alice [short]", "alice 0123456789"));
        assert!(!line_matches("alice [short]", "alice 01234567890"));
        assert!(line_matches("[..]é[..]", "caféx"));
        assert!(line_matches("at [at]", "at 2026-11-21T22:40:01.250Z"));
    }

    #[test]
    fn any_lines_stand_for_none_or_many() {
        check(&["a", "[...]", "z"], &["a", "z"], true);
        check(&["a", "[...]", "z"], &["a", "b", "z", "z"], true);
        check(&["a", "[...]", "z"], &["a", "b"], false);
        check(&["[...]"], &[], true);
        check(&["b", "[...]"], &["a"], false);
        check(&[], &["a"], false);
        check(&["a", "b"], &["a"], false);
    }

    #[test]
    fn a_difference_shows_both_sides() {
        let patterns = ["same".to_owned(), "old".to_owned()];
        assert_eq!(difference(&patterns, &["same", "new"]), "    same\n  - old\n  + new\n");
    }
}
