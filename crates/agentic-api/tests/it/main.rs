//! Verbs as data, each against a repository of its own.

mod verb;
