//! The page in a real browser, as people use it: `cargo xtask browser` gets the browser.
//!
//! Pictures of every page are left in `browser/pictures` below the target folder.

mod decide;
mod inbox;
mod live;
mod look;
mod question;
mod shown;
mod stage;
mod statistics;
mod strangers;
mod texts;
