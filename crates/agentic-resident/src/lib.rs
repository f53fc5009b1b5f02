//! The process that stays with a repository: it watches, tells and answers, and nobody waits for it.
//!
//! There is one for each repository, by a lock. Whatever it keeps can be made again; what it writes,
//! it writes by the verbs that commands use. Killed at any moment it leaves a few stale files, which
//! the next one replaces.
//!
//! - [`ServeFolder`]: the lock, where it can be reached, its key;
//! - [`VerbPool`]: verbs block, so they run on a few threads that share one space;
//! - [`EventHub`]: what happened, numbered, for everybody who listens;
//! - [`Resident`]: all of it together, with the thread that notices writes;
//! - [`ResidentClient`]: how a command speaks to one that runs.

mod child;
mod client;
mod error;
mod event;
mod folder;
mod follower;
mod index;
mod log;
mod os;
mod place;
mod pool;
mod replacement;
mod resident;
mod resume;
mod token;
mod upkeep;
mod whereabouts;
mod worker;

pub use crate::child::ChildPlace;
pub use crate::client::{ResidentClient, ResidentReply, post_to_page};
pub use crate::error::{ResidentError, Result};
pub use crate::event::{EventBatch, EventHub, EventPlace, EventSubscription, NumberedEvent};
pub use crate::folder::{ServeFolder, ServeLock};
pub use crate::follower::FollowerGauge;
pub use crate::index::{IndexDesk, IndexState, journal_mark};
pub use crate::log::ServeLog;
pub use crate::os::random_bytes;
pub use crate::place::RepositoryPlace;
pub use crate::pool::{PoolRefusal, ThreadRefusal, VerbPool, VerbThreads};
pub use crate::replacement::{
    Inheritance, PageEstate, PageInheritance, ProcessInheritance, ReplacementDesk,
};
pub use crate::resident::{Resident, ResidentOptions};
pub use crate::resume::ResumeDesk;
pub use crate::token::{TokenBook, TokenGrant};
pub use crate::upkeep::UpkeepGauge;
pub use crate::whereabouts::{API_VERSION, PageLogins, Whereabouts};
pub use agentic_store::open_files::make_room;
pub use agentic_store::user_id;
pub use agentic_store::watch::WatchMode;
