//! Verbs as data, each against a repository of its own.

mod agent;
mod command;
mod commit;
mod configuration;
mod doctor;
mod flow;
mod hold;
mod kind;
mod merge;
mod object;
mod person;
mod place;
mod query;
mod relation;
mod remote;
mod repl;
mod run;
mod session;
mod trace;
mod worktree;
