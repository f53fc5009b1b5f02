//! Files that take the place of others at once.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file in the making, beside the one whose place it takes: a crash leaves the old file or the
/// new one. A link stays a link; what it leads to is replaced.
#[derive(Debug)]
#[must_use = "commit it or discard it"]
pub struct Replacement {
    place: PathBuf,
    fresh: PathBuf,
    file: BufWriter<File>,
}

impl Replacement {
    /// Begins a file that takes the place of another, or is the first of its name.
    ///
    /// # Errors
    /// Fails when there can be no file beside it.
    pub fn begin(path: &Path) -> std::io::Result<Replacement> {
        let place = std::fs::canonicalize(path).or_else(|error| {
            if error.kind() == std::io::ErrorKind::NotFound {
                Ok(path.to_owned())
            } else {
                Err(error)
            }
        })?;
        let mut name = place.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.new", std::process::id()));
        let fresh = place.with_file_name(name);
        let file = File::create_new(&fresh)?;
        let made = Replacement { file: BufWriter::new(file), place, fresh };
        // Nothing stands there before the first file of a name.
        let Ok(old) = std::fs::metadata(&made.place) else { return Ok(made) };
        match made.file.get_ref().set_permissions(old.permissions()) {
            Ok(()) => Ok(made),
            Err(error) => {
                made.discard();
                Err(error)
            }
        }
    }

    /// Makes the file durable and puts it in its place.
    ///
    /// # Errors
    /// Fails when that cannot be; the old file is as it was then.
    pub fn commit(mut self) -> std::io::Result<()> {
        let flushed = self.file.flush().and_then(|()| self.file.get_ref().sync_all());
        match flushed.and_then(|()| std::fs::rename(&self.fresh, &self.place)) {
            Ok(()) => Ok(()),
            Err(error) => {
                self.discard();
                Err(error)
            }
        }
    }

    /// Leaves the old file as it is.
    pub fn discard(self) {
        // What could not become the file is of no use.
        let _ = std::fs::remove_file(&self.fresh);
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}
