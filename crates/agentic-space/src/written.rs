//! What is left to tell about a write that went through.

use std::sync::Arc;

use agentic_model::Oid;
use agentic_store::WriterOutcome;

use crate::error::BranchError;
use crate::error::DeferredWrite;
use crate::{Error, Result};

/// What is left to tell about a write that went through.
#[derive(Debug, Clone, Default)]
pub struct WriteNotices {
    /// Why the write is decided but not visible yet; nothing if it is.
    pub deferred: Option<Arc<agentic_store::Error>>,
}

impl WriteNotices {
    /// Takes a write for done only once it is visible.
    ///
    /// # Errors
    /// Fails with what stood in the way; the write is decided all the same.
    pub fn visible(self) -> Result<()> {
        self.deferred.map_or(Ok(()), |why| Err(DeferredWrite { why }.into()))
    }

    /// Turns an outcome into the answer of a verb.
    pub fn from_outcome(
        outcome: WriterOutcome,
        branch: &str,
        expected: Option<Oid>,
    ) -> Result<WriteNotices> {
        match outcome {
            WriterOutcome::Done => Ok(WriteNotices::default()),
            WriterOutcome::Deferred { why } => Ok(WriteNotices { deferred: Some(Arc::new(why)) }),
            WriterOutcome::Lost { found } => Err(Error::Branch(BranchError::HeadMoved {
                branch: branch.to_owned(),
                expected: expected.map_or("absent".to_owned(), |oid| oid.to_string()),
                found,
            })),
        }
    }
}
