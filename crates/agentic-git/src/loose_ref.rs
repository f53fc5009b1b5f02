//! Refs that stand in a file of their own, as all do that move often.
//!
//! Reading one takes three calls to the system here and eight through gix, moving one eleven instead
//! of thirty-six: gix looks for packed refs first, makes folders that are there, and writes a line
//! of a reflog word by word. To make one, gix locks packed refs. Whatever is not plain – a ref that is
//! symbolic, damaged, or locked by somebody – is left to gix.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use agentic_model::{Oid, Signature};
use gix::refs::FullName;
use gix::refs::store::WriteReflog;

use super::zone::offset;
use super::{Repository, to_oid};
use agentic_store::journal::BranchMove;
use agentic_store::{Error, Result, fault};

/// The refs that all worktrees share, and that only name commits.
const PLAIN_PREFIXES: [&str; 4] = ["refs/heads/", "refs/notes/", "refs/agentic/", "refs/remotes/"];
/// The refs that can be checked out.
const BRANCH_PREFIX: &str = "refs/heads/";
/// The refs whose logs begin by themselves, as git has it.
const LOGGED_PREFIXES: [&str; 3] = ["refs/heads/", "refs/notes/", "refs/remotes/"];
/// What a ref with the longest id takes, and a byte that must not be there.
const CONTENT_BYTES_MAX: usize = 66;

/// How the file of a head begins that names a branch.
const SYMBOLIC: &str = "ref: ";
/// The longest head that is read here, in bytes: git's names fit in a path.
const HEAD_BYTES_MAX: u64 = 4096;

/// What the file of a ref says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlainRef {
    /// It names this object, and is plain.
    Names(Oid),
    /// There is no such file, so the ref is packed or does not exist.
    Absent,
    /// It is not plain, or is no ref that all worktrees share; gix finds out how things are.
    Other,
}

/// Whether a ref was moved the short way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShortWay {
    /// It was.
    Moved,
    /// Nothing has happened; gix finds out how things are.
    Closed,
}

/// A lock of git on a ref; dropped before the ref is replaced by it, it is given back.
pub(super) struct RefLock {
    pub path: PathBuf,
    pub is_held: bool,
}

impl Drop for RefLock {
    fn drop(&mut self) {
        if self.is_held {
            let _nothing_else_can_be_done = fs::remove_file(&self.path);
        }
    }
}

impl Repository {
    /// Reads the file of a ref.
    pub(super) fn read_plain_ref(&self, name: &str) -> PlainRef {
        let n_bytes = self.inner.object_hash().len_in_bytes();
        match self.plain_path(name).map(|path| read_plain(&path)) {
            // What is not the id of an object is damage, and gix says which.
            Some(PlainRef::Names(found)) if found.as_bytes().len() != n_bytes => PlainRef::Other,
            Some(PlainRef::Names(found)) if found.is_null() => PlainRef::Other,
            Some(found) => found,
            None => PlainRef::Other,
        }
    }

    /// Reads the name of the branch that the current worktree has checked out; nothing if that is not
    /// plain to see, as where the head is detached.
    pub(super) fn read_plain_head(&self) -> Option<String> {
        let file = File::open(self.git_dir().join("HEAD")).ok()?;
        let mut text = String::new();
        file.take(HEAD_BYTES_MAX).read_to_string(&mut text).ok()?;
        let name = text.strip_prefix(SYMBOLIC)?.strip_suffix('\n')?;
        let is_plain = self.plain_path(name).is_some() && name.starts_with(BRANCH_PREFIX);
        (is_plain && FullName::try_from(name).is_ok()).then(|| name.to_owned())
    }

    /// Reads a ref that has no file of its own; nothing if it is not packed either. Asked for such a
    /// ref, gix would look in five more places where a short name could stand.
    ///
    /// # Errors
    /// Fails when the file of packed refs is damaged.
    pub(super) fn find_packed_ref(&self, name: &str) -> Result<Option<Oid>> {
        let damaged = |error| Error::corrupt(format!("the ref `{name}`"), error);
        let Some(packed) = self.inner.refs.cached_packed_buffer().map_err(damaged)? else {
            return Ok(None);
        };
        let found = packed.try_find(name).map_err(damaged)?;
        Ok(found.map(|reference| to_oid(&reference.object())))
    }

