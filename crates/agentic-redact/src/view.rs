//! A text as it reads: without the codes of terminals, with lines joined that a backslash parts, with
//! letters in place of their escapes, and in UTF-16 without the zeros between letters.
//!
//! What is found in a view is a place in the text itself, with all that the view leaves out.

use std::borrow::Cow;
use std::ops::Range;

use crate::steps;

/// How long a code of a terminal may be.
const CODE_BYTES_MAX: usize = 64;
/// How codes of terminals begin: as they are, and as texts write them.
const CODE_STARTS: [&[u8]; 6] = [b"\x1b", b"\\u001b", b"\\u001B", b"\\x1b", b"\\x1B", b"\\033"];

/// How many backslashes may stand before what they escape.
const ESCAPES_MAX: usize = 8;
/// How many letters in a row have zeros between them at least where a text is UTF-16.
const WIDE_LETTERS_MIN: usize = 6;

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
    gaps: Vec<ViewGap>,
    /// Which part of the text it is.
    part: Range<usize>,
    /// How long the text is.
    len: usize,
}

/// A place at which a view leaves something out.
struct ViewGap {
    /// From which byte of the view on.
    from: usize,
    /// How many bytes of the text were left out before it.
    left_out: usize,
    /// How many of them belong to the letter before it.
    of_letter: usize,
}

/// What a view leaves out of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Omission {
    start: usize,
    end: usize,
    /// What stands there in its place.
    letter: Option<u8>,
}

/// What views leave out, by kind, in order and apart.
#[derive(Debug, Default)]
struct Omissions {
    codes: Vec<Omission>,
    joints: Vec<Omission>,
    escapes: Vec<Omission>,
    zeros: Vec<Omission>,
}

/// Returns the text as it is, and its views that differ from it.
pub(crate) fn views(text: &[u8]) -> Vec<TextView<'_>> {
    let whole = TextView {
        text: Cow::Borrowed(text),
        gaps: Vec::new(),
        part: 0..text.len(),
        len: text.len(),
    };
    let mut views = vec![whole];
    let Omissions { codes, joints, escapes, zeros } = omissions(text);
    let kinds = [codes, joints, escapes, zeros];
    for omitted in &kinds {
        views.extend(parts(text, omitted).into_iter().map(|part| without(text, part, omitted)));
    }
    if kinds.iter().filter(|omitted| !omitted.is_empty()).count() > 1 {
        let mut all = kinds.concat();
        all.sort_unstable();
        views.extend(parts(text, &all).into_iter().map(|part| without(text, part, &all)));
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
        let next = self.gaps.partition_point(|gap| gap.from < end);
        let of_letter = self.gaps.get(next).filter(|gap| gap.from == end);
        let of_letter = of_letter.map_or(0, |gap| gap.of_letter);
        (self.place(start), self.place(end - 1) + 1 + of_letter)
    }

    fn place(&self, at: usize) -> usize {
        let next = self.gaps.partition_point(|gap| gap.from <= at);
        let left_out = next.checked_sub(1).map_or(0, |gap| self.gaps[gap].left_out);
        self.part.start + at + left_out
    }
}

/// Returns the parts of a text in which something is left out, apart and in order.
fn parts(text: &[u8], omitted: &[Omission]) -> Vec<Range<usize>> {
    if omitted.is_empty() || text.len() <= WHOLE_BYTES_MAX {
        return omitted.first().map(|_| 0..text.len()).into_iter().collect();
    }
    let places: Vec<(usize, usize)> = omitted.iter().map(|it| (it.start, it.end)).collect();
    around(text, &places, AROUND_BYTES)
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
fn without<'t>(text: &'t [u8], part: Range<usize>, omitted: &[Omission]) -> TextView<'t> {
    steps::count(part.len());
    let mut kept = Vec::with_capacity(part.len());
    let mut gaps = Vec::new();
    let mut at = part.start;
    let mut left_out = 0;
    let first = omitted.partition_point(|omission| omission.start < part.start);
    for omission in omitted[first..].iter().take_while(|omission| omission.end <= part.end) {
        if omission.start < at {
            continue;
        }
        kept.extend_from_slice(&text[at..omission.start]);
        kept.extend(omission.letter);
        let len = omission.end - omission.start - usize::from(omission.letter.is_some());
        left_out += len;
        let of_letter = omission.letter.map_or(0, |_| len);
        gaps.push(ViewGap { from: kept.len(), left_out, of_letter });
        at = omission.end;
    }
    kept.extend_from_slice(&text[at..part.end]);
    TextView { text: Cow::Owned(kept), gaps, part, len: text.len() }
}

/// Returns what the views of a text leave out.
fn omissions(text: &[u8]) -> Omissions {
    let mut found = Omissions { zeros: zeros(text), ..Omissions::default() };
    let mut at = 0;
    while let Some(next) = memchr::memchr2(0x1b, b'\\', &text[at..]) {
        let start = at + next;
        let gap = |end| Omission { start, end, letter: None };
        at = if let Some(end) = code_end(text, start) {
            found.codes.push(gap(end));
            end
        } else if let Some(end) = joint_end(text, start) {
            found.joints.push(gap(end));
            end
        } else if let Some(escape) = escape(text, start) {
            found.escapes.push(escape);
            escape.end
        } else {
            start + 1
        };
    }
    found
}

/// Returns the letter that an escape at `start` stands for, as texts of JSON and of languages have it:
/// `\u0077`, `\x77`, `\/`. A backslash stays one, since it may escape what follows.
fn escape(text: &[u8], start: usize) -> Option<Omission> {
    let rest = &text[start..];
    let slashes = rest.iter().take(ESCAPES_MAX).take_while(|byte| **byte == b'\\').count();
    let rest = &rest[slashes..];
    let hex = |from: usize, to: usize| {
        let digits = str::from_utf8(rest.get(from..to)?).ok()?;
        u8::from_str_radix(digits, 16).ok().map(|letter| (letter, slashes + to))
    };
    let (letter, len) = match rest.first()? {
        b'/' if slashes > 0 => Some((b'/', slashes + 1)),
        b'u' if slashes > 0 && rest.get(1..3) == Some(b"00") => hex(3, 5),
        b'x' if slashes > 0 => hex(1, 3),
        _ => None,
    }?;
    let is_letter = letter.is_ascii_graphic() && letter != b'\\';
    is_letter.then_some(Omission { start, end: start + len, letter: Some(letter) })
}

/// Returns the zeros between letters of UTF-16.
fn zeros(text: &[u8]) -> Vec<Omission> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = memchr::memchr(0, &text[at..]) {
        let start = at + next;
        let pairs = text[start + 1..].chunks_exact(2);
        let n_more = pairs.take_while(|pair| pair[0] != 0 && pair[1] == 0).count();
        steps::count(n_more);
        if n_more + 1 >= WIDE_LETTERS_MIN {
            let zeros = (0..=n_more).map(|letter| start + 2 * letter);
            found.extend(zeros.map(|at| Omission { start: at, end: at + 1, letter: None }));
        }
        at = start + 2 * n_more + 1;
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
