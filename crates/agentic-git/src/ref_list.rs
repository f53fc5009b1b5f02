//! Lists of refs: those that stand in files of their own over those that are packed.
//!
//! Of 200,000 packed refs gix decodes, validates and copies each name, which takes 105 ms; here the file
//! is read as it stands, which takes a quarter of that.

mod mark;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::time::Duration;

use agentic_model::Oid;
use agentic_store::ground::RefName;
use agentic_store::{Error, Result};
use gix::refs::FullName;

pub use self::mark::{PackedRefsMark, RefsMark};
use super::loose_ref::PlainRef;
use super::packed_line::{PEELED, first_line_from, line_at, name_of};
use super::{Repository, to_oid};

/// How often refs are listed at most while other programs pack them.
const LISTINGS_MAX: u64 = 40;
/// The longest pause between two of them.
const PAUSE_MILLIS_MAX: u64 = 20;

/// What was found of refs of which some are damaged.
#[derive(Debug)]
pub struct SoundRefs<T> {
    /// What was made of those that can be read, in the order of their names.
    pub found: Vec<T>,
    /// Those that cannot be.
    pub damaged: Vec<DamagedRef>,
}

/// A ref that stands in a file of its own and cannot be read.
#[derive(Debug)]
pub struct DamagedRef {
    /// Its full name.
    pub name: String,
    /// Why it cannot be read.
    pub why: Error,
}

/// What is damaged in a listing of refs.
#[derive(Debug, Default, PartialEq, Eq)]
struct ListingDamage {
    /// The refs that cannot be read, with what stands in their files.
    refs: Vec<(String, Option<Vec<u8>>)>,
    /// Why nothing is listed.
    failure: Option<String>,
}

impl Repository {
    /// Lists the refs whose full names begin with `prefix`, in order.
    ///
    /// # Errors
    /// Fails when the refs cannot be read, or one of them is damaged.
    pub fn list_refs(&self, prefix: &str) -> Result<Vec<RefName>> {
        self.list_refs_as(prefix, |name, target| Some(RefName { name: name.to_owned(), target }))
    }

    /// Lists what is made of the refs whose full names begin with `prefix`, in their order. What was made
    /// may be thrown away and made again.
    ///
    /// # Errors
    /// Fails when the refs cannot be read, or one of them is damaged.
    pub fn list_refs_as<T>(
        &self,
        prefix: &str,
        make: impl FnMut(&str, Oid) -> Option<T>,
    ) -> Result<Vec<T>> {
        let SoundRefs { found, damaged } = self.list_sound_refs_as(prefix, make)?;
        match damaged.into_iter().next() {
            Some(DamagedRef { why, .. }) => Err(why),
            None => Ok(found),
        }
    }

    /// Does the same with those refs that can be read, and names the others. Of packed refs one damaged line
    /// damages all, as it does for git.
    ///
    /// # Errors
    /// Fails when the packed refs cannot be read.
    pub fn list_sound_refs_as<T>(
        &self,
        prefix: &str,
        mut make: impl FnMut(&str, Oid) -> Option<T>,
    ) -> Result<SoundRefs<T>> {
        let mut state_before = None;
        for attempt in 1..LISTINGS_MAX {
            // A git that packs refs takes them from the one place to the other: who looks into the
            // first too late and into the second too early sees them in neither, or half gone.
            let before = self.packed_refs_mark();
            let listed = self.list_refs_once(prefix, &mut make);
            let is_still = self.packed_refs_mark() == before;
            let state = is_still.then(|| self.damage_in(&listed));
            let is_sound = state == Some(ListingDamage::default());
            // What is packed just now is gone at the next look; what is damaged stands as it stood.
            if is_sound || state.is_some() && state == state_before {
                return listed;
            }
            state_before = state;
            // It takes away one file after the other, which a slow disk takes its time for.
            std::thread::sleep(Duration::from_millis(attempt.min(PAUSE_MILLIS_MAX)));
        }
        self.list_refs_once(prefix, &mut make)
    }

