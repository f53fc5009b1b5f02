//! Values that the user's own files and environment hold.

use std::ffi::OsString;
use std::path::Path;

use agentic_redact::{KnownFile, KnownFormat, KnownValues, is_secret_variable};
use agentic_store::file::read_small;

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
        let beginning = read_small(&worktree.join(name), FILE_BYTES_MAX).ok()?;
        let text = String::from_utf8_lossy(&beginning);
        Some(KnownFile { format: *format, text: &text }.values())
    });
    texts.flatten().collect()
}
