//! Objects that came from elsewhere and are not believed yet.
//!
//! They stand in a folder of their own, below a git directory that borrows the objects of the
//! repository. So both are read together, and replacements, grafts and refs of the repository count for
//! nothing. What is believed is moved over whole; the rest goes with the folder.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use agentic_model::Oid;

use super::Repository;
use super::command::GitEnd;
use super::database::in_folder;
use agentic_store::file::unique_number;
use agentic_store::{Error, Result};

/// The folder below `agentic/` in which quarantines stand.
const FOLDER: &str = "quarantine";
/// The file that is locked as long as somebody wants a quarantine.
const WANTED: &str = "wanted";
/// How many bytes a unit of `ulimit -f` has.
const LIMIT_UNIT_BYTES: u64 = 512;
/// Runs a program that may write no file longer than so many units.
const LIMITED: &str = r#"ulimit -f "$1"; shift; exec git "$@""#;
/// What git is told so that it does nothing but download, and checks what it gets.
const SETTINGS: [&str; 8] = [
    "core.hooksPath=/dev/null",
    "fetch.fsckObjects=true",
    "fetch.unpackLimit=1",
    "fetch.prune=false",
    "fetch.writeCommitGraph=false",
    "fetch.recurseSubmodules=no",
    // What is borrowed has the refs that git looks at anyway. Listing none of them takes a smaller program than git.
    "core.alternateRefsCommand=true",
    "gc.auto=0",
];
/// What lets git download objects that it calls malformed.
const UNCHECKED: &str = "fetch.fsckObjects=false";
/// The endings of the files of a pack, the one last by which it is found.
const PACK_FILES: [&str; 3] = ["pack", "rev", "idx"];

/// A place for objects that are not believed yet; it goes when dropped.
pub struct Quarantine {
    folder: PathBuf,
    repository: Repository,
    /// Locked as long as it is wanted.
    _wanted: File,
}

/// A ref that is downloaded.
#[derive(Debug, Clone, Copy)]
pub struct DownloadSource<'a> {
    /// A remote, its address, or a bundle.
    pub at: &'a str,
    /// The ref there.
    pub name: &'a str,
}

/// Refs that are looked at together, and not to be kept.
#[derive(Debug, Clone, Copy)]
pub struct GlimpsedRefs<'a> {
    /// A remote, its address, or a bundle.
    pub at: &'a str,
    /// The refs there.
    pub names: &'a [&'a str],
    /// How much of them is downloaded.
    pub depth: GlimpseDepth,
}

/// How much is downloaded of what is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GlimpseDepth {
    /// Their commits alone, with their trees.
    Tips,
    /// Everything that they reach.
    Whole,
}

impl Quarantine {
    /// Makes a quarantine, and removes those of processes that died.
    ///
    /// # Errors
    /// Fails when nothing can be written here.
    pub fn make(own: &Repository) -> Result<Quarantine> {
        let above = own.layout().root().join(FOLDER);
        fs::create_dir_all(&above).map_err(Error::io("create", &above))?;
        remove_unwanted(&above)?;
        let folder = above.join(format!("{}-{}", std::process::id(), unique_number()));
        let objects = folder.join("objects");
        let info = objects.join("info");
        fs::create_dir_all(&info).map_err(Error::io("create", &info))?;
        let wanted = wanted(&folder)?;
        for inner in ["refs", "objects/pack"] {
            let inner = folder.join(inner);
            fs::create_dir_all(&inner).map_err(Error::io("create", &inner))?;
        }
        let write = |name: &str, text: String| {
            let path = folder.join(name);
            fs::write(&path, text).map_err(Error::io("write", &path))
        };
        let borrowed = own.common_dir().join("objects");
        let borrowed = borrowed.canonicalize().map_err(Error::io("read", &borrowed))?;
        write("objects/info/alternates", format!("{}\n", borrowed.display()))?;
        let version = match own.empty_tree().as_bytes().len() {
            32 => "\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n",
            _ => "\trepositoryformatversion = 0\n",
        };
        write("config", format!("[core]\n\tbare = true\n{version}"))?;
        write("HEAD", "ref: refs/heads/main\n".to_owned())?;
        let repository = Repository::open(&folder)?;
        Ok(Quarantine { folder, repository, _wanted: wanted })
    }

    /// Removes the quarantines of processes that died.
    ///
    /// # Errors
    /// Fails when one cannot be removed.
    pub fn sweep(own: &Repository) -> Result<()> {
        let above = own.layout().root().join(FOLDER);
        match above.is_dir() {
            true => remove_unwanted(&above),
            false => Ok(()),
        }
    }

