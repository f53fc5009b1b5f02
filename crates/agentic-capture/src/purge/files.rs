//! Every file below the git directory, but for objects, which git hands out decompressed.

use std::path::{Path, PathBuf};

use agentic_git::inflate_any;
use agentic_space::Space;

use super::PurgeError;
use super::hit::PurgePlace;

/// How deep folders are looked into.
const DEPTH_MAX: usize = 64;
/// How much a compressed file may hold, in bytes.
const INFLATED_BYTES_MAX: usize = 1 << 30;
/// How compressed streams begin.
const COMPRESSED: u8 = 0x78;

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFile {
    /// Where it is.
    pub path: PathBuf,
    /// The same, below the git directory.
    pub name: String,
}

/// Lists the files below the git directory that are no objects of git's own keeping, in order.
pub fn all_files(space: &Space) -> Result<Vec<FoundFile>, PurgeError> {
    let root = space.repository().common_dir();
    let mut found = Vec::new();
    walk(root, root, 0, &mut found)?;
    found.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(found)
}

fn walk(
    root: &Path,
    folder: &Path,
    depth: usize,
    found: &mut Vec<FoundFile>,
) -> Result<(), PurgeError> {
    if depth > DEPTH_MAX {
        return Ok(());
    }
    let entries = match std::fs::read_dir(folder) {
        // Whoever writes takes files away at any time.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(PurgeError::file("read", folder))?,
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            walk(root, &path, depth + 1, found)?;
            continue;
        }
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
        if kind.is_file() && !is_object(&path, &name) {
            found.push(FoundFile { path, name });
        }
    }
    Ok(())
}

/// Tells whether git hands out what a file holds: an object, or a pack with what belongs to it.
fn is_object(path: &Path, name: &str) -> bool {
    let Some(rest) = name.strip_prefix("objects/") else { return is_kept_pack(path, name) };
    let parts: Vec<&str> = rest.split('/').collect();
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match parts.as_slice() {
        [folder, file] if folder.len() == 2 && is_hex(folder) => {
            is_hex(file) && [38, 62].contains(&file.len())
        }
        ["pack", file] => {
            file.starts_with("pack-")
                && !file.contains("tmp")
                && path.with_extension("idx").exists()
        }
        _ => false,
    }
}

/// Tells whether a file is a pack of a journal that git has too, under another name of the same file.
fn is_kept_pack(path: &Path, name: &str) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let is_pack = name.starts_with("agentic/pack/")
        && path.extension().is_some_and(|it| it == "pack" || it == "idx" || it == "rev");
    is_pack && path.metadata().is_ok_and(|found| found.nlink() > 1)
}

/// Reads a file, and what it holds if it is a compressed stream; nothing if it has gone.
pub fn read_deep(path: &Path) -> Result<Vec<Vec<u8>>, PurgeError> {
    let bytes = match std::fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.map_err(PurgeError::file("read", path))?,
    };
    let inside = match bytes.first() {
        Some(&COMPRESSED) => inflate_any(&bytes, INFLATED_BYTES_MAX),
        Some(_) | None => None,
    };
    Ok([Some(bytes), inside].into_iter().flatten().collect())
}

/// Tells what sort of place a file is, by its name below the git directory.
pub fn place_of(name: &str) -> PurgePlace {
    const PLACES: [(&str, PurgePlace); 12] = [
        ("agentic/journal/", PurgePlace::Journal),
        ("agentic/begun/", PurgePlace::Journal),
        ("agentic/aside/", PurgePlace::Aside),
        ("agentic/session/", PurgePlace::Session),
        ("agentic/capture/", PurgePlace::Capture),
        ("agentic/cache/", PurgePlace::Derived),
        ("agentic/index/", PurgePlace::Derived),
        ("agentic/handout/", PurgePlace::Derived),
        ("agentic/purge/", PurgePlace::Derived),
        ("logs/refs/notes/agentic/", PurgePlace::Reflog),
        ("logs/refs/agentic/", PurgePlace::Reflog),
        ("logs/", PurgePlace::Reflog),
    ];
    let known = PLACES.iter().find(|(begin, _)| name.starts_with(begin));
    known.map_or(PurgePlace::File, |(_, place)| *place)
}
