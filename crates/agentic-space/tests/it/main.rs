//! The verbs of a repository as library functions, by noun. Repositories are git's, in temporary folders;
//! git itself is asked what came of a verb.

mod archive;
mod ask;
mod chain;
mod commit;
mod facts;
mod kinds;
mod merge;
mod place;
mod relate;
mod spawn;
mod sync;
mod trace;
mod worktree;
