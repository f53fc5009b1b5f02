//! The person at the terminal: sees replies of models while they are being written, and is asked for
//! what an input lacks.

use std::io::{BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::sync::Mutex;

use agentic_api::view::{visible, visible_line};
use agentic_lang_context::DEBUG_EVENT;
use agentic_providers::host::CancelFlag;
use agentic_providers::model::Piece;
use agentic_providers::provider::Response;
use agentic_replay::Event;
use agentic_session::{ProviderCall, Terminal};

use crate::output::talk;

/// The longest line that a person is asked for, in bytes.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// The one screen there is: one reply at a time is shown on it.
static SCREEN: Mutex<Screen> = Mutex::new(Screen { is_dirty: false });

/// Returns the person at the terminal, if anybody looks.
pub fn terminal() -> Option<Terminal> {
    std::io::stderr().is_terminal().then_some(Terminal { ask, watch })
}

/// Shows what a program says for the people who watch, such as the prompts of a `generate` with
/// `debug: true`.
pub fn hear(event: &Event) {
    if event.kind == DEBUG_EVENT
        && let Some(text) = event.data.as_text()
    {
        talk(&plain(text));
    }
}

/// Leaves out what could steer a terminal, and shows what else would not be seen.
pub fn plain(text: &str) -> String {
    let stays = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    visible(&text.chars().filter(stays).collect::<String>())
}

/// Asks for a field of an input. Nothing where nobody can type, or where the typing ends.
fn ask(field: &str) -> Option<String> {
    if !std::io::stdin().is_terminal() {
        return None;
    }
    let mut stderr = std::io::stderr().lock();
    let _ = write!(stderr, "{}: ", visible_line(field)).and_then(|()| stderr.flush());
    let mut line = String::new();
    let read = std::io::stdin().lock().take(LINE_BYTES_MAX).read_line(&mut line);
    match read {
        Ok(1..) => Some(line.trim_end_matches(['\n', '\r']).to_owned()),
        Ok(0) | Err(_) => None,
    }
}

/// Performs a call and shows the reply piece by piece. Others under way meanwhile are not shown.
fn watch(call: &ProviderCall, cancel: &CancelFlag) -> Response {
    let Ok(mut screen) = SCREEN.try_lock() else { return call.perform(cancel, None) };
    let response = call.perform(cancel, Some(&mut |piece| screen.show(piece)));
    screen.end();
    response
}

/// The person's screen: standard error, for the answer goes to standard output.
#[derive(Debug)]
struct Screen {
    /// Whether the line that is being written has anything on it.
    is_dirty: bool,
}

impl Screen {
    /// Shows a piece of a reply. What could steer the terminal is left out.
    fn show(&mut self, piece: Piece<'_>) {
        let text = match piece {
            Piece::Text(text) => text,
            Piece::Again => "\n",
        };
        let shown = plain(text);
        if let Some(last) = shown.chars().last() {
            self.is_dirty = last != '\n';
        }
        let mut stderr = std::io::stderr().lock();
        // A screen that has gone away does not undo the call.
        let _ = stderr.write_all(shown.as_bytes()).and_then(|()| stderr.flush());
    }

    /// Ends the line of a reply.
    fn end(&mut self) {
        if std::mem::take(&mut self.is_dirty) {
            let _ = std::io::stderr().lock().write_all(b"\n");
        }
    }
}
