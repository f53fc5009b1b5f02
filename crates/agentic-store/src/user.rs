//! Who runs the program, as the operating system knows them.

/// Returns the number of the user in whose name the program runs.
pub fn user_id() -> u32 {
    rustix::process::getuid().as_raw()
}
