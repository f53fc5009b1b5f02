//! Whoever writes at the same time, in processes or threads, loses nothing, and nor does one that is killed.

mod load;
mod threads;
