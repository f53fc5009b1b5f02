//! Sessions as a library: one file for each verb.

mod cancel;
mod children;
mod decide;
mod facts;
mod fork;
mod kit;
mod replay;
mod signal;
mod start;
mod tick;
mod watch;
