//! From views to the lines of panes. Pure: what is told goes in with the instant, lines come out.

mod commit;
mod lists;
mod session;
mod trace;

pub use self::commit::{commit, log};
pub use self::lists::{
    agent_rows, agents_title, decided, found, inbox_rows, no_agents, no_holds, statistics,
};
pub use self::session::{session, sessions};
pub use self::trace::{pending, trace};

/// How many digits of an id are shown.
const ID_DIGITS: usize = 10;
/// How ids of objects begin, all of them.
const OBJECT: &str = "bafyr4i";

/// Shortens an id to what still names it.
fn short(id: &str) -> String {
    let begin = if id.starts_with(OBJECT) { OBJECT.len() } else { 0 };
    id.chars().take(begin + ID_DIGITS).collect()
}

/// Shortens a text to its beginning.
fn clip(text: &str, n_chars: usize) -> String {
    match text.char_indices().nth(n_chars) {
        Some((at, _)) => format!("{}… ({} bytes)", &text[..at], text.len()),
        None => text.to_owned(),
    }
}
