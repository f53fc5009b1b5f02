//! The dialog of a decision: the text that every surface shows, and an answer of which nothing is chosen
//! by default.
//!
//! Nothing is sent before the end of the text was on the screen, nor before an edit was seen as a
//! difference. What is typed stays while the hold changes or a decision is refused.

mod answer;
mod claim;

use agentic_api::Refusal;
use agentic_api::verb::Decide;
use agentic_api::view::question::{pretty, subject};
use agentic_api::view::{DeciderView, HoldFateView, QuestionView};
use agentic_model::Value;
use agentic_session::decide::{Action, ApprovalScope};

use crate::field::TextField;
use crate::key::UiKey;
use crate::line::{LinePiece, PaneLine, Tone};

/// What is said to who would send an answer before the end of the text was on the screen.
const UNREAD: &str = "the text goes on: read it to its end first (space, G)";

/// A hold, and who would decide it.
#[derive(Debug)]
pub struct HoldSight {
    /// The hold.
    pub fate: HoldFateView,
    /// Who would decide; nobody if it is somebody else's.
    pub decider: Option<DeciderView>,
}

/// Where keys go in the dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DialogFocus {
    /// To the text and the actions.
    Text,
    /// Into the value.
    Value,
    /// Into the reason.
    Reason,
}

/// How far a decision is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionProgress {
    /// The hold is being read.
    Reading,
    /// The person thinks.
    Open,
    /// It is being recorded.
    Sending,
    /// Somebody decided, or it cannot be read.
    Over,
}

/// What a key in the dialog leads to.
#[derive(Debug)]
pub enum DialogStep {
    /// The dialog goes on.
    Stay,
    /// It is closed, and nothing is decided.
    Close,
    /// This is to be decided.
    Decide(Box<Decide>),
}

/// An edit that was shown as a difference.
#[derive(Debug, Clone, PartialEq)]
struct SeenEdit {
    value: Value,
    lines: Vec<PaneLine>,
}

/// The dialog.
#[derive(Debug)]
pub struct DecisionDialog {
    /// The request that it is about.
    pub request: String,
    /// How far it is.
    pub progress: DecisionProgress,
    /// Where keys go.
    pub focus: DialogFocus,
    /// The action that is chosen; none at first.
    pub action: Option<Action>,
    /// The commit of the unverified decision that is to be made one's own; none at first.
    pub accepted: Option<String>,
    /// For how long an approval counts.
    pub scope: ApprovalScope,
    /// The value, as JSON.
    pub value: TextField,
    /// Why.
    pub reason: TextField,
    /// What the person should know.
    pub said: Option<PaneLine>,
    /// Why nobody may decide here, if so.
    pub read_only: Option<String>,
    sight: Option<HoldSight>,
    edit: Option<SeenEdit>,
    rows: Vec<Vec<LinePiece>>,
    width: usize,
    height: usize,
    top: usize,
    has_seen_end: bool,
}

impl DecisionDialog {
    /// Opens it for a request, in a part of the screen of so many columns and rows.
    pub fn new(request: &str, read_only: Option<String>, room: (usize, usize)) -> DecisionDialog {
        DecisionDialog {
            request: request.to_owned(),
            progress: DecisionProgress::Reading,
            focus: DialogFocus::Text,
            action: None,
            accepted: None,
            scope: ApprovalScope::Once,
            value: TextField::default(),
            reason: TextField::default(),
            said: None,
            read_only,
            sight: None,
            edit: None,
            rows: Vec::new(),
            width: room.0,
            height: room.1,
            top: 0,
            has_seen_end: false,
        }
    }

    /// Returns what is asked, once that is read and as long as it is open.
    pub fn question(&self) -> Option<&QuestionView> {
        match &self.sight.as_ref()?.fate {
            HoldFateView::Open(question) => Some(question),
            HoldFateView::Decided(_) => None,
        }
    }

    /// Returns who would decide.
    pub fn decider(&self) -> Option<&DeciderView> {
        self.sight.as_ref()?.decider.as_ref()
    }

