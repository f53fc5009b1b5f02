//! Purges and their proofs, as JSON. No value is in any of them, nor anything made of one.

use agentic_capture::purge::{
    ChainCut, ELSEWHERE, PurgeHit, PurgeOutcome, PurgePlan, PurgeProof, REVOKE, RecordsCut,
};
use agentic_space::purging::tombstone::ForeignTombstone;
use schemars::JsonSchema;
use serde::Serialize;

/// One place where something was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PurgeHitView {
    /// What sort of place it is: `notes`, `archive`, `journal`, `aside`, `session`, `capture`, `derived`,
    /// `reflog`, `branch`, `unreachable`, `file` or `source`.
    pub place: String,
    /// The ref that leads there.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The commit that brought it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The file, below the tree of the ref or below the git directory; of a vendor all of its path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The line, in a transcript of a vendor's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The entry of a trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
}

/// A ref that was made again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PurgedRefView {
    /// Its full name.
    pub name: String,
    /// Where it was.
    pub old: String,
    /// Where it is.
    pub new: String,
}

/// What a purge did, or would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PurgeView {
    /// What has to be done first of all.
    pub first: String,
    /// Whether it was done.
    pub applied: bool,
    /// What stands in the place of what went: `[purged:ID]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What was, or would be, taken out.
    pub hits: Vec<PurgeHitView>,
    /// The agents, and other streams of writes, whose locks it takes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<String>,
    /// The refs that were made again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<PurgedRefView>,
    /// How many objects are gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forgotten: Option<usize>,
    /// The tombstones, by their ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tombstones: Vec<String>,
    /// The announcement with which the chain of this space begins anew, since the one before reached it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub announced: Option<String>,
    /// The spaces of peers of which the record of what was accepted began anew: `PEER/SPACE`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepted_anew: Vec<String>,
    /// What it leaves in this repository: branches, and objects that nothing reaches.
    pub left: Vec<PurgeHitView>,
    /// The sessions that are not over, for which it is refused unless they are cancelled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<String>,
    /// Where transcripts of vendors hold it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<PurgeHitView>,
    /// Where else it may be.
    pub elsewhere: Vec<String>,
}

/// A tombstone that came from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TombstoneView {
    /// Its id.
    pub tombstone: String,
    /// Whose notes have it.
    pub agent: String,
    /// How many ids it names.
    pub purged: usize,
    /// Why.
    pub reason: String,
    /// Who purged.
    pub by: String,
    /// When.
    pub at: String,
}

/// The proof that a value is gone, or where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PurgeProofView {
    /// How many objects were read: loose ones and packed ones.
    pub objects: u64,
    /// How many of them packs have, each as often as it is in one, as `git count-objects -v` counts.
    pub packed: u64,
    /// How many have files of their own.
    pub loose: u64,
    /// How many bytes were read, decompressed.
    pub bytes: u64,
    /// How many files were read.
    pub files: u64,
    /// Where it was found.
    pub hits: Vec<PurgeHitView>,
    /// The rules by which was looked.
    pub rules: Vec<String>,
    /// When.
    pub at: String,
    /// Who signs for it, where `agentic.sign` is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<ProofSignatureView>,
}

/// A signature of a proof, as `ssh-keygen -Y verify -n agentic-purge` and `gpg --verify` take it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProofSignatureView {
    /// Who signs, such as `ssh:KEY`.
    pub key: String,
    /// What is signed: the proof without this, as JSON.
    pub text: String,
    /// The signature.
    pub signature: String,
}

impl From<&PurgeHit> for PurgeHitView {
    fn from(hit: &PurgeHit) -> PurgeHitView {
        PurgeHitView {
            place: hit.place.as_str().to_owned(),
            reference: hit.reference.clone(),
            commit: hit.commit.clone(),
            path: hit.path.clone(),
            line: hit.line,
            object: hit.object.clone(),
            entry: hit.entry.clone(),
        }
    }
}

impl PurgeView {
    fn begun(is_applied: bool) -> PurgeView {
        PurgeView {
            first: REVOKE.to_owned(),
            applied: is_applied,
            id: None,
            hits: Vec::new(),
            streams: Vec::new(),
            refs: Vec::new(),
            forgotten: None,
            tombstones: Vec::new(),
            announced: None,
            accepted_anew: Vec::new(),
            left: Vec::new(),
            sessions: Vec::new(),
            sources: Vec::new(),
            elsewhere: ELSEWHERE.map(str::to_owned).into(),
        }
    }
}

impl From<PurgePlan> for PurgeView {
    fn from(plan: PurgePlan) -> PurgeView {
        PurgeView {
            hits: views(&plan.hits),
            streams: plan.streams,
            left: views(&plan.left),
            sessions: plan.sessions,
            sources: views(&plan.sources),
            ..PurgeView::begun(false)
        }
    }
}

impl From<PurgeOutcome> for PurgeView {
    fn from(done: PurgeOutcome) -> PurgeView {
        let moved = done.refs.iter().map(|moved| PurgedRefView {
            name: moved.name.clone(),
            old: moved.old.to_string(),
            new: moved.new.to_string(),
        });
        PurgeView {
            id: Some(done.id),
            hits: views(&done.hits),
            refs: moved.collect(),
            forgotten: Some(done.n_forgotten),
            tombstones: done.tombstones,
            announced: match done.announced {
                ChainCut::Done(announcement) => Some(announcement),
                ChainCut::Needless | ChainCut::Refused(_) => None,
            },
            accepted_anew: match done.accepted {
                RecordsCut::Done(spaces) => spaces,
                RecordsCut::Refused(_) => Vec::new(),
            },
            left: views(&done.left),
            sources: views(&done.sources),
            ..PurgeView::begun(true)
        }
    }
}

impl From<&PurgeProof> for PurgeProofView {
    fn from(proof: &PurgeProof) -> PurgeProofView {
        PurgeProofView {
            objects: proof.count.loose + proof.count.packed,
            packed: proof.count.packed,
            loose: proof.count.loose,
            bytes: proof.n_bytes,
            files: proof.n_files,
            hits: views(&proof.hits),
            rules: vec!["known-value".to_owned()],
            at: proof.at.to_string(),
            signature: None,
        }
    }
}

impl From<&ForeignTombstone> for TombstoneView {
    fn from(found: &ForeignTombstone) -> TombstoneView {
        TombstoneView {
            tombstone: found.cid.to_string(),
            agent: found.agent.to_string(),
            purged: found.tombstone.purged.len(),
            reason: found.tombstone.reason.clone(),
            by: found.tombstone.by.clone(),
            at: found.tombstone.at.to_string(),
        }
    }
}

fn views(hits: &[PurgeHit]) -> Vec<PurgeHitView> {
    hits.iter().map(PurgeHitView::from).collect()
}
