//! What the records of a session were held against.

use agentic_session::Proof;
use schemars::JsonSchema;
use serde::Serialize;

/// What the records of a session were compared with.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparedView {
    /// How many records are sealed, and the same there.
    pub sealed: usize,
    /// How many commits that they name were read and hashed.
    pub commits: usize,
    /// How many decisions say what the records say of them.
    pub decisions: usize,
    /// How many long values and programs were read and hashed.
    pub objects: usize,
}

impl From<&Proof> for ComparedView {
    fn from(proof: &Proof) -> ComparedView {
        ComparedView {
            sealed: proof.n_sealed,
            commits: proof.n_commits,
            decisions: proof.n_decisions,
            objects: proof.n_objects,
        }
    }
}

/// The answer of `agentic session verify`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerifyView {
    /// The session.
    pub session: String,
    /// How many records were checked.
    pub records: u64,
    /// The hash of the last one.
    pub chain: String,
    /// What the records were compared with.
    pub compared: ComparedView,
    /// What could not be compared, each as a sentence.
    pub uncompared: Vec<String>,
    /// The commits that were made again, with the same ids.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebuilt: Option<Vec<String>>,
}
