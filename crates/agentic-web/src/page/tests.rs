//! Pages of views that somebody made to do harm, and of views that are as long as they can be.

mod agents;
mod commit;
mod hold;
mod inbox;
mod session;
mod statistics;

use maud::Markup;

use super::PageFrame;

/// Text that would do something on a page that takes it for more than text.
pub const HOSTILE: &str = "<script>alert(1)</script></textarea>{{7*7}}\u{1b}[2J\u{202e}\" onload=\"x\" javascript:alert(1)";
/// How long a page may be, in bytes.
const PAGE_BYTES_MAX: usize = 100 << 10;
/// How many elements a page may have.
const ELEMENTS_MAX: usize = 1_500;

/// Makes a frame for somebody who may look.
pub fn frame() -> PageFrame {
    PageFrame {
        title: "Page".to_owned(),
        repository: HOSTILE.to_owned(),
        is_logged_in: true,
        person: Some(format!("user:{HOSTILE}")),
        is_read_only: true,
        n_holds: 3,
        logout_token: "token".to_owned(),
        command: Some("agentic".to_owned()),
        notices: Vec::new(),
        place: "e-0".to_owned(),
        made_at: "2026-11-23T11:00:00.000Z".to_owned(),
        state: None,
    }
}

/// Checks that a page is as small as all pages are and that nothing on it is more than text; returns
/// it.
pub fn sound(page: &Markup) -> String {
    let text = page.0.clone();
    assert!(text.len() <= PAGE_BYTES_MAX, "{} bytes", text.len());
    let n = elements(&text);
    assert!(n <= ELEMENTS_MAX, "{n} elements");
    assert!(!text.contains("<script>"), "only the page's own script");
    assert!(!text.contains("onload=\"x"), "no attribute ends early");
    // What a field holds goes back as it came.
    let values =
        text.split(" value=\"").map(|part| part.split_once('"').map_or(part, |(_, rest)| rest));
    let shown: String = text.split(" value=\"").take(1).chain(values.skip(1)).collect();
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'), "nothing hides");
    assert!(!text.contains("href=\"javascript"), "no link runs");
    assert!(!text.contains(" style="), "the policy forbids styles of elements");
    text
}

/// Counts the elements of a page.
pub fn elements(page: &str) -> usize {
    let begins = page.match_indices('<');
    begins.filter(|(at, _)| page[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic())).count()
}

/// Returns the address of the link with this `rel`, if there is one.
pub fn link(page: &str, rel: &str) -> Option<String> {
    let (_, rest) = page.split_once(&format!("rel=\"{rel}\" href=\""))?;
    rest.split_once('"').map(|(address, _)| address.replace("&amp;", "&"))
}

/// Returns a number that an address has in its query.
pub fn number(address: &str, name: &str) -> usize {
    let (_, rest) = address.split_once(&format!("{name}=")).expect("the address has it");
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().expect("a number")
}

#[test]
fn a_page_says_who_looks_and_to_whom_no_script_tells_more_when_it_was_made() {
    let page = sound(&frame().around(&maud::html! { p { "text" } }));
    assert!(page.contains("<span class=\"role\">user:&lt;script&gt;"), "{page}");
    let without_script = page.split_once("<noscript>").expect("something for them").1;
    assert!(without_script.starts_with("<span class=\"live\">as of <time"), "{page}");
    let stranger = PageFrame { is_logged_in: false, ..frame() };
    let page = sound(&stranger.around(&maud::html! { p { "text" } }));
    assert!(!page.contains("user:") && !page.contains("as of"), "{page}");
}
