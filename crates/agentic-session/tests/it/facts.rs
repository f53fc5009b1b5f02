//! Facts about sessions, as questions find them.

mod damage;
mod decision;
mod hand;
mod hold;
mod host;
mod meanwhile;
mod question;
mod request;
mod session;
mod usage;
