//! Capture, by the real binary: every payload of `conformance/capture/hooks` in a repository of its
//! own, with a home of its own.

mod bind;
mod clones;
mod corpus;
mod cost;
mod crowd;
mod deferred;
mod effects;
mod export;
mod fault;
mod gate;
mod import;
mod keep;
mod link;
mod opencode;
mod secret;
mod stage;
mod status;
mod talk;
