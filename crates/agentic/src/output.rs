//! Answers on standard output, talk on standard error.

use std::borrow::Cow;
use std::io::{Error, ErrorKind, IsTerminal as _, Write as _};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use agentic_api::view::visible;
use agentic_api::{Notice, NoticeTone};
use serde::Serialize;

use crate::text::{Colour, Text};

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
        self.answer_coloured(view, |view| Text::from(text(view).as_str()));
    }

    /// Prints an answer of which people were told everything already.
    pub fn answer_told<V: Serialize + ?Sized>(self, view: &V) {
        match self {
            Format::Json => print_raw(&serde_json::to_string(view).expect("views have text keys")),
            Format::Text => {}
        }
    }

    /// Does the same as [`Format::answer`] with text that has colours.
    pub fn answer_coloured<V: Serialize + ?Sized>(self, view: &V, text: impl FnOnce(&V) -> Text) {
        match self {
            Format::Json => print_raw(&serde_json::to_string(view).expect("views have text keys")),
            Format::Text => print_coloured(&text(view)),
        }
    }

    /// Does the same with a program in place of text: what reads it must get it as it is.
    pub fn answer_program<V: Serialize + ?Sized>(self, view: &V, program: impl FnOnce(&V) -> &str) {
        match self {
            Format::Json => print_raw(&serde_json::to_string(view).expect("views have text keys")),
            Format::Text => print_raw(program(view)),
        }
    }
}

/// Prints a list whose items are made one by one. A short list that is given up prints nothing, a
/// long one an array without its end.
pub struct ListPrinter {
    format: Format,
    gathered: String,
    n_items: usize,
}

impl ListPrinter {
    /// Begins a list.
    pub fn begin(format: Format) -> ListPrinter {
        ListPrinter { format, gathered: String::new(), n_items: 0 }
    }

    /// Adds an item: the view as JSON, or the text that `text` makes of it.
    pub fn item<V: Serialize>(&mut self, view: &V, text: impl FnOnce(&V) -> String) {
        self.item_coloured(view, |view| Text::from(text(view).as_str()));
    }

    /// Does the same with text that has colours.
    pub fn item_coloured<V: Serialize>(&mut self, view: &V, text: impl FnOnce(&V) -> Text) {
        match self.format {
            Format::Json => {
                self.gathered.push(if self.n_items == 0 { '[' } else { ',' });
                self.gathered += &serde_json::to_string(view).expect("views have text keys");
            }
            Format::Text => self.gathered += text(view).as_str(),
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
            Format::Text => write_styled(&gathered),
        }
    }
}

/// Prints text for people, whoever wrote it; adds a line break if there is none.
pub fn print_text(text: &str) {
    print_coloured(&Text::from(text));
}

/// Prints text with colours as they were chosen; adds a line break if there is none.
pub fn print_coloured(text: &Text) {
    write_styled(&ended(text.as_str()));
}

/// Prints what a program reads, such as JSON, as it is; adds a line break if there is none.
pub fn print_raw(text: &str) {
    print_bytes(ended(text).as_bytes());
}

/// Prints what a run gave: for a program as it is, for a person who looks at it so that it cannot
/// steer the screen.
pub fn show_result(format: Format, text: &str) {
    match format {
        Format::Text if std::io::stdout().is_terminal() => print_bytes(visible(text).as_bytes()),
        Format::Text | Format::Json => print_bytes(text.as_bytes()),
    }
}

fn ended(text: &str) -> Cow<'_, str> {
    match text.is_empty() || text.ends_with('\n') {
        true => Cow::Borrowed(text),
        false => Cow::Owned(format!("{text}\n")),
    }
}

/// Writes what is safe to look at.
fn write_styled(text: &str) {
    if text.is_empty() {
        return;
    }
    let mut stdout = anstream::stdout();
    keep_loss(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()));
}

/// Prints bytes as they are.
pub fn print_bytes(bytes: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    keep_loss(stdout.write_all(bytes).and_then(|()| stdout.flush()));
}

/// What became of standard output.
// process: that stream is the process's own, as `std` has it; the answer of a command is one, whichever of
// its parts is lost, and whoever writes a part of it.
static ANSWER: AnswerStream =
    AnswerStream { loss: OnceLock::new(), is_reader_gone: AtomicBool::new(false) };

/// The stream that an answer is written to.
struct AnswerStream {
    /// Why the first part that was lost could not be written.
    loss: OnceLock<Error>,
    is_reader_gone: AtomicBool,
}

/// Says whether nobody reads the answer any more.
pub fn is_reader_gone() -> bool {
    ANSWER.is_reader_gone.load(Ordering::Relaxed) || ANSWER.loss.get().is_some()
}

/// Keeps why something could not be written, for the end of the command.
pub fn keep_loss(written: std::io::Result<()>) {
    match written {
        // A reader that has gone away has what it wanted.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {
            ANSWER.is_reader_gone.store(true, Ordering::Relaxed);
        }
        Err(error) => drop(ANSWER.loss.set(error)),
        Ok(()) => {}
    }
}

/// Returns why part of the answer could not be written, if that is so.
pub fn loss() -> Option<&'static Error> {
    ANSWER.loss.get()
}

/// Counts things: `1 commit`, `2 commits`.
pub fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Says something to the person at the terminal, whoever wrote it.
pub fn talk(text: &str) {
    talk_coloured(&Text::from(text));
}

/// Says something with colours.
pub fn talk_coloured(text: &Text) {
    // In one piece: other processes write to the same place.
    let _ = anstream::stderr().write_all(format!("{}\n", text.as_str()).as_bytes());
}

/// Says something to a program, as it is.
pub fn talk_raw(text: &str) {
    let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
}

/// Warns about something that did not keep the verb from being done.
pub fn warn(text: &str) {
    talk_coloured(&Text::default().coloured(Colour::Yellow, "warning:").plain(" ").plain(text));
}

/// Tells what a caller should be told although the verb was done.
pub fn warn_of(notices: &[Notice]) {
    for notice in notices {
        match notice.tone() {
            NoticeTone::Warning => warn(&notice.sentence()),
            NoticeTone::Hint => talk(&format!("hint: {}", notice.sentence())),
            NoticeTone::Remark => talk(&notice.sentence()),
        }
    }
}

/// Tells what had to be mended, on the way of a verb too.
pub fn tell_recovered(recovered: &[agentic_store::StreamRecovery]) {
    for mended in recovered {
        let view = agentic_api::view::MendedView::from(mended);
        talk(&format!("recovered {}: {}", mended.stream.subject(), view.done));
    }
}
