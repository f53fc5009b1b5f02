//! The passages of a page: paragraphs, items of lists, headings and cells of tables.

/// A piece of text in which sentences do not cross into the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The line on which it begins, from one on.
    pub line: usize,
    /// Its lines, joined by blanks.
    pub text: String,
}

/// Splits a page into passages. Blocks of code and comments are no passages.
pub fn passages(page: &str) -> Vec<Passage> {
    let mut found: Vec<Passage> = Vec::new();
    let mut is_code = false;
    let mut goes_on = false;
    for (at, line) in page.lines().enumerate() {
        let text = line.trim();
        if text.starts_with("```") {
            is_code = !is_code;
        }
        let is_indented = line.starts_with("    ") && !goes_on;
        let is_left_out =
            is_code || is_indented || text.starts_with("```") || text.starts_with('<');
        if is_left_out || text.is_empty() {
            goes_on = false;
        } else if let Some(row) = text.strip_prefix('|') {
            let cells = row.trim_end_matches('|').split(" | ");
            found.extend(cells.map(|cell| Passage { line: at + 1, text: cell.trim().to_owned() }));
            goes_on = false;
        } else if let Some(last) = found.last_mut().filter(|_| goes_on && !begins(text)) {
            last.text = format!("{} {text}", last.text);
        } else {
            found.push(Passage { line: at + 1, text: text.to_owned() });
            goes_on = !text.starts_with('#');
        }
    }
    found
}

/// Tells whether a line begins something: a heading or an item of a list.
fn begins(text: &str) -> bool {
    let number = text.trim_start_matches(|it: char| it.is_ascii_digit());
    let is_numbered = number.len() < text.len() && number.starts_with(". ");
    is_numbered || ["#", "- ", "* "].iter().any(|mark| text.starts_with(mark))
}
