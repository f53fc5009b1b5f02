//! Verbs as data, each against a repository of its own.

mod agent;
mod command;
mod commit;
mod hold;
mod merge;
mod person;
mod place;
mod relation;
mod trace;
