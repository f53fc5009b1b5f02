//! Who makes a write, and who runs the command: every transaction begins with them.

use agentic_model::Signature;
use agentic_store::journal::{StreamPin, TakenEntries, Transaction};

/// Author and committer of one write.
#[derive(Debug, Clone)]
pub struct Signatures {
    /// The agent, or whoever else writes.
    pub author: Signature,
    /// Who runs the command, as git knows them.
    pub committer: Signature,
}

impl Signatures {
    /// Begins a transaction that does nothing yet, for a verb as reflogs and notes commits name it.
    pub fn transaction(self, verb: impl Into<String>) -> Transaction {
        Transaction {
            verb: verb.into(),
            objects: Vec::new(),
            branch: None,
            notes: None,
            taken: TakenEntries::default(),
            follow: None,
            fold: None,
            pin: StreamPin::Unknown,
            author: self.author,
            committer: self.committer,
        }
    }
}
