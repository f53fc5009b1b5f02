//! Whether the machine was restarted since the journals were last known to be sound.

use crate::file::{self, Persistence};
use crate::journal::sync_directory;
use crate::layout::Layout;
use crate::{Error, Result, os};

/// How the machine was running when journals were last written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boot {
    /// Nothing was ever written, or the machine has been running since.
    Same,
    /// It was restarted; what was not synced may be lost.
    Other,
}

/// Compares the recorded boot with the current one.
///
/// # Errors
/// Fails when the record cannot be read.
pub fn compare(layout: &Layout) -> Result<Boot> {
    let path = layout.boot();
    // Whatever a power cut left of the record, it is not the current boot.
    match std::fs::read(&path) {
        Ok(recorded) if recorded.trim_ascii() == current().as_bytes() => Ok(Boot::Same),
        Ok(_) => Ok(Boot::Other),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Ok(if layout.dirty_marks().exists() { Boot::Other } else { Boot::Same })
        }
        Err(error) => Err(Error::io("read", &path)(error)),
    }
}

/// Records the current boot, unless it is recorded.
///
/// # Errors
/// Fails when the record cannot be written.
pub fn record(layout: &Layout) -> Result<()> {
    let path = layout.boot();
    if path.exists() && compare(layout)? == Boot::Same {
        return Ok(());
    }
    let root = layout.root();
    std::fs::create_dir_all(root).map_err(Error::io("create", root))?;
    if let Some(above) = root.parent() {
        sync_directory(above)?;
    }
    file::replace(&path, current().as_bytes(), Persistence::Synced)
}

/// Names the current boot. Where the system has no name for it, every start counts as another
/// boot: recovery is then repeated, which is slow but right.
fn current() -> String {
    os::boot_id().unwrap_or_else(|| format!("unknown-{}", std::process::id()))
}
