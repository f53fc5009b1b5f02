//! `agentic ui`: three panes in a terminal, for people who look and answer without a browser.
//!
//! - `state`: what is shown, and what keys and news make of it, without a terminal;
//! - `page`: from views to lines; only [`line`] makes a line, and what others wrote is made safe there;
//! - `paint`: from the state to a picture;
//! - `reader`: the threads that run verbs and notice writes;
//! - `screen`, `signal`, `ui`: the terminal, and the loop.
//!
//! Nothing is written here but by the verb that `agentic decide` calls.

mod age;
mod dialog;
mod error;
mod field;
mod key;
mod layout;
mod line;
mod page;
mod paint;
mod reader;
mod screen;
mod signal;
mod state;
mod ui;
mod wish;

#[cfg(test)]
mod tests;

pub use crate::error::{Result, UiError};
pub use crate::paint::UiColours;
pub use crate::ui::{UiOptions, run};
