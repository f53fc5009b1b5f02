//! Repositories of which git shows a part: nothing of peers is judged there.

use agentic_git::Repository;

use crate::{Error, Result};

/// The files by which git hides parents of commits, each with what to do about it.
const HIDING: [(&str, &str); 2] = [
    ("shallow", "`git fetch --unshallow` makes it whole"),
    ("info/grafts", "remove the file: `git replace --convert-graft-file` keeps what it says"),
];

/// Refuses a repository in which what is missing and what is not there cannot be told apart.
///
/// # Errors
/// Fails where something hides parts of the history.
pub(crate) fn require_whole(repository: &Repository) -> Result<()> {
    for (file, hint) in HIDING {
        let length = std::fs::metadata(repository.common_dir().join(file)).map(|found| found.len());
        if length.is_ok_and(|length| length > 0) {
            return Err(Error::refused(
                format!("nothing of peers is judged here: `{file}` hides parts of the history"),
                hint,
            ));
        }
    }
    Ok(())
}
