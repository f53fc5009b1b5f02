//! The lines of git's file of packed refs: one for a ref, sorted by name, and one below a tag.

/// How a line begins that says what the tag above it leads to.
pub(super) const PEELED: &[u8] = b"^";

/// Finds the first line of sorted packed refs whose name is not below another.
pub(super) fn first_line_from(lines: &[u8], name: &[u8]) -> usize {
    let (mut low, mut high) = (0, lines.len());
    while low < high {
        let middle = line_start(lines, low, low + (high - low) / 2);
        let line = line_at(lines, middle);
        match name_of(line) < name {
            true => low = middle + line.len() + 1,
            false => high = middle,
        }
        while low < high && lines[low..].starts_with(PEELED) {
            low += line_at(lines, low).len() + 1;
        }
    }
    low.min(lines.len())
}

/// Finds where the ref begins that a byte belongs to, from a place on where one begins.
fn line_start(lines: &[u8], low: usize, mut at: usize) -> usize {
    loop {
        let before = lines[low..at].iter().rposition(|byte| *byte == b'\n');
        let start = before.map_or(low, |before| low + before + 1);
        if start == low || !lines[start..].starts_with(PEELED) {
            return start;
        }
        at = start - 1;
    }
}

/// Returns the line that begins at a place.
pub(super) fn line_at(lines: &[u8], at: usize) -> &[u8] {
    let rest = &lines[at..];
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    &rest[..end]
}

/// Returns the name in a line of packed refs.
pub(super) fn name_of(line: &[u8]) -> &[u8] {
    let space = line.iter().position(|byte| *byte == b' ');
    space.map_or(&[], |space| &line[space + 1..])
}
