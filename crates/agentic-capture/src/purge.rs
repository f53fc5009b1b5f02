//! Purge: a value is taken out of everything that this repository keeps, and that it is gone is proved.
//!
//! | step | where |
//! | --- | --- |
//! | find | `plan.rs` reads notes with their history, archives, journals and what else there is, decompressed; `scan.rs` reads every object and file |
//! | rewrite | `apply.rs`, under the locks of all sessions and agents concerned: `aim.rs` takes it out, `agentic_space::purging` gives whatever names it new ids, `agentic_session::purge` chains records anew |
//! | forget | `apply.rs` removes reflogs, caches and exactly the old objects |
//! | tombstone | `bury.rs` tells other clones which ids are gone |
//! | proof | `verify.rs` reads all of it again and counts |
//!
//! Before anything is changed the purge says in a file of its own what it is about (`unfinished.rs`);
//! whoever is killed does the same again and comes to the same end. What a purge cannot take out it
//! names, and the verb ends with 1: there is no silent half of one. What was announced is signed, so its
//! chain begins anew (`announced.rs`), and so does the record of what was accepted of a peer
//! (`accepted.rs`). Branches of agents are made again only where that is asked for (`branches.rs`), other
//! branches never.

mod accepted;
mod aim;
mod announced;
mod apply;
mod branches;
mod bury;
mod error;
mod files;
mod hit;
mod locked;
mod plan;
mod reach;
mod scan;
mod seam;
mod unfinished;
mod vendor;
mod verify;

pub use self::accepted::{AcceptedReach, AcceptedRecords, RecordsCut};
pub use self::aim::PurgeAim;
pub use self::announced::{AnnouncedChain, ChainCut};
pub use self::apply::{PurgeOutcome, PurgeRequest, UnendedSessions, UnreachableObjects, apply};
pub use self::branches::BranchFate;
pub use self::bury::TombstoneScope;
pub use self::error::PurgeError;
pub use self::hit::{PurgeHit, PurgePlace};
pub use self::plan::{PurgePlan, plan};
pub use self::reach::{ELSEWHERE, REVOKE};
pub use self::vendor::VendorTranscripts;
pub use self::verify::{PurgeProof, VERIFY_TRIES, verify};
