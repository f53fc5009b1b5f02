//! The contract between programs and the hosts that run them.
//!
//! A [`Program`] is a deterministic function of its source, its input, its seed and the answers it
//! was given. It touches the world only by opening [`Request`]s. A host performs them, delivers one
//! [`Answer`] at a time and polls the program to quiescence before the next. Because every request
//! has a [`Path`] that does not depend on scheduling, and a hash that is compared before a recorded
//! answer is used, a run can be replayed from its record, anywhere, and a changed program is
//! noticed at the exact request.
//!
//! This crate is pure: no clock, no randomness, no threads, no files.

mod answer;
mod path;
mod program;
mod request;
mod rng;
mod run;
mod settle;
#[cfg(test)]
mod tests;

pub use crate::answer::{Answer, Failure, NOT_DATA, Stopped};
pub use crate::path::{InvalidPath, Path, Scope};
pub use crate::program::{Delivery, End, Event, Program, Start, Turn};
pub use crate::request::{EffectClass, Position, Request, RequestHash, RequestId, SLEEP};
pub use crate::rng::Seed;
pub use crate::run::{DEFECT, Finished, REQUESTS_AFTER_CANCEL_MAX, Run, STALLED, Step, run_to_end};
pub use crate::settle::settle;
