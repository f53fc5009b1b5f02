//! One hold, open or decided.

use agentic_session::hold::earlier::EarlierAnswer;
use agentic_session::hold::name::{HoldName, NamedRequest};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::verb::{Reply, Verb};
use crate::view::{ClosedHoldView, HoldFateView, PendingView, QuestionView};
use crate::{Caller, Refusal};

/// Show one hold: as it is put before whoever decides or, once it is decided, by whom and how.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HoldFate {
    /// A request as it is listed, an agent with one open hold, or the key of a run.
    pub request: String,
}

impl Verb for HoldFate {
    type Answer = HoldFateView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<HoldFateView>, Refusal> {
        let name = HoldName { request: &self.request, node: None };
        let now = caller.space.now();
        Ok(Reply::plain(match name.find(caller.space)? {
            NamedRequest::Open(pending) => {
                if let Some(earlier) = EarlierAnswer::of_settled(&pending) {
                    return Ok(Reply::plain(HoldFateView::Decided(closed(&earlier))));
                }
                let question = QuestionView::new(PendingView::new(&pending, now), now);
                HoldFateView::Open(Box::new(question))
            }
            NamedRequest::Decided(earlier) => HoldFateView::Decided(closed(&earlier)),
        }))
    }
}

fn closed(earlier: &EarlierAnswer) -> ClosedHoldView {
    let (principal, action) = earlier.winner();
    let decision = earlier.decision.as_ref();
    let at = decision.and_then(|decision| decision.record.get("decided_at")?.as_text());
    ClosedHoldView {
        request: earlier.session.short_request(&earlier.id),
        session: earlier.session.to_string(),
        action: action.to_owned(),
        principal,
        commit: earlier.commit.map(|commit| commit.to_string()),
        at: at.map(str::to_owned),
        reason: decision.map(|decision| decision.rationale.clone()).unwrap_or_default(),
    }
}
