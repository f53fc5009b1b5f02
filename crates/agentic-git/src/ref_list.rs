//! Lists of refs: those that stand in files of their own over those that are packed.
//!
//! Of 200,000 packed refs gix decodes, validates and copies each name, which takes 105 ms; here the file
//! is read as it stands, which takes a quarter of that.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use agentic_model::Oid;
use agentic_store::ground::{PACKED_REFS, RefName};
use agentic_store::{Error, Result};
use gix::refs::FullName;

use super::loose_ref::PlainRef;
use super::packed_line::{PEELED, first_line_from, line_at, name_of};
use super::{Repository, to_oid};

/// How long a file must have been as it is. Clocks of filesystems tick every two seconds at the slowest.
const SETTLED_AFTER_SECONDS: i64 = 4;

/// How often refs are listed at most while other programs pack them.
const LISTINGS_MAX: u64 = 40;
/// The longest pause between two of them.
const PAUSE_MILLIS_MAX: u64 = 20;

/// Tells files of packed refs from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedRefsMark([i64; 7]);

impl PackedRefsMark {
    /// Says whether the file is so old that another one would have another time.
    pub fn is_settled(&self) -> bool {
        let [.., changed, _] = self.0;
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.is_ok_and(|now| now.as_secs().cast_signed() >= changed + SETTLED_AFTER_SECONDS)
    }

    /// Returns it as numbers.
    pub fn numbers(&self) -> [i64; 7] {
        self.0
    }

    /// Makes it of numbers.
    pub fn of_numbers(numbers: [i64; 7]) -> PackedRefsMark {
        PackedRefsMark(numbers)
    }
}

/// What changes whenever a ref does. Two that are alike were taken of the same refs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefsMark([u8; 32]);

impl RefsMark {
    /// Returns it as bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

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

    /// Marks all refs, without reading those that are packed one by one.
    ///
    /// # Errors
    /// Fails when the refs cannot be read.
    pub fn refs_mark(&self) -> Result<RefsMark> {
        for attempt in 1..LISTINGS_MAX {
            let before = self.packed_refs_mark();
            let marked = self.mark_refs_once(before);
            if marked.is_ok() && self.packed_refs_mark() == before {
                return marked;
            }
            std::thread::sleep(Duration::from_millis(attempt.min(PAUSE_MILLIS_MAX)));
        }
        self.mark_refs_once(self.packed_refs_mark())
    }

    fn mark_refs_once(&self, packed: Option<PackedRefsMark>) -> Result<RefsMark> {
        let mut hasher = blake3::Hasher::new();
        for number in packed.iter().flat_map(PackedRefsMark::numbers) {
            hasher.update(&number.to_le_bytes());
        }
        if packed.is_some_and(|packed| !packed.is_settled()) {
            // Another file may have come in its place that has the same numbers.
            let path = self.common_dir().join(PACKED_REFS);
            hasher.update(&std::fs::read(&path).map_err(Error::io("read", &path))?);
        }
        for name in self.loose_ref_names("refs/")? {
            let content = std::fs::read(self.common_dir().join(&name)).unwrap_or_default();
            for part in [name.as_bytes(), content.as_slice()] {
                hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
            }
        }
        Ok(RefsMark(*hasher.finalize().as_bytes()))
    }

