//! Text of others on a page that stays small: as much of it as there is room for.

use agentic_api::view::{visible, visible_line};

/// How much room a page has, a little less than it may take.
const PAGE_ROOM: PageRoom = PageRoom { bytes: 99 << 10, elements: 1_450 };

/// How much room a part of a page has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRoom {
    /// How many bytes.
    pub bytes: usize,
    /// How many elements.
    pub elements: usize,
}

impl PageRoom {
    /// Takes room, if there is as much.
    pub fn take(&mut self, bytes: usize, elements: usize) -> bool {
        let left = self.bytes.checked_sub(bytes).zip(self.elements.checked_sub(elements));
        let Some((bytes, elements)) = left else { return false };
        *self = PageRoom { bytes, elements };
        true
    }

    /// Takes the room that a part of a page takes, if there is as much.
    pub fn take_markup(&mut self, part: &str) -> bool {
        self.take(part.len(), n_elements(part))
    }

    /// Returns how much room a page has left, of that which pages have. The script writes beside each
    /// instant how long ago that is.
    pub fn left_by(page: &str) -> PageRoom {
        let taken = n_elements(page) + page.matches("<time").count();
        PageRoom {
            bytes: PAGE_ROOM.bytes.saturating_sub(page.len()),
            elements: PAGE_ROOM.elements.saturating_sub(taken),
        }
    }
}

/// Counts the elements of a part of a page: what is text has no such sign.
fn n_elements(page: &str) -> usize {
    let begins = page.match_indices('<').map(|(at, _)| &page[at + 1..]);
    begins.filter(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic())).count()
}

/// Text that was made fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClippedText {
    /// What is shown, with nothing hidden in it.
    pub shown: String,
    /// Whether some of it is left out.
    pub is_cut: bool,
}

/// Takes as much of a text as fits into so many bytes of a page; lines stay lines.
pub fn clip(text: &str, bytes_max: usize) -> ClippedText {
    clip_as(text, bytes_max, visible)
}

/// Does the same with what is to stay on one line.
pub fn clip_line(text: &str, bytes_max: usize) -> ClippedText {
    clip_as(text, bytes_max, visible_line)
}

/// Does the same, and says by a sign that something is left out.
pub fn short_line(text: &str, bytes_max: usize) -> String {
    let clipped = clip_line(text, bytes_max);
    if clipped.is_cut { clipped.shown + "…" } else { clipped.shown }
}

fn clip_as(text: &str, bytes_max: usize, show: fn(&str) -> String) -> ClippedText {
    // Each character takes a byte at least, so no more of a long text needs to be looked at.
    let most = text.char_indices().nth(bytes_max).map_or(text.len(), |(at, _)| at);
    let mut shown = show(&text[..most]);
    let mut n_bytes = 0;
    let end = shown.char_indices().find_map(|(at, c)| {
        n_bytes += escaped_bytes(c);
        (n_bytes > bytes_max).then_some(at)
    });
    if let Some(end) = end {
        shown.truncate(end);
    }
    ClippedText { shown, is_cut: end.is_some() || most < text.len() }
}

/// Returns how many bytes text takes on a page.
pub fn page_bytes(text: &str) -> usize {
    text.chars().map(escaped_bytes).sum()
}

fn escaped_bytes(c: char) -> usize {
    match c {
        '&' => "&amp;".len(),
        '<' | '>' => "&lt;".len(),
        '"' => "&quot;".len(),
        c => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::{clip, clip_line, page_bytes};

    #[test]
    fn text_is_cut_where_the_room_ends() {
        let cases = [
            ("plain", 5, "plain", false),
            ("plain", 4, "plai", true),
            ("a<b", 5, "a<", true),
            ("ünï", 3, "ün", true),
            ("a\u{202e}b", 5, "a", true),
            ("", 0, "", false),
            ("two\nlines", 99, "two\nlines", false),
        ];
        for (text, most, shown, is_cut) in cases {
            let clipped = clip(text, most);
            assert!(page_bytes(&clipped.shown) <= most, "{text:?}");
            // A mark of what is hidden is cut like other text.
            assert!(clipped.shown.starts_with(shown), "{text:?}: {}", clipped.shown);
            assert_eq!(clipped.is_cut, is_cut, "{text:?}");
        }
        assert_eq!(clip_line("two\nlines", 99).shown, "two⟦000A⟧lines");
    }
}
