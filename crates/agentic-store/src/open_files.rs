//! How many files this process may have open.

use crate::os;

/// Files that are open for other reasons.
const OTHER_FILES: u64 = 128;

/// Makes room for `n_wanted` more open files, as far as the system lets this process, and returns
/// for how many there is.
pub fn make_room(n_wanted: usize) -> usize {
    let allowed = os::allow_open_files(OTHER_FILES.saturating_add(n_wanted as u64));
    let room = allowed.saturating_sub(OTHER_FILES);
    usize::try_from(room).map_or(n_wanted, |room| room.min(n_wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_never_more_room_than_was_wanted_or_is_allowed() {
        assert_eq!(make_room(1), 1);
        let room = make_room(usize::MAX);
        let allowed = os::allow_open_files(u64::MAX);
        assert!(room as u64 <= allowed.saturating_sub(OTHER_FILES));
    }
}
