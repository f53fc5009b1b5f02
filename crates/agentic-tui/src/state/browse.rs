//! Keys in the panes.

use agentic_session::decide::Action;

use super::{DetailTab, LinePurpose, PaneName, UiOverlay, UiState};
use crate::field::TextField;
use crate::key::UiKey;
use crate::layout::areas;
use crate::line::{LineTarget, Tone};
use crate::wish::{DetailSubject, UiWish};

/// How much of what was opened is remembered.
const TRAIL_MAX: usize = 50;

impl UiState {
    /// Takes a key where nothing lies over the panes.
    pub(super) fn browse(&mut self, key: UiKey) -> Vec<UiWish> {
        if std::mem::take(&mut self.goes)
            && let UiKey::Char(c) = key
        {
            return self.go(c);
        }
        self.said = None;
        match key {
            UiKey::Char(c) => return self.browse_by_letter(c),
            UiKey::Enter => return self.open(),
            UiKey::Escape | UiKey::Backspace => return self.back(),
            UiKey::Tab | UiKey::Right => self.focus = after(self.focus),
            UiKey::BackTab | UiKey::Left => self.focus = before(self.focus),
            UiKey::Down => return self.walk(1),
            UiKey::Up => return self.walk(-1),
            UiKey::PageDown => return self.walk(self.page()),
            UiKey::PageUp => return self.walk(-self.page()),
            UiKey::Home => return self.walk(isize::MIN),
            UiKey::End => return self.walk(isize::MAX),
            UiKey::Send | UiKey::Delete | UiKey::Quit | UiKey::Suspend | UiKey::Redraw => {}
        }
        Vec::new()
    }

    fn browse_by_letter(&mut self, letter: char) -> Vec<UiWish> {
        match letter {
            'j' => return self.walk(1),
            'k' => return self.walk(-1),
            ' ' => return self.walk(self.page()),
            'G' => return self.walk(isize::MAX),
            'o' => return self.open(),
            'a' => return self.decide(Action::Approve),
            'r' => return self.decide(Action::Reject),
            'e' => return self.decide(Action::Edit),
            'p' => return self.decide(Action::Respond),
            '1' => return self.turn_to(DetailTab::Log),
            '2' => return self.turn_to(DetailTab::Trace),
            '3' => return self.turn_to(DetailTab::Session),
            'g' => self.goes = true,
            '/' => self.overlay = UiOverlay::Line(LinePurpose::Search, TextField::default()),
            'n' => {
                let known = TextField::holding(&self.narrowed);
                self.overlay = UiOverlay::Line(LinePurpose::Narrow, known);
            }
            '?' => self.overlay = UiOverlay::Help,
            'q' => return self.quit(),
            _ => {}
        }
        Vec::new()
    }

    /// Goes where the letter behind `g` says.
    fn go(&mut self, letter: char) -> Vec<UiWish> {
        match letter {
            'i' => self.focus = PaneName::Inbox,
            'a' => self.focus = PaneName::Agents,
            's' => self.overlay = UiOverlay::Line(LinePurpose::Search, TextField::default()),
            't' => {
                self.focus = PaneName::Detail;
                return self.show(DetailSubject::Statistics);
            }
            'g' => return self.walk(isize::MIN),
            _ => {}
        }
        self.look()
    }

    /// Takes a key in the line below.
    pub(super) fn type_line(
        &mut self,
        purpose: LinePurpose,
        mut field: TextField,
        key: UiKey,
    ) -> Vec<UiWish> {
        if key == UiKey::Escape {
            return Vec::new();
        }
        if key == UiKey::Enter {
            let text = field.text().trim().to_owned();
            return match purpose {
                LinePurpose::Search if text.is_empty() => Vec::new(),
                LinePurpose::Search => {
                    self.focus = PaneName::Detail;
                    self.show(DetailSubject::Found(text))
                }
                LinePurpose::Narrow => {
                    self.narrowed = text.clone();
                    self.focus = PaneName::Agents;
                    vec![UiWish::ReadLists(text)]
                }
            };
        }
        field.press(key);
        self.overlay = UiOverlay::Line(purpose, field);
        Vec::new()
    }

    fn page(&self) -> isize {
        let areas = areas(self.screen, self.focus);
        let pane = match self.focus {
            PaneName::Inbox => areas.inbox,
            PaneName::Agents => areas.agents,
            PaneName::Detail => areas.detail,
        };
        isize::try_from(pane.height.saturating_sub(3).max(1)).unwrap_or(1)
    }

    /// Selects another row of the pane.
    fn walk(&mut self, by: isize) -> Vec<UiWish> {
        let (at, n_rows) = match self.focus {
            PaneName::Inbox => (&mut self.inbox.at, self.inbox.rows.len()),
            PaneName::Agents => (&mut self.agents.at, self.agents.rows.len()),
            PaneName::Detail => (&mut self.detail.at, self.detail.lines.len()),
        };
        let before = *at;
        *at = at.saturating_add_signed(by).min(n_rows.saturating_sub(1));
        let is_same = before == *at && self.chosen_in == self.focus;
        match self.focus {
            PaneName::Detail => Vec::new(),
            PaneName::Inbox | PaneName::Agents if is_same => Vec::new(),
            PaneName::Inbox | PaneName::Agents => self.look(),
        }
    }

