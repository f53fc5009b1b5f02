//! Runs on a real server of Temporal, which `cargo xtask temporal install` gets: `cargo xtask test temporal`
//! does both.

mod adversity;
mod children;
mod configuration;
mod crosscheck;
mod decisions;
mod divergence;
mod effects;
mod endpoint;
mod faults;
mod golden;
mod guarded;
mod kills;
mod languages;
mod limits;
mod long;
mod probes;
mod queues;
mod rolling;
mod runs;
mod sealing;
mod stage;
mod verbs;
