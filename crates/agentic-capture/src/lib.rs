//! What coding agents do in a repository becomes agents, traces, relations and holds of its store.
//!
//! - [`Source`]: whose conversations they are.
//! - [`redaction`]: what takes secrets out of texts in a repository.
//! - [`gate`]: what they may not do before a person has said so.
//! - [`wiring`]: what they are told, so that we hear of them.
//! - [`event`]: what a hook is told; [`bind`]: whose agent that concerns; [`conversation`]: what is
//!   remembered of it; [`live`]: which program has it.
//! - [`hook`]: what `agentic hook` does with one event; [`window`] and [`link`]: which commits of plain
//!   git are whose.
//! - [`origin`]: which trace a commit has, however it was rewritten; [`commit_map`]: what others say
//!   of whole histories; [`blame`]: who wrote each line.
//! - [`export`]: what is proved of commits, in the forms of others.
//! - [`import`]: conversations that nobody captured when they were had.
//! - [`private`]: agents that no push takes along unless it names them.
//! - [`purge`]: takes a value out of all that is kept, and proves that it is gone.
//! - [`status`]: how capture stands, for people; [`heard`] and [`tally`]: what is noted for that.
//! - [`error_log`]: what went wrong, since a hook tells nobody.
//! - [`mapping`]: from lines of transcripts to entries, one table for each source.
//! - [`plain_text`] and [`opencode_store`]: how vendors keep what was said; [`transcript`]: new lines of
//!   it; [`cursor`]: how far it was read.
//! - [`catch_up`]: from there to its last whole line, as entries that nobody has yet.
//! - [`picture`]: what cannot be scanned for secrets.
//! - [`known`]: what a conversation has said already; [`bindings`]: whose conversations are, where that
//!   was lost.
//! - [`entry`]: what a line becomes, under an id that any copy of the line gives again.

pub mod bind;
pub mod bindings;
pub mod blame;
pub mod catch_up;
pub mod commit_map;
pub mod conversation;
pub mod cursor;
pub mod entry;
mod environment;
mod error;
pub mod error_log;
pub mod event;
pub mod export;
pub mod gate;
mod glance;
pub mod heard;
pub mod hook;
pub mod import;
pub mod known;
mod left;
pub mod line_json;
pub mod link;
pub mod live;
pub mod mapping;
pub mod opencode_store;
pub mod origin;
pub mod picture;
pub mod plain_text;
pub mod private;
pub mod purge;
pub mod redaction;
mod source;
pub mod spool;
pub mod status;
pub mod tally;
pub mod transcript;
mod vendor_file;
pub mod window;
pub mod wiring;

pub use crate::environment::HookEnvironment;
pub use crate::error::CaptureError;
pub use crate::source::{ConversationId, InvalidSource, Source};
pub use crate::vendor_file::{
    FileStamp, TranscriptForm, VendorFile, VendorFileRefusal, VendorRoots,
};
