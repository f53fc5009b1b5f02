//! Announcements in files: what is carried by hand where there is no network.

use std::path::Path;

use agentic_git::Repository;
use agentic_model::{Cid, Oid};
use agentic_session::SessionSpace;

use crate::accepted::CHAIN_MAX;
use crate::announce::MadeAnnouncement;
use crate::id::announce_ref;
use crate::wrapping::read_wrapped;
use crate::{Error, Result};

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
        let goes_on = said.previous.is_some() && said.cut.is_none();
        next = said.parents.first().copied().filter(|_| goes_on);
    }
    Err(Error::refused(
        format!("`{wanted}` is no announcement of this space"),
        "`agentic peer show` names there what was accepted of this space",
    ))
}