    /// Returns a view of the objects in quarantine and of those of the repository.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Downloads a ref of a remote, or of a bundle, with everything that it reaches. No ref moves. One file
    /// of more than so many bytes ends it.
    ///
    /// # Errors
    /// Fails when git cannot be started; how it ended is in the value.
    pub fn download(
        &self,
        own: &Repository,
        source: &DownloadSource<'_>,
        bytes_max: u64,
    ) -> Result<GitEnd> {
        self.download_with(own, source, bytes_max, &[])
    }

    /// Downloads likewise what git would refuse to keep, so that it can be looked at. Nothing of it may be
    /// moved to the repository.
    ///
    /// # Errors
    /// Fails as [`Quarantine::download`] does.
    pub fn download_to_look_at(
        &self,
        own: &Repository,
        source: &DownloadSource<'_>,
        bytes_max: u64,
    ) -> Result<GitEnd> {
        self.download_with(own, source, bytes_max, &["-c", UNCHECKED])
    }

    /// Downloads refs to look at them. What their commits reach may be missing then, so that nothing of this may be
    /// moved to the repository. One file of more than so many bytes ends it.
    ///
    /// # Errors
    /// Fails as [`Quarantine::download`] does.
    pub fn glimpse(
        &self,
        own: &Repository,
        source: &GlimpsedRefs<'_>,
        bytes_max: u64,
    ) -> Result<GitEnd> {
        // Where a history is cut off stands in the git directory: that must not be the repository's own. How remotes
        // are reached is in its configuration all the same.
        let config = own.common_dir().join("config");
        let config = config.canonicalize().map_err(Error::io("read", &config))?;
        let included = format!("include.path={}", config.display());
        let environment = vec![("GIT_DIR".to_owned(), self.folder.clone().into())];
        let further: &[&str] = match source.depth {
            GlimpseDepth::Tips => &["--depth=1"],
            GlimpseDepth::Whole => &[],
        };
        let (included, settings): (&[&str], &[&str]) = (&["-c", &included], &[]);
        let (at, names) = (source.at, source.names);
        let fetched = FetchedRefs { included, settings, further, at, names, bytes_max };
        fetch(own, &fetched, environment)
    }

    fn download_with(
        &self,
        own: &Repository,
        source: &DownloadSource<'_>,
        bytes_max: u64,
        further: &[&str],
    ) -> Result<GitEnd> {
        let objects = self.folder.join("objects");
        let borrowed = own.common_dir().join("objects");
        let borrowed = borrowed.canonicalize().map_err(Error::io("read", &borrowed))?;
        let environment: Vec<(String, OsString)> = vec![
            ("GIT_OBJECT_DIRECTORY".to_owned(), objects.into()),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES".to_owned(), borrowed.into()),
        ];
        let (settings, at, names) = (further, source.at, &[source.name]);
        let fetched = FetchedRefs { included: &[], settings, further: &[], at, names, bytes_max };
        fetch(own, &fetched, environment)
    }

    /// Moves what was downloaded to the objects of the repository: all of it, as git checked it.
    ///
    /// # Errors
    /// Fails when a file cannot be moved.
    pub fn keep_all(&self, own: &Repository) -> Result<()> {
        let (from, to) = (self.folder.join("objects"), own.common_dir().join("objects"));
        let packs = from.join("pack");
        for pack in in_folder(&packs)? {
            if pack.extension().is_none_or(|end| end != "pack") {
                continue;
            }
            for end in PACK_FILES {
                let file = pack.with_extension(end);
                let Some(name) = file.file_name().filter(|_| file.exists()) else { continue };
                let place = to.join("pack").join(name);
                fs::rename(&file, &place).map_err(Error::io("move", &file))?;
            }
        }
        self.keep_loose(&from, &to)
    }

    fn keep_loose(&self, from: &Path, to: &Path) -> Result<()> {
        for folder in in_folder(from)? {
            let Some(name) = folder.file_name().filter(|name| name.len() == 2) else { continue };
            let place = to.join(name);
            fs::create_dir_all(&place).map_err(Error::io("create", &place))?;
            for file in in_folder(&folder)? {
                let Some(name) = file.file_name() else { continue };
                fs::rename(&file, place.join(name)).map_err(Error::io("move", &file))?;
            }
        }
        Ok(())
    }

