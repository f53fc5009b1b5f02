//! What scripts ask: a model, or what the space itself performs.

use agentic_lang_context::MODEL_REQUEST;
use agentic_replay::{ProgramFault, Request, RequestAnswer};

use super::{Carrier, Performer, PerformerSetting, RunTerms};
use crate::provision::Provision;

/// Performs what a script asks.
#[derive(Debug)]
struct ScriptPerformer {
    expected: ScriptNeed,
}

/// Whether a run is known beforehand to need what is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScriptNeed {
    /// It is: the configuration is read before the first effect could change it.
    Yes,
    /// It is not. Nobody waits for a configuration that is not needed.
    No,
}

/// Makes the performer of a script.
///
/// # Errors
/// Fails when what is pinned is none.
pub fn performer(setting: &PerformerSetting<'_>) -> Result<Box<dyn Performer>, ProgramFault> {
    // Models are expected where they are asked without a human's leave.
    let is_allowed = setting.run.is_some_and(|run| (run.allows)(MODEL_REQUEST));
    let expected = if is_allowed { ScriptNeed::Yes } else { ScriptNeed::No };
    Ok(Box::new(ScriptPerformer { expected }))
}

impl Performer for ScriptPerformer {
    fn compute(&mut self, _request: &Request) -> Option<RequestAnswer> {
        None
    }

    fn carrier(&self, request: &Request) -> Carrier {
        match request.kind == MODEL_REQUEST {
            true => Carrier::Provider(Provision::Advice),
            false => Carrier::Nobody,
        }
    }

    fn terms(&self) -> RunTerms<'_> {
        let is_configured_early = self.expected == ScriptNeed::Yes;
        RunTerms { is_configured_early, ..RunTerms::default() }
    }
}
