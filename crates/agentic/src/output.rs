//! Answers on standard output, talk on standard error.

use std::io::{Error, ErrorKind, Write as _};
use std::sync::OnceLock;

use serde::Serialize;

/// How much of a list is gathered before it is written, in bytes.
const LISTING_BYTES: usize = 64 << 10;

/// How a verb answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// For programs: one JSON value.
    Json,
}

impl Format {
    /// Prints the answer: the view as JSON, or the text that `text` makes of it.
    pub fn answer<V: Serialize + ?Sized>(self, view: &V, text: impl FnOnce(&V) -> String) {
        match self {
            Format::Json => {
                let json = serde_json::to_string(view).expect("views have text keys");
                print_bytes(format!("{json}\n").as_bytes());
            }
            Format::Text => print_text(&text(view)),
        }
    }
}

/// Prints a list whose items are made one by one. A short list that is given up prints nothing, a
/// long one an array without its end.
pub struct Listing {
    format: Format,
    gathered: String,
    n_items: usize,
}

impl Listing {
    /// Begins a list.
    pub fn begin(format: Format) -> Listing {
        Listing { format, gathered: String::new(), n_items: 0 }
    }

    /// Adds an item: the view as JSON, or the text that `text` makes of it.
    pub fn item<V: Serialize>(&mut self, view: &V, text: impl FnOnce(&V) -> String) {
        match self.format {
            Format::Json => {
                self.gathered.push(if self.n_items == 0 { '[' } else { ',' });
                self.gathered += &serde_json::to_string(view).expect("views have text keys");
            }
            Format::Text => self.gathered += &text(view),
        }
        self.n_items += 1;
        if self.gathered.len() >= LISTING_BYTES {
            self.print();
        }
    }

    /// Ends the list.
    pub fn end(mut self) {
        if self.format == Format::Json {
            self.gathered += if self.n_items == 0 { "[]\n" } else { "]\n" };
        }
        self.print();
    }

    fn print(&mut self) {
        let gathered = std::mem::take(&mut self.gathered);
        match self.format {
            Format::Json => print_bytes(gathered.as_bytes()),
            Format::Text => print_coloured(&gathered),
        }
    }
}

/// Prints text with colours as they were chosen; adds a line break if there is none.
pub fn print_text(text: &str) {
    if text.is_empty() {
        return;
    }
    let end = if text.ends_with('\n') { "" } else { "\n" };
    print_coloured(&format!("{text}{end}"));
}

fn print_coloured(text: &str) {
    let mut stdout = anstream::stdout();
    keep_loss(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()));
}

/// Prints bytes as they are.
pub fn print_bytes(bytes: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    keep_loss(stdout.write_all(bytes).and_then(|()| stdout.flush()));
}

/// Why the first part of the answer that was lost could not be written. The answer of a command is
/// one stream, whichever of its parts is lost.
static LOSS: OnceLock<Error> = OnceLock::new();

/// Keeps why something could not be written, for the end of the command.
pub fn keep_loss(written: std::io::Result<()>) {
    match written {
        // A reader that has gone away has what it wanted.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => drop(LOSS.set(error)),
        Ok(()) | Err(_) => {}
    }
}

/// Returns why part of the answer could not be written, if that is so.
pub fn loss() -> Option<&'static Error> {
    LOSS.get()
}

/// Counts things: `1 commit`, `2 commits`.
pub fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Says something to the person at the terminal.
pub fn talk(text: &str) {
    // In one piece: other processes write to the same place.
    let _ = anstream::stderr().write_all(format!("{text}\n").as_bytes());
}

/// Warns about something that did not keep the verb from being done.
pub fn warn(text: &str) {
    talk(&format!("\u{1b}[33mwarning:\u{1b}[0m {text}"));
}

/// Warns when a write is decided but not visible yet, or a worktree stayed behind.
pub fn warn_deferred(written: &agentic_space::Written) {
    if let Some(why) = &written.deferred {
        warn(&format!(
            "the write is durable but not visible yet: {why}; the next command finishes it"
        ));
    }
}

/// Tells what had to be mended, on the way of a verb too.
pub fn tell_recovered(recovered: &[agentic_store::recovery::Recovered]) {
    for mended in recovered {
        let view = agentic_view::MendedView::from(mended);
        talk(&format!("recovered `{}`: {}", view.stream, view.done));
    }
}

/// Warns of git repositories in a folder that a commit of it does not hold.
pub fn warn_left_out(repositories: &[String]) {
    if !repositories.is_empty() {
        warn(&format!("{}; `git submodule add` makes it part of this one", left_out(repositories)));
    }
}

/// Says which git repositories a commit does not hold.
pub fn left_out(repositories: &[String]) -> String {
    let named: Vec<String> = repositories.iter().map(|path| format!("`{path}`")).collect();
    let what = match named.len() {
        1 => "is a git repository of its own",
        _ => "are git repositories of their own",
    };
    format!("{} {what} and left out", named.join(", "))
}

/// Warns when a worktree did not follow its branch.
pub fn warn_left_behind(why: Option<&agentic_store::Error>) {
    if let Some(why) = why {
        warn(&format!(
            "the worktree did not follow: {why}; run `agentic worktree sync`, or `git restore .` there where no agent works"
        ));
    }
}
