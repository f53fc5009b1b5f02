//! What was looked at of spaces that no identity lists, and brought nothing. It is not asked for again before it
//! changes: anybody can put something there that takes long.

use std::collections::BTreeSet;
use std::path::PathBuf;

use agentic_session::SessionSpace;
use agentic_store::file::{self, Persistence};

use crate::Result;
use crate::receive::ServedSpace;

/// How many are remembered.
const LINES_MAX: usize = 4_096;

/// Leaves out what was looked at before.
///
/// # Errors
/// Fails when the disk does.
pub(super) fn not_seen(
    space: &SessionSpace,
    unlisted: Vec<ServedSpace>,
) -> Result<Vec<ServedSpace>> {
    if unlisted.is_empty() {
        return Ok(unlisted);
    }
    let lines = read(space)?;
    let seen: BTreeSet<&str> = lines.iter().map(String::as_str).collect();
    Ok(unlisted.into_iter().filter(|served| !seen.contains(line(served).as_str())).collect())
}

/// Remembers what was looked at.
///
/// # Errors
/// Fails when the disk does.
pub(super) fn remember(space: &SessionSpace, looked: &[ServedSpace]) -> Result<()> {
    if looked.is_empty() {
        return Ok(());
    }
    let mut lines = read(space)?;
    lines.extend(looked.iter().map(line));
    let from = lines.len().saturating_sub(LINES_MAX);
    let text: String = lines[from..].iter().map(|line| format!("{line}\n")).collect();
    let path = path(space);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(agentic_store::Error::io("create", folder))?;
    }
    // Of two at once one may be forgotten, and is looked at again.
    Ok(file::replace(&path, text.as_bytes(), Persistence::Lazy)?)
}

fn read(space: &SessionSpace) -> Result<Vec<String>> {
    let path = path(space);
    match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        text => {
            let text = text.map_err(agentic_store::Error::io("read", &path))?;
            Ok(text.lines().map(str::to_owned).collect())
        }
    }
}

fn line(served: &ServedSpace) -> String {
    format!("{} {}", served.peer, served.tip)
}

fn path(space: &SessionSpace) -> PathBuf {
    space.repository().layout().root().join("peer").join("unlisted")
}
