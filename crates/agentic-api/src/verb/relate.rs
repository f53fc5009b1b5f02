//! Relations between agents that somebody asserts or retracts.

use agentic_model::Kind;
use agentic_model::edge::{EdgeEvent, Party};
use agentic_space::relate::relate;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::person::acting_party;
use crate::redaction::CallerRedactor;
use crate::verb::{Reply, Verb};
use crate::view::EdgeView;
use crate::{Caller, Refusal};

/// Assert or retract a relation between agents.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Relate {
    /// Who relates: an agent, or a person as `user:NAME`.
    pub source: String,
    /// How.
    pub relation: String,
    /// To whom.
    pub target: String,
    /// Whether it is asserted or retracted.
    #[serde(default)]
    pub change: EdgeChange,
}

/// What becomes of a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EdgeChange {
    /// It holds from now on.
    #[default]
    Assert,
    /// It holds no longer.
    Retract,
}

impl Verb for Relate {
    type Answer = EdgeView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<EdgeView>, Refusal> {
        let (source, target) = (party(&self.source)?, party(&self.target)?);
        let relation = Kind::parse(&self.relation).map_err(|_| {
            let message = format!("`{}` cannot name a relation", self.relation);
            Refusal::usage(&message, "name it in lower-case letters, digits and `-`")
        })?;
        let redactor = CallerRedactor::new(caller)?;
        for text in [&self.source, &self.relation, &self.target] {
            redactor.refuse_text("a name", text)?;
        }
        let (acting, _) = acting_party(caller, "relate others")?;
        if matches!(acting, Party::Agent(_)) && acting != source {
            let message = format!("an agent may not say how `{source}` relates to others");
            return Err(Refusal::not_allowed(&message, "an agent relates itself; a person others"));
        }
        let event = match self.change {
            EdgeChange::Assert => EdgeEvent::Assert,
            EdgeChange::Retract => EdgeEvent::Retract,
        };
        let related = relate(caller.space, &source, &relation, &target, event)?;
        Ok(Reply::written(EdgeView::from(&related), &related.written))
    }
}

fn party(text: &str) -> Result<Party, Refusal> {
    let hint = "name an agent, or a person as `user:NAME`";
    Party::parse(text).map_err(|error| Refusal::usage(&error.to_string(), hint))
}
