//! The Model Context Protocol: the verbs of `agentic-api` as tools, and what is stored as resources.
//!
//! [`McpService`] knows no transport: [`serve_lines`] speaks it over a pair of streams, and a page may
//! mount the same value over HTTP. Verbs block, so they run on [`CallThreads`] that share one space;
//! nothing is written here in any other way.
//!
//! What a client may do is an [`McpAccess`]: it reads everything, writes as one agent, and decides
//! nothing unless a person said that it may put questions before them.

mod access;
mod answer;
mod completion;
mod decide;
mod field;
mod page;
mod prompt;
mod resource;
mod schema;
mod server;
mod session;
mod subscription;
mod threads;
mod tool;
mod transport;

pub use crate::access::{DecidingAccess, McpAccess, WriteAccess};
pub use crate::server::McpService;
pub use crate::threads::CallThreads;
pub use crate::transport::serve_lines;

/// The longest message that is read or written, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 4 << 20;
