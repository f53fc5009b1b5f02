//! Capture on real repositories.

mod gate;
mod left;
mod load;
