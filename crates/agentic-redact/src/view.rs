//! A text as it reads: without the codes of terminals, with lines joined that a backslash parts.
//!
//! What is found in a view is a place in the text itself, with all that the view leaves out.

use std::borrow::Cow;

use crate::steps;

/// How long a code of a terminal may be.
const CODE_BYTES_MAX: usize = 64;
/// How codes of terminals begin: as they are, and as texts write them.
const CODE_STARTS: [&[u8]; 6] = [b"\x1b", b"\\u001b", b"\\u001B", b"\\x1b", b"\\x1B", b"\\033"];

/// A text, or what is left of it.
pub(crate) struct TextView<'t> {
    pub(crate) text: Cow<'t, [u8]>,
    /// From which byte of the view on how many bytes of the text were left out before it.
    gaps: Vec<(usize, usize)>,
}

/// What a view leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Omission {
    Codes,
    Joints,
}

/// Returns the text as it is, and its views that differ from it.
pub(crate) fn views(text: &[u8]) -> Vec<TextView<'_>> {
    let codes = omissions(text, Omission::Codes);
    let joints = omissions(text, Omission::Joints);
    let mut views = vec![TextView { text: Cow::Borrowed(text), gaps: Vec::new() }];
    let mut both = codes.clone();
    both.extend(&joints);
    both.sort_unstable();
    for omitted in [&codes, &joints] {
        if !omitted.is_empty() {
            views.push(without(text, omitted));
        }
    }
    if !codes.is_empty() && !joints.is_empty() {
        views.push(without(text, &both));
    }
    views
}

impl TextView<'_> {
    /// Returns where a part of the view stands in the text.
    pub(crate) fn in_text(&self, start: usize, end: usize) -> (usize, usize) {
        (self.place(start), self.place(end - 1) + 1)
    }

    fn place(&self, at: usize) -> usize {
        let next = self.gaps.partition_point(|(from, _)| *from <= at);
        let left_out = next.checked_sub(1).map_or(0, |gap| self.gaps[gap].1);
        at + left_out
    }
}

/// Returns a view without some parts of its text, which are in order and apart.
fn without<'t>(text: &'t [u8], omitted: &[(usize, usize)]) -> TextView<'t> {
    steps::count(text.len());
    let mut kept = Vec::with_capacity(text.len());
    let mut gaps = Vec::new();
    let mut at = 0;
    let mut left_out = 0;
    for (start, end) in omitted {
        if *start < at {
            continue;
        }
        kept.extend_from_slice(&text[at..*start]);
        left_out += end - start;
        gaps.push((kept.len(), left_out));
        at = *end;
    }
    kept.extend_from_slice(&text[at..]);
    TextView { text: Cow::Owned(kept), gaps }
}

/// Returns the parts of a text that a view leaves out.
fn omissions(text: &[u8], omission: Omission) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = memchr::memchr2(0x1b, b'\\', &text[at..]) {
        let start = at + next;
        let end = match omission {
            Omission::Codes => code_end(text, start),
            Omission::Joints => joint_end(text, start),
        };
        at = end.unwrap_or(start + 1);
        found.extend(end.map(|end| (start, end)));
    }
    found
}

/// Returns where the code of a terminal ends that begins at `start`, if one does.
fn code_end(text: &[u8], start: usize) -> Option<usize> {
    let mark = CODE_STARTS.iter().find(|mark| text[start..].starts_with(mark))?;
    let at = start + mark.len();
    let rest = &text[at..text.len().min(at + CODE_BYTES_MAX)];
    match rest.first()? {
        b'[' => {
            let len = rest[1..].iter().position(|byte| matches!(byte, 0x40..=0x7e))?;
            let is_code = rest[1..=len].iter().all(|byte| matches!(byte, 0x20..=0x3f));
            is_code.then_some(at + len + 2)
        }
        b']' if mark.len() == 1 => {
            let len = rest.iter().position(|byte| matches!(byte, 0x07 | 0x1b))?;
            let is_long = rest[len] == 0x1b && rest.get(len + 1) == Some(&b'\\');
            Some(at + len + 1 + usize::from(is_long))
        }
        b'(' | b')' if mark.len() == 1 => (rest.len() >= 2).then_some(at + 2),
        b'=' | b'>' | b'7' | b'8' | b'c' | b'M' if mark.len() == 1 => Some(at + 1),
        _ => None,
    }
}

/// Returns where the end of a line ends that a backslash at `start` takes away, if it does.
fn joint_end(text: &[u8], start: usize) -> Option<usize> {
    let rest = text[start..].strip_prefix(b"\\")?;
    let behind = rest.strip_prefix(b"\r").unwrap_or(rest).strip_prefix(b"\n")?;
    Some(text.len() - behind.len())
}
