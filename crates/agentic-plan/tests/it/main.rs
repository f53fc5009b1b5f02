//! Plans, fragments and registries from outside.

mod fragment;
mod plan;
mod registry;
