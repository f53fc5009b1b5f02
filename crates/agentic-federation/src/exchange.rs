//! Remotes: what they serve of peers, what is pushed to them, and in which mode they are.

use agentic_git::{RemoteStop, Repository};
use agentic_model::Oid;
use agentic_session::SessionSpace;

use crate::accepted::{accepted_spaces, read_accepted_outline};
use crate::announce::MadeAnnouncement;
use crate::caps::{followed, read_policy};
use crate::commit_graph::keep_commit_graph;
use crate::id::{PeerId, Petname, SpaceId};
use crate::setting::configured_count;
use crate::{Error, Result};

/// Below which name everything of ours stands, here and on remotes where the configuration says nothing else.
const FOLDER: &str = "refs/agentic/";
/// How many names one question to a remote has.
const NAMES_MAX: usize = 100;
/// How many bytes are taken of one space at once, where nobody says otherwise: 2 GiB.
const FETCH_BYTES_MAX: u64 = 2 << 30;
/// The setting that says so.
const FETCH_MAX: &str = "agentic.fetchMax";
/// How many bytes are read of what a remote serves below some names: 64 MiB.
const SERVED_BYTES_MAX: u64 = 64 << 20;
/// How many refs are.
const SERVED_REFS_MAX: usize = 262_144;
/// How git pushes: it shows its progress, by which it is known not to be silent, and runs no hook.
const PUSH: [&str; 3] = ["push", "--progress", "--no-verify"];
/// What git says after it has said why it failed.
const ADVICE: [&str; 3] =
    ["Could not read from remote repository", "index-pack died", "index-pack failed"];
/// How many announcements are looked at first for what a remote has.
const LINE_MAX: usize = 1_000;

/// How a remote is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteMode {
    /// Plain branches and notes of all who may push.
    Shared,
    /// Plain ones, and signed ones beside.
    Both,
    /// Signed ones alone.
    Signed,
}

/// Tells in which mode a remote is.
///
/// # Errors
/// Fails when the configuration says something else.
pub fn mode_of(repository: &Repository, remote: &str) -> Result<RemoteMode> {
    match repository.config(&format!("remote.{remote}.agentic")).as_deref() {
        None | Some("shared") => Ok(RemoteMode::Shared),
        Some("both") => Ok(RemoteMode::Both),
        Some("signed") => Ok(RemoteMode::Signed),
        Some(other) => Err(Error::usage(
            format!("`remote.{remote}.agentic` is `{other}`"),
            "it may be `shared`, `both` or `signed`",
        )),
    }
}

/// What a remote has in the place of our announcement.
#[derive(Debug, Clone)]
pub struct SeenRemote {
    /// The remote.
    pub remote: String,
    /// Where our ref is there, if it is.
    pub there: Option<Oid>,
}

/// Pushes an announcement to a remote, without force. What others put in its place is replaced, if it is
/// no announcement of ours; returns whether the remote had it already.
///
/// # Errors
/// Fails when the remote does not take it, such as when it has moved meanwhile.
pub fn push_announcement(
    space: &SessionSpace,
    seen: &SeenRemote,
    made: &MadeAnnouncement,
) -> Result<PushedAnnouncement> {
    let repository = space.repository();
    let said = &made.wrapped.signed.announcement;
    let name = served_name(repository, &seen.remote, said.peer, said.space)?;
    let commit = made.wrapped.commit;
    let SeenRemote { remote, there } = seen;
    if *there == Some(commit) {
        return Ok(PushedAnnouncement::Known);
    }
    let is_below = match there {
        None => true,
        Some(there) => is_below(repository, *there, commit)?,
    };
    let spec = format!("{commit}:{name}");
    let lease = there.map(|there| format!("--force-with-lease={name}:{there}"));
    let mut arguments = PUSH.to_vec();
    if !is_below {
        arguments.extend(lease.as_deref());
    }
    arguments.extend(["--", remote, &spec]);
    let end = repository.git_at_remote(&arguments)?;
    if end.success {
        let n_agents = usize::try_from(said.entries).unwrap_or(usize::MAX);
        keep_commit_graph(repository, n_agents, made.n_changed);
        return Ok(match is_below || said.cut.is_some() {
            true => PushedAnnouncement::New,
            false => PushedAnnouncement::Replaced,
        });
    }
    if end.stopped.is_none() && seen.has_by_now(repository, &name, commit)? {
        return Ok(PushedAnnouncement::Known);
    }
    if let Some(why) = end.stopped {
        let hint = format!("the announcement is kept here; {}", why.hint());
        return Err(Error::refused(
            format!("`{remote}` did not take the announcement: {why}"),
            hint,
        ));
    }
    Err(Error::refused(
        format!("`{remote}` did not take the announcement: {}", told_by_push(&end.stderr)),
        "the announcement is kept here: `agentic push` tries again",
    ))
}