    /// Lists the refs below a prefix that stand in files of their own, whether or not they are packed too.
    ///
    /// # Errors
    /// Fails when a folder cannot be read.
    pub fn loose_ref_names(&self, prefix: &str) -> Result<Vec<String>> {
        let mut names = Vec::new();
        let mut folders = vec![prefix.trim_end_matches('/').to_owned()];
        while let Some(folder) = folders.pop() {
            let path = self.common_dir().join(&folder);
            let entries = match std::fs::read_dir(&path) {
                Ok(entries) => entries,
                // Git removes empty folders when it packs; and a ref may have the name of the folder.
                Err(error)
                    if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
                {
                    continue;
                }
                Err(error) => return Err(Error::io("list", &path)(error)),
            };
            for entry in entries {
                let entry = entry.map_err(Error::io("list", &path))?;
                let Ok(name) = entry.file_name().into_string() else { continue };
                let name = format!("{folder}/{name}");
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(name),
                    Ok(_) if name.ends_with(".lock") => {}
                    Ok(_) => names.push(name),
                    // It was packed a moment ago.
                    Err(_) => {}
                }
            }
        }
        names.sort();
        Ok(names)
    }

    fn list_refs_once<T>(
        &self,
        prefix: &str,
        make: &mut impl FnMut(&str, Oid) -> Option<T>,
    ) -> Result<SoundRefs<T>> {
        let mut damaged = Vec::new();
        if !self.is_plain_folder(prefix) {
            let others = self.list_other_refs(prefix)?.into_iter();
            let found = others.filter_map(|found| make(&found.name, found.target)).collect();
            return Ok(SoundRefs { found, damaged });
        }
        let mut loose: BTreeMap<String, Oid> = BTreeMap::new();
        let mut hidden = Vec::new();
        for name in self.loose_ref_names(prefix)? {
            if FullName::try_from(name.as_str()).is_err() {
                continue;
            }
            match self.read_plain_ref(&name) {
                PlainRef::Names(oid) => drop(loose.insert(name, oid)),
                // It was packed a moment ago.
                PlainRef::Absent => {}
                PlainRef::Other => match self.read_other_ref(&name) {
                    Ok(Some(oid)) => drop(loose.insert(name, oid)),
                    Ok(None) => hidden.push(name),
                    // What was packed of it is older, and does not count.
                    Err(why) => {
                        hidden.push(name.clone());
                        damaged.push(DamagedRef { name, why });
                    }
                },
            }
        }
        let mut loose = loose.into_iter().peekable();
        let mut found = Vec::new();
        self.visit_packed(prefix, |name, target| {
            while let Some((before, target)) = loose.next_if(|(loose, _)| loose.as_str() < name) {
                found.extend(make(&before, target));
            }
            let is_covered = loose.peek().is_some_and(|(loose, _)| loose == name)
                || hidden.iter().any(|hidden| hidden == name);
            if !is_covered {
                found.extend(make(name, target));
            }
        })?;
        found.extend(loose.filter_map(|(name, target)| make(&name, target)));
        Ok(SoundRefs { found, damaged })
    }

    /// Returns what is damaged in a listing, with what stands in the files of its refs.
    fn damage_in<T>(&self, listed: &Result<SoundRefs<T>>) -> ListingDamage {
        match listed {
            Ok(listed) => {
                let with_bytes = |found: &DamagedRef| {
                    let bytes = std::fs::read(self.common_dir().join(&found.name));
                    (found.name.clone(), bytes.ok())
                };
                ListingDamage {
                    refs: listed.damaged.iter().map(with_bytes).collect(),
                    failure: None,
                }
            }
            Err(why) => ListingDamage { refs: Vec::new(), failure: Some(why.to_string()) },
        }
    }

    /// Reads a ref in a file of its own that is not plain; nothing where it names another ref.
    fn read_other_ref(&self, name: &str) -> Result<Option<Oid>> {
        let damaged = |error| Error::corrupt(format!("the ref `{name}`"), error);
        let found = self.inner.try_find_reference(name).map_err(damaged)?;
        Ok(found.and_then(|found| found.try_id().map(|id| to_oid(&id))))
    }

    /// Visits the packed refs below a prefix, in order.
    fn visit_packed(&self, prefix: &str, mut visit: impl FnMut(&str, Oid)) -> Result<()> {
        let what = || format!("the packed refs below `{prefix}`");
        let packed = self.inner.refs.cached_packed_buffer();
        let packed = packed.map_err(|error| Error::corrupt(what(), error))?;
        let Some(packed) = packed else { return Ok(()) };
        let lines = (*packed).as_ref();
        let n_digits = 2 * self.inner.object_hash().len_in_bytes();
        let mut at = first_line_from(lines, prefix.as_bytes());
        while at < lines.len() {
            let line = line_at(lines, at);
            at += line.len() + 1;
            if line.starts_with(PEELED) {
                continue;
            }
            let name = name_of(line);
            if !name.starts_with(prefix.as_bytes()) && !line.is_empty() && name > prefix.as_bytes()
            {
                break;
            }
            let read = || {
                let digits = std::str::from_utf8(line.get(..n_digits)?).ok()?;
                let name = std::str::from_utf8(line.get(n_digits..)?.strip_prefix(b" ")?).ok()?;
                (!name.is_empty()).then_some((name, Oid::parse(digits).ok()?))
            };
            let (name, oid) = read().ok_or_else(|| Error::corrupt(what(), "a line is no ref"))?;
            visit(name, oid);
        }
        Ok(())
    }

    /// Lists refs with all that git knows of besides: those of one worktree, namespaces.
    fn list_other_refs(&self, prefix: &str) -> Result<Vec<RefName>> {
        let platform = self.inner.references().map_err(Error::git("list refs"))?;
        let mut found = Vec::new();
        for reference in platform.prefixed(prefix).map_err(Error::git("list refs"))? {
            let damaged = |error: Box<dyn std::error::Error + Send + Sync>| {
                Error::corrupt(format!("a ref below `{prefix}`"), error)
            };
            let reference = reference.map_err(|error| damaged(error.into()))?;
            let Some(id) = reference.try_id() else { continue };
            let name = reference.name().as_bstr().to_string();
            found.push(RefName { name, target: to_oid(&id) });
        }
        found.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
