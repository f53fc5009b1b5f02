//! The builtins that a pipeline may call: the standard ones, and those of a file.

use std::sync::Arc;

use agentic_plan::{Registry, standard_registry};

use super::named_text::NamedText;
use crate::{Refusal, Surroundings};

/// Reads the registry of a file and adds the standard builtins that it does not define itself.
/// Without a file there are only these.
///
/// # Errors
/// Fails when the text cannot be read, or is no registry.
pub fn read_registry(
    file: Option<&NamedText>,
    here: &Surroundings,
) -> Result<Arc<Registry>, Refusal> {
    let Some(file) = file else { return Ok(Arc::new(standard_registry())) };
    let (text, file) = (file.read(here)?, &file.name);
    let mut registry = Registry::from_json(&text).map_err(|error| {
        Refusal::refused(
            &format!("`{file}` is no registry: {error}"),
            r#"write {"builtins":[{"name":…,"agent":…,"run":{"exec":[PROGRAM]}}]}"#,
        )
    })?;
    for spec in standard_registry().builtins() {
        if registry.get(&spec.name).is_none() && registry.by_agent(&spec.agent).is_none() {
            registry.register(spec.clone()).map_err(|error| {
                Refusal::refused(&error.to_string(), "remove some builtins from the registry")
            })?;
        }
    }
    Ok(Arc::new(registry))
}
