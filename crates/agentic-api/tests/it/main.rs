//! Verbs as data, each against a repository of its own.

mod agent;
mod command;
mod commit;
mod configuration;
mod diff;
mod doctor;
mod flow;
mod hold;
mod kind;
mod merge;
mod object;
mod person;
mod place;
mod program;
mod query;
mod relation;
mod remote;
mod repl;
mod roster;
mod run;
mod schema;
mod search;
mod session;
mod statistics;
mod trace;
mod worktree;
