//! Trailers of commit messages, by git's own rules.
//!
//! The rules are those of `git interpret-trailers` (see git's documentation of that command): the
//! last paragraph is a trailer block if it is not the first and either all its lines are trailers,
//! or one of them was made by git and at least a quarter are trailers. A line that begins with a
//! blank continues the one before. Lines that begin with `#`, and what git says of conflicts at the
//! end, do not count. One rule of git is left out: what stands below a scissors line is read too,
//! because ours are appended there.

use std::ops::Range;

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
    block(message).map(|range| trailers(&message[range])).unwrap_or_default()
}

/// Appends trailers to a message: to its trailer block if it has one, else as a new paragraph.
/// Trailing blanks of the message are dropped; the result ends in one line break.
pub fn append(message: &str, trailers: &[Trailer]) -> String {
    let text = message.trim_end_matches(BLANKS);
    let lines: String = trailers.iter().map(|it| format!("{}: {}\n", it.key, it.value)).collect();
    if lines.is_empty() {
        return format!("{text}\n");
    }
    match block(text).map(|range| text.split_at(range.end)) {
        None => format!("{text}\n\n{lines}"),
        Some((text, "")) => format!("{text}\n{lines}"),
        // Behind what git does not read, they would be no part of the block.
        Some((text, ignored)) => format!("{text}{lines}{ignored}\n"),
    }
}

/// How many paragraphs of trailers are stripped one after the other. Nobody writes so many; a longer
/// message is cut down to its title, which is none whatever follows.
const STRIPPED_BLOCKS_MAX: usize = 100;

/// Returns the message without its trailers of ours, for showing it to people. What it ends in then
/// is no trailer of ours either: a paragraph before them was text, and would be one by being last.
pub fn strip(message: &str) -> String {
    let mut text = strip_block(message);
    for _ in 0..STRIPPED_BLOCKS_MAX {
        if !block(&text).is_some_and(|range| text[range].lines().any(is_ours)) {
            return text;
        }
        text = strip_block(&text);
    }
    text[..end_of_title(&text)].trim_end_matches(BLANKS).to_owned()
}

/// Returns the message without those of its last paragraph.
fn strip_block(message: &str) -> String {
    let Some(range) = block(message) else {
        return message.trim_end_matches(BLANKS).to_owned();
    };
    let mut kept = message[..range.start].trim_end_matches(BLANKS).to_owned();
    let mut foreign: Vec<&str> = Vec::new();
    let mut in_ours = false;
    for line in message[range.clone()].lines() {
        // What continues one of ours goes with it.
        in_ours = is_ours(line) || (in_ours && begins_blank(line));
        foreign.extend((!in_ours).then_some(line));
    }
    let rest = message[range.end..].trim_end_matches(BLANKS);
    // What stood between the two goes with the first.
    let rest = if foreign.is_empty() { rest.trim_start_matches('\n') } else { rest };
    foreign.extend(rest.lines());
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

/// What git's C library takes for a blank; other characters without ink are letters to it.
const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

/// How a line begins that git does not read.
const COMMENT: char = '#';

/// How git begins what it says of conflicts; the names of the files follow, each after a tab.
const CONFLICTS: &str = "Conflicts:\n";

/// Finds the trailer block. It is looked for from the end, line by line.
fn block(message: &str) -> Option<Range<usize>> {
    let text = &message[..message.len() - ignored_bytes(message)];
    let title_end = end_of_title(text);
    let (mut n_trailers, mut n_others, mut n_continuing) = (0_usize, 0_usize, 0_usize);
    let (mut from_git, mut seen_text) = (false, false);
    let mut end = text.len();
    while end > 0 {
        let before = text[..end].strip_suffix('\n').unwrap_or(&text[..end]);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = &text[start..end];
        if start < title_end {
            return None;
        }
        if line.starts_with(COMMENT) {
            n_others += std::mem::take(&mut n_continuing);
        } else if is_blank(line) {
            if seen_text {
                n_others += n_continuing;
                let is_block =
                    n_trailers > 0 && (n_others == 0 || (from_git && n_trailers * 3 >= n_others));
                return is_block.then_some(end..text.len());
            }
        } else {
            seen_text = true;
            if GIT_GENERATED.iter().any(|prefix| line.starts_with(prefix)) {
                (from_git, n_continuing) = (true, 0);
                n_trailers += 1;
            } else if begins_blank(line) {
                n_continuing += 1;
            } else if key_of(line).is_some() {
                n_trailers += 1;
                n_continuing = 0;
            } else {
                n_others += 1 + std::mem::take(&mut n_continuing);
            }
        }
        end = start;
    }
    None
}

/// Finds where the first paragraph ends, which is never a trailer block.
fn end_of_title(text: &str) -> usize {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if !line.starts_with(COMMENT) && is_blank(line) {
            return at;
        }
        at += line.len();
    }
    text.len()
}

/// Counts what stands at the end that git does not read: empty lines, remarks, what it said itself
/// of conflicts.
fn ignored_bytes(text: &str) -> usize {
    let (mut begin, mut in_conflicts, mut at) = (None, false, 0);
    for line in text.split_inclusive('\n') {
        if line.starts_with(COMMENT) || line == "\n" {
            begin = begin.or(Some(at));
        } else if line == CONFLICTS {
            in_conflicts = true;
            begin = begin.or(Some(at));
        } else if !(in_conflicts && line.starts_with('\t')) {
            (begin, in_conflicts) = (None, false);
        }
        at += line.len();
    }
    begin.map_or(0, |begin| text.len() - begin)
}

fn is_blank(line: &str) -> bool {
    line.trim_matches(BLANKS).is_empty()
}

