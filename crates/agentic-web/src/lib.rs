//! The page of a repository, and its API: what people and programs see of the process that stays.
//!
//! Everything is the answer of a verb of `agentic-api`, and every write is one: there is no other way
//! in. What leaves is escaped text or plain bytes, and no browser may do with it what it was not made
//! for.
//!
//! - [`serve`]: listens on this machine alone, by TCP and by a socket;
//! - `gate`: which requests are heard at all;
//! - `login`: who may read, and who may decide;
//! - `api`: what programs ask for;
//! - `route`: what is asked for;
//! - `page`: pages, as functions of views.

mod age;
mod api;
mod assets;
mod colour;
mod decision;
mod entrance;
mod error;
mod form;
mod gate;
mod host;
mod login;
mod object;
mod page;
mod patience;
mod protocol;
mod rates;
mod route;
mod server;
mod shown_texts;
mod site;
mod status;

pub use crate::error::{Result, WebError};
pub use crate::host::{PageHost, UNSAID_PORT, name_with_port};
pub use crate::login::PageCode;
pub use crate::protocol::{MountedProtocol, ProtocolAnswer, ProtocolRequest};
pub use crate::rates::rates_drawing;
pub use crate::server::{ServeOptions, serve};
