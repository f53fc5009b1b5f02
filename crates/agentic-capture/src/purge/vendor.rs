//! Transcripts of vendors: they are not ours. What holds it there is named by file and line; it is
//! taken out only if a person asks for that, and never while somebody writes there.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use agentic_space::Space;
use agentic_store::file::open_regular;

use super::aim::PurgeScrub;
use super::hit::{PurgeHit, PurgePlace};
use super::{PurgeAim, PurgeError};
use crate::conversation::{ConversationRecord, conversations};
use crate::import::find;
use crate::plain_text::{PlainText, is_compressed};
use crate::transcript::LINE_BYTES_MAX;
use crate::{HookEnvironment, Source, VendorFile, VendorRoots, live};

/// How many lines of one file are named.
const LINES_MAX: usize = 1000;

/// What becomes of transcripts of vendors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VendorTranscripts {
    /// They are named.
    Named,
    /// They lack it from now on, too.
    Edited,
}

/// Finds it in the transcripts of the conversations that are known here.
pub(super) fn look(space: &Space, aim: &PurgeAim, environment: &HookEnvironment) -> Vec<PurgeHit> {
    if !is_sought(aim) {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for (file, _) in transcripts(space, environment) {
        let name = file.path.display().to_string();
        let hit = |line: u64| PurgeHit {
            place: PurgePlace::Source,
            path: Some(name.clone()),
            line: Some(line),
            ..PurgeHit::default()
        };
        hits.extend(lines_of(&file, aim).into_iter().map(hit));
    }
    hits.sort();
    hits
}

/// Takes it out of the transcripts that hold it. Those that somebody may still write stay as they are,
/// and so do compressed ones.
pub(super) fn edit(
    space: &Space,
    aim: &PurgeAim,
    id: &str,
    environment: &HookEnvironment,
) -> Result<(), PurgeError> {
    if !is_sought(aim) {
        return Ok(());
    }
    for (file, record) in transcripts(space, environment) {
        let is_written = record.program.as_ref().is_some_and(live::is_alive);
        if is_written || lines_of(&file, aim).is_empty() || is_packed(&file.file) {
            continue;
        }
        rewrite(&file, &mut PurgeScrub::new(aim, id))?;
    }
    Ok(())
}

fn is_sought(aim: &PurgeAim) -> bool {
    match aim {
        PurgeAim::Value(_) | PurgeAim::Rule { .. } => true,
        PurgeAim::Conversation(_)
        | PurgeAim::Agent { .. }
        | PurgeAim::Object(_)
        | PurgeAim::Tombstones(_) => false,
    }
}

/// Opens the transcripts of all conversations that are known here, and those of their subagents: where
/// an event named them, and where vendors keep those that were imported.
fn transcripts(
    space: &Space,
    environment: &HookEnvironment,
) -> Vec<(VendorFile, ConversationRecord)> {
    let configured = space.repository().config("agentic.captureRoots");
    let roots = VendorRoots::of(environment, configured.as_deref());
    let records: BTreeMap<String, ConversationRecord> = conversations(space.repository().layout())
        .into_iter()
        .map(|record| (record.native.clone(), record))
        .collect();
    let mut paths: BTreeMap<PathBuf, ConversationRecord> = BTreeMap::new();
    for record in records.values() {
        let Some(path) = record.transcript.clone() else { continue };
        let beside = path.with_extension("").join("subagents");
        let below = std::fs::read_dir(beside).into_iter().flatten().flatten();
        let all = [path].into_iter().chain(below.map(|entry| entry.path()));
        paths.extend(all.map(|path| (path, record.clone())));
    }
    for found in Source::ALL.iter().flat_map(|source| find::transcripts(*source, environment)) {
        let record = records.get(&found.id.native);
        paths.extend(record.map(|record| (found.path.clone(), record.clone())));
    }
    let opened = paths.into_iter().filter_map(|(path, record)| {
        let file = roots.open(&path).ok()?;
        Some((file.path.clone(), (file, record)))
    });
    // One file may be named by several paths.
    opened.collect::<BTreeMap<_, _>>().into_values().collect()
}

/// Lists the lines that hold it, from 1.
fn lines_of(file: &VendorFile, aim: &PurgeAim) -> Vec<u64> {
    let mut found = Vec::new();
    // What cannot be read is named by nobody; the transcript is the vendor's.
    let _ = each_line(file, |number, line| {
        if found.len() < LINES_MAX && aim.is_in_text(line) {
            found.push(number);
        }
        Ok(())
    });
    found
}

fn each_line(
    file: &VendorFile,
    mut each: impl FnMut(u64, &[u8]) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let input = open_regular(&file.path, OpenOptions::new().read(true))?;
    let mut input = BufReader::new(match is_packed(&input) {
        true => PlainText::unpacked(input)?,
        false => PlainText::Plain(input),
    });
    let limit = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
    let (mut number, mut line) = (1, Vec::new());
    loop {
        line.clear();
        if input.by_ref().take(limit).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        each(number, &line)?;
        number += u64::from(line.ends_with(b"\n"));
    }
}

fn is_packed(file: &File) -> bool {
    use std::os::unix::fs::FileExt as _;
    let mut first = [0; 4];
    file.read_at(&mut first, 0).is_ok() && is_compressed(&first)
}

/// Puts a file without it in the place of the one with it, unless somebody wrote there meanwhile.
fn rewrite(file: &VendorFile, scrub: &mut PurgeScrub<'_>) -> Result<(), PurgeError> {
    let failed = PurgeError::file("write", &file.path);
    let before = file.file.metadata().map_err(PurgeError::file("read", &file.path))?;
    let beside = new_beside(&file.path);
    let mut write = || -> std::io::Result<()> {
        let mut out = File::create_new(&beside)?;
        out.set_permissions(std::fs::Permissions::from_mode(before.mode() & 0o7777))?;
        each_line(file, |_, line| match scrub.text(line) {
            Some(clean) => out.write_all(&clean),
            None => out.write_all(line),
        })?;
        out.sync_all()?;
        agentic_store::fault::point("purge-source").map_err(std::io::Error::other)?;
        let now = std::fs::metadata(&file.path)?;
        let is_same = (now.ino(), now.len(), now.mtime_nsec(), now.mtime())
            == (before.ino(), before.len(), before.mtime_nsec(), before.mtime());
        match is_same {
            true => std::fs::rename(&beside, &file.path),
            false => std::fs::remove_file(&beside),
        }
    };
    // One that a purge before this was killed at.
    let _ = std::fs::remove_file(&beside);
    write().map_err(failed)
}

fn new_beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".agentic-purge");
    path.with_file_name(name)
}
