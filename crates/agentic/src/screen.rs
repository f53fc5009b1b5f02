//! Replies of models on the terminal, while they are being written.

use std::io::{IsTerminal as _, Write as _};

use agentic_providers::model::Piece;

/// The person's screen: standard error, for the answer goes to standard output.
#[derive(Debug, Default)]
pub struct Screen {
    /// Whether the line that is being written has anything on it.
    is_dirty: bool,
}

impl Screen {
    /// Tells whether anybody looks.
    pub fn is_terminal(&self) -> bool {
        std::io::stderr().is_terminal()
    }

    /// Shows a piece of a reply. What could steer the terminal is left out.
    pub fn show(&mut self, piece: Piece<'_>) {
        let text = match piece {
            Piece::Text(text) => text,
            Piece::Again => "\n",
        };
        let is_shown = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
        let shown: String = text.chars().filter(is_shown).collect();
        if let Some(last) = shown.chars().last() {
            self.is_dirty = last != '\n';
        }
        let mut stderr = std::io::stderr().lock();
        // A screen that has gone away does not undo the call.
        let _ = stderr.write_all(shown.as_bytes()).and_then(|()| stderr.flush());
    }

    /// Ends the line of a reply.
    pub fn end(&mut self) {
        if std::mem::take(&mut self.is_dirty) {
            let _ = std::io::stderr().lock().write_all(b"\n");
        }
    }
}