    /// Returns what changes whenever refs are packed; nothing where none are.
    pub fn packed_refs_mark(&self) -> Option<PackedRefsMark> {
        let found = std::fs::metadata(self.common_dir().join(PACKED_REFS)).ok()?;
        let (dev, ino) = (found.dev().cast_signed(), found.ino().cast_signed());
        let (modified, changed) =
            ([found.mtime(), found.mtime_nsec()], [found.ctime(), found.ctime_nsec()]);
        let length = found.len().cast_signed();
        let [at, nanos] = modified;
        Some(PackedRefsMark([dev, ino, length, at, nanos, changed[0], changed[1]]))
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
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::{run_git, run_git_with_input};

    /// A repository, and what git is asked in it.
    struct RefPlace {
        folder: tempfile::TempDir,
        repository: Repository,
    }

    impl RefPlace {
        fn new() -> RefPlace {
            let folder = tempfile::tempdir().expect("a temporary folder");
            run_git(folder.path(), &["init", "-q"]).expect("git works");
            let repository = Repository::open(folder.path()).expect("just made");
            RefPlace { folder, repository }
        }

        fn git(&self, arguments: &[&str], input: &str) -> String {
            let done = run_git_with_input(self.folder.path(), arguments, input.as_bytes());
            let done = done.and_then(|done| done.checked(arguments));
            done.expect("git works").trim().to_owned()
        }

        /// Makes two commits.
        fn commits(&self) -> [String; 2] {
            let tree = self.git(&["write-tree"], "");
            let who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
            let make = |message| [&who[..], &["commit-tree", "-m", message, &tree]].concat();
            ["one", "two"].map(|message| self.git(&make(message), ""))
        }

        /// Lists as this crate does, and as git does.
        fn both(&self, prefix: &str) -> [Vec<String>; 2] {
            let listed = self.repository.list_refs(prefix).expect("sound");
            let ours = listed.iter().map(|found| format!("{} {}", found.target, found.name));
            let format = "--format=%(objectname) %(symref)%(refname)";
            let said = self.git(&["for-each-ref", format, prefix], "");
            let is_direct = |line: &&str| line.matches("refs/").count() == 1;
            [ours.collect(), said.lines().filter(is_direct).map(str::to_owned).collect()]
        }
    }

    #[test]
    fn a_ref_with_the_name_of_a_folder_has_none_below_it() {
        let place = RefPlace::new();
        let [one, _] = place.commits();
        place.git(&["update-ref", "refs/heads/agents", &one], "");
        for prefix in ["refs/heads/agents/", "refs/heads/"] {
            let [ours, theirs] = place.both(prefix);
            assert_eq!(ours, theirs, "{prefix}");
        }
    }

    #[test]
    fn a_listing_is_the_one_of_git() {
        let place = RefPlace::new();
        let [one, two] = place.commits();
        let update = |lines: &str| drop(place.git(&["update-ref", "--stdin"], lines));
        let create = |names: &[&str], at: &str| {
            let lines = names.iter().map(|name| format!("update refs/{name} {at}\n"));
            update(&lines.collect::<String>());
        };
        create(&["heads/agents/a", "heads/agents/b/c", "heads/agents/b-d", "heads/main"], &one);
        create(&["notes/agentic/a", "notes/agentic/z", "notes/commits", "tags/plain"], &one);
        let tag = ["-c", "user.name=Ada", "-c", "user.email=a@b.c", "tag", "-am", "x"];
        for name in ["heads", "zero"] {
            // What a tag leads to has a line of its own among packed refs.
            place.git(&[&tag[..], &[name, &one]].concat(), "");
            let target = place.git(&["rev-parse", &format!("refs/tags/{name}")], "");
            update(&format!("create refs/agentic/of-{name} {target}\n"));
        }
        let prefixes = [
            "refs/heads/",
            "refs/heads/agents/",
            "refs/heads/agents/b/",
            "refs/notes/agentic/",
            "refs/notes/",
            "refs/agentic/",
            "refs/heads/nothing/",
            "refs/tags/",
            "refs/",
        ];
        let check = |when: &str| {
            for prefix in prefixes {
                let [ours, gits] = place.both(prefix);
                assert_eq!(ours, gits, "{prefix} {when}");
            }
        };
        check("loose");
        place.git(&["pack-refs", "--all"], "");
        check("packed");
        create(&["heads/agents/a", "heads/agents/b/d", "heads/agents/zz", "notes/agentic/z"], &two);
        place.git(&["symbolic-ref", "refs/heads/agents/b-d", "refs/heads/main"], "");
        check("packed, and moved since");
        let odd = place.folder.path().join(".git/refs/heads/agents");
        std::fs::write(odd.join("a..b"), format!("{one}\n")).expect("writable");
        std::fs::write(odd.join("x.lock"), "").expect("writable");
        assert_eq!(place.both("refs/heads/agents/")[0].len(), 4, "what is no name is left out");
    }

    #[test]
    fn damage_is_told_and_never_passed_over() {
        let place = RefPlace::new();
        let [one, _] = place.commits();
        let path = place.folder.path().join(".git").join(PACKED_REFS);
        let head = "# pack-refs with: peeled fully-peeled sorted\n";
        let name = "refs/heads/agents/a";
        let list = |lines: String| {
            std::fs::write(&path, format!("{head}{lines}")).expect("writable");
            let repository = Repository::open(place.folder.path()).expect("there");
            repository.list_refs("refs/heads/agents/").map(|found| found.len()).ok()
        };
        assert_eq!(list(format!("{one} {name}\n")), Some(1));
        assert_eq!(list(format!("{one} {name}")), Some(1), "the end of the line is missing");
        assert_eq!(list(format!("{one} refs/heads/agentz\n")), Some(0));
        for wrong in [
            format!("{} {name}\n", &one[1..]),
            format!("{one}{one} {name}\n"),
            format!("{} {name}\n", one.replace(&one[..1], "g")),
            format!("{one} {name}\n\n"),
            format!("{one} {name}\nnonsense\n"),
        ] {
            assert_eq!(list(wrong.clone()), None, "{wrong}");
        }
        std::fs::write(&path, head).expect("writable");
        let loose = place.folder.path().join(".git").join(name);
        std::fs::create_dir_all(loose.parent().expect("in a folder")).expect("writable");
        std::fs::write(&loose, "nonsense\n").expect("writable");
        assert!(place.repository.list_refs("refs/heads/agents/").is_err());
        std::fs::write(&path, format!("{head}{one} {name}\n{one} {name}-sound\n"))
            .expect("writable");
        let repository = Repository::open(place.folder.path()).expect("there");
        let take = |name: &str, _| Some(name.to_owned());
        let listed = repository.list_sound_refs_as("refs/heads/agents/", take).expect("readable");
        assert_eq!(
            listed.found,
            [format!("{name}-sound")],
            "what is packed does not stand in for it"
        );
        assert_eq!(listed.damaged.iter().map(|it| &it.name).collect::<Vec<_>>(), [name]);
    }

    #[test]
    fn a_mark_changes_with_every_ref_and_with_nothing_else() {
        let place = RefPlace::new();
        let [one, two] = place.commits();
        let mut marks = vec![place.repository.refs_mark().expect("sound")];
        let mut next = |arguments: &[&str]| {
            place.git(arguments, "");
            let mark = place.repository.refs_mark().expect("sound");
            assert_eq!(place.repository.refs_mark().expect("sound"), mark, "{arguments:?}");
            assert!(!marks.contains(&mark), "{arguments:?}");
            marks.push(mark);
        };
        next(&["update-ref", "refs/heads/agents/a", &one]);
        next(&["update-ref", "refs/heads/agents/a", &two]);
        next(&["update-ref", "refs/tags/b", &one]);
        next(&["pack-refs", "--all"]);
        next(&["update-ref", "refs/heads/agents/a", &one]);
        next(&["update-ref", "-d", "refs/tags/b"]);
        next(&["pack-refs", "--all"]);
    }

    /// How many refs there are, and how often they are made loose and packed again.
    const N_REFS: usize = 40;
    const N_ROUNDS: usize = 60;

    #[test]
    fn a_listing_has_every_ref_while_git_packs_them() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let git = |arguments: &[&str]| {
            let done = run_git(folder.path(), arguments).and_then(|done| done.checked(arguments));
            done.expect("git works").trim().to_owned()
        };
        git(&["init", "-q"]);
        let tree = git(&["write-tree"]);
        let who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
        let commits = ["one", "two"]
            .map(|message| git(&[&who[..], &["commit-tree", "-m", message, &tree]].concat()));
        let make_loose = |round: usize| {
            for number in 0..N_REFS {
                let path = folder.path().join(format!(".git/refs/heads/agents/{number}"));
                std::fs::create_dir_all(path.parent().expect("in a folder")).expect("writable");
                let fresh = folder.path().join(".git/fresh");
                std::fs::write(&fresh, format!("{}\n", commits[round % 2])).expect("writable");
                std::fs::rename(&fresh, &path).expect("writable");
            }
        };
        make_loose(0);
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0..N_ROUNDS {
                    git(&["pack-refs", "--all"]);
                    make_loose(round);
                }
                is_over.store(true, Ordering::Relaxed);
            });
            let repository = Repository::open(folder.path()).expect("just made");
            while !is_over.load(Ordering::Relaxed) {
                let listed = repository.list_refs("refs/heads/agents/").expect("sound");
                assert_eq!(listed.len(), N_REFS);
            }
        });
    }
}
