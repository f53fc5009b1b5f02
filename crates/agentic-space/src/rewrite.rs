//! Rewrites that agents' notes keep: which commit a rewritten one was before.

use agentic_model::{AgentName, Cid, Kind, Object, Oid, Rewrite};
use agentic_store::journal::{KeptObject, Transaction};

use crate::write::LockedStream;
use crate::written::WriteNotices;
use crate::{Result, Space};

impl Space {
    /// Keeps rewrites with the agent whose traces they lead to, in one write. What is kept already
    /// makes nothing new.
    ///
    /// # Errors
    /// Fails when there is no such agent, and when a rewrite names no origin or too many.
    pub fn keep_rewrites(&self, agent: &AgentName, rewrites: &[Rewrite]) -> Result<WriteNotices> {
        let signatures = self.signatures(agent)?;
        let mut objects = Vec::with_capacity(rewrites.len());
        for rewrite in rewrites {
            objects.push(rewrite.to_object()?);
        }
        let (locked, _) = LockedStream::agent(self, agent)?;
        let notes = self.repository().notes(&agent.notes_ref())?;
        let mut missing = Vec::new();
        for object in &objects {
            if notes.object(object.cid())?.is_none() {
                missing.push(KeptObject::from(object));
            }
        }
        if missing.is_empty() {
            return Ok(WriteNotices::default());
        }
        let signed = (signatures.author, signatures.committer);
        let transaction =
            Transaction::keeping("rewrite".to_owned(), agent.notes_ref(), missing, signed);
        Ok(locked.decide(transaction, None, self.durability())?.follow().written)
    }

    /// Reads the rewrites that one state of an agent's notes keeps.
    ///
    /// # Errors
    /// Fails when the notes cannot be read.
    pub fn kept_rewrites(&self, notes_tip: Option<Oid>) -> Result<Vec<Rewrite>> {
        let kind = Kind::parse("rewrite").expect("a valid name");
        let objects = self.repository().notes_at(notes_tip)?.read_objects(&kind)?;
        // What somebody wrote by hand and that says nothing is no rewrite.
        let read = |(_, bytes): (Cid, Vec<u8>)| {
            Object::decode(&bytes).ok().and_then(|object| Rewrite::from_object(&object).ok())
        };
        Ok(objects.into_iter().filter_map(read).collect())
    }
}
