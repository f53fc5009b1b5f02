//! The Model Context Protocol: the verbs of `agentic-api` as tools, and what is stored as resources.
//!
//! [`McpService`] knows no transport: [`serve_lines`] speaks it over a pair of streams, and [`McpHttp`]
//! over HTTP, for whoever mounts that. Verbs block, so they run on threads ([`VerbThreads`]) that share one space;
//! nothing is written here in any other way.
//!
//! What a client may do is an [`McpAccess`]: it reads everything, writes as one agent, and decides
//! nothing unless a person said that it may put questions before them.

mod access;
mod answer;
mod call;
mod completion;
mod decide;
mod desk;
mod field;
mod hint;
mod http;
mod message;
mod page;
mod prompt;
mod question;
mod resource;
mod schema;
mod server;
mod session;
mod shorten;
mod subscription;
mod tool;
mod transport;

pub use crate::access::{DecidingAccess, McpAccess, WriteAccess};
pub use crate::http::{HttpAnswer, HttpHeads, McpHttp};
pub use crate::server::McpService;
pub use crate::transport::serve_lines;

/// The longest message that is read or written, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 4 << 20;
