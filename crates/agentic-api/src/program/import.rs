//! The files that a program imports: those of its own folder and repository, and no others unless
//! whoever runs it says so.
//!
//! A program that somebody else wrote could put any file of this machine into a prompt. Links are
//! followed before a file is compared with what is allowed.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use agentic_lang_context::DATA_BYTES_MAX;
use agentic_providers::tool::{is_guarded_path, lies_in_git};

/// From where files may be imported.
pub struct ImportRoots {
    /// Where paths begin.
    directory: PathBuf,
    /// The folders, their links followed.
    folders: Vec<PathBuf>,
}

impl ImportRoots {
    /// Takes the folder of a program and its repository, and those that were allowed beside them.
    pub fn of(directory: &Path, program: &str, allowed: &[PathBuf]) -> ImportRoots {
        let own = directory.join(program);
        let own = own.parent().unwrap_or(directory);
        let own = if own.as_os_str().is_empty() { Path::new(".") } else { own };
        let mut folders = Vec::new();
        if let Ok(own) = own.canonicalize() {
            let top = own.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok());
            folders.extend(top.map(Path::to_owned));
            folders.push(own);
        }
        let allowed =
            allowed.iter().filter_map(|folder| directory.join(folder).canonicalize().ok());
        folders.extend(allowed);
        ImportRoots { directory: directory.to_owned(), folders }
    }

    /// Reads a text that a program imports, or says why that cannot be.
    pub fn read(&self, path: &str) -> Result<String, String> {
        let place = self.directory.join(path).canonicalize().map_err(|error| error.to_string())?;
        let inside = self.folders.iter().find_map(|folder| place.strip_prefix(folder).ok());
        let Some(inside) = inside else {
            return Err("it lies outside of the program's folder and repository; \
                `--allow-import DIR` allows another folder"
                .to_owned());
        };
        if is_guarded_path(inside) || place.parent().is_some_and(lies_in_git) {
            return Err("it configures or starts programs".to_owned());
        }
        let read = || {
            // Before it is opened: a pipe would be waited for.
            if !place.metadata()?.is_file() {
                return Err(std::io::Error::other("it is no file"));
            }
            let mut bytes = Vec::new();
            File::open(&place)?.take(DATA_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().map_err(|error| error.to_string())?;
        if bytes.len() > DATA_BYTES_MAX {
            return Err(format!("it is longer than {DATA_BYTES_MAX} bytes"));
        }
        String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
    }
}
