//! What the keys mean.

use ratatui::layout::Rect;

use super::{Painter, PartFocus};
use crate::line::{PaneLine, Tone};

/// The keys, and what they do.
const KEYS: &[(&str, &str)] = &[
    ("j k ↓ ↑", "the next row, the one before"),
    ("space PgDn PgUp", "a page on in a text, a page back"),
    ("Home G", "to the beginning, to the end"),
    ("Tab ← →", "the next pane, the one before"),
    ("o Enter", "open what is selected"),
    ("Esc", "back"),
    ("1 2 3", "log, trace, session of what is selected"),
    ("g i · g a", "to the inbox · to the agents"),
    ("/ · g s", "search in traces, messages, briefings, decisions, sessions"),
    ("g t", "statistics"),
    ("n", "list only agents with this in their names"),
    ("", ""),
    ("a r e p", "choose approve, reject, edit, respond for the selected hold"),
    ("v c", "in the dialog: type the value, the reason"),
    ("u", "in the dialog: accept a decision that nobody verified"),
    ("s", "in the dialog: an approval counts for the rest of the session"),
    ("Ctrl+Enter Ctrl+S", "decide; no single key does"),
    ("", ""),
    ("Ctrl+Z", "stop for a while; fg goes on"),
    ("Ctrl+L", "draw everything anew"),
    ("q Ctrl+C", "quit"),
];
/// How wide the keys are.
const KEYS_COLUMNS: usize = 20;

impl Painter<'_, '_> {
    /// Draws the help over the panes.
    pub(super) fn help(&mut self, screen: Rect) {
        let area = Rect { y: screen.y + 1, height: screen.height.saturating_sub(2), ..screen };
        let area = self.border(area, "Keys", PartFocus::Here);
        let line = |(keys, what): &(&str, &str)| {
            let keys = format!("{keys:KEYS_COLUMNS$}");
            PaneLine::default().say(Tone::Strong, &keys).say(Tone::Plain, what)
        };
        let lines: Vec<PaneLine> = KEYS.iter().map(line).collect();
        self.lines(area, &lines);
    }
}
