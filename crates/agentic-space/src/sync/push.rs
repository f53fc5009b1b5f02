//! What goes to a remote: branches, notes, registry, libraries and the archive, in one atomic push.

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::{ARCHIVE_REF, PrivacyChange};
use agentic_model::{AgentName, LibraryName, Oid};

use super::check_remote;
use super::purged::check_tombstones;
use super::refusal::PushRefusal;
use crate::error::RemoteError;
use crate::kind::REGISTRY_REF;
use crate::library::Library;
use crate::privacy::change_privacy;
use crate::{Error, Result, Space};

/// How many archived agents one push takes from the branches of a remote: each is up to four
/// arguments, and all arguments of a program together have a limit.
pub const FOLDED_AGENTS_MAX: usize = 1_000;
/// What a push of everything is about by pattern.
const PUSHED_FOLDERS: [&str; 2] = [AgentName::BRANCHES, AgentName::NOTES_REFS];

/// What a push did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushOutcome {
    /// The remote.
    pub remote: String,
    /// The refs that it did not have like this before.
    pub refs: Vec<String>,
    /// Names of libraries that moved here and in another clone. A library that has one stays here.
    pub contested: Vec<(Library, LibraryName)>,
}

/// Which agents are pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushScope<'a> {
    /// All that have a branch and are not private, and the archive. What is archived here goes from the remote's own
    /// branches too, as far as the remote has nothing that the archive lacks.
    All,
    /// These. Whoever names a private agent makes it public.
    Named(&'a [AgentName]),
}

/// Pushes branches and notes of agents, the registry and libraries, in one atomic push. When more than
/// [`FOLDED_AGENTS_MAX`] agents are to go from the remote, further pushes take away the rest; the
/// remote has the archive that keeps them by then.
///
/// # Errors
/// Fails with [`RemoteError::PushRefused`] when the remote does not take it, such as when it has something
/// that is not here yet.
pub fn push(space: &Space, remote: &str, scope: PushScope<'_>) -> Result<PushOutcome> {
    check_remote(space, remote)?;
    let mut refs = refs_of(space, scope)?;
    if space.repository().find_ref(REGISTRY_REF)?.is_some() {
        refs.push(REGISTRY_REF.to_owned());
    }
    let mut contested = Vec::new();
    for library in Library::ALL {
        match pushed_library(space, library, remote)? {
            PushedLibrary::Goes => refs.push(library.ref_name().to_owned()),
            PushedLibrary::Stays => {}
            PushedLibrary::Contested(names) => {
                contested.extend(names.into_iter().map(|name| (library, name)));
            }
        }
    }
    if refs.is_empty() {
        return Ok(PushOutcome { remote: remote.to_owned(), refs, contested });
    }
    let (specs, folded) = match scope {
        PushScope::All => (patterns(space, &refs)?, folded_away(space, remote)?),
        PushScope::Named(_) => (refs.iter().map(|name| same_there(name)).collect(), Vec::new()),
    };
    let mut parts = folded.chunks(FOLDED_AGENTS_MAX);
    let report = push_and_fold(space, remote, specs, parts.next().unwrap_or_default())?;
    for part in parts {
        push_and_fold(space, remote, Vec::new(), part)?;
    }
    if let PushScope::Named(agents) = scope {
        change_privacy(space, agents, PrivacyChange::Public)?;
    }
    let unchanged = |line| Some(str::strip_prefix(line, "=\t")?.split_once(':')?.0);
    let up_to_date: BTreeSet<&str> = report.lines().filter_map(unchanged).collect();
    refs.retain(|name| !up_to_date.contains(name.as_str()));
    Ok(PushOutcome { remote: remote.to_owned(), refs, contested })
}

/// Whether a library goes along with a push.
enum PushedLibrary {
    /// It goes.
    Goes,
    /// There is none, or the remote has one of its own.
    Stays,
    /// It stays until somebody has chosen what these names mean.
    Contested(Vec<LibraryName>),
}

fn pushed_library(space: &Space, library: Library, remote: &str) -> Result<PushedLibrary> {
    let ours = space.library(library)?;
    let Some(tip) = ours.tip() else { return Ok(PushedLibrary::Stays) };
    let theirs = space.library_of(library, remote)?.tip();
    let is_home = space.home_remote().is_some_and(|home| home == remote);
    if let Some(theirs) = theirs.filter(|_| !is_home)
        && !space.repository().is_ancestor(theirs, tip)?
    {
        return Ok(PushedLibrary::Stays);
    }
    let entries = ours.entries()?.entries.into_iter();
    let contested: Vec<LibraryName> =
        entries.filter(|entry| entry.contested.is_some()).map(|entry| entry.name).collect();
    match contested.is_empty() {
        true => Ok(PushedLibrary::Goes),
        false => Ok(PushedLibrary::Contested(contested)),
    }
}

