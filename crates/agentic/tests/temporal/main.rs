//! Runs on a real server of Temporal, which `cargo xtask temporal install` gets: `cargo xtask test temporal`
//! does both.

mod children;
mod crosscheck;
mod decisions;
mod effects;
mod faults;
mod kills;
mod languages;
mod rolling;
mod runs;
mod stage;
