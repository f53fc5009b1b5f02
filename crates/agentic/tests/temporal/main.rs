//! Runs on a real server of Temporal, which `cargo xtask temporal install` gets: `cargo xtask test temporal`
//! does both.

mod decisions;
mod faults;
mod runs;
mod stage;
