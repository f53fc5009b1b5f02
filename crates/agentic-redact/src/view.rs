//! A text as it reads: without the codes of terminals, with lines joined that a backslash parts.
//!
//! What is found in a view is a place in the text itself, with all that the view leaves out.

use std::borrow::Cow;
use std::ops::Range;

use crate::steps;

/// How long a code of a terminal may be.
const CODE_BYTES_MAX: usize = 64;
/// How codes of terminals begin: as they are, and as texts write them.
const CODE_STARTS: [&[u8]; 6] = [b"\x1b", b"\\u001b", b"\\u001B", b"\\x1b", b"\\x1B", b"\\033"];

/// The longest text of which every view is whole. Of a longer one the text itself is, and of the other
/// views what stands around that which they leave out.
const WHOLE_BYTES_MAX: usize = 64 << 10;
/// How much stands around it.
const AROUND_BYTES: usize = 4 << 10;
/// How far away the end of a line may be at which a part begins or ends.
const LINE_BYTES_MAX: usize = 4 << 10;
/// How far before a part the block may begin in which it lies.
const BLOCK_BYTES_MAX: usize = 16 << 10;

/// A text or a part of it, or what is left of that.
pub(crate) struct TextView<'t> {
    pub(crate) text: Cow<'t, [u8]>,
    /// From which byte of the view on how many bytes of the text were left out before it.
    gaps: Vec<(usize, usize)>,
    /// Which part of the text it is.
    part: Range<usize>,
    /// How long the text is.
    len: usize,
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
    let whole = TextView {
        text: Cow::Borrowed(text),
        gaps: Vec::new(),
        part: 0..text.len(),
        len: text.len(),
    };
    let mut views = vec![whole];
    let mut both = codes.clone();
    both.extend(&joints);
    both.sort_unstable();
    for omitted in [&codes, &joints] {
        views.extend(parts(text, omitted).into_iter().map(|part| without(text, part, omitted)));
    }
    if !codes.is_empty() && !joints.is_empty() {
        views.extend(parts(text, &both).into_iter().map(|part| without(text, part, &both)));
    }
    views
}

impl TextView<'_> {
    /// Tells whether it is of all of the text.
    pub(crate) fn is_whole(&self) -> bool {
        self.part.len() == self.len
    }

    /// Tells whether what stands there may be a piece of something: only the part ends there.
    pub(crate) fn cuts(&self, start: usize, end: usize) -> bool {
        start == 0 && self.part.start > 0 || end == self.text.len() && self.part.end < self.len
    }

    /// Returns where a part of the view stands in the text.
    pub(crate) fn in_text(&self, start: usize, end: usize) -> (usize, usize) {
        (self.place(start), self.place(end - 1) + 1)
    }

    fn place(&self, at: usize) -> usize {
        let next = self.gaps.partition_point(|(from, _)| *from <= at);
        let left_out = next.checked_sub(1).map_or(0, |gap| self.gaps[gap].1);
        self.part.start + at + left_out
    }
}

/// Returns the parts of a text in which something is left out, apart and in order.
fn parts(text: &[u8], omitted: &[(usize, usize)]) -> Vec<Range<usize>> {
    if omitted.is_empty() || text.len() <= WHOLE_BYTES_MAX {
        return omitted.first().map(|_| 0..text.len()).into_iter().collect();
    }
    around(text, omitted, AROUND_BYTES)
}

/// Returns the parts of a text that stand around some places, apart and in order: what is told of a
/// place by what stands near it is told in its part.
pub(crate) fn around(text: &[u8], places: &[(usize, usize)], reach: usize) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for (start, end) in places {
        let (from, to) = (start.saturating_sub(reach), text.len().min(end + reach));
        match parts.last_mut() {
            Some(last) if from <= last.end => last.end = last.end.max(to),
            Some(_) | None => parts.push(from..to),
        }
    }
    let mut apart: Vec<Range<usize>> = Vec::with_capacity(parts.len());
    for part in parts {
        let part = part_start(text, part.start)..part_end(text, part.end);
        match apart.last_mut() {
            Some(last) if part.start <= last.end => last.end = part.end,
            Some(_) | None => apart.push(part),
        }
    }
    apart
}

/// Returns where a part begins: with a line, and before a block in which it would lie.
fn part_start(text: &[u8], at: usize) -> usize {
    let before = &text[at.saturating_sub(LINE_BYTES_MAX)..at];
    let at = memchr::memrchr(b'\n', before).map_or(at, |line| at - before.len() + line + 1);
    let before = &text[at.saturating_sub(BLOCK_BYTES_MAX)..at];
    let begin = memchr::memmem::rfind(before, b"----BEGIN ");
    steps::count(before.len());
    let closed =
        begin.is_some_and(|begin| memchr::memmem::find(&before[begin..], b"-----END").is_some());
    // The dashes are five, or four behind a blank.
    begin.filter(|_| !closed).map_or(at, |begin| (at - before.len() + begin).saturating_sub(1))
}

/// Returns where a part ends: with a line.
fn part_end(text: &[u8], at: usize) -> usize {
    let behind = &text[at..text.len().min(at + LINE_BYTES_MAX)];
    memchr::memchr(b'\n', behind).map_or(at, |line| at + line)
}

/// Returns a view of a part of a text, without what is left out of it, which is in order and apart.
fn without<'t>(text: &'t [u8], part: Range<usize>, omitted: &[(usize, usize)]) -> TextView<'t> {
    steps::count(part.len());
    let mut kept = Vec::with_capacity(part.len());
    let mut gaps = Vec::new();
    let mut at = part.start;
    let mut left_out = 0;
    let first = omitted.partition_point(|(start, _)| *start < part.start);
    for (start, end) in omitted[first..].iter().take_while(|(_, end)| *end <= part.end) {
        if *start < at {
            continue;
        }
        kept.extend_from_slice(&text[at..*start]);
        left_out += end - start;
        gaps.push((kept.len(), left_out));
        at = *end;
    }
    kept.extend_from_slice(&text[at..part.end]);
    TextView { text: Cow::Owned(kept), gaps, part, len: text.len() }
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
