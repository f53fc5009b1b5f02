//! The builtins that a pipeline may call: the standard ones, and those of a file.

use std::sync::Arc;

use agentic_plan::{Implementation, Registry, standard_registry};
use agentic_space::Space;

use crate::context::Context;
use crate::failure::Failure;

/// Reads the registry of a file and adds the standard builtins that it does not define itself.
/// Without a file there are only these.
pub fn read(context: &Context, file: Option<&str>) -> Result<Arc<Registry>, Failure> {
    let Some(file) = file else { return Ok(Arc::new(standard_registry())) };
    let text = context.read_text(file)?;
    let mut registry = Registry::from_json(&text).map_err(|error| {
        Failure::refused(
            &format!("`{file}` is no registry: {error}"),
            r#"write {"builtins":[{"name":…,"agent":…,"run":{"exec":[PROGRAM]}}]}"#,
        )
    })?;
    for spec in standard_registry().builtins() {
        if registry.get(&spec.name).is_none() && registry.by_agent(&spec.agent).is_none() {
            registry.register(spec.clone()).map_err(|error| {
                Failure::refused(&error.to_string(), "remove some builtins from the registry")
            })?;
        }
    }
    Ok(Arc::new(registry))
}

/// Names the flow of every builtin that is an agent of the space and names none: the one that the
/// agent ran last.
pub fn with_flows(space: &Space, registry: &Arc<Registry>) -> Result<Arc<Registry>, Failure> {
    let is_open = |run: &Option<Implementation>| {
        matches!(run, Some(Implementation::Agent { flow: None, .. }))
    };
    if !registry.builtins().any(|spec| is_open(&spec.run)) {
        return Ok(Arc::clone(registry));
    }
    let mut pinned = Registry::default();
    for spec in registry.builtins() {
        let mut spec = spec.clone();
        if let Some(Implementation::Agent { name, flow: flow @ None }) = &mut spec.run {
            let last = space.find_session(name.as_str()).and_then(|id| space.session(&id));
            let last = last.map_err(|_| {
                Failure::refused(
                    &format!("the agent `{name}` of builtin `{}` has run no flow yet", spec.name),
                    r#"name one: {"run":{"agent":NAME,"flow":CID}}, or run one as that agent"#,
                )
            })?;
            *flow = Some(last.flow);
        }
        pinned
            .register(spec)
            .map_err(|error| Failure::refused(&error.to_string(), "mend the registry"))?;
    }
    Ok(Arc::new(pinned))
}
