//! The verbs of a repository as library functions, by noun. Repositories are git's, in temporary folders;
//! git itself is asked what came of a verb.

mod agent;
mod archive;
mod ask;
mod bell;
mod chain;
mod commit;
mod configuration;
mod facts;
mod kinds;
mod library;
mod merge;
mod object;
mod place;
mod privacy;
mod race;
mod relate;
mod rewrite;
mod signing;
mod spawn;
mod sync;
mod trace;
mod worktree;
