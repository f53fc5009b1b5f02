//! What the screen shows, and what keys and news make of it. Nothing here touches a terminal, a file or
//! a clock.

mod browse;
mod hear;

use agentic_api::view::DeciderView;
use agentic_model::Instant;
use agentic_session::decide::Action;
use ratatui::layout::Rect;

use crate::dialog::{DecisionDialog, DialogStep};
use crate::field::TextField;
use crate::key::UiKey;
use crate::layout::dialog_areas;
use crate::line::{PaneLine, Tone};
use crate::wish::{DecisionSigning, DetailSubject, UiWish, WantedDecision};

/// A pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaneName {
    /// What waits for people.
    Inbox,
    /// The agents.
    Agents,
    /// What is looked at.
    Detail,
}

/// What the pane of details shows of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DetailTab {
    /// What it did.
    Log,
    /// What it saw and said.
    Trace,
    /// What it runs.
    Session,
}

/// What lies over the panes.
#[derive(Debug)]
pub enum UiOverlay {
    /// Nothing.
    None,
    /// What the keys mean.
    Help,
    /// A line in which something is typed, and what for.
    Line(LinePurpose, TextField),
    /// A decision.
    Dialog(Box<DecisionDialog>),
}

/// What is typed in the line below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinePurpose {
    /// Words that are searched for.
    Search,
    /// A part of the names of agents.
    Narrow,
}

/// A row of a list, and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRow {
    /// The request or the agent.
    pub key: String,
    /// The agent that it is about.
    pub agent: String,
    /// The session that it is about, of a hold.
    pub session: Option<String>,
    /// How it is shown.
    pub line: PaneLine,
}

/// A list of which one row is selected.
#[derive(Debug, Default)]
pub struct PaneList {
    /// What stands above it.
    pub title: String,
    /// The rows.
    pub rows: Vec<ListRow>,
    /// The selected one.
    pub at: usize,
    /// What is said where there are none.
    pub empty: Vec<PaneLine>,
}

/// The pane of details.
#[derive(Debug, Default)]
pub struct DetailPane {
    /// What it shows.
    pub subject: Option<DetailSubject>,
    /// The lines.
    pub lines: Vec<PaneLine>,
    /// The selected one.
    pub at: usize,
    /// Whether it still has to be read.
    pub is_reading: bool,
    /// From where it was opened, with the line selected there.
    trail: Vec<(DetailSubject, usize)>,
}

/// Everything that the screen shows.
#[derive(Debug)]
pub struct UiState {
    /// What the repository is called.
    pub repository: String,
    /// Why nobody may decide here, if so.
    pub read_only: Option<String>,
    /// The size of the screen.
    pub screen: Rect,
    /// When it is.
    pub now: Instant,
    /// The pane where keys go.
    pub focus: PaneName,
    /// What waits for people.
    pub inbox: PaneList,
    /// The agents.
    pub agents: PaneList,
    /// What is looked at.
    pub detail: DetailPane,
    /// Which part of an agent is looked at.
    pub tab: DetailTab,
    /// What lies over them.
    pub overlay: UiOverlay,
    /// What the person should know.
    pub said: Option<PaneLine>,
    /// Who decides here, once that is read.
    pub decider: Option<DeciderView>,
    /// How many holds wait, for how many it is this person's turn, and how many are overdue.
    pub counts: [usize; 3],
    /// A part of the names of the agents that are listed.
    narrowed: String,
    /// Whether the key before was `g`.
    goes: bool,
    /// The pane that says what is looked at.
    chosen_in: PaneName,
}

impl UiState {
    /// Begins with empty panes.
    pub fn new(repository: &str, read_only: Option<String>, screen: Rect, now: Instant) -> UiState {
        UiState {
            repository: repository.to_owned(),
            read_only,
            screen,
            now,
            focus: PaneName::Inbox,
            inbox: PaneList { title: "Inbox".to_owned(), ..PaneList::default() },
            agents: PaneList { title: "Agents".to_owned(), ..PaneList::default() },
            detail: DetailPane::default(),
            tab: DetailTab::Log,
            overlay: UiOverlay::None,
            said: None,
            decider: None,
            counts: [0; 3],
            narrowed: String::new(),
            goes: false,
            chosen_in: PaneName::Inbox,
        }
    }

    /// Asks for everything that is shown.
    pub fn read_all(&self) -> Vec<UiWish> {
        let mut wishes = vec![UiWish::ReadLists(self.narrowed.clone())];
        wishes.extend(self.detail.subject.clone().map(UiWish::ReadDetail));
        if let UiOverlay::Dialog(dialog) = &self.overlay {
            wishes.push(UiWish::ReadHold(dialog.request.clone()));
        }
        wishes
    }

