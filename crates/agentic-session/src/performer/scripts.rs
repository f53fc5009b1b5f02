//! What scripts ask: a model, or what the space itself performs.

use agentic_lang_context::MODEL_REQUEST;
use agentic_replay::{Answer, ProgramFault, Request};

use super::{Performer, PerformerSetting};
use crate::provision::Provision;

/// Performs what a script asks.
#[derive(Debug)]
struct ScriptPerformer {
    expected: Expected,
}

/// Whether a run is known beforehand to need what is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// It is: the configuration is read before the first effect could change it.
    Yes,
    /// It is not. Nobody waits for a configuration that is not needed.
    No,
}

pub(crate) fn performer(
    setting: &PerformerSetting<'_>,
) -> Result<Box<dyn Performer>, ProgramFault> {
    // Models are expected where they are asked without a human's leave.
    let is_allowed = setting.run.is_some_and(|run| (run.allows)(MODEL_REQUEST));
    let expected = if is_allowed { Expected::Yes } else { Expected::No };
    Ok(Box::new(ScriptPerformer { expected }))
}

impl Performer for ScriptPerformer {
    fn compute(&mut self, _request: &Request) -> Option<Answer> {
        None
    }

    fn provision(&self, request: &Request) -> Option<Provision> {
        (request.kind == MODEL_REQUEST).then_some(Provision::Advice)
    }

    fn is_configured_early(&self) -> bool {
        self.expected == Expected::Yes
    }
}
