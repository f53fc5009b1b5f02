//! Which refs were drawn last of a space: by their mark alone one sees that nobody has moved any, and the record, which
//! may be long, needs not be read for that.
//!
//! A mark says only of what is there that it was drawn from one record. Where it is gone or another one, all refs are
//! held against the record. What is believed never depends on it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agentic_model::Oid;
use agentic_session::SessionSpace;
use agentic_store::file::{self, Persistence};

use crate::Result;

/// The mark of what was drawn of a space.
pub(super) struct DrawnMark {
    path: PathBuf,
    /// What it says; nothing if there is none.
    line: String,
}

/// What was drawn.
pub(super) struct DrawnRefs {
    /// Of how many agents at most.
    n_shown: usize,
    /// The hash of the refs.
    hash: blake3::Hash,
}

impl DrawnMark {
    /// Reads the mark of the space that has a label.
    pub(super) fn read(space: &SessionSpace, label: &str) -> DrawnMark {
        let folder = space.repository().layout().root().join("peer").join("drawn");
        let path = folder.join(label);
        // Without it, or where it cannot be read, more is read instead.
        let line = std::fs::read_to_string(&path).unwrap_or_default();
        DrawnMark { path, line }
    }

    /// Tells whether this was drawn last, from a record.
    pub(super) fn is_of(&self, record: Oid, drawn: &DrawnRefs) -> bool {
        self.line == drawn.line(record)
    }

    /// Notes that this was drawn from a record.
    ///
    /// # Errors
    /// Fails when the disk does.
    pub(super) fn note(&self, record: Oid, drawn: &DrawnRefs) -> Result<()> {
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder).map_err(agentic_store::Error::io("create", folder))?;
        }
        let line = drawn.line(record);
        Ok(file::replace(&self.path, line.as_bytes(), Persistence::Lazy)?)
    }
}

impl DrawnRefs {
    /// Takes refs, of so many agents at most.
    pub(super) fn of(refs: &BTreeMap<String, Oid>, n_shown: usize) -> DrawnRefs {
        let mut hasher = blake3::Hasher::new();
        for (name, target) in refs {
            // A name has no zero byte, and ids have one length.
            hasher.update(name.as_bytes()).update(&[0]).update(target.as_bytes());
        }
        DrawnRefs { n_shown, hash: hasher.finalize() }
    }

    fn line(&self, record: Oid) -> String {
        format!("{record} {} {}\n", self.n_shown, self.hash.to_hex())
    }
}
