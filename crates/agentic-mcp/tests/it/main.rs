//! The server over a pair of streams, against a repository of its own each.

mod access;
mod decision;
mod line;
mod message;
mod prompt;
mod question;
mod quoted;
mod schema;
mod search;
mod task;
mod update;