    /// Makes a pack, in the repository, of what a commit reaches and the repository's other one does not.
    /// For what came with something that is not believed.
    ///
    /// # Errors
    /// Fails when git does.
    pub fn keep_reached(&self, own: &Repository, tip: Oid, known: Option<Oid>) -> Result<()> {
        let place = own.common_dir().join("objects").join("pack").join("pack");
        let place = place.to_string_lossy().into_owned();
        let known = known.map_or_else(String::new, |known| format!("^{known}\n"));
        let arguments = ["pack-objects", "--revs", "--quiet", "--delta-base-offset", &place];
        let input = format!("{tip}\n{known}");
        let end = self.repository.git_reading(&arguments, input.as_bytes())?;
        end.checked(&arguments).map(drop)
    }
}

impl Drop for Quarantine {
    fn drop(&mut self) {
        let _what_stays_goes_with_the_next = fs::remove_dir_all(&self.folder);
    }
}

/// From where git fetches, and how.
struct FetchedRefs<'a> {
    /// Configuration from elsewhere.
    included: &'a [&'a str],
    /// Settings that count more than ours.
    settings: &'a [&'a str],
    /// Further options of the fetch.
    further: &'a [&'a str],
    /// The source.
    at: &'a str,
    /// The refs there.
    names: &'a [&'a str],
    /// How many bytes one file has at most.
    bytes_max: u64,
}

/// Has git fetch, in an environment that says where to.
fn fetch(
    own: &Repository,
    fetched: &FetchedRefs<'_>,
    environment: Vec<(String, OsString)>,
) -> Result<GitEnd> {
    let units = (fetched.bytes_max / LIMIT_UNIT_BYTES).max(1).to_string();
    let mut arguments = vec!["-c", LIMITED, "sh", &units, "--no-replace-objects"];
    arguments.extend(fetched.included);
    // What comes last counts.
    arguments.extend(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
    arguments.extend(fetched.settings);
    arguments.extend(["fetch", "--progress", "--dry-run", "--no-tags"]);
    arguments.extend(["--no-auto-maintenance", "--refmap="]);
    arguments.extend(fetched.further);
    arguments.extend(["--", fetched.at]);
    arguments.extend(fetched.names);
    own.shell_at_remote(&arguments, environment)
}

/// Makes the file that says that a quarantine is wanted. It has its name only once it is locked: whoever
/// found it unlocked would remove the quarantine.
fn wanted(folder: &Path) -> Result<File> {
    let (being_made, path) = (folder.join("wanting"), folder.join(WANTED));
    let file = File::create(&being_made).map_err(Error::io("create", &being_made))?;
    file.lock().map_err(Error::io("lock", &being_made))?;
    fs::rename(&being_made, &path).map_err(Error::io("create", &path))?;
    Ok(file)
}

/// Removes the quarantines that nobody holds any more.
fn remove_unwanted(above: &Path) -> Result<()> {
    for folder in in_folder(above)? {
        let wanted = File::open(folder.join(WANTED));
        let is_wanted = match &wanted {
            Ok(wanted) => wanted.try_lock().is_err(),
            // It is being made, or being removed.
            Err(_) => folder.metadata().is_ok_and(|found| is_young(&found)),
        };
        if !is_wanted {
            let _another_may_remove_it_too = fs::remove_dir_all(&folder);
        }
    }
    Ok(())
}

/// How long it may take to make a quarantine.
const YOUNG: std::time::Duration = std::time::Duration::from_secs(60);

fn is_young(found: &fs::Metadata) -> bool {
    found.modified().ok().and_then(|at| at.elapsed().ok()).is_none_or(|age| age < YOUNG)
}

#[cfg(test)]
mod tests {
    use super::Quarantine;
    use crate::Repository;
    use crate::run_git;

    #[test]
    fn many_are_made_at_once_and_none_removes_another() {
        let folder = tempfile::tempdir().expect("the disk is writable");
        run_git(folder.path(), &["init", "--quiet"]).expect("git works");
        let own = Repository::open(folder.path()).expect("just made");
        let root = own.layout().root().join(super::FOLDER);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let own = Repository::open(folder.path()).expect("just made");
                    for _ in 0..500 {
                        let made =
                            Quarantine::make(&own).expect("nobody removes what is being made");
                        assert!(made.folder.join("HEAD").exists());
                    }
                });
            }
        });
        assert_eq!(std::fs::read_dir(root).expect("it is there").count(), 0);
    }
}
