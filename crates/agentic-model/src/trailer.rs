//! Trailers of commit messages, by git's own rules.
//!
//! The rules are those of `git interpret-trailers` (see git's documentation of that command): the
//! last paragraph is a trailer block if it is not the first and either all its lines are trailers,
//! or one of them was made by git and at least a quarter are trailers. A line that begins with a
//! blank continues the one before.

/// What every trailer of ours begins with. Keys compare without case, as git compares them.
pub const PREFIX: &str = "Agentic-";

/// What git itself puts into trailer blocks.
const GIT_GENERATED: [&str; 2] = ["Signed-off-by: ", "(cherry picked from commit "];

/// A key and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trailer {
    /// The key, as written.
    pub key: String,
    /// The value, trimmed; continuation lines are joined by one blank.
    pub value: String,
}

/// Reads the trailers of a message, in order; none if it has no trailer block.
pub fn read(message: &str) -> Vec<Trailer> {
    block(message).map(|(_, lines)| trailers(&lines)).unwrap_or_default()
}

/// Appends trailers to a message: to its trailer block if it has one, else as a new paragraph.
/// Trailing blanks of the message are dropped; the result ends in one line break.
pub fn append(message: &str, trailers: &[Trailer]) -> String {
    let mut text = message.trim_end().to_owned();
    if trailers.is_empty() {
        text.push('\n');
        return text;
    }
    text.push_str(if block(&text).is_some() { "\n" } else { "\n\n" });
    for trailer in trailers {
        text.push_str(&format!("{}: {}\n", trailer.key, trailer.value));
    }
    text
}

/// Returns the message without its trailers of ours, for showing it to people.
pub fn strip(message: &str) -> String {
    let Some((start, lines)) = block(message) else {
        return message.trim_end().to_owned();
    };
    let mut kept = message[..start].trim_end().to_owned();
    let foreign: Vec<&str> = lines.into_iter().filter(|line| !is_ours(line)).collect();
    if !foreign.is_empty() {
        kept.push_str("\n\n");
        kept.push_str(&foreign.join("\n"));
    }
    kept
}

/// Tells whether a line is a trailer of ours.
pub fn is_ours(line: &str) -> bool {
    key_of(line).is_some_and(|key| {
        key.get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX))
    })
}

/// Finds the trailer block: where it begins, and its lines.
fn block(message: &str) -> Option<(usize, Vec<&str>)> {
    let text = message.trim_end();
    let start = last_paragraph(text)?;
    let lines: Vec<&str> = text[start..].lines().collect();
    let (mut n_trailers, mut n_others, mut from_git) = (0_usize, 0_usize, false);
    for line in &lines {
        let continues = line.starts_with([' ', '\t']);
        if GIT_GENERATED.iter().any(|prefix| line.starts_with(prefix)) {
            from_git = true;
            n_trailers += 1;
        } else if key_of(line).is_some() {
            n_trailers += 1;
        } else if !continues || n_trailers == 0 {
            n_others += 1;
        }
    }
    let is_block = n_trailers > 0 && (n_others == 0 || (from_git && n_trailers * 3 >= n_others));
    is_block.then_some((start, lines))
}

/// Finds where the last paragraph begins, if it is not also the first.
fn last_paragraph(text: &str) -> Option<usize> {
    let mut start = None;
    let mut seen_text = false;
    let mut after_blank = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() {
            after_blank = seen_text;
        } else {
            if after_blank {
                start = Some(at);
            }
            seen_text = true;
            after_blank = false;
        }
        at += line.len();
    }
    start
}

fn key_of(line: &str) -> Option<&str> {
    let (key, _) = line.split_once(':')?;
    let key = key.trim_end();
    let valid = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    valid.then_some(key)
}

fn trailers(lines: &[&str]) -> Vec<Trailer> {
    let mut found: Vec<Trailer> = Vec::new();
    for line in lines {
        if line.starts_with([' ', '\t']) {
            if let Some(last) = found.last_mut() {
                last.value.push(' ');
                last.value.push_str(line.trim());
            }
        } else if let (Some(key), Some((_, value))) = (key_of(line), line.split_once(':')) {
            found.push(Trailer { key: key.to_owned(), value: value.trim().to_owned() });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &str, expected: &[(&str, &str)]) {
        let found = read(message);
        let found: Vec<_> = found.iter().map(|t| (t.key.as_str(), t.value.as_str())).collect();
        assert_eq!(found, expected, "{message:?}");
    }

    #[test]
    fn only_the_last_paragraph_counts() {
        check("Title\n\nAgentic-Kind: test\n\nBody.\n", &[]);
        check("Agentic-Kind: test\n", &[]);
        check("Title\n\nBody.\n\nAgentic-Kind: test\n", &[("Agentic-Kind", "test")]);
        check("Title\n\nA: 1\n  more\nB:2\n\n\n", &[("A", "1 more"), ("B", "2")]);
    }

    #[test]
    fn other_lines_are_tolerated_only_beside_lines_of_git() {
        check("T\n\nAgentic-Kind: test\nand prose\n", &[]);
        check(
            "T\n\nAgentic-Kind: test\n(cherry picked from commit 123)\n",
            &[("Agentic-Kind", "test")],
        );
        check(
            "T\n\nprose\nSigned-off-by: A <a@b>\nAgentic-Kind: test\n",
            &[("Signed-off-by", "A <a@b>"), ("Agentic-Kind", "test")],
        );
    }

    #[test]
    fn trailers_join_a_block_that_is_there() {
        let ours = [Trailer { key: "Agentic-Kind".to_owned(), value: "test".to_owned() }];
        assert_eq!(append("T\n\nBody", &ours), "T\n\nBody\n\nAgentic-Kind: test\n");
        assert_eq!(append("T\n\nX: y\n", &ours), "T\n\nX: y\nAgentic-Kind: test\n");
        assert_eq!(append("T: y", &ours), "T: y\n\nAgentic-Kind: test\n");
        assert_eq!(strip("T\n\nX: y\nAgentic-Kind: test\n"), "T\n\nX: y");
    }
}
