//! Where inputs go that a reader wants as a file.

use std::path::Path;

/// Makes a temporary folder, in memory where there is such a place.
pub fn folder_in_memory() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory } else { &std::env::temp_dir() };
    tempfile::tempdir_in(place).expect("a temporary folder")
}
