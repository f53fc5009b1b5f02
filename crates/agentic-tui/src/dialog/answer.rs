//! From what was typed to the verb that decides.

use agentic_api::verb::{AfterDecision, Decide, HoldAnswer, SeenQuestion};
use agentic_api::view::difference;
use agentic_api::view::question::{pretty, subject};
use agentic_model::{Instant, Value, json};
use agentic_session::decide::Action;

use super::{DecisionDialog, DecisionProgress, DialogFocus, DialogStep, SeenEdit, UNREAD};
use crate::line::{PaneLine, Tone};

impl DecisionDialog {
    /// Sends the answer, if there is one and all of the question was seen.
    pub(super) fn send(&mut self) -> DialogStep {
        match self.decision() {
            Ok(Some(verb)) => {
                self.progress = DecisionProgress::Sending;
                self.said =
                    Some(PaneLine::default().say(Tone::Faint, "the decision is being recorded"));
                DialogStep::Decide(Box::new(verb))
            }
            Ok(None) => DialogStep::Stay,
            Err(missing) => {
                self.warn(&missing);
                DialogStep::Stay
            }
        }
    }

    /// Makes the verb; nothing where an edit is shown first.
    fn decision(&mut self) -> Result<Option<Decide>, String> {
        if let Some(why) = &self.read_only {
            return Err(format!("nothing is decided here: {why}"));
        }
        if self.progress == DecisionProgress::Over {
            return Err("this is not open any more".to_owned());
        }
        let Some(question) = self.question() else {
            return Err("the hold is still being read".to_owned());
        };
        let hold = &question.hold;
        let seen_at = Instant::parse(&question.at).expect("BUG: it was written as an instant");
        let seen = SeenQuestion { shown: question.shown.clone(), at: seen_at };
        let (request, expect) = (hold.request.clone(), hold.request_hash.clone());
        if self.decider().is_none() {
            return Err(format!("this is for {} to decide", hold.assignees.join(", ")));
        }
        let Some(answer) = self.answer()? else { return Ok(None) };
        Ok(Some(Decide {
            request,
            node: None,
            answer,
            why: self.reason.text().trim().to_owned(),
            expect: Some(expect),
            by: None,
            seen: Some(seen),
            then: AfterDecision::Leave,
            for_person: None,
            grant: None,
        }))
    }

    /// Makes the answer; nothing where an edit is shown first.
    fn answer(&mut self) -> Result<Option<HoldAnswer>, String> {
        let is_chosen = self.action.is_some() || self.accepted.is_some();
        if is_chosen && !self.has_seen_end {
            return Err(UNREAD.to_owned());
        }
        let scope = self.scope;
        if let Some(commit) = self.accepted.clone() {
            return Ok(Some(HoldAnswer::Accept { commit, scope }));
        }
        let Some(action) = self.action else {
            return Err("no action is chosen: a, r, e or p chooses one".to_owned());
        };
        let value = if self.takes_value() { Some(self.read_value()?) } else { None };
        if let (Action::Edit, Some(value)) = (action, &value)
            && !self.confirm(value)
        {
            return Ok(None);
        }
        Ok(Some(HoldAnswer::Act { action, value, scope }))
    }

    fn read_value(&self) -> Result<Value, String> {
        let text = self.value.text();
        if text.trim().is_empty() {
            return Err("a value is missing: v leads to it".to_owned());
        }
        let hint = "a value is JSON, in which a text stands in quotation marks";
        json::from_text(text).map_err(|error| format!("{hint}: {error}"))
    }

    /// Says whether this edit was seen as a difference; else shows it.
    fn confirm(&mut self, value: &Value) -> bool {
        if self.edit.as_ref().is_some_and(|edit| edit.value == *value) {
            return true;
        }
        let Some(question) = self.question() else { return false };
        let after = pretty(&json::to_json(value));
        let changes = difference::lines(&pretty(subject(&question.hold)), &after);
        let line = |line: &str| {
            let tone = match line.as_bytes().first() {
                Some(b'+') => Tone::Added,
                Some(b'-') => Tone::Removed,
                Some(_) | None => Tone::Plain,
            };
            PaneLine::default().say(tone, line)
        };
        let lines = changes.lines().map(line).collect();
        self.edit = Some(SeenEdit { value: value.clone(), lines });
        (self.has_seen_end, self.focus) = (false, DialogFocus::Text);
        let n_before = self.rows.len();
        self.cut();
        self.scroll_to(n_before);
        self.warn("this is what your edit changes: send once more to decide so");
        false
    }
}
