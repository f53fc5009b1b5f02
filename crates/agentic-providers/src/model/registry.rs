//! Which model answers which request.

use std::fmt;
use std::sync::Arc;

use agentic_model::Value;

use super::{FaultClass, Model, ModelFault};

/// The models of a run.
#[derive(Clone, Default)]
pub struct Models {
    every: Option<Arc<dyn Model>>,
}

impl Models {
    /// Lets one model answer everything, whichever is asked.
    pub fn every(model: impl Model + 'static) -> Models {
        Models { every: Some(Arc::new(model)) }
    }

    /// Finds the model of a request by its `uri`.
    ///
    /// # Errors
    /// Fails when there is none.
    pub fn find(&self, payload: &Value) -> Result<Arc<dyn Model>, ModelFault> {
        if let Some(model) = &self.every {
            return Ok(Arc::clone(model));
        }
        let uri = payload.get("uri").and_then(Value::as_text).unwrap_or_default();
        let message = format!("no model is configured for `{uri}`");
        Err(ModelFault::new(FaultClass::Unconfigured, message))
    }
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Models").field("every", &self.every.is_some()).finish()
    }
}
