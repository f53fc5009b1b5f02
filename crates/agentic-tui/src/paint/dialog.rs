//! The dialog of a decision.

use agentic_session::decide::ApprovalScope;
use ratatui::layout::Rect;

use super::{Painter, PartFocus};
use crate::dialog::{DecisionDialog, DecisionProgress, DialogFocus};
use crate::field::TextField;
use crate::layout::dialog_areas;
use crate::line::{PaneLine, Tone};

impl Painter<'_, '_> {
    /// Draws the dialog over the panes.
    pub(super) fn dialog(&mut self, screen: Rect, dialog: &DecisionDialog) {
        let areas = dialog_areas(screen, dialog.takes_value());
        self.border(areas.frame, &format!("Decide {}", dialog.request), PartFocus::Here);
        let (rows, n_more) = dialog.shown_rows();
        self.rows(areas.text, rows);
        let more = match (dialog.progress, n_more) {
            (DecisionProgress::Reading, _) => "reading…".to_owned(),
            (_, 0) => "── that is all of it ──".to_owned(),
            (_, n) => format!("── {n} rows follow: space, j, G ──"),
        };
        self.lines(areas.more, &[PaneLine::default().say(Tone::Faint, &more)]);
        self.lines(areas.actions, &[actions(dialog)]);
        if dialog.takes_value() {
            let focus = PartFocus::of(dialog.focus == DialogFocus::Value);
            self.field(areas.value, "v value, as JSON:", &dialog.value, focus);
        }
        let focus = PartFocus::of(dialog.focus == DialogFocus::Reason);
        self.field(areas.reason, "c reason:", &dialog.reason, focus);
        self.lines(areas.who, &[who(dialog)]);
        let said = dialog.said.clone().unwrap_or_default();
        let said: Vec<_> = said.rows(usize::from(areas.said.width));
        self.rows(areas.said, &said[..said.len().min(usize::from(areas.said.height))]);
    }

    /// Draws a field below its name, with the place where keys go in sight.
    fn field(&mut self, area: Rect, name: &str, field: &TextField, focus: PartFocus) {
        let is_here = focus == PartFocus::Here;
        let tone = if is_here { Tone::Strong } else { Tone::Faint };
        let head = PaneLine::default().say(tone, name);
        if area.height < 2 {
            self.lines(area, &[head.say(Tone::Plain, &format!(" {}", field.text()))]);
            return;
        }
        self.lines(Rect { height: 1, ..area }, &[head]);
        let room = Rect { y: area.y + 1, height: area.height - 1, ..area };
        let (width, height) = (usize::from(room.width), usize::from(room.height));
        let shown = field.shown();
        let from = (shown.row + 1).saturating_sub(height);
        let mut lines: Vec<PaneLine> =
            shown.lines.iter().skip(from).take(height).map(|line| PaneLine::of(line)).collect();
        // A long line is shown where the cursor is.
        let skipped = (shown.column + 1).saturating_sub(width);
        if skipped > 0
            && let Some(line) = lines.get_mut(shown.row - from)
        {
            let text: String = shown.lines[shown.row].chars().skip(skipped).collect();
            *line = PaneLine::of(&text);
        }
        self.lines(room, &lines);
        if is_here {
            let column = u16::try_from(shown.column - skipped).unwrap_or(u16::MAX);
            self.cursor(room, column, u16::try_from(shown.row - from).unwrap_or(u16::MAX));
        }
    }
}

/// Shows the actions that are offered, all alike but for the one that is chosen.
fn actions(dialog: &DecisionDialog) -> PaneLine {
    let Some(question) = dialog.question() else { return PaneLine::default() };
    let mut line = PaneLine::default();
    for action in &question.hold.actions {
        let is_chosen = dialog.action.is_some_and(|chosen| chosen.name() == action);
        let (mark, tone) = if is_chosen { ("●", Tone::Strong) } else { ("○", Tone::Plain) };
        line = line.say(tone, &format!("{mark} {} {action}   ", letter(action)));
    }
    if question.hold.rest_of_session.is_some() {
        let mark = match dialog.scope {
            ApprovalScope::Once => "[ ]",
            ApprovalScope::RestOfSession => "[x]",
        };
        line = line.say(Tone::Plain, &format!("{mark} s for the rest of the session"));
    }
    line
}

/// Returns the key of an action.
fn letter(action: &str) -> &'static str {
    match action {
        "approve" => "a",
        "reject" => "r",
        "edit" => "e",
        "respond" => "p",
        _ => " ",
    }
}

/// Says who is deciding: whose decision it becomes, and what signs it.
fn who(dialog: &DecisionDialog) -> PaneLine {
    let line = PaneLine::default();
    if let Some(why) = &dialog.read_only {
        return line.say(Tone::Alarm, "read-only: ").say(Tone::Plain, why);
    }
    match (dialog.decider(), dialog.question()) {
        (Some(decider), _) => {
            let signed = match &decider.key {
                Some(key) => format!(", signed {key}"),
                None => ", not signed".to_owned(),
            };
            line.say(Tone::Faint, "deciding as ")
                .say(Tone::Strong, &decider.principal)
                .say(Tone::Plain, &format!(" <{}>{signed}", decider.address))
        }
        (None, Some(question)) => {
            let hold = &question.hold;
            if hold.assignees.is_empty() && hold.role.is_none() {
                return line.say(Tone::Alarm, "git does not know who you are");
            }
            let whose = hold.assignees.join(", ");
            line.say(Tone::Alarm, &format!("this is for {whose} to decide"))
        }
        (None, None) => line,
    }
}