    /// Moves such a ref from where it is expected to be, or makes it where there is none, and writes its reflog
    /// before. Like git, and unlike gix, it never takes the lock of packed refs for that: who is killed leaves the
    /// lock of this one ref alone.
    ///
    /// # Errors
    /// Fails when the disk does; the ref is then where it was.
    pub(super) fn move_plain_ref(
        &self,
        step: &BranchMove,
        who: &Signature,
        why: &str,
    ) -> Result<ShortWay> {
        let Some(path) = self.plain_path(&step.name) else { return Ok(ShortWay::Closed) };
        if step.expect.is_none() && !self.can_be_made(&step.name)? {
            return Ok(ShortWay::Closed);
        }
        let lock_path = path.with_added_extension("lock");
        let open = || OpenOptions::new().write(true).create_new(true).open(&lock_path);
        let is_as_expected = || Ok::<_, Error>(self.find_packed_ref(&step.name)? == step.expect);
        let opened = match (open(), path.parent()) {
            // The folder of a ref that is packed may be gone, and that of a new one be missing.
            (Err(error), Some(folder))
                if error.kind() == ErrorKind::NotFound && is_as_expected()? =>
            {
                fs::create_dir_all(folder).and_then(|()| open())
            }
            (opened, _) => opened,
        };
        let Ok(mut file) = opened else { return Ok(ShortWay::Closed) };
        let mut lock = RefLock { path: lock_path, is_held: true };
        let is_there = match read_plain(&path) {
            PlainRef::Names(found) => Some(found) == step.expect,
            // A file of its own hides what is packed, and nobody packs or deletes a ref that is locked.
            PlainRef::Absent => is_as_expected()?,
            PlainRef::Other => false,
        };
        if step.expect == Some(step.new) || !is_there {
            return Ok(ShortWay::Closed);
        }
        let Ok(log) = self.open_log(&step.name) else { return Ok(ShortWay::Closed) };
        let content = format!("{}\n", step.new);
        file.write_all(content.as_bytes()).map_err(Error::io("write", &lock.path))?;
        drop(file);
        fault::point_under_lock("ref-locked")?;
        if let Some(mut log) = log {
            let old = step.expect.unwrap_or(to_oid(&self.inner.object_hash().null()));
            let line = log_line(old, step.new, who, why);
            // In one write, so that lines of several writers never mix.
            log.write_all(line.as_bytes()).map_err(Error::io("log the move of", &path))?;
        }
        fault::point_under_lock("ref-logged")?;
        fs::rename(&lock.path, &path).map_err(Error::io("move", &path))?;
        // Its name may be another's lock by now.
        lock.is_held = false;
        Ok(ShortWay::Moved)
    }

    /// Tells whether git allows a new ref of this name, and has no packed one where it or its folders would be.
    fn can_be_made(&self, name: &str) -> Result<bool> {
        Ok(FullName::try_from(name).is_ok() && self.packed_in_the_way(name)?.is_none())
    }

    /// Opens the reflog of a ref; nothing if there is none and none begins by itself.
    fn open_log(&self, name: &str) -> std::io::Result<Option<File>> {
        let begins = match self.inner.refs.write_reflog {
            WriteReflog::Disable => return Ok(None),
            WriteReflog::Always => true,
            WriteReflog::Normal => LOGGED_PREFIXES.iter().any(|prefix| name.starts_with(prefix)),
        };
        let path = self.common_dir().join("logs").join(name);
        let open = || OpenOptions::new().append(true).create(begins).open(&path);
        match (open(), path.parent()) {
            (Err(error), Some(folder)) if begins && error.kind() == ErrorKind::NotFound => {
                fs::create_dir_all(folder).and_then(|()| open()).map(Some)
            }
            (Err(error), _) if !begins && error.kind() == ErrorKind::NotFound => Ok(None),
            (file, _) => file.map(Some),
        }
    }

    /// Says whether a prefix is a folder of plain refs.
    pub(super) fn is_plain_folder(&self, prefix: &str) -> bool {
        let is_whole = self.inner.refs.namespace.is_none();
        let is_plain = PLAIN_PREFIXES.iter().any(|plain| prefix.starts_with(plain));
        is_whole && is_plain && prefix.ends_with('/')
    }

