//! The contract between programs and the hosts that run them.
//!
//! A [`Program`] is a deterministic function of its source, its input, its seed and the answers it
//! was given. It touches the world only by opening [`Request`]s. A host performs them, delivers one
//! [`RequestAnswer`] at a time and polls the program to quiescence before the next. Because every
//! request has a [`Path`] that does not depend on scheduling, and a hash that is compared before a recorded
//! answer is used, a run can be replayed from its record, anywhere, and a changed program is
//! noticed at the exact request.
//!
//! This crate is pure: no clock, no randomness, no threads, no files.

mod answer;
mod block;
mod chain;
mod digest;
mod divergence;
pub mod engine;
mod grant;
mod id;
mod kinds;
mod language;
mod path;
mod program;
mod purge;
pub mod record;
mod request;
mod rng;
mod run;
pub mod schema;
mod session;
mod settle;
mod state;
mod store_call;
mod summary;
#[cfg(test)]
mod tests;

pub use crate::answer::{
    CODE_BYTES_MAX, CancelExtent, MESSAGE_BYTES_MAX, NOT_DATA, ProgramFailure, RequestAnswer,
};
pub use crate::block::{HashedRecord, join_records, part_records};
pub use crate::chain::{Chain, Corrupt, RecordChain, RecordLink, sub_chain_hash};
pub use crate::divergence::{Divergence, PayloadChange, ProgramDifference, RequestFields};
pub use crate::grant::{Coverage, Grant, Grants};
pub use crate::id::{RecordHash, SessionId};
pub use crate::kinds::{HOLD, Handling, KindRule, Kinds, SUSPEND, Storage};
pub use crate::language::{
    Language, PinnedProgram, Places, ProgramFault, TraceDetail, behaviour, language_name, source_of,
};
pub use crate::path::{InvalidPath, Path, RequestScope};
pub use crate::program::{Delivery, End, Program, ProgramEvent, ScopeStep, Start, Turn};
pub use crate::purge::{
    RecordScrub, ScrubbedRecords, chain_anew, is_scrubbed, purged_in, scrub_records,
};
pub use crate::record::{
    AnswerSource, Body, Engine, Record, StartRecord, StoredObjects, StoredValue,
};
pub use crate::request::{
    EffectClass, PATCH, ProgramPosition, RESERVED, Request, RequestHash, RequestId, SCOPE, SLEEP,
};
pub use crate::rng::Seed;
pub use crate::run::{
    DEFECT, HostStep, KIND_BYTES_MAX, ProgramRun, REQUESTS_AFTER_CANCEL_MAX, RunFinish, STALLED,
    run_to_end,
};
pub use crate::session::{
    AnswerFold, ForkDraft, ForkError, HOSTED_VALUE_BYTES_MAX, Hold, HoldReason, LoadedSession,
    Note, PartedSession, Performance, ReplayError, SIGNALS_MAX, Session, SessionOpening,
    SessionProgress, SessionRefusal, SessionSetting, Signal, SignalDelivery, Upgrade,
    WithdrawnRequest, too_large,
};
pub use crate::settle::settle;
pub use crate::state::SessionState;
pub use crate::store_call::{
    BEHAVIOUR_ADOPT, BEHAVIOUR_PROPOSE, PENDING, QUERY, RELATE, StoreCall, TRACED, store_call,
    store_kind,
};
pub use crate::summary::{
    AskedRequest, Attendance, OpenHold, Permission, Summary, SummaryReader, UNANSWERED, child_key,
    parent_of,
};