    /// Returns the rows of the text that are shown, and how many follow.
    pub fn shown_rows(&self) -> (&[Vec<LinePiece>], usize) {
        let end = self.rows.len().min(self.top + self.height);
        (&self.rows[self.top.min(end)..end], self.rows.len() - end)
    }

    /// Says whether the chosen action takes a value.
    pub fn takes_value(&self) -> bool {
        matches!(self.action, Some(Action::Edit | Action::Respond))
    }

    /// Takes another size of its part of the screen.
    pub fn resize(&mut self, width: usize, height: usize) {
        (self.width, self.height) = (width, height);
        self.cut();
    }

    /// Takes the hold as it is now.
    pub fn look(&mut self, sight: Result<HoldSight, Refusal>) {
        let sight = match sight {
            Ok(sight) => sight,
            Err(refusal) => {
                self.progress = DecisionProgress::Over;
                self.refuse(&refusal);
                return;
            }
        };
        match &sight.fate {
            HoldFateView::Open(question) => {
                let known = self.question().map(|known| known.shown.clone());
                if known.as_ref() != Some(&question.shown) {
                    let is_other = known.is_some();
                    (self.edit, self.top, self.has_seen_end) = (None, 0, false);
                    if is_other {
                        self.warn("what is asked has changed: read it again");
                    }
                }
                if self.progress == DecisionProgress::Reading {
                    self.progress = DecisionProgress::Open;
                }
            }
            HoldFateView::Decided(hold) => {
                let said = format!("{} has decided this: {}", hold.principal, hold.action);
                self.warn(&said);
                self.progress = DecisionProgress::Over;
                // What was read stays in sight.
                return;
            }
        }
        self.sight = Some(sight);
        self.check_accepted();
        self.cut();
    }

    /// Hears that a decision was refused: what was typed stays.
    pub fn refuse(&mut self, refusal: &Refusal) {
        if self.progress == DecisionProgress::Sending {
            self.progress = DecisionProgress::Open;
        }
        self.warn(&format!("{} · {}", refusal.sentence(), refusal.hint));
    }

    /// Takes a key.
    pub fn press(&mut self, key: UiKey) -> DialogStep {
        if self.progress == DecisionProgress::Sending {
            return DialogStep::Stay;
        }
        match key {
            UiKey::Send => return self.send(),
            UiKey::Tab | UiKey::BackTab => self.focus = self.next_focus(key),
            _ if self.focus == DialogFocus::Text => return self.press_in_text(key),
            UiKey::Escape => self.focus = DialogFocus::Text,
            UiKey::Char(_)
            | UiKey::Enter
            | UiKey::Backspace
            | UiKey::Delete
            | UiKey::Left
            | UiKey::Right
            | UiKey::Up
            | UiKey::Down
            | UiKey::PageUp
            | UiKey::PageDown
            | UiKey::Home
            | UiKey::End
            | UiKey::Quit
            | UiKey::Suspend
            | UiKey::Redraw => {
                if let Some(field) = self.field() {
                    field.press(key);
                }
            }
        }
        DialogStep::Stay
    }

    /// Takes what was pasted. Outside of a field it means nothing, whatever its letters are.
    pub fn paste(&mut self, text: &str) {
        if let Some(field) = self.field() {
            field.insert(text);
        }
    }

    /// Chooses an action, if it is offered.
    pub fn choose(&mut self, action: Action) {
        let Some(question) = self.question() else {
            self.action = Some(action);
            return;
        };
        if !question.hold.actions.iter().any(|offered| offered == action.name()) {
            self.warn(&format!("`{}` is not offered here", action.name()));
            return;
        }
        let offered = subject(&question.hold);
        let offered = (!offered.is_null()).then(|| match offered.is_string() {
            true => offered.to_string(),
            false => pretty(offered),
        });
        if self.action != Some(action) {
            self.value = match (action, offered) {
                (Action::Edit, Some(offered)) => TextField::holding(&offered),
                _ => TextField::default(),
            };
        }
        (self.action, self.edit, self.said) = (Some(action), None, None);
        self.accepted = None;
        self.cut();
    }

