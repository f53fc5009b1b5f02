//! Whether anything was written meanwhile, for whoever asks again and again.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::path::Path;

use agentic_session::SessionSpace;

use crate::Refusal;

/// How deep the folders of journals and sessions nest.
const DEPTH_MAX: usize = 4;

/// What changes with each write: where refs are, and how long journals are. Two marks of one process are
/// alike as long as nothing was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteMark(u64);

impl WriteMark {
    /// Takes the mark of a space as it is now.
    ///
    /// # Errors
    /// Fails when the refs cannot be read.
    pub fn of(space: &SessionSpace) -> Result<WriteMark, Refusal> {
        let mut hasher = DefaultHasher::new();
        let repository = space.repository();
        let refs = repository.refs_mark().map_err(agentic_space::Error::from)?;
        refs.as_bytes().hash(&mut hasher);
        let layout = repository.layout();
        for folder in [layout.journals(), layout.open_sessions()] {
            sum_up(&folder, 0, &mut hasher);
        }
        Ok(WriteMark(hasher.finish()))
    }
}

fn sum_up(folder: &Path, depth: usize, hasher: &mut DefaultHasher) {
    let mut found: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().collect();
    found.sort_by_key(std::fs::DirEntry::path);
    for entry in found {
        let Ok(metadata) = entry.metadata() else { continue };
        entry.path().hash(hasher);
        if metadata.is_dir() && depth < DEPTH_MAX {
            sum_up(&entry.path(), depth + 1, hasher);
        } else {
            metadata.len().hash(hasher);
            metadata.modified().ok().hash(hasher);
        }
    }
}
