//! A memory in a file: one envelope a line.
//!
//! A line is written at once and synced, under a lock of the file. What a crash left of a line at
//! the end is no record; the next one that is added takes its place.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;

use rustix::fs::FlockOperation;

use super::record::Envelope;
use super::{MemoryFault, Operation};
use crate::tool::ToolFault;
use crate::tool::workspace::{MissingFolders, Workspace};

/// The largest file, in bytes.
const FILE_BYTES_MAX: u64 = 256 << 20;

impl From<ToolFault> for MemoryFault {
    fn from(fault: ToolFault) -> MemoryFault {
        MemoryFault(fault.message)
    }
}

/// Performs a call.
pub(super) fn perform(
    folder: &Path,
    path: &str,
    operation: Operation,
) -> Result<String, MemoryFault> {
    let workspace = Workspace::open(folder)?;
    match operation {
        Operation::Add(envelope) => add(&workspace, path, &envelope),
        Operation::Query(query) => {
            let bytes = match workspace.find(path)? {
                Some(place) => place.read_bytes(FILE_BYTES_MAX)?.unwrap_or_default(),
                None => Vec::new(),
            };
            let records = parse(path, &bytes)?.records;
            Ok(query.of_newest_first(records.iter().rev()))
        }
    }
}

fn add(workspace: &Workspace, path: &str, envelope: &Envelope) -> Result<String, MemoryFault> {
    let place = workspace.locate(path, MissingFolders::Made)?;
    let mut file = place.open_to_add()?;
    let failed =
        |error: std::io::Error| MemoryFault(format!("`{path}` cannot be written: {error}"));
    // The lock goes with the file.
    rustix::fs::flock(&file, FlockOperation::LockExclusive)
        .map_err(|errno| failed(errno.into()))?;
    let mut bytes = Vec::new();
    (&file).take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    let found = parse(path, &bytes)?;
    if let Some(known) = found.records.iter().find(|known| known.id == envelope.id) {
        return Ok(known.to_json());
    }
    let line = envelope.to_json();
    if found.whole + line.len() as u64 >= FILE_BYTES_MAX {
        return Err(MemoryFault(format!("`{path}` would be longer than {FILE_BYTES_MAX} bytes")));
    }
    append(&mut file, &found, &line).map_err(failed)?;
    if bytes.is_empty() {
        place.sync_names().map_err(failed)?;
    }
    Ok(line)
}

fn append(file: &mut File, found: &MemoryLines, line: &str) -> std::io::Result<()> {
    if found.torn > 0 {
        file.set_len(found.whole)?;
    }
    let start = if found.is_closed { "" } else { "\n" };
    file.write_all(format!("{start}{line}\n").as_bytes())?;
    file.sync_data()
}

/// What a file holds.
struct MemoryLines {
    records: Vec<Envelope>,
    /// How many bytes of it are whole lines.
    whole: u64,
    /// How many bytes behind them a crash left of one.
    torn: u64,
    /// Whether the last of them has its line break.
    is_closed: bool,
}

fn parse(path: &str, bytes: &[u8]) -> Result<MemoryLines, MemoryFault> {
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(MemoryFault(format!("`{path}` is longer than {FILE_BYTES_MAX} bytes")));
    }
    let is_closed = bytes.last().is_none_or(|last| *last == b'\n');
    let mut lines =
        MemoryLines { records: Vec::new(), whole: bytes.len() as u64, torn: 0, is_closed };
    let all: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    for (at, line) in all.iter().enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice::<serde::de::IgnoredAny>(line) {
            Ok(_) => {}
            Err(_) if at + 1 == all.len() && !is_closed => {
                lines.torn = line.len() as u64;
                lines.whole -= lines.torn;
                lines.is_closed = true;
                break;
            }
            Err(error) => {
                let n = at + 1;
                return Err(MemoryFault(format!("`{path}` is not JSON at line {n}: {error}")));
            }
        }
        let envelope = serde_json::from_slice::<Envelope>(line).map_err(|error| error.to_string());
        let envelope = envelope.and_then(|found| found.check().map_err(str::to_owned));
        let envelope = envelope.map_err(|reason| {
            let n = at + 1;
            MemoryFault(format!("`{path}` holds no record in its envelope at line {n}: {reason}"))
        })?;
        lines.records.push(envelope);
    }
    Ok(lines)
}