/// Runs one atomic push that also takes away refs of archived agents.
fn push_and_fold(
    space: &Space,
    remote: &str,
    specs: Vec<String>,
    folded: &[FoldedAway],
) -> Result<String> {
    let folded: Vec<&(String, Oid)> =
        folded.iter().flat_map(|agent| agent.notes.iter().chain([&agent.branch])).collect();
    let leases = folded.iter().map(|(name, at)| format!("--force-with-lease={name}:{at}"));
    let deletions = folded.iter().map(|(name, _)| format!(":{name}"));
    let specs: Vec<String> =
        leases.chain([remote.to_owned()]).chain(specs).chain(deletions).collect();
    push_once(space, remote, specs)
}

/// Runs one atomic push, and returns what git reports of each ref.
pub(super) fn push_once(space: &Space, remote: &str, specs: Vec<String>) -> Result<String> {
    let mut arguments = vec!["push", "--atomic", "--porcelain", "--progress"];
    arguments.extend(specs.iter().map(String::as_str));
    let program = space.repository().git_at_remote(&arguments)?;
    if !program.success
        && let Some(why) = PushRefusal::read(&program.stdout)
    {
        let message = format!("{}{}", program.stdout, program.stderr);
        return Err(Error::Remote(RemoteError::PushRefused {
            remote: remote.to_owned(),
            why,
            message,
        }));
    }
    Ok(program.checked(&arguments)?)
}

/// Writes the refspecs of a push of everything: patterns, since a ref by ref list of very many
/// agents is longer than the arguments of a program may be.
fn patterns(space: &Space, refs: &[String]) -> Result<Vec<String>> {
    let pushed: BTreeSet<&str> = refs.iter().map(String::as_str).collect();
    let mut specs = Vec::new();
    for folder in PUSHED_FOLDERS {
        specs.push(same_there(&format!("{folder}*")));
        let found = space.repository().list_refs(folder)?.into_iter().map(|found| found.name);
        let others = found.filter(|name| !pushed.contains(name.as_str()));
        specs.extend(others.map(|name| format!("^{name}")));
    }
    let is_alone = |name: &&String| !PUSHED_FOLDERS.iter().any(|folder| name.starts_with(folder));
    specs.extend(refs.iter().filter(is_alone).map(|name| same_there(name)));
    Ok(specs)
}

/// Writes the refspec that gives a ref, or a pattern of refs, the same name on the remote.
fn same_there(name: &str) -> String {
    format!("{name}:{name}")
}

/// Lists the refs that a push is about, the registry aside.
fn refs_of(space: &Space, scope: PushScope<'_>) -> Result<Vec<String>> {
    let repository = space.repository();
    let mut refs = Vec::new();
    match scope {
        PushScope::All => {
            let notes: BTreeSet<String> =
                repository.list_refs(AgentName::NOTES_REFS)?.into_iter().map(|r| r.name).collect();
            let private = repository.private_agents()?;
            for (agent, _) in space.agent_names()? {
                if private.contains(&agent) {
                    continue;
                }
                check_tombstones(space, &agent)?;
                refs.push(agent.branch_ref());
                refs.extend(notes.get(&agent.notes_ref()).cloned());
            }
            refs.extend(repository.find_ref(ARCHIVE_REF)?.map(|_| ARCHIVE_REF.to_owned()));
        }
        PushScope::Named(agents) => {
            for agent in agents {
                space.head(agent)?;
                check_tombstones(space, agent)?;
                refs.push(agent.branch_ref());
                let notes = agent.notes_ref();
                refs.extend(repository.find_ref(&notes)?.map(|_| notes));
            }
        }
    }
    Ok(refs)
}

/// The refs of an archived agent on a remote, with where they are there.
struct FoldedAway {
    branch: (String, Oid),
    notes: Option<(String, Oid)>,
}

/// Lists the agents of a remote that the archive has here, and that the remote has moved no further.
fn folded_away(space: &Space, remote: &str) -> Result<Vec<FoldedAway>> {
    let repository = space.repository();
    if repository.find_ref(ARCHIVE_REF)?.is_none() {
        return Ok(Vec::new());
    }
    let arguments = ["ls-remote", "--refs", remote, "refs/heads/agents/*", "refs/notes/agentic/*"];
    let listed = repository.git_at_remote(&arguments)?.checked(&arguments)?;
    let line = |line: &str| {
        let (oid, name) = line.split_once('\t')?;
        Some((name.to_owned(), Oid::parse(oid).ok()?))
    };
    let theirs: BTreeMap<String, Oid> = listed.lines().filter_map(line).collect();
    let mut folded = Vec::new();
    for (name, head) in &theirs {
        let Some(agent) = AgentName::from_branch_ref(name) else { continue };
        let Some(entry) = space.archived_agent(&agent)? else { continue };
        let notes_ref = agent.notes_ref();
        let notes = theirs.get(&notes_ref);
        let has_notes = match (notes, entry.archived.notes) {
            (None, _) => true,
            (Some(theirs), Some(ours)) => repository.is_ancestor(*theirs, ours)?,
            (Some(_), None) => false,
        };
        if has_notes && repository.is_ancestor(*head, entry.archived.head)? {
            folded.push(FoldedAway {
                branch: (name.clone(), *head),
                notes: notes.map(|tip| (notes_ref, *tip)),
            });
        }
    }
    Ok(folded)
}
