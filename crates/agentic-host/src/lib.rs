//! Who performs what runs ask.
//!
//! One [`Performer`] a language says of every request who carries it out. A [`RunExecutor`] has it for
//! one run, and gives a host what to do: to compute an answer, or to have somebody outside do an
//! [`OutsideWork`]. [`Memory`] is the host of runs that nobody keeps; sessions are another.
//!
//! Which kinds of requests there are and what their holds may say is given by whoever makes an
//! executor: nothing here knows a repository, a record or a human who decides.

mod executor;
mod memory;
mod observer;
mod outside;
pub mod performer;
mod provision;
mod reply;
mod script;

pub use crate::executor::RunExecutor;
pub use crate::memory::Memory;
pub use crate::observer::{
    InputQuestion, Interest, ObservedRun, Observer, ReplyPiece, ScreenEvent, ScreenPause,
    ScreenPresence,
};
pub use crate::outside::{OutsideSetting, OutsideWork};
pub use crate::performer::{Carrier, CommandLine, Performer, PerformerSetting, RunSetting};
pub use crate::provision::{ProviderCall, Provision};
pub use crate::reply::ReplyForm;
