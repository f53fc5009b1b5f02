//! The id of a space, by which others find the machine that has it.
//!
//! It stands in a file with the place where that was made. A copied repository has the file of another
//! place: it is not the same space.

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use agentic_model::{Value, json};
use agentic_store::Lock;
use agentic_store::file::{self, Persistence};

use crate::error::SessionError;
use crate::{Error, Result, SessionSpace};

/// How long an id is, in bytes.
const ID_BYTES: usize = 16;

/// Returns the id of a space; makes one where there is none.
///
/// # Errors
/// Fails when the repository was copied from another place, and when the file cannot be read or written.
pub fn space_id(space: &SessionSpace) -> Result<String> {
    let path = space.repository().layout().space();
    let place = place_of(space)?;
    let io = |doing: &'static str| agentic_store::Error::io(doing, &path);
    match std::fs::read_to_string(&path) {
        Ok(content) => {
            let found = json::from_text(&content).ok();
            let text = |key: &str| found.as_ref()?.get(key)?.as_text().map(str::to_owned);
            match (text("id"), text("place")) {
                (Some(id), Some(made_at)) if made_at == place => Ok(id),
                _ => Err(Error::Session(SessionError::Copied)),
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let id = random_id(&path)?;
            let lock = space.repository().layout().space_lock("space");
            let _lock = Lock::take(&lock, space.repository().common_dir())?;
            if path.exists() {
                return space_id(space);
            }
            write_id(space, &id)?;
            Ok(id)
        }
        Err(error) => Err(io("read")(error).into()),
    }
}

/// Gives a space an id that it had, at the place where it is now.
///
/// # Errors
/// Fails when the file cannot be written.
pub fn adopt_space_id(space: &SessionSpace, id: &str) -> Result<()> {
    let lock = space.repository().layout().space_lock("space");
    let _lock = Lock::take(&lock, space.repository().common_dir())?;
    write_id(space, id)
}

/// Makes another id than a space has. It has that one once it adopts it.
///
/// # Errors
/// Fails when the system has no random bytes.
pub fn new_space_id(space: &SessionSpace) -> Result<String> {
    random_id(&space.repository().layout().space())
}

fn random_id(path: &Path) -> Result<String> {
    let mut bytes = [0; ID_BYTES];
    let read = std::fs::File::open("/dev/urandom");
    let read = read.and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(agentic_store::Error::io("make an id for", path))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn write_id(space: &SessionSpace, id: &str) -> Result<()> {
    let path = space.repository().layout().space();
    let place = place_of(space)?;
    let content = Value::map([("id", Value::text(id)), ("place", Value::text(place))]);
    file::replace(&path, json::to_text(&content).as_bytes(), Persistence::Synced)?;
    Ok(())
}

/// Names where a repository is: device, inode and machine.
fn place_of(space: &SessionSpace) -> Result<String> {
    let folder = space.repository().common_dir();
    let found = std::fs::metadata(folder).map_err(agentic_store::Error::io("look at", folder))?;
    let machine = std::fs::read_to_string("/etc/machine-id").unwrap_or_default();
    Ok(format!("{}:{}:{}", found.dev(), found.ino(), machine.trim()))
}
