//! From the state to a picture. Pure: the same state and size give the same picture.

mod dialog;
mod help;
mod panes;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, BorderType, Clear, Paragraph};

use crate::layout::{areas, has_room, inside};
use crate::line::{LinePiece, PaneLine, Tone};
use crate::state::{LinePurpose, PaneName, UiOverlay, UiState};

/// Whether the picture has colours. It says the same without them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UiColours {
    /// It has.
    On,
    /// It has not.
    Off,
}

/// Whether a part of the screen is the one where keys go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartFocus {
    Here,
    Elsewhere,
}

impl PartFocus {
    fn of(is_here: bool) -> PartFocus {
        if is_here { PartFocus::Here } else { PartFocus::Elsewhere }
    }
}

/// Draws everything.
pub fn paint(frame: &mut Frame<'_>, state: &UiState, colours: UiColours) {
    let screen = frame.area();
    let mut painter = Painter { frame, colours };
    if !has_room(screen) {
        painter.lines(screen, &[PaneLine::of("too small")]);
        return;
    }
    let areas = areas(screen, state.focus);
    painter.head(areas.head, state);
    painter.foot(areas.foot, state);
    match &state.overlay {
        UiOverlay::Dialog(dialog) => painter.dialog(screen, dialog),
        UiOverlay::Help => painter.help(screen),
        UiOverlay::None | UiOverlay::Line(..) => {
            painter.list(areas.inbox, &state.inbox, PartFocus::of(state.focus == PaneName::Inbox));
            painter.list(
                areas.agents,
                &state.agents,
                PartFocus::of(state.focus == PaneName::Agents),
            );
            painter.detail(areas.detail, state);
        }
    }
}

/// Who draws on a frame.
struct Painter<'f, 'b> {
    frame: &'f mut Frame<'b>,
    colours: UiColours,
}

impl Painter<'_, '_> {
    fn style(&self, tone: Tone) -> Style {
        let plain = Style::default();
        let coloured = |colour| match self.colours {
            UiColours::On => plain.fg(colour),
            UiColours::Off => plain,
        };
        match tone {
            Tone::Plain => plain,
            Tone::Strong => plain.add_modifier(Modifier::BOLD),
            Tone::Faint => plain.add_modifier(Modifier::DIM),
            Tone::Id => coloured(Color::Yellow),
            Tone::Kind => coloured(Color::Cyan),
            Tone::Alarm => coloured(Color::Red).add_modifier(Modifier::BOLD),
            Tone::Added => coloured(Color::Green),
            Tone::Removed => coloured(Color::Red),
        }
    }

    fn spans(&self, pieces: &[LinePiece]) -> Line<'static> {
        let span = |piece: &LinePiece| Span::styled(piece.text.clone(), self.style(piece.tone));
        Line::from(pieces.iter().map(span).collect::<Vec<Span<'static>>>())
    }

    /// Draws lines; what is too long or too much is cut.
    fn lines(&mut self, area: Rect, lines: &[PaneLine]) {
        let lines = lines.iter().take(usize::from(area.height));
        let lines: Vec<Line<'_>> = lines.map(|line| self.spans(line.pieces())).collect();
        self.frame.render_widget(Paragraph::new(Text::from(lines)), area);
    }

    fn rows(&mut self, area: Rect, rows: &[Vec<LinePiece>]) {
        let rows: Vec<Line<'_>> = rows.iter().map(|row| self.spans(row)).collect();
        self.frame.render_widget(Paragraph::new(Text::from(rows)), area);
    }

    /// Draws a border with a title; returns what is inside.
    fn border(&mut self, area: Rect, title: &str, focus: PartFocus) -> Rect {
        let (kind, tone) = match focus {
            PartFocus::Here => (BorderType::Thick, Tone::Strong),
            PartFocus::Elsewhere => (BorderType::Plain, Tone::Faint),
        };
        let title = PaneLine::default().say(tone, &format!(" {title} "));
        let block = Block::bordered()
            .border_type(kind)
            .border_style(self.style(tone))
            .title(self.spans(title.pieces()));
        self.frame.render_widget(Clear, area);
        self.frame.render_widget(block, area);
        inside(area)
    }

    fn head(&mut self, area: Rect, state: &UiState) {
        let [waiting, mine, overdue] = state.counts;
        let mut line = PaneLine::default()
            .say(Tone::Strong, "agentic ")
            .say(Tone::Plain, &state.repository)
            .say(Tone::Faint, " · ")
            .say(Tone::Kind, &format!("{waiting} wait · mine {mine}"));
        if overdue > 0 {
            line = line.say(Tone::Alarm, &format!(" · overdue {overdue}"));
        }
        if let Some(decider) = &state.decider {
            line = line.say(Tone::Faint, " · ").say(Tone::Plain, &decider.principal);
        }
        if state.read_only.is_some() {
            line = line.say(Tone::Alarm, " · read-only");
        }
        self.lines(area, &[line]);
    }

    fn foot(&mut self, area: Rect, state: &UiState) {
        if let UiOverlay::Line(purpose, field) = &state.overlay {
            let name = match purpose {
                LinePurpose::Search => "search: ",
                LinePurpose::Narrow => "agents with: ",
            };
            let shown = field.shown();
            let text = shown.lines.join(" ");
            let line = PaneLine::default().say(Tone::Strong, name).say(Tone::Plain, &text);
            self.lines(area, &[line]);
            let column = u16::try_from(name.len() + shown.column).unwrap_or(u16::MAX);
            self.cursor(area, column, 0);
            return;
        }
        let keys = match &state.overlay {
            UiOverlay::Dialog(_) => "Tab fields · Ctrl+Enter or Ctrl+S decides · Esc back",
            UiOverlay::Help => "any key goes back",
            UiOverlay::None | UiOverlay::Line(..) => {
                "j k move · o open · Tab panes · a r e p answer · / search · ? help · q quit"
            }
        };
        let keys = PaneLine::default().say(Tone::Faint, keys);
        let said = state.said.clone().filter(|_| !matches!(state.overlay, UiOverlay::Dialog(_)));
        self.lines(area, &[said.unwrap_or(keys)]);
    }

    /// Shows the cursor in a part of the screen, at its edge where it would be outside.
    fn cursor(&mut self, area: Rect, column: u16, row: u16) {
        if area.width == 0 || area.height == 0 {
            return;
        }
        let at = Position {
            x: area.x + column.min(area.width - 1),
            y: area.y + row.min(area.height - 1),
        };
        self.frame.set_cursor_position(at);
    }
}
