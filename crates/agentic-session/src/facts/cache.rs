//! What follows from ids that never change, kept on the disk below `cache/query/`: one value in each
//! file, behind the sum of its bytes. A file that is damaged is none, and any may go at any time.

use std::path::PathBuf;

use agentic_model::{Cid, Value, canonical};
use agentic_store::file::{self, Persistence};

use crate::SessionSpace;

/// Reads the value of a name, if it is as it was written.
pub(super) fn read(space: &SessionSpace, name: &str) -> Option<Value> {
    let content = std::fs::read(place_of(space, name)).ok()?;
    let at = content.iter().position(|byte| *byte == b'\n')?;
    let (sum, bytes) = (&content[..at], &content[at + 1..]);
    let is_sound = Cid::of(bytes).to_string().as_bytes() == sum;
    is_sound.then(|| canonical::decode(bytes).ok()).flatten()
}

/// Writes the value of a name. That nobody can is no failure.
pub(super) fn write(space: &SessionSpace, name: &str, value: &Value) {
    let Ok(bytes) = canonical::encode(value) else { return };
    let content = [Cid::of(&bytes).to_string().as_bytes(), b"\n", &bytes].concat();
    let place = place_of(space, name);
    let folder = place.parent().expect("caches stand in a folder");
    let _ = std::fs::create_dir_all(folder);
    let _ = file::replace(&place, &content, Persistence::Lazy);
}

fn place_of(space: &SessionSpace, name: &str) -> PathBuf {
    space.repository().layout().cache().join("query").join(name)
}
