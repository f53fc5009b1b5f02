//! Capture on real repositories.

mod gate;
