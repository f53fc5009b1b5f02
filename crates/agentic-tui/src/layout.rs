//! Where the parts of the screen are.

use ratatui::layout::Rect;

use crate::state::PaneName;

/// A narrower screen shows one pane at a time.
const BESIDE_COLUMNS_MIN: u16 = 90;
/// A lower one, too.
const ABOVE_ROWS_MIN: u16 = 16;
/// A smaller one shows nothing.
const COLUMNS_MIN: u16 = 30;
const ROWS_MIN: u16 = 8;
/// How many rows the fields of the dialog have.
const VALUE_ROWS: u16 = 4;
const REASON_ROWS: u16 = 2;

/// The parts of the screen; a pane without room is not shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScreenAreas {
    /// The line above.
    pub head: Rect,
    /// What waits for people.
    pub inbox: Rect,
    /// The agents.
    pub agents: Rect,
    /// What is looked at.
    pub detail: Rect,
    /// The line below.
    pub foot: Rect,
}

/// The parts of the dialog.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DialogAreas {
    /// All of it.
    pub frame: Rect,
    /// The text.
    pub text: Rect,
    /// How much of it follows.
    pub more: Rect,
    /// The actions.
    pub actions: Rect,
    /// The value.
    pub value: Rect,
    /// The reason.
    pub reason: Rect,
    /// Who decides.
    pub who: Rect,
    /// What the person should know.
    pub said: Rect,
}

/// Says whether there is room for anything.
pub fn has_room(screen: Rect) -> bool {
    screen.width >= COLUMNS_MIN && screen.height >= ROWS_MIN
}

/// Divides the screen.
pub fn areas(screen: Rect, focus: PaneName) -> ScreenAreas {
    let (head, body) = cut_above(screen, 1);
    let (body, foot) = cut_below(body, 1);
    let mut areas = ScreenAreas { head, foot, ..ScreenAreas::default() };
    if screen.width < BESIDE_COLUMNS_MIN || screen.height < ABOVE_ROWS_MIN {
        *match focus {
            PaneName::Inbox => &mut areas.inbox,
            PaneName::Agents => &mut areas.agents,
            PaneName::Detail => &mut areas.detail,
        } = body;
        return areas;
    }
    let left = Rect { width: body.width * 2 / 5, ..body };
    areas.detail = Rect { x: body.x + left.width, width: body.width - left.width, ..body };
    (areas.inbox, areas.agents) = cut_above(left, left.height / 2);
    areas
}

/// Divides the dialog, with or without a field for a value.
pub fn dialog_areas(screen: Rect, has_value: bool) -> DialogAreas {
    let (_, frame) = cut_above(screen, 1);
    let (frame, _) = cut_below(frame, 1);
    let inside = inside(frame);
    let (rest, said) = cut_below(inside, 2);
    let (rest, who) = cut_below(rest, 1);
    let (rest, reason) = cut_below(rest, field_rows(rest, REASON_ROWS));
    let (rest, value) = match has_value {
        true => cut_below(rest, field_rows(rest, VALUE_ROWS)),
        false => (rest, Rect::default()),
    };
    let (rest, actions) = cut_below(rest, 1);
    let (text, more) = cut_below(rest, 1);
    DialogAreas { frame, text, more, actions, value, reason, who, said }
}

/// Says how many rows a field has with its name, where room is short.
fn field_rows(room: Rect, wanted: u16) -> u16 {
    (wanted + 1).min((room.height / 3).max(1))
}

/// Returns what is inside of a border.
pub fn inside(area: Rect) -> Rect {
    Rect {
        x: area.x + 1.min(area.width),
        y: area.y + 1.min(area.height),
        width: area.width.saturating_sub(2),
        height: area.height.saturating_sub(2),
    }
}

fn cut_above(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    let above = Rect { height: rows, ..area };
    (above, Rect { y: area.y + rows, height: area.height - rows, ..area })
}

fn cut_below(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    cut_above(area, area.height - rows)
}