impl SeenRemote {
    /// Tells whether the remote has an announcement of ours by now, or one that goes on from it and is ours, too:
    /// another process may have pushed it meanwhile.
    fn has_by_now(&self, repository: &Repository, name: &str, commit: Oid) -> Result<bool> {
        // Why it was not taken says more than that it cannot be asked.
        let served = served_refs(repository, &self.remote, &[name.to_owned()]).unwrap_or_default();
        let there = served.into_iter().find(|(found, _)| found == name).map(|(_, oid)| oid);
        Ok(match there {
            None => false,
            Some(there) => {
                there == commit
                    || repository.has_object(there)
                        && repository.may_be_commit(there)
                        && repository.is_ancestor(commit, there)?
            }
        })
    }
}

/// Names the ref of a space as a remote has it: `remote.<r>.agenticPrefix` is for hosts that take branches and
/// tags only.
///
/// # Errors
/// Fails when the configuration names no folder of refs.
pub fn served_name(
    repository: &Repository,
    remote: &str,
    peer: PeerId,
    space: SpaceId,
) -> Result<String> {
    Ok(format!("{}{space}", served_prefix(repository, remote, peer)?))
}

/// Names the folder of the refs of a peer as a remote has it.
///
/// # Errors
/// Fails as [`served_name`] does.
pub fn served_prefix(repository: &Repository, remote: &str, peer: PeerId) -> Result<String> {
    Ok(format!("{}announce/{peer}/", served_folder(repository, remote)?))
}

/// Names the folder below which a remote has everything of ours.
///
/// # Errors
/// Fails as [`served_name`] does.
pub fn served_folder(repository: &Repository, remote: &str) -> Result<String> {
    let key = format!("remote.{remote}.agenticPrefix");
    let folder = repository.config(&key).unwrap_or_else(|| FOLDER.to_owned());
    match folder.starts_with("refs/") && folder.ends_with('/') {
        true => Ok(folder),
        false => Err(Error::usage(
            format!("`{key}` is `{folder}`, which is no folder of refs"),
            "write one such as `refs/heads/agentic/`",
        )),
    }
}

/// Pushes what was accepted of a peer on to a remote, as the peer signed it. Returns the refs that the remote did
/// not have like this before.
///
/// # Errors
/// Fails when nothing was accepted of the peer, and when the remote does not take it.
pub fn relay(space: &SessionSpace, remote: &str, name: &Petname) -> Result<Vec<String>> {
    let repository = space.repository();
    let policy = read_policy(space)?.policy;
    let peer = followed(&policy, name)?.peer;
    let accepted = accepted_spaces(repository, peer)?;
    if accepted.is_empty() {
        return Err(Error::refused(
            format!("nothing was accepted of `{name}`"),
            "`agentic fetch` receives what remotes serve of it",
        ));
    }
    let pattern = served_prefix(repository, remote, peer)? + "*";
    let served = served_refs(repository, remote, &[pattern])?;
    let mut pushed = Vec::new();
    for (of, _) in accepted {
        let Some(accepted) = read_accepted_outline(repository, peer, of)? else { continue };
        let (commit, there) =
            (accepted.acceptance.announced, served_name(repository, remote, peer, of)?);
        if served.iter().any(|(name, oid)| *name == there && *oid == commit) {
            continue;
        }
        let spec = format!("{commit}:{there}");
        let arguments = [&PUSH[..], &["--", remote, &spec]].concat();
        let end = repository.git_at_remote(&arguments)?;
        if let Some(why) = end.stopped {
            return Err(Error::refused(
                format!("`{remote}` did not take what `{name}` announced: {why}"),
                why.hint(),
            ));
        }
        if !end.success {
            return Err(Error::refused(
                format!(
                    "`{remote}` did not take what `{name}` announced: {}",
                    told_by_push(&end.stderr)
                ),
                "it may have something newer: fetch from it",
            ));
        }
        pushed.push(there);
    }
    Ok(pushed)
}

