//! Looks at a trial that goes on: its flow asks whether enough is known.

use agentic_model::{Value, json};
use agentic_session::trial::TrialTerms;
use agentic_statistics::trial::TrialVerdict;
use schemars::JsonSchema;
use serde::Deserialize;

use super::fixed::FixedTrial;
use crate::verb::{Reply, Verb};
use crate::view::TrialLookView;
use crate::{Caller, Refusal};

/// Look at a trial that goes on. Only the flow of the trial asks for this.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialLook {
    /// The name of the trial.
    pub trial: String,
    /// The blocks so far: `{"blocks":[…]}` as JSON text.
    pub blocks: String,
}

impl Verb for TrialLook {
    type Answer = TrialLookView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<TrialLookView>, Refusal> {
        let fixed = FixedTrial::read(caller, &self.trial)?;
        let (_, briefing) = caller.space.briefing(&fixed.agent)?;
        let wrong = |why: &str| Refusal::schema(why, "the flow of a trial asks this");
        let read = json::from_text(&self.blocks).map_err(|error| wrong(&error.to_string()))?;
        let blocks = read.get("blocks").and_then(Value::as_list);
        let blocks = blocks.ok_or_else(|| wrong("there are no blocks"))?;
        let judged = TrialTerms::of(&briefing).judge(blocks);
        let verdict = judged.as_ref().map_or(TrialVerdict::NoDifference, |it| it.verdict);
        Ok(Reply::plain(TrialLookView {
            look: judged.as_ref().map_or(0, |it| it.look),
            verdict: verdict.word().to_owned(),
            enough: matches!(verdict, TrialVerdict::Better | TrialVerdict::Worse),
        }))
    }
}