    fn press_in_text(&mut self, key: UiKey) -> DialogStep {
        let page = self.height.max(1);
        match key {
            UiKey::Escape | UiKey::Char('q') => return DialogStep::Close,
            UiKey::Char('a') => self.choose(Action::Approve),
            UiKey::Char('r') => self.choose(Action::Reject),
            UiKey::Char('e') => self.choose(Action::Edit),
            UiKey::Char('p') => self.choose(Action::Respond),
            UiKey::Char('u') => self.choose_unverified(),
            UiKey::Char('c') => self.focus = DialogFocus::Reason,
            UiKey::Char('v') if self.takes_value() => self.focus = DialogFocus::Value,
            UiKey::Char('s') => self.toggle_scope(),
            UiKey::Char('j') | UiKey::Down => self.scroll_to(self.top + 1),
            UiKey::Char('k') | UiKey::Up => self.scroll_to(self.top.saturating_sub(1)),
            UiKey::PageDown | UiKey::Char(' ') => self.scroll_to(self.top + page),
            UiKey::PageUp => self.scroll_to(self.top.saturating_sub(page)),
            UiKey::Home => self.scroll_to(0),
            UiKey::End | UiKey::Char('G') => self.scroll_to(usize::MAX),
            UiKey::Char(_)
            | UiKey::Enter
            | UiKey::Send
            | UiKey::Tab
            | UiKey::BackTab
            | UiKey::Backspace
            | UiKey::Delete
            | UiKey::Left
            | UiKey::Right
            | UiKey::Quit
            | UiKey::Suspend
            | UiKey::Redraw => {}
        }
        DialogStep::Stay
    }

    fn toggle_scope(&mut self) {
        let may = self.question().is_some_and(|question| question.hold.rest_of_session.is_some());
        self.scope = match self.scope {
            ApprovalScope::Once if may => ApprovalScope::RestOfSession,
            ApprovalScope::Once | ApprovalScope::RestOfSession => ApprovalScope::Once,
        };
    }

    fn next_focus(&self, key: UiKey) -> DialogFocus {
        let is_back = key == UiKey::BackTab;
        match (self.focus, self.takes_value()) {
            (DialogFocus::Text, true) if !is_back => DialogFocus::Value,
            (DialogFocus::Reason, true) if is_back => DialogFocus::Value,
            (DialogFocus::Text, _) => DialogFocus::Reason,
            (DialogFocus::Value, _) if !is_back => DialogFocus::Reason,
            (DialogFocus::Value | DialogFocus::Reason, _) => DialogFocus::Text,
        }
    }

    fn field(&mut self) -> Option<&mut TextField> {
        match self.focus {
            DialogFocus::Text => None,
            DialogFocus::Value => Some(&mut self.value),
            DialogFocus::Reason => Some(&mut self.reason),
        }
    }

    fn scroll_to(&mut self, top: usize) {
        self.top = top.min(self.rows.len().saturating_sub(self.height));
        self.note_end();
    }

    /// Cuts the text into rows anew.
    fn cut(&mut self) {
        let text = self.question().map(|question| question.text.clone());
        let mut lines: Vec<PaneLine> = match &text {
            // It is safe already; a line takes it as it is.
            Some(text) => PaneLine::many(Tone::Plain, text).collect(),
            None => Vec::new(),
        };
        lines.extend(self.claim_lines());
        if let Some(edit) = &self.edit {
            lines.push(PaneLine::default());
            lines.push(PaneLine::default().say(Tone::Strong, "What your edit changes:"));
            lines.extend(edit.lines.iter().cloned());
        }
        self.rows = lines.iter().flat_map(|line| line.rows(self.width)).collect();
        self.scroll_to(self.top);
    }

    fn note_end(&mut self) {
        let is_end = self.height > 0 && self.top + self.height >= self.rows.len();
        self.has_seen_end |= is_end && self.question().is_some();
        if self.has_seen_end && self.said.as_ref() == Some(&warning(UNREAD)) {
            self.said = None;
        }
    }

    fn warn(&mut self, text: &str) {
        self.said = Some(warning(text));
    }
}

/// Returns the line that warns of something.
fn warning(text: &str) -> PaneLine {
    PaneLine::default().say(Tone::Alarm, &text.replace('\n', " "))
}
