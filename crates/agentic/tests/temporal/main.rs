//! Runs on a real server of Temporal, which `cargo xtask temporal install` gets: `cargo xtask test temporal`
//! does both.

mod children;
mod decisions;
mod faults;
mod kills;
mod languages;
mod runs;
mod stage;
