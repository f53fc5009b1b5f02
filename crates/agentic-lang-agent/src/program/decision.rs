//! Questions to humans.

use agentic_model::Value as Model;
use agentic_replay::{HOLD, Request, RequestAnswer};

use crate::code;
use crate::data::Data;
use crate::program::fault::MachineFault;
use crate::program::machine::ModuleRun;
use crate::program::strand::{Strand, StrandId, StrandWait};

/// The actions of a decision that lets things go on, as they are or with a change.
const APPROVING: [&str; 2] = ["approve", "edit"];

impl ModuleRun {
    /// Asks a human and waits.
    pub(super) fn ask_human(
        &mut self,
        strand: &mut Strand,
        id: StrandId,
        question: &Data,
        slot: u32,
    ) {
        let question = question.shown();
        if !self.may_open(question.len()) {
            return;
        }
        let path = strand.scope.next_path();
        let payload = Model::map([("question", Model::Text(question))]);
        self.open.insert(path.clone(), id);
        self.turn.opened.push(Request::new(path, HOLD, payload));
        strand.wait = StrandWait::Decision(slot);
    }
}

/// Reads a decision: a map of `action`, `principal` and, where the human said more, `value`.
pub(super) fn verdict(answer: RequestAnswer) -> Result<Data, MachineFault> {
    let decision = match answer {
        RequestAnswer::Ok(decision) => decision,
        RequestAnswer::Failed(failure) => {
            let text = format!("Approval failed: {}: {}", failure.code, failure.message.trim());
            return Err(MachineFault::new(code::DECISION_INVALID, text));
        }
        RequestAnswer::TimedOut => {
            return Err(MachineFault::new(code::DECISION_INVALID, "Approval expired."));
        }
        RequestAnswer::Cancelled(_) => {
            let text = "Run cancelled: the request was withdrawn";
            return Err(MachineFault::new(code::CANCELLED, text));
        }
    };
    let Some(action) = decision.get("action").and_then(Model::as_text) else {
        let text = "Approval failed: the decision has no action.";
        return Err(MachineFault::new(code::DECISION_INVALID, text));
    };
    let feedback = match decision.get("value") {
        None | Some(Model::Null) => String::new(),
        Some(Model::Text(text)) => text.clone(),
        Some(other) => agentic_model::json::to_text(other),
    };
    let mut fields = vec![
        ("approved".into(), Data::Bool(APPROVING.contains(&action))),
        ("feedback".into(), Data::text(feedback)),
    ];
    // Decisions of before do not name anybody.
    if let Some(principal) = decision.get("principal").and_then(Model::as_text) {
        fields.push(("principal".into(), Data::text(principal)));
    }
    Data::object(fields).map_err(MachineFault::too_large)
}