    pub(super) fn plain_path(&self, name: &str) -> Option<PathBuf> {
        let is_plain = PLAIN_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        let stays_inside = !name.split('/').any(|part| part.is_empty() || part.starts_with('.'));
        let is_whole = self.inner.refs.namespace.is_none();
        (is_plain && stays_inside && is_whole).then(|| self.common_dir().join(name))
    }
}

/// Writes a line of a reflog as git does.
fn log_line(old: Oid, new: Oid, who: &Signature, why: &str) -> String {
    let (name, email) = (&who.person.name, &who.person.email);
    let (seconds, zone) = (who.at.seconds(), offset(who.offset_minutes));
    format!("{old} {new} {name} <{email}> {seconds} {zone}\t{why}\n")
}

/// Reads a file that holds an id and the end of a line, and nothing else.
fn read_plain(path: &Path) -> PlainRef {
    let mut content = [0; CONTENT_BYTES_MAX];
    let n_read = match File::open(path).and_then(|mut file| file.read(&mut content)) {
        Ok(n_read) => n_read,
        Err(error) if error.kind() == ErrorKind::NotFound => return PlainRef::Absent,
        Err(_) => return PlainRef::Other,
    };
    let hex = content[..n_read].strip_suffix(b"\n").map(std::str::from_utf8);
    let Some(Ok(hex)) = hex else { return PlainRef::Other };
    Oid::parse(hex).map_or(PlainRef::Other, PlainRef::Names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RefMove;
    use crate::{run_git, run_git_with_input};
    use agentic_model::{Instant, Person};

    /// A repository whose ref `name` names the first of two commits.
    struct LooseRefPlace {
        folder: tempfile::TempDir,
        repository: Repository,
        commits: [Oid; 2],
    }

    /// What happens to the ref before it is to be moved.
    type Change = Box<dyn Fn(&LooseRefPlace)>;

    const NAME: &str = "refs/heads/agents/alice";

    fn git(folder: &Path, arguments: &[&str], input: &str) -> String {
        let program = run_git_with_input(folder, arguments, input.as_bytes());
        program.and_then(|program| program.checked(arguments)).expect("git succeeds")
    }

    fn place() -> LooseRefPlace {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path();
        git(path, &["init", "--quiet"], "");
        let tree = git(path, &["hash-object", "-w", "-t", "tree", "--stdin"], "");
        let person = "A <a@example.com> 1700000000 +0000";
        let commit = |message: &str| {
            let text = format!("tree {tree}author {person}\ncommitter {person}\n\n{message}\n");
            let oid = git(path, &["hash-object", "-w", "-t", "commit", "--stdin"], &text);
            Oid::parse(oid.trim()).expect("an id")
        };
        let commits = [commit("one"), commit("two")];
        git(path, &["update-ref", NAME, &commits[0].to_string()], "");
        let repository = Repository::open(path).expect("just made");
        LooseRefPlace { folder, repository, commits }
    }

    fn signature() -> Signature {
        let at = Instant::from_millis(1_700_000_000_000);
        Signature { person: Person::new("Ada", "ada@example.com"), at, offset_minutes: -90 }
    }

    impl LooseRefPlace {
        fn file(&self, name: &str) -> PathBuf {
            self.folder.path().join(".git").join(name)
        }

        fn step(&self) -> BranchMove {
            let [expect, new] = self.commits;
            BranchMove { name: NAME.to_owned(), expect: Some(expect), new }
        }

        fn short_way(&self) -> ShortWay {
            let moved = self.repository.move_plain_ref(&self.step(), &signature(), "why");
            moved.expect("the disk has room")
        }
    }

    #[test]
    fn a_plain_ref_is_moved_as_git_would_and_logged() {
        let place = place();
        assert_eq!(place.short_way(), ShortWay::Moved);
        let said = git(place.folder.path(), &["for-each-ref", "--format=%(objectname)", NAME], "");
        assert_eq!(said.trim(), place.commits[1].to_string());
        let format = "--format=%H %gn <%ge> %gs %gd";
        let logged =
            git(place.folder.path(), &["log", "-g", "-1", "--date=iso", format, NAME, "--"], "");
        let when = "agents/alice@{2023-11-14 20:43:20 -0130}";
        let expected = format!("{} Ada <ada@example.com> why {when}", place.commits[1]);
        assert_eq!(logged.trim(), expected);
        assert!(!place.file(&format!("{NAME}.lock")).exists());
    }

    #[test]
    fn whatever_is_not_plain_is_left_as_it_is() {
        let write = |name: &'static str, text: String| {
            move |place: &LooseRefPlace| std::fs::write(place.file(name), &text).expect("writable")
        };
        let id = place().commits[0].to_string();
        let log_is_a_folder = |place: &LooseRefPlace| {
            let log = place.file(&format!("logs/{NAME}"));
            std::fs::remove_file(&log).expect("it was logged");
            std::fs::create_dir(&log).expect("writable");
        };
        let cases: [(&str, Change); 7] = [
            ("with a folder in place of its log", Box::new(log_is_a_folder)),
            ("symbolic", Box::new(write(NAME, "ref: refs/heads/other\n".to_owned()))),
            ("without an end of line", Box::new(write(NAME, id.clone()))),
            ("with more behind it", Box::new(write(NAME, format!("{id}\nmore\n")))),
            ("empty", Box::new(write(NAME, String::new()))),
            ("of nothing", Box::new(write(NAME, format!("{}\n", "0".repeat(40))))),
            ("elsewhere", Box::new(write(NAME, format!("{}\n", place().commits[1])))),
        ];
        for (what, prepare) in cases {
            let place = place();
            prepare(&place);
            let before = std::fs::read(place.file(NAME)).ok();
            assert_eq!(place.short_way(), ShortWay::Closed, "{what}");
            assert_eq!(std::fs::read(place.file(NAME)).ok(), before, "{what}");
            assert!(!place.file(&format!("{NAME}.lock")).exists(), "{what}");
        }
    }

    #[test]
    fn a_packed_ref_gets_a_file_of_its_own() {
        let place = place();
        git(place.folder.path(), &["pack-refs", "--all", "--prune"], "");
        assert!(!place.file(NAME).exists());
        // Who packs holds this one; it is not asked for.
        std::fs::write(place.file("packed-refs.lock"), "").expect("writable");
        assert_eq!(place.short_way(), ShortWay::Moved);
        let moved = std::fs::read_to_string(place.file(NAME)).expect("it was made");
        assert_eq!(moved, format!("{}\n", place.commits[1]));
        assert!(!place.file(&format!("{NAME}.lock")).exists());
    }

    #[test]
    fn the_branch_that_is_checked_out_is_the_one_that_git_names() {
        let place = place();
        let (id, long) = (place.commits[0], "x".repeat(5000));
        let cases = [
            ("ref: refs/heads/main\n".to_owned(), true),
            ("ref: refs/heads/agents/alice\n".to_owned(), true),
            ("ref: refs/heads/not/born\n".to_owned(), true),
            ("ref: refs/heads/main".to_owned(), false),
            ("ref: refs/heads/main\n\n".to_owned(), false),
            ("ref:   refs/heads/main\n".to_owned(), false),
            ("ref: refs/tags/one\n".to_owned(), false),
            (format!("{id}\n"), false),
            ("ref: refs/heads/a..b\n".to_owned(), false),
            ("ref: refs/heads/../a\n".to_owned(), false),
            (format!("ref: refs/heads/{long}\n"), false),
            ("nonsense\n".to_owned(), false),
            (String::new(), false),
        ];
        for (head, is_plain) in cases {
            std::fs::write(place.file("HEAD"), &head).expect("writable");
            assert_eq!(place.repository.read_plain_head().is_some(), is_plain, "{head}");
            let said = run_git(place.folder.path(), &["symbolic-ref", "--quiet", "HEAD"]);
            let said = said.and_then(|program| program.checked(&[])).ok();
            let found = place.repository.current_branch();
            assert_eq!(found.as_deref(), said.as_deref().map(str::trim), "{head}");
        }
    }

    #[test]
    fn a_log_begins_or_is_left_out_as_the_configuration_says() {
        for (value, is_logged) in [("true", true), ("always", true), ("false", false)] {
            let mut place = place();
            let _made_without_one = std::fs::remove_dir_all(place.file("logs"));
            git(place.folder.path(), &["config", "core.logAllRefUpdates", value], "");
            place.repository = Repository::open(place.folder.path()).expect("there");
            assert_eq!(place.short_way(), ShortWay::Moved, "{value}");
            assert_eq!(place.file(&format!("logs/{NAME}")).exists(), is_logged, "{value}");
        }
    }

    #[test]
    fn a_lock_of_somebody_else_is_left_alone() {
        let place = place();
        let lock = place.file(&format!("{NAME}.lock"));
        std::fs::write(&lock, "theirs").expect("writable");
        assert_eq!(place.short_way(), ShortWay::Closed);
        assert_eq!(std::fs::read(&lock).expect("still there"), b"theirs");
    }

    #[test]
    fn a_packed_ref_is_moved_all_the_same() {
        let place = place();
        git(place.folder.path(), &["pack-refs", "--all", "--prune"], "");
        assert_eq!(place.repository.find_ref(NAME).expect("readable"), Some(place.commits[0]));
        let moved = place.repository.move_ref(&place.step(), &signature(), "why");
        assert_eq!(moved.expect("the disk has room"), RefMove::Moved);
        assert_eq!(place.repository.find_ref(NAME).expect("readable"), Some(place.commits[1]));
    }

    #[test]
    fn a_new_ref_is_made_and_logged_as_git_would_beside_a_lock_of_packed_refs() {
        let place = place();
        git(place.folder.path(), &["pack-refs", "--all", "--prune"], "");
        std::fs::write(place.file("packed-refs.lock"), "theirs").expect("writable");
        for name in ["refs/heads/agents/bob", "refs/notes/agentic/deep/bob"] {
            let step = BranchMove { name: name.to_owned(), expect: None, new: place.commits[0] };
            let made = place.repository.move_ref(&step, &signature(), "why");
            assert_eq!(made.expect("the disk has room"), RefMove::Moved, "{name}");
            let arguments = ["log", "-g", "--format=%H %gs", name, "--"];
            let logged = git(place.folder.path(), &arguments, "");
            assert_eq!(logged.trim(), format!("{} why", place.commits[0]), "{name}");
            let log = std::fs::read_to_string(place.file(&format!("logs/{name}")));
            assert!(log.expect("it begins").starts_with(&"0".repeat(40)), "{name}");
            let again = place.repository.move_ref(&step, &signature(), "why");
            assert_eq!(again.expect("readable"), RefMove::Lost { found: Some(step.new) }, "{name}");
        }
        let lock = std::fs::read_to_string(place.file("packed-refs.lock"));
        assert_eq!(lock.expect("still there"), "theirs");
    }

    #[test]
    fn no_new_ref_is_made_where_another_stands_above_or_below_it_or_git_would_not_take_its_name() {
        for pack in [false, true] {
            let place = place();
            if pack {
                git(place.folder.path(), &["pack-refs", "--all", "--prune"], "");
            }
            let above = format!("{NAME}/deep");
            for name in [NAME, "refs/heads/agents", &above, "refs/heads/a..b", "refs/heads/a.lock"]
            {
                let step =
                    BranchMove { name: name.to_owned(), expect: None, new: place.commits[1] };
                let made = place.repository.move_plain_ref(&step, &signature(), "why");
                assert_eq!(made.expect("readable"), ShortWay::Closed, "{name}, {pack}");
                assert!(!place.file(&format!("{name}.lock")).exists(), "{name}, {pack}");
            }
            let found = place.repository.find_ref(NAME).expect("readable");
            assert_eq!(found, Some(place.commits[0]));
        }
    }

    #[test]
    fn what_has_no_file_is_looked_for_among_packed_refs_only() {
        let place = place();
        let find = |name: &str| place.repository.find_ref(name).expect("readable");
        let absent = "refs/heads/agents/bob";
        std::fs::create_dir_all(place.file("tags/refs/heads/agents")).expect("writable");
        let id = format!("{}\n", place.commits[0]);
        std::fs::write(place.file(&format!("tags/{absent}")), id).expect("writable");
        assert_eq!(find(absent), None, "no short name is tried");
        for commit in place.commits {
            git(place.folder.path(), &["update-ref", NAME, &commit.to_string()], "");
            git(place.folder.path(), &["pack-refs", "--all", "--prune"], "");
            assert!(!place.file(NAME).exists());
            assert_eq!(find(NAME), Some(commit));
            assert_eq!(find(absent), None);
        }
        std::fs::write(place.file("packed-refs"), format!("nonsense {NAME}\n")).expect("writable");
        assert!(place.repository.find_ref(NAME).is_err());
    }
}