/// Tells whether what a remote has is below an announcement of ours. As a rule it is the one before: to walk
/// everything that is below costs as much as there are agents.
///
/// # Errors
/// Fails when the history cannot be read.
pub(crate) fn is_below(repository: &Repository, there: Oid, announced: Oid) -> Result<bool> {
    // Somebody else may have put anything there, such as a tree that we have.
    if !repository.has_object(there) || !repository.may_be_commit(there) {
        return Ok(false);
    }
    for commit in repository.first_parents(announced).take(LINE_MAX) {
        if commit?.oid == there {
            return Ok(true);
        }
    }
    Ok(repository.is_ancestor(there, announced)?)
}

/// What became of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushedAnnouncement {
    /// The remote has it from now on.
    New,
    /// The remote had it.
    Known,
    /// The remote has it in place of something that was none of ours.
    Replaced,
}

/// Lists refs that a remote or a bundle serves, by names or patterns of names.
///
/// # Errors
/// Fails when it cannot be reached.
pub fn served_refs(
    repository: &Repository,
    source: &str,
    names: &[String],
) -> Result<Vec<(String, Oid)>> {
    let mut found = Vec::new();
    for names in names.chunks(NAMES_MAX) {
        let mut arguments = vec!["ls-remote", "--quiet", "--", source];
        arguments.extend(names.iter().map(String::as_str));
        let end = repository.git_asking_remote(&arguments, SERVED_BYTES_MAX)?;
        if let Some(why) = end.stopped {
            return Err(unreachable(source, why));
        }
        if !end.success {
            return Err(Error::refused(
                format!("`{source}` cannot be reached: {}", end.stderr.trim()),
                "what was accepted stays; try again, or another remote",
            ));
        }
        let line = |line: &str| {
            let (oid, name) = line.split_once('\t')?;
            Some((name.to_owned(), Oid::parse(oid).ok()?))
        };
        found.extend(end.stdout.lines().filter_map(line));
        if found.len() > SERVED_REFS_MAX {
            return Err(Error::refused(
                format!(
                    "`{source}` serves more than {SERVED_REFS_MAX} refs below the names of peers"
                ),
                "whoever runs the remote can remove refs there; or use another one, or a bundle",
            ));
        }
    }
    Ok(found)
}

/// Says that a remote was given up.
pub(crate) fn unreachable(source: &str, why: RemoteStop) -> Error {
    Error::refused(
        format!("`{source}` cannot be reached: {why}"),
        format!("what was accepted stays; {}", why.hint()),
    )
}

/// Returns how many bytes are taken of one space at once.
///
/// # Errors
/// Fails when the configuration says no number.
pub(crate) fn bytes_max(repository: &Repository) -> Result<u64> {
    Ok(configured_count(repository, FETCH_MAX)?.unwrap_or(FETCH_BYTES_MAX))
}

/// Says why a push failed: all that git and the remote said of it, without advice that is none here.
fn told_by_push(stderr: &str) -> String {
    let is_advice =
        |line: &&str| line.starts_with("hint: ") || line.starts_with("error: failed to push");
    let said = stderr.lines().map(str::trim_end).filter(|line| !is_advice(line));
    said.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Finds in what git says why it failed: as a rule its last lines are advice.
pub(crate) fn told(stderr: &str) -> &str {
    let is_reason = |line: &&str| {
        let is_advice = ADVICE.iter().any(|advice| line.contains(advice));
        !is_advice && (line.starts_with("fatal: ") || line.starts_with("error: "))
    };
    let reason = stderr.lines().rfind(is_reason);
    let last = stderr.lines().rfind(|line| !line.trim().is_empty());
    reason.or(last).unwrap_or("it has moved meanwhile")
}
