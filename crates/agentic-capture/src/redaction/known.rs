//! Values that the user's own files and environment hold.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use agentic_redact::{KnownFile, KnownFormat, KnownValues, is_secret_variable};

use crate::heard::OPEN_WITHOUT_WAITING;

/// How much of a file is read.
const FILE_BYTES_MAX: u64 = 64 << 10;
/// How many files are read.
const FILES_MAX: usize = 32;
/// How many names of a folder are looked at.
const NAMES_MAX: usize = 10_000;

/// Takes the values of a worktree's files, then those of variables. A file that cannot be read has none:
/// that some value is not known must not keep the rules from looking.
pub(super) fn load(
    worktree: Option<&Path>,
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> KnownValues {
    let mut values = worktree.map(values_of_files).unwrap_or_default();
    values.extend(variables.filter_map(|(name, value)| {
        let is_secret = name.to_str().is_some_and(is_secret_variable);
        if is_secret { value.into_string().ok() } else { None }
    }));
    KnownValues::new(values)
}

fn values_of_files(worktree: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(worktree) else { return Vec::new() };
    let mut files: Vec<(OsString, KnownFormat)> = entries
        .take(NAMES_MAX)
        .filter_map(|entry| {
            let name = entry.ok()?.file_name();
            let format = KnownFormat::of(name.to_str()?)?;
            Some((name, format))
        })
        .collect();
    files.sort_by(|(left, _), (right, _)| left.cmp(right));
    files.truncate(FILES_MAX);
    let texts = files.iter().filter_map(|(name, format)| {
        let text = beginning(&worktree.join(name))?;
        Some(KnownFile { format: *format, text: &text }.values())
    });
    texts.flatten().collect()
}

/// Reads the beginning of a regular file as text.
fn beginning(path: &Path) -> Option<String> {
    let file = OpenOptions::new().read(true).custom_flags(OPEN_WITHOUT_WAITING).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
