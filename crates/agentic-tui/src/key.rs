//! Keys, as far as they mean something here.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A key that was pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UiKey {
    /// A character.
    Char(char),
    /// A new line, or what is selected is opened.
    Enter,
    /// The answer is sent: never a single key, and none that Enter and Escape could be taken for.
    Send,
    /// Back.
    Escape,
    /// The next field or pane.
    Tab,
    /// The one before.
    BackTab,
    /// The character before goes.
    Backspace,
    /// The character behind goes.
    Delete,
    /// To the left.
    Left,
    /// To the right.
    Right,
    /// Up.
    Up,
    /// Down.
    Down,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the beginning.
    Home,
    /// To the end.
    End,
    /// Ctrl+C.
    Quit,
    /// Ctrl+Z.
    Suspend,
    /// Ctrl+L.
    Redraw,
}

impl UiKey {
    /// Reads a key of a terminal; nothing if it means nothing here.
    pub fn of(event: KeyEvent) -> Option<UiKey> {
        if event.kind == KeyEventKind::Release {
            return None;
        }
        let has = |modifier| event.modifiers.contains(modifier);
        if has(KeyModifiers::CONTROL) {
            return with_control(event.code);
        }
        if has(KeyModifiers::ALT) || has(KeyModifiers::SUPER) || has(KeyModifiers::META) {
            return None;
        }
        plain(event.code)
    }
}

fn with_control(code: KeyCode) -> Option<UiKey> {
    let KeyCode::Char(c) = code else {
        return (code == KeyCode::Enter).then_some(UiKey::Send);
    };
    match c.to_ascii_lowercase() {
        's' => Some(UiKey::Send),
        'c' => Some(UiKey::Quit),
        'z' => Some(UiKey::Suspend),
        'l' => Some(UiKey::Redraw),
        _ => None,
    }
}

// They are keys of another crate, of which there are many more.
#[allow(clippy::wildcard_enum_match_arm)]
fn plain(code: KeyCode) -> Option<UiKey> {
    Some(match code {
        KeyCode::Char(c) if c.is_control() => return None,
        KeyCode::Char(c) => UiKey::Char(c),
        KeyCode::Enter => UiKey::Enter,
        KeyCode::Esc => UiKey::Escape,
        KeyCode::Tab => UiKey::Tab,
        KeyCode::BackTab => UiKey::BackTab,
        KeyCode::Backspace => UiKey::Backspace,
        KeyCode::Delete => UiKey::Delete,
        KeyCode::Left => UiKey::Left,
        KeyCode::Right => UiKey::Right,
        KeyCode::Up => UiKey::Up,
        KeyCode::Down => UiKey::Down,
        KeyCode::PageUp => UiKey::PageUp,
        KeyCode::PageDown => UiKey::PageDown,
        KeyCode::Home => UiKey::Home,
        KeyCode::End => UiKey::End,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_chords_send_that_nothing_else_is_taken_for() {
        let read = |code, modifiers| UiKey::of(KeyEvent::new(code, modifiers));
        let (control, alt) = (KeyModifiers::CONTROL, KeyModifiers::ALT);
        assert_eq!(read(KeyCode::Enter, control), Some(UiKey::Send));
        assert_eq!(read(KeyCode::Char('s'), control), Some(UiKey::Send));
        assert_eq!(read(KeyCode::Enter, KeyModifiers::NONE), Some(UiKey::Enter));
        // Escape and Enter in quick succession look like this.
        assert_eq!(read(KeyCode::Enter, alt), None);
        // What is pasted where the terminal does not say so may hold this.
        assert_eq!(read(KeyCode::Char('j'), control), None);
        assert_eq!(read(KeyCode::Char('a'), alt), None);
        assert_eq!(read(KeyCode::Char('\u{9b}'), KeyModifiers::NONE), None);
        assert_eq!(read(KeyCode::F(1), KeyModifiers::NONE), None);
    }
}
