//! Capture on real repositories.

mod gate;
mod load;
