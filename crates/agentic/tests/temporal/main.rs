//! Runs on a real server of Temporal, which `cargo xtask temporal install` gets: `cargo xtask test temporal`
//! does both.

mod children;
mod configuration;
mod crosscheck;
mod decisions;
mod effects;
mod endpoint;
mod faults;
mod guarded;
mod kills;
mod languages;
mod queues;
mod rolling;
mod runs;
mod stage;
mod verbs;
