//! Taking objects out of the database, and no others.
//!
//! A collection by git would take everything that nothing names. Here exactly the objects that are
//! named go: their own files, and packs that have one are written again without it. Others that
//! nothing names stay, but those that lead to one that goes: git takes a tree without its blob for
//! damage.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use agentic_model::Oid;

use super::database::in_folder;
use super::pack::packs_in;
use super::{Repository, loose};
use agentic_store::error::RefError;
use agentic_store::lock::Lock;
use agentic_store::{Error, Result, fault, file};

/// What belongs to a pack, by extension. Git sees a pack by its index, so that goes first.
const PACK_FILES: [&str; 7] = ["idx", "rev", "bitmap", "mtimes", "promisor", "keep", "pack"];

impl Repository {
    /// Adds to some objects that are to go all those that nothing reaches and that lead to one of them.
    ///
    /// # Errors
    /// Fails when the database cannot be read.
    pub fn with_what_leads_to(
        &self,
        mut going: BTreeSet<Oid>,
        reachable: &BTreeSet<Oid>,
    ) -> Result<BTreeSet<Oid>> {
        let mut leading: Vec<(Oid, Vec<Oid>)> = Vec::new();
        self.each_object(&mut |object| {
            if object.kind != "blob" && !reachable.contains(&object.oid) {
                leading.push((object.oid, named_by(object.kind, object.bytes)));
            }
            Ok(())
        })?;
        loop {
            let before = going.len();
            let more =
                leading.iter().filter(|(_, named)| named.iter().any(|it| going.contains(it)));
            let more: Vec<Oid> = more.map(|(oid, _)| *oid).collect();
            going.extend(more);
            if going.len() == before {
                return Ok(going);
            }
        }
    }

    /// Takes objects out of the database. Whoever is killed on the way calls this again.
    ///
    /// # Errors
    /// Fails when git collects garbage at the time, when a pack cannot be written and when a file
    /// cannot be removed.
    pub fn forget_objects(&self, going: &BTreeSet<Oid>) -> Result<()> {
        if going.is_empty() {
            return Ok(());
        }
        let lock = self.layout().space_lock("packs");
        let _no_merge = Lock::take(&lock, self.common_dir())?;
        let collecting = self.common_dir().join("gc.pid");
        if collecting.exists() {
            return Err(Error::Ref(RefError::Locked { name: collecting.display().to_string() }));
        }
        self.forget_graphs()?;
        self.forget_packed(going)?;
        let objects = self.common_dir().join("objects");
        for oid in going {
            file::remove(&loose::path_of(&objects, &oid.to_string()))?;
            fault::point("object-forgotten")?;
        }
        self.sync_filesystem()
    }

    /// Removes what names objects and is made again by git: its graph of commits and its index of packs.
    fn forget_graphs(&self) -> Result<()> {
        let objects = self.common_dir().join("objects");
        file::remove(&objects.join("info/commit-graph"))?;
        for folder in ["info/commit-graphs", "pack/multi-pack-index.d"] {
            remove_folder(&objects.join(folder))?;
        }
        for path in in_folder(&objects.join("pack"))? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with("multi-pack-index") {
                file::remove(&path)?;
            }
        }
        Ok(())
    }

    fn forget_packed(&self, going: &BTreeSet<Oid>) -> Result<()> {
        let placed = self.pack_folder().placed;
        let mut replaced = Vec::new();
        for pack in packs_in(&placed)? {
            if !pack.with_extension("idx").exists() {
                continue;
            }
            let all = self.objects_of_pack(&pack)?;
            if !all.iter().any(|oid| going.contains(oid)) {
                continue;
            }
            let staying: Vec<Oid> = all.into_iter().filter(|oid| !going.contains(oid)).collect();
            if !staying.is_empty() {
                self.pack_again(&pack, &staying)?;
            }
            replaced.push(pack);
        }
        if replaced.is_empty() {
            return Ok(());
        }
        // What stays is on the disk before what went is not.
        self.sync_filesystem()?;
        fault::point("packs-rewritten")?;
        for pack in &replaced {
            for extension in PACK_FILES {
                file::remove(&pack.with_extension(extension))?;
            }
            fault::point("pack-forgotten")?;
        }
        Ok(())
    }

    /// Makes a pack of some objects, kept as the one before was.
    fn pack_again(&self, before: &Path, staying: &[Oid]) -> Result<()> {
        let lines: String = staying.iter().map(|oid| format!("{oid}\n")).collect();
        let begin = self.pack_folder().placed.join("pack");
        let begin = begin.to_string_lossy();
        // Limits of the user's would make several packs of it, and threads another one each time.
        let settings = ["-c", "pack.packSizeLimit=0", "-c", "pack.threads=1"];
        let arguments = ["--no-replace-objects", "pack-objects", "-q", begin.as_ref()];
        let arguments = [&settings[..], &arguments[..]].concat();
        let said = self.git_reading(&arguments, lines.as_bytes())?.checked(&arguments[5..])?;
        let kept = before.with_extension("keep");
        if let Ok(text) = std::fs::read(&kept) {
            for name in said.lines() {
                let keep = PathBuf::from(format!("{begin}-{}.keep", name.trim()));
                std::fs::write(&keep, &text).map_err(Error::io("write", &keep))?;
            }
        }
        Ok(())
    }
}

/// Lists what a tree, commit or tag names.
fn named_by(kind: &str, bytes: &[u8]) -> Vec<Oid> {
    match kind {
        "tree" => named_by_tree(bytes),
        _ => {
            let head = bytes.split(|byte| *byte == b'\n').take_while(|line| !line.is_empty());
            let named = head.filter_map(|line| {
                let words = ["tree ", "parent ", "object "];
                let oid = words.iter().find_map(|word| line.strip_prefix(word.as_bytes()))?;
                Oid::parse(std::str::from_utf8(oid).ok()?).ok()
            });
            named.collect()
        }
    }
}

/// Lists the entries of a tree, in either length of ids: what is no tree in one is none.
fn named_by_tree(bytes: &[u8]) -> Vec<Oid> {
    let entries = |n_bytes: usize| {
        let (mut rest, mut found) = (bytes, Vec::new());
        while !rest.is_empty() {
            let end = rest.iter().position(|byte| *byte == 0)?;
            let oid = rest.get(end + 1..end + 1 + n_bytes)?;
            found.push(Oid::from_bytes(oid).ok()?);
            rest = &rest[end + 1 + n_bytes..];
        }
        Some(found)
    };
    entries(20).or_else(|| entries(32)).unwrap_or_default()
}

fn remove_folder(path: &Path) -> Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(Error::io("remove", path)),
    }
}
