//! Sessions as a library: one file for each verb.

mod adoption;
mod book;
mod cancel;
mod children;
mod decide;
mod doctor;
mod facts;
mod fork;
mod hold;
mod kit;
mod log;
mod replay;
mod score;
mod signal;
mod start;
mod tick;
mod ticket;
mod tree;
mod watch;