    /// Says whether a decision is being recorded.
    pub fn is_deciding(&self) -> bool {
        use crate::dialog::DecisionProgress::Sending;
        matches!(&self.overlay, UiOverlay::Dialog(dialog) if dialog.progress == Sending)
    }

    /// Takes a key.
    pub fn press(&mut self, key: UiKey) -> Vec<UiWish> {
        match key {
            UiKey::Quit => return self.quit(),
            UiKey::Suspend => return vec![UiWish::Suspend],
            UiKey::Redraw => return vec![UiWish::Redraw],
            UiKey::Char(_)
            | UiKey::Enter
            | UiKey::Send
            | UiKey::Escape
            | UiKey::Tab
            | UiKey::BackTab
            | UiKey::Backspace
            | UiKey::Delete
            | UiKey::Left
            | UiKey::Right
            | UiKey::Up
            | UiKey::Down
            | UiKey::PageUp
            | UiKey::PageDown
            | UiKey::Home
            | UiKey::End => {}
        }
        match std::mem::replace(&mut self.overlay, UiOverlay::None) {
            UiOverlay::None => self.browse(key),
            // Any key ends it.
            UiOverlay::Help => Vec::new(),
            UiOverlay::Line(purpose, field) => self.type_line(purpose, field, key),
            UiOverlay::Dialog(dialog) => self.press_in_dialog(dialog, key),
        }
    }

    /// Takes what was pasted: text for a field, and nothing else.
    pub fn paste(&mut self, text: &str) {
        match &mut self.overlay {
            UiOverlay::Line(_, field) => field.insert(&text.replace(['\n', '\r'], " ")),
            UiOverlay::Dialog(dialog) => dialog.paste(text),
            UiOverlay::None | UiOverlay::Help => {}
        }
        self.fit_dialog();
    }

    /// Takes another size of the screen.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.screen = Rect::new(0, 0, columns, rows);
        self.fit_dialog();
    }

    /// Says something to the person.
    pub fn say(&mut self, tone: Tone, text: &str) {
        self.said = Some(PaneLine::default().say(tone, &text.replace('\n', " ")));
    }

    fn quit(&mut self) -> Vec<UiWish> {
        if self.is_deciding() {
            self.say(Tone::Alarm, "a decision is being recorded: wait a moment");
            return Vec::new();
        }
        vec![UiWish::Quit]
    }

    fn press_in_dialog(&mut self, mut dialog: Box<DecisionDialog>, key: UiKey) -> Vec<UiWish> {
        let step = dialog.press(key);
        let wishes = match step {
            DialogStep::Close => return Vec::new(),
            DialogStep::Stay => Vec::new(),
            DialogStep::Decide(verb) => {
                let is_signed = dialog.decider().is_some_and(|decider| decider.key.is_some());
                let signing = match is_signed {
                    true => DecisionSigning::Signed,
                    false => DecisionSigning::Plain,
                };
                vec![UiWish::Decide(Box::new(WantedDecision { verb: *verb, signing }))]
            }
        };
        self.overlay = UiOverlay::Dialog(dialog);
        self.fit_dialog();
        wishes
    }

    /// Opens the dialog of the selected hold, with an action if a key chose one.
    fn open_dialog(&mut self, request: String, action: Option<Action>) -> Vec<UiWish> {
        let mut dialog = DecisionDialog::new(&request, self.read_only.clone(), (0, 0));
        if let Some(action) = action {
            dialog.choose(action);
        }
        (self.overlay, self.said) = (UiOverlay::Dialog(Box::new(dialog)), None);
        self.fit_dialog();
        vec![UiWish::ReadHold(request)]
    }

    /// Lets the text of the dialog fit its part of the screen.
    fn fit_dialog(&mut self) {
        let screen = self.screen;
        if let UiOverlay::Dialog(dialog) = &mut self.overlay {
            let text = dialog_areas(screen, dialog.takes_value()).text;
            dialog.resize(usize::from(text.width), usize::from(text.height));
        }
    }
}

impl PaneList {
    /// Returns the selected row.
    pub fn selected(&self) -> Option<&ListRow> {
        self.rows.get(self.at)
    }

    /// Takes other rows; the same one stays selected, if it is still there.
    pub fn renew(&mut self, rows: Vec<ListRow>) {
        let key = self.selected().map(|row| row.key.clone());
        let found = key.and_then(|key| rows.iter().position(|row| row.key == key));
        self.at = found.unwrap_or(self.at).min(rows.len().saturating_sub(1));
        self.rows = rows;
    }
}
