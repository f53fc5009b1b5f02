//! Announcements in files: what is carried by hand where there is no network.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use agentic_git::Repository;
use agentic_model::{Cid, Oid};
use agentic_session::SessionSpace;

use crate::accepted::CHAIN_MAX;
use crate::announce::MadeAnnouncement;
use crate::id::announce_ref;
use crate::wrapping::read_wrapped;
use crate::{Error, Result};

/// How a bundle of any version begins.
const BUNDLE_BEGIN: &[u8] = b"# v";
/// The longest list of refs that is read of a bundle, in bytes: 64 MiB.
const HEADER_BYTES_MAX: u64 = 64 << 20;

/// Writes a bundle of our announcement with everything that it reaches; of what came since another one of ours,
/// where somebody names that.
///
/// # Errors
/// Fails when the other one is none of ours, when nothing came since, and when the file cannot be written.
pub fn write_bundle(
    space: &SessionSpace,
    made: &MadeAnnouncement,
    file: &Path,
    since: Option<Cid>,
) -> Result<()> {
    let repository = space.repository();
    let said = &made.wrapped.signed.announcement;
    let name = announce_ref(said.peer, said.space);
    // Git runs in the folder of the repository.
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let file = file.display().to_string();
    let mut arguments = vec!["bundle".to_owned(), "create".to_owned(), "--quiet".to_owned()];
    arguments.extend([file.clone(), name]);
    if let Some(since) = since {
        let before = find_own(repository, made.wrapped.commit, since)?;
        if before == made.wrapped.commit {
            return Err(Error::refused(
                format!("nothing was announced since `{since}`"),
                "who has that one needs no bundle; leave `--since` out for a whole one",
            ));
        }
        arguments.push(format!("^{before}"));
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let end = repository.git_untranslated(&arguments)?;
    match end.success {
        true => Ok(()),
        false => Err(Error::refused(
            format!("`{file}` cannot be written: {}", end.stderr.trim()),
            "the announcement is kept here: name another file",
        )),
    }
}

/// Refuses a bundle that ends before its list of refs does: git would take it for one that serves nothing. What is no
/// bundle at all is left to git.
///
/// # Errors
/// Fails in that case, and when the file cannot be read.
pub fn check_header(file: &Path) -> Result<()> {
    let cannot = |error: std::io::Error| {
        Error::refused(
            format!("`{}` cannot be read: {error}", file.display()),
            "`agentic push --bundle FILE` writes a bundle",
        )
    };
    let mut lines = BufReader::new(File::open(file).map_err(cannot)?.take(HEADER_BYTES_MAX));
    let mut line = Vec::new();
    loop {
        let is_first = line.is_empty();
        line.clear();
        lines.read_until(b'\n', &mut line).map_err(cannot)?;
        let is_other = is_first && !line.is_empty() && !line.starts_with(BUNDLE_BEGIN);
        if is_other || line == b"\n" {
            return Ok(());
        }
        if !line.ends_with(b"\n") {
            return Err(Error::refused(
                format!("`{}` is cut off", file.display()),
                "ask for it once more: `agentic push --bundle FILE` writes a bundle",
            ));
        }
    }
}

/// Finds the commit of an announcement of ours below the newest.
fn find_own(repository: &Repository, newest: Oid, wanted: Cid) -> Result<Oid> {
    let mut next = Some(newest);
    for _ in 0..CHAIN_MAX {
        let Some(commit) = next.take() else { break };
        let wrapped = read_wrapped(repository, commit)?;
        if wrapped.signed.cid() == wanted {
            return Ok(commit);
        }
        let said = &wrapped.signed.announcement;
        next = said.parents.first().copied().filter(|_| !said.is_first());
    }
    Err(Error::refused(
        format!("`{wanted}` is no announcement of this space"),
        "`agentic peer show` names there what was accepted of this space",
    ))
}
