//! Refs that stand in a file of their own, as all do that move often.
//!
//! Reading one takes three calls to the system here and eight through gix, moving one eleven instead
//! of thirty-six: gix looks for packed refs first, makes folders that are there, and writes a line
//! of a reflog word by word. Whatever is not plain – a ref that is packed, symbolic, damaged, or
//! locked by somebody – is left to gix, which does everything as git does.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use agentic_model::{Oid, Signature};
use gix::refs::store::WriteReflog;

use super::Repository;
use super::reference::offset;
use crate::journal::BranchMove;
use crate::{Error, Result, fault};

/// The refs that all worktrees share, and that only name commits.
const PLAIN_PREFIXES: [&str; 3] = ["refs/heads/", "refs/notes/", "refs/agentic/"];
/// The refs whose logs begin by themselves, as git has it.
const LOGGED_PREFIXES: [&str; 2] = ["refs/heads/", "refs/notes/"];
/// What a ref with the longest id takes, and a byte that must not be there.
const CONTENT_BYTES_MAX: usize = 66;

/// Whether a ref was moved the short way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShortWay {
    /// It was.
    Moved,
    /// Nothing has happened; gix finds out how things are.
    Closed,
}

/// A lock of git on a ref; dropped before the ref is replaced by it, it is given back.
struct RefLock {
    path: PathBuf,
}

impl Drop for RefLock {
    fn drop(&mut self) {
        let _renamed_is_fine = fs::remove_file(&self.path);
    }
}

impl Repository {
    /// Reads a ref that stands plainly in a file of its own; nothing if it does not.
    pub(super) fn read_plain_ref(&self, name: &str) -> Option<Oid> {
        let n_bytes = self.inner.object_hash().len_in_bytes();
        let found = read_plain(&self.plain_path(name)?)?;
        // What is not the id of an object is damage, and gix says which.
        (found.as_bytes().len() == n_bytes && !found.is_null()).then_some(found)
    }

    /// Moves such a ref from where it is expected to be, and writes its reflog before.
    ///
    /// # Errors
    /// Fails when the disk does; the ref is then where it was.
    pub(super) fn move_plain_ref(
        &self,
        step: &BranchMove,
        who: &Signature,
        why: &str,
    ) -> Result<ShortWay> {
        let (Some(path), Some(old)) = (self.plain_path(&step.name), step.expect) else {
            return Ok(ShortWay::Closed);
        };
        let lock_path = path.with_added_extension("lock");
        let lock = OpenOptions::new().write(true).create_new(true).open(&lock_path);
        let Ok(mut file) = lock else { return Ok(ShortWay::Closed) };
        let lock = RefLock { path: lock_path };
        if old == step.new || read_plain(&path) != Some(old) {
            return Ok(ShortWay::Closed);
        }
        let content = format!("{}\n", step.new);
        file.write_all(content.as_bytes()).map_err(Error::io("write", &lock.path))?;
        drop(file);
        fault::point("ref-locked")?;
        self.log_move(step, old, who, why)?;
        fault::point("ref-logged")?;
        fs::rename(&lock.path, &path).map_err(Error::io("move", &path))?;
        // Its name may be another's lock by now.
        std::mem::forget(lock);
        Ok(ShortWay::Moved)
    }

    fn log_move(&self, step: &BranchMove, old: Oid, who: &Signature, why: &str) -> Result<()> {
        if self.inner.refs.write_reflog == WriteReflog::Disable {
            return Ok(());
        }
        let path = self.common_dir().join("logs").join(&step.name);
        let begins = self.inner.refs.write_reflog == WriteReflog::Always
            || LOGGED_PREFIXES.iter().any(|prefix| step.name.starts_with(prefix));
        let open = || OpenOptions::new().append(true).create(begins).open(&path);
        let file = match (open(), path.parent()) {
            (Err(error), Some(folder)) if begins && error.kind() == ErrorKind::NotFound => {
                fs::create_dir_all(folder).and_then(|()| open())
            }
            (Err(error), _) if !begins && error.kind() == ErrorKind::NotFound => return Ok(()),
            (file, _) => file,
        };
        let (person, zone) = (&who.person, offset(who.offset_minutes));
        let (name, email, seconds) = (&person.name, &person.email, who.at.seconds());
        let line = format!("{old} {} {name} <{email}> {seconds} {zone}\t{why}\n", step.new);
        // In one write, so that lines of several writers never mix.
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        written.map_err(Error::io("write", &path))
    }

    fn plain_path(&self, name: &str) -> Option<PathBuf> {
        let is_plain = PLAIN_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        let stays_inside = !name.split('/').any(|part| part.is_empty() || part.starts_with('.'));
        let is_whole = self.inner.refs.namespace.is_none();
        (is_plain && stays_inside && is_whole).then(|| self.common_dir().join(name))
    }
}

/// Reads a file that holds an id and the end of a line, and nothing else.
fn read_plain(path: &Path) -> Option<Oid> {
    let mut content = [0; CONTENT_BYTES_MAX];
    let n_read = File::open(path).ok()?.read(&mut content).ok()?;
    let hex = content[..n_read].strip_suffix(b"\n")?;
    Oid::parse(std::str::from_utf8(hex).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::RefMove;
    use crate::git::run_git_with_input;
    use agentic_model::{Instant, Person};

    /// A repository whose ref `name` names the first of two commits.
    struct Place {
        folder: tempfile::TempDir,
        repository: Repository,
        commits: [Oid; 2],
    }

    /// What happens to the ref before it is to be moved.
    type Change = Box<dyn Fn(&Place)>;

    const NAME: &str = "refs/heads/agents/alice";

    fn git(folder: &Path, arguments: &[&str], input: &str) -> String {
        let program = run_git_with_input(folder, arguments, input.as_bytes());
        program.and_then(|program| program.checked(arguments)).expect("git succeeds")
    }

    fn place() -> Place {
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
        Place { folder, repository, commits }
    }

    fn signature() -> Signature {
        let at = Instant::from_millis(1_700_000_000_000);
        Signature { person: Person::new("Ada", "ada@example.com"), at, offset_minutes: -90 }
    }

    impl Place {
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
            move |place: &Place| std::fs::write(place.file(name), &text).expect("writable")
        };
        let id = place().commits[0].to_string();
        let packed = |place: &Place| {
            git(place.folder.path(), &["pack-refs", "--all", "--prune"], "");
        };
        let cases: [(&str, Change); 7] = [
            ("packed", Box::new(packed)),
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
}
