//! Tests of the language from the outside.

mod case;
mod conformance;
mod engine;
mod host;
mod hostile;
mod property;
mod reply;
