//! What the language means, beside a naive evaluator and by cases.

mod bounds;
mod finding;
mod generated;
mod join;
mod language;
mod memory;
mod naive;
mod pushing;
mod reading;
mod uses;
mod why;
mod why_generated;
