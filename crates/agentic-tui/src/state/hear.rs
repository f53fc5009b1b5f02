//! What was read, and what it changes on the screen.

use agentic_api::Refusal;
use agentic_api::roster::RosterPage;
use agentic_api::view::InboxView;

use super::{PaneName, UiOverlay, UiState};
use crate::dialog::{DecisionDialog, DecisionProgress};
use crate::line::{PaneLine, Tone};
use crate::page;
use crate::wish::{DetailSubject, MadeDecision, UiTold, UiWish};

impl UiState {
    /// Hears what was told.
    pub fn hear(&mut self, told: UiTold) -> Vec<UiWish> {
        match told {
            // Whoever runs the loop asks for everything when it is time.
            UiTold::Changed => Vec::new(),
            UiTold::Inbox(Ok(view)) => self.hear_inbox(view),
            UiTold::Agents(Ok(page)) => self.hear_agents(&page),
            UiTold::Inbox(Err(refusal)) | UiTold::Agents(Err(refusal)) => {
                self.say(Tone::Alarm, &refusal.sentence());
                Vec::new()
            }
            UiTold::Detail(subject, lines) => {
                self.hear_detail(&subject, lines);
                Vec::new()
            }
            UiTold::Hold(request, sight) => {
                if let Some(dialog) = self.dialog(&request) {
                    dialog.look(sight);
                    self.fit_dialog();
                }
                Vec::new()
            }
            UiTold::Decided(Ok(made)) => self.hear_decision(&made),
            UiTold::Decided(Err(refusal)) => self.hear_refusal(&refusal),
        }
    }

    fn dialog(&mut self, request: &str) -> Option<&mut DecisionDialog> {
        match &mut self.overlay {
            UiOverlay::Dialog(dialog) if dialog.request == request => Some(dialog),
            UiOverlay::Dialog(_) | UiOverlay::None | UiOverlay::Help | UiOverlay::Line(..) => None,
        }
    }

    fn hear_inbox(&mut self, view: InboxView) -> Vec<UiWish> {
        self.counts = [view.waiting, view.mine, view.overdue];
        self.inbox.renew(page::inbox_rows(&view, self.now));
        self.inbox.empty = page::no_holds();
        self.decider = view.decider;
        self.look_again(PaneName::Inbox)
    }

    fn hear_agents(&mut self, page: &RosterPage) -> Vec<UiWish> {
        self.agents.renew(page::agent_rows(page, self.now));
        self.agents.title = page::agents_title(page, &self.narrowed);
        self.agents.empty = page::no_agents(page);
        if self.inbox.rows.is_empty() && self.detail.subject.is_none() {
            // Nobody waits: the first agent is looked at.
            self.chosen_in = PaneName::Agents;
        }
        self.look_again(PaneName::Agents)
    }

    /// Looks at what is selected, if another row is by now.
    fn look_again(&mut self, list: PaneName) -> Vec<UiWish> {
        let is_away = !self.detail.trail.is_empty() || self.focus == PaneName::Detail;
        match self.chosen_in == list && !is_away {
            true => {
                let before = self.detail.subject.clone();
                let wishes = self.look_in_place();
                // What stays is asked for with everything else.
                if self.detail.subject == before { Vec::new() } else { wishes }
            }
            false => Vec::new(),
        }
    }

    /// Looks at what is selected where things were looked at last, wherever keys go.
    fn look_in_place(&mut self) -> Vec<UiWish> {
        let focus = std::mem::replace(&mut self.focus, PaneName::Detail);
        let wishes = self.look();
        self.focus = focus;
        wishes
    }

    fn hear_detail(&mut self, subject: &DetailSubject, lines: Result<Vec<PaneLine>, Refusal>) {
        if self.detail.subject.as_ref() != Some(subject) {
            return;
        }
        let refused = |refusal: Refusal| {
            let said = PaneLine::default().say(Tone::Alarm, &refusal.sentence());
            vec![said, PaneLine::default().say(Tone::Faint, &refusal.hint)]
        };
        self.detail.lines = lines.unwrap_or_else(refused);
        self.detail.is_reading = false;
        self.detail.at = self.detail.at.min(self.detail.lines.len().saturating_sub(1));
    }

    fn hear_decision(&mut self, made: &MadeDecision) -> Vec<UiWish> {
        if self.is_deciding() {
            self.overlay = UiOverlay::None;
        }
        self.said = Some(page::decided(made));
        self.read_all()
    }

    /// A decision was refused: what was typed stays, and the hold is read anew.
    fn hear_refusal(&mut self, refusal: &Refusal) -> Vec<UiWish> {
        if let UiOverlay::Dialog(dialog) = &mut self.overlay
            && dialog.progress == DecisionProgress::Sending
        {
            dialog.refuse(refusal);
        }
        self.read_all()
    }
}
