//! Capture, by the real binary: every payload of `conformance/capture/hooks` in a repository of its
//! own, with a home of its own.

mod bind;
mod corpus;
mod deferred;
mod effects;
mod export;
mod fault;
mod gate;
mod keep;
mod link;
mod stage;
