//! Reading a segment from its end: what is asked for mostly stands there, however long it is.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::frame::{self, Scan};
use super::segment;
use crate::{Error, Result};

/// How much of the end of a segment is read at first, in bytes.
const WINDOW_BYTES: u64 = 16 << 10;
/// How much more is read when that is not enough, as a factor.
const GROWTH: u64 = 8;

/// The frames of a segment, last first. What is appended meanwhile does not count.
pub struct Backwards {
    path: PathBuf,
    file: Arc<File>,
    window: Vec<u8>,
    /// Where the window begins in the file.
    start: u64,
    /// Where the frames that were not handed out yet end, in the window.
    end: usize,
    /// Whether the end is known to be that of a good frame.
    is_sound: bool,
}

impl Backwards {
    /// Opens a segment.
    pub fn open(path: &Path) -> Result<Backwards> {
        let file = File::open(path).map_err(Error::io("read", path))?;
        let length = file.metadata().map_err(Error::io("read", path))?.len();
        Backwards::of(Arc::new(file), path, length)
    }

    /// Reads a segment that is open already, as far as it is known to go.
    pub fn of(file: Arc<File>, path: &Path, length: u64) -> Result<Backwards> {
        let path = path.to_owned();
        let (window, is_sound) = (Vec::new(), length == 0);
        let mut frames = Backwards { path, file, window, start: length, end: 0, is_sound };
        frames.grow(WINDOW_BYTES)?;
        Ok(frames)
    }

    /// Returns the payload of the frame before the last one that was returned; nothing at the
    /// beginning. A torn frame at the end is left out.
    pub fn next(&mut self) -> Result<Option<Vec<u8>>> {
        while self.start + self.end as u64 > 0 {
            if let Some((payload, start)) = frame::before(&self.window, self.end) {
                let payload = payload.to_vec();
                (self.end, self.is_sound) = (start, true);
                return Ok(Some(payload));
            }
            if self.start > 0 {
                self.grow(self.window.len() as u64 * (GROWTH - 1))?;
            } else if self.is_sound {
                return Err(segment::damaged(&self.path, self.end));
            } else {
                self.leave_torn_end()?;
            }
        }
        Ok(None)
    }

    fn leave_torn_end(&mut self) -> Result<()> {
        self.is_sound = true;
        match segment::scan(&self.window) {
            Scan::Whole => Ok(()),
            Scan::Torn { end } => {
                self.end = end;
                Ok(())
            }
            Scan::Damaged { start } => Err(segment::damaged(&self.path, start)),
        }
    }

    /// Reads more of the file in front of the window.
    fn grow(&mut self, n_bytes: u64) -> Result<()> {
        let start = self.start.saturating_sub(n_bytes);
        let mut window = vec![0; (self.start - start) as usize];
        let read = self.file.read_exact_at(&mut window, start);
        read.map_err(Error::io("read", &self.path))?;
        self.end += window.len();
        window.append(&mut self.window);
        (self.window, self.start) = (window, start);
        Ok(())
    }
}
