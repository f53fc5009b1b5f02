//! Who performs the agents of a run: what must be known of it before anything happens.

use std::sync::Arc;

use agentic_lang_pipeline::PlannedRun;
use agentic_lang_pipeline::native::Natives;
use agentic_lang_pipeline::{CompiledSource, Needs};
use agentic_plan::{Backend, BuiltinKind, Implementation, Registry, RegistryError};

use crate::error::ProgramError;
use crate::{Error, Result, SessionSpace};

/// Says which agent of a run nobody performs where it runs.
pub fn unperformed(run: &PlannedRun, backend: Backend) -> Option<String> {
    let natives = Natives::default();
    for agent in &Needs::of(&run.compiled).agents {
        let is_scripted = run.script.as_ref().is_some_and(|all| all.get(agent.as_str()).is_some());
        let spec = run.compiled.registry.by_agent(agent);
        let Some(spec) = spec.filter(|spec| spec.kind == BuiltinKind::Activity && !is_scripted)
        else {
            continue;
        };
        match (&spec.run, backend) {
            (None, _) => return Some(format!("nothing here performs the agent `{agent}`")),
            (Some(Implementation::Native(name)), _) if !natives.knows(name) => {
                return Some(format!("there is no native function `{name}`"));
            }
            (Some(Implementation::Store(verb)), Backend::Memory) => {
                let message = "asks the store of an agent, and a run in memory is in none";
                return Some(format!("`{}` {message}", verb.name()));
            }
            (Some(Implementation::Agent { name, .. }), Backend::Memory) => {
                let message = "is an agent of a space, and a run in memory has none";
                return Some(format!("`{name}` {message}"));
            }
            (Some(_), _) => {}
        }
    }
    None
}

/// Names the flow of every builtin that is an agent of the space and names none: the one that the
/// agent ran last. So the run does the same whatever the agent does later.
pub(super) fn with_flows(space: &SessionSpace, run: PlannedRun) -> Result<PlannedRun> {
    let is_open = |run: &Option<Implementation>| {
        matches!(run, Some(Implementation::Agent { flow: None, .. }))
    };
    if !run.compiled.registry.builtins().any(|spec| is_open(&spec.run)) {
        return Ok(run);
    }
    let mut pinned = Registry::default();
    for spec in run.compiled.registry.builtins() {
        let mut spec = spec.clone();
        if let Some(Implementation::Agent { name, flow: flow @ None }) = &mut spec.run {
            let last = space.find_session(name.as_str()).and_then(|id| space.session(&id));
            let last = last.map_err(|_| {
                Error::Program(ProgramError::NoFlowOf {
                    agent: name.clone(),
                    builtin: spec.name.clone(),
                })
            })?;
            *flow = Some(last.flow);
        }
        let taken = |error: RegistryError| {
            Error::Program(ProgramError::BadRequest { reason: error.to_string() })
        };
        pinned.register(spec).map_err(taken)?;
    }
    let compiled = CompiledSource { registry: Arc::new(pinned), ..run.compiled };
    Ok(PlannedRun { compiled, ..run })
}