    /// Looks at what is selected in the pane.
    pub(super) fn look(&mut self) -> Vec<UiWish> {
        if self.focus != PaneName::Detail {
            self.chosen_in = self.focus;
        }
        let list = if self.chosen_in == PaneName::Agents { &self.agents } else { &self.inbox };
        let Some(row) = list.selected() else { return Vec::new() };
        let subject = match (self.tab, &row.session) {
            (DetailTab::Log, _) => DetailSubject::Log(row.agent.clone()),
            (DetailTab::Trace, _) => DetailSubject::Trace(row.agent.clone()),
            (DetailTab::Session, Some(session)) => DetailSubject::Session(session.clone()),
            (DetailTab::Session, None) => DetailSubject::Sessions(row.agent.clone()),
        };
        self.detail.trail.clear();
        self.turn_detail(subject, 0)
    }

    fn turn_to(&mut self, tab: DetailTab) -> Vec<UiWish> {
        self.tab = tab;
        self.look()
    }

    /// Shows something in the pane of details, from which the way leads back.
    fn show(&mut self, subject: DetailSubject) -> Vec<UiWish> {
        if let Some(known) = self.detail.subject.take() {
            self.detail.trail.push((known, self.detail.at));
            let n_over = self.detail.trail.len().saturating_sub(TRAIL_MAX);
            self.detail.trail.drain(..n_over);
        }
        self.turn_detail(subject, 0)
    }

    fn turn_detail(&mut self, subject: DetailSubject, at: usize) -> Vec<UiWish> {
        if self.detail.subject.as_ref() == Some(&subject) {
            return vec![UiWish::ReadDetail(subject)];
        }
        let detail = &mut self.detail;
        (detail.at, detail.is_reading) = (at, true);
        detail.lines.clear();
        detail.subject = Some(subject.clone());
        vec![UiWish::ReadDetail(subject)]
    }

    fn open(&mut self) -> Vec<UiWish> {
        match self.focus {
            PaneName::Inbox => match self.selected_hold() {
                Some(request) => self.open_dialog(request, None),
                None => Vec::new(),
            },
            PaneName::Agents => {
                let wishes = self.look();
                self.focus = PaneName::Detail;
                wishes
            }
            PaneName::Detail => {
                let target = self.detail.lines.get(self.detail.at).and_then(|line| line.target());
                match target.cloned() {
                    Some(LineTarget::Commit(oid)) => self.show(DetailSubject::Commit(oid)),
                    Some(LineTarget::Session(id)) => self.show(DetailSubject::Session(id)),
                    Some(LineTarget::PendingTrace(agent)) => self.show(DetailSubject::Trace(agent)),
                    Some(LineTarget::Hold(request)) => self.open_dialog(request, None),
                    None => Vec::new(),
                }
            }
        }
    }

    fn back(&mut self) -> Vec<UiWish> {
        if self.focus != PaneName::Detail {
            return Vec::new();
        }
        match self.detail.trail.pop() {
            Some((subject, at)) => self.turn_detail(subject, at),
            None => {
                self.focus = self.chosen_in;
                Vec::new()
            }
        }
    }

    /// Opens the dialog with an action that a key chose: nothing is sent by that.
    fn decide(&mut self, action: Action) -> Vec<UiWish> {
        let Some(request) = self.selected_hold() else {
            if self.focus != PaneName::Inbox {
                let hint = "no hold is selected: g i leads to the inbox, where all of them are";
                self.say(Tone::Faint, hint);
            }
            return Vec::new();
        };
        if let Some(why) = self.read_only.clone() {
            self.say(Tone::Alarm, &format!("nothing is decided here: {why}"));
            return Vec::new();
        }
        self.open_dialog(request, Some(action))
    }

    /// Returns the request of the hold that is selected: a row of the inbox, or a line of the details.
    fn selected_hold(&self) -> Option<String> {
        match self.focus {
            PaneName::Inbox => self.inbox.selected().map(|row| row.key.clone()),
            PaneName::Agents => None,
            PaneName::Detail => match self.detail.lines.get(self.detail.at)?.target()? {
                LineTarget::Hold(request) => Some(request.clone()),
                LineTarget::Commit(_) | LineTarget::Session(_) | LineTarget::PendingTrace(_) => {
                    None
                }
            },
        }
    }
}

fn after(pane: PaneName) -> PaneName {
    match pane {
        PaneName::Inbox => PaneName::Agents,
        PaneName::Agents => PaneName::Detail,
        PaneName::Detail => PaneName::Inbox,
    }
}

fn before(pane: PaneName) -> PaneName {
    match pane {
        PaneName::Inbox => PaneName::Detail,
        PaneName::Agents => PaneName::Inbox,
        PaneName::Detail => PaneName::Agents,
    }
}
