//! Tests of the crate as its users see it.

mod bounds;
mod cases;
mod scope;
mod value;
