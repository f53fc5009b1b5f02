//! Capture on real repositories.

mod captured;
mod gate;
mod left;
mod load;
