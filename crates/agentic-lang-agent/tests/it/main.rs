//! The conformance suite of AgentLang and the tests of this crate, over the data in
//! `conformance/agentlang`.

mod approve;
mod conversation;
mod corpus;
mod durable;
mod explained;
mod format;
mod generated;
mod host;
mod hostile;
mod models;
mod parallel;
mod plugin;
mod public;
mod quirks;
mod testkit;
mod threads;
mod trace;
mod workflows;
