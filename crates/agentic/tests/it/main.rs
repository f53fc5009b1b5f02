//! The store's promises, tested on the binary: a write is there whole or not at all, whatever
//! happens between two of its steps. What is there is read with stock git.

mod agentlang;
mod checkpoint;
mod context;
mod disk;
mod federation;
mod first_run_page;
mod improve;
mod kill;
mod loopback;
mod model;
mod mortal;
mod mount;
mod power;
mod provider;
mod purge;
mod query_page;
mod rebuild;
mod search;
mod serve;
mod serve_pages;
mod session;
mod stage;
mod state;
mod terminal;
mod tool;
mod trial;
#[cfg(not(feature = "tui"))]
mod ui;
mod unfinished;
mod verb;
mod walk;
mod wiring;
mod worker;