fn begins_blank(line: &str) -> bool {
    line.starts_with(BLANKS)
}

fn key_of(line: &str) -> Option<&str> {
    let (key, _) = at_colon(line)?;
    let key = key.trim_end_matches([' ', '\t']);
    let valid = !key.is_empty() && key.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-');
    valid.then_some(key)
}

/// Cuts a line at its first colon. Most keys are shorter than what it takes to begin a search.
fn at_colon(line: &str) -> Option<(&str, &str)> {
    let at = line.bytes().position(|byte| byte == b':')?;
    Some((&line[..at], &line[at + 1..]))
}

fn trailers(block: &str) -> Vec<Trailer> {
    let mut found: Vec<Trailer> = Vec::new();
    let mut is_open = false;
    for line in block.split_terminator('\n') {
        if is_open && begins_blank(line) {
            let last = found.last_mut().expect("an open trailer was found");
            last.value.push(' ');
            last.value.push_str(line.trim_start_matches(BLANKS));
            continue;
        }
        let key = key_of(line);
        is_open = key.is_some();
        if let (Some(key), Some((_, value))) = (key, at_colon(line)) {
            let value = value.trim_start_matches(BLANKS).to_owned();
            found.push(Trailer { key: key.to_owned(), value });
        }
    }
    found.iter_mut().for_each(|one| trim(&mut one.value));
    found
}

fn trim(value: &mut String) {
    value.truncate(value.trim_end_matches(BLANKS).len());
    let n_before = value.len() - value.trim_start_matches(BLANKS).len();
    value.drain(..n_before);
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
    fn remarks_and_what_git_says_of_conflicts_do_not_count() {
        let test = [("A", "b")];
        check("T\n\n# remark\nA: b\n", &test);
        check("T\n\nA: b\n# remark\n", &test);
        check("# remark\n\nT\n\nA: b\n", &test);
        check("T\n\nA: b\n\n# Conflicts:\n#\tfile\n", &test);
        check("T\n\nA: b\n\nConflicts:\n\tfile\n\tother\n", &test);
        check("T\n\nA: b\n# remark\n more\n", &[]);
    }

    #[test]
    fn only_blanks_of_git_are_blanks() {
        check("T\n\u{a0}\nA: b\n", &[]);
        check("T\n\nA: \u{2003}b\u{a0}\n", &[("A", "\u{2003}b\u{a0}")]);
        check("T\r\n\r\nA: b\r\n", &[("A", "b")]);
        check("T\n\nA\u{a0}: b\n", &[]);
        check(
            "T\n\nA:\n \t more \r\n  and more\nB : c\n",
            &[("A", "more \r and more"), ("B", "c")],
        );
        check("\u{4f3}", &[]);
    }

    #[test]
    fn what_continues_one_of_ours_is_stripped_with_it() {
        assert_eq!(strip("T\n\nX: y\nAgentic-Kind: test\n and more\nZ: z\n"), "T\n\nX: y\nZ: z");
    }

    #[test]
    fn what_is_stripped_never_ends_in_one_of_ours() {
        for (message, expected) in [
            ("T\n\nAgentic-A: 1\n\nAgentic-B: 2\n", "T"),
            ("T\n\nAgentic-A: 1\nX: y\n\nAgentic-B: 2\n", "T\n\nX: y"),
            ("T\n\nAgentic-A: 1\n\nX: y\nAgentic-B: 2\n", "T\n\nAgentic-A: 1\n\nX: y"),
            ("T\n\nAgentic-A: 1\n\nBody\n\nAgentic-B: 2\n", "T\n\nAgentic-A: 1\n\nBody"),
            ("T\n\nAgentic-A: 1\n\n# remark\nAgentic-B: 2\n", "T\n\n# remark"),
            ("Agentic-A: 1\n\nAgentic-B: 2\n", "Agentic-A: 1"),
        ] {
            assert_eq!(strip(message), expected, "{message:?}");
        }
        for remark in ["", "#\n"] {
            let many = format!("T\n\n{}", format!("Agentic-A: 1\n{remark}\n").repeat(200));
            assert!(read(&strip(&many)).is_empty());
            assert!(strip(&many).starts_with('T'));
        }
    }

    #[test]
    fn what_only_looks_blank_stays_when_trailers_are_stripped() {
        // Without the last line, the one before it would be a trailer.
        for message in ["T\n\nAgentic-Kind: test\n\u{c}", "T\n\nAgentic-Kind: test\n\u{a0}\n\nX: y"]
        {
            assert_eq!(strip(message), message);
            assert!(read(&strip(message)).iter().all(|one| !one.key.starts_with(PREFIX)));
        }
        let conflicts = "T\n\nX: y\n\nConflicts:\n\tfile\u{a0}";
        assert_eq!(strip(conflicts), conflicts);
    }

    #[test]
    fn trailers_join_a_block_that_is_there() {
        let ours = [Trailer { key: "Agentic-Kind".to_owned(), value: "test".to_owned() }];
        assert_eq!(append("T\n\nBody", &ours), "T\n\nBody\n\nAgentic-Kind: test\n");
        assert_eq!(append("T\n\nX: y\n", &ours), "T\n\nX: y\nAgentic-Kind: test\n");
        assert_eq!(append("T: y", &ours), "T: y\n\nAgentic-Kind: test\n");
        let with_conflicts = append("T\n\nX: y\n\nConflicts:\n\tfile\n", &ours);
        assert_eq!(with_conflicts, "T\n\nX: y\nAgentic-Kind: test\n\nConflicts:\n\tfile\n");
        assert_eq!(strip("T\n\nX: y\nAgentic-Kind: test\n"), "T\n\nX: y");
    }
}
