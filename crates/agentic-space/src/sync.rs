//! Pushing and fetching: branches, notes, the registry and libraries, through git.

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::{ARCHIVE_REF, RefMove};
use agentic_model::{AgentName, LibraryName, Oid};
use agentic_store::journal::{BranchMove, Transaction};
use agentic_store::{Stream, Writer};

use crate::archive::archive_stream;
use crate::error::{AgentError, RemoteError};
use crate::following::{FollowingWorktree, reserve};
use crate::kind::REGISTRY_REF;
use crate::library::{Library, unite};
use crate::worktree::{REWRITE_REF, name_notes_everywhere};
use crate::{Error, Result, Space};

pub use crate::sync::refusal::PushRefusal;

mod refusal;

/// How many archived agents one push takes from the branches of a remote: each is up to four
/// arguments, and all arguments of a program together have a limit.
pub const FOLDED_AGENTS_MAX: usize = 1_000;
/// What a push of everything is about by pattern.
const PUSHED_FOLDERS: [&str; 2] = ["refs/heads/agents/", "refs/notes/agentic/"];
/// What the pattern looks like to git that `init` once let amend and rebase carry along.
const REWRITE_PATTERN: &str = r"^refs/notes/agentic/\*$";

/// The sources of refspecs that bring the branches of agents.
const ALL_HEADS: [&str; 3] = ["refs/heads/*:", "refs/heads/agents/*:", "refs/*:"];

/// What a push did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushOutcome {
    /// The remote.
    pub remote: String,
    /// The refs that it did not have like this before.
    pub refs: Vec<String>,
    /// Names of libraries that moved here and in another clone. A library that has one stays here.
    pub contested: Vec<LibraryName>,
}

/// What a fetch did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FetchOutcome {
    /// The remote.
    pub remote: String,
    /// Agents whose branches moved forward.
    pub fast_forwarded: Vec<AgentName>,
    /// Agents whose notes took something in.
    pub notes_united: Vec<AgentName>,
    /// Agents whose branches have gone different ways.
    pub diverged: Vec<AgentName>,
    /// Agents that have a branch here from now on.
    pub adopted: Vec<AgentName>,
    /// Names of libraries that moved here and there. Here they mean what they did.
    pub contested: Vec<LibraryName>,
    /// What was left out of libraries because it is damaged there, and why.
    pub left_out: Vec<String>,
}

/// Writes the refspecs of fetch into the configuration of remotes, and lets git carry the notes of
/// an agent along when it rewrites commits in that agent's worktree; safe to repeat. Returns what
/// had to be written.
///
/// # Errors
/// Fails when a remote does not exist or the configuration cannot be written.
pub fn init(space: &Space, remotes: &[String]) -> Result<Vec<String>> {
    let mut changed = Vec::new();
    for remote in remotes {
        check_remote(space, remote)?;
        let key = format!("remote.{remote}.fetch");
        let known = ["config", "--get-all", &key];
        let known = space.repository().git(&known)?.stdout;
        let is_covered = known.lines().any(|line| ALL_HEADS.iter().any(|all| line.contains(all)));
        let heads = format!("+refs/heads/agents/*:refs/remotes/{remote}/agents/*");
        // A clone of a single branch fetches no other, and would see no agents.
        let heads = (!is_covered).then_some(heads);
        for refspec in heads.into_iter().chain(refspecs(remote)) {
            if !known.lines().any(|line| line == refspec) {
                let add = ["config", "--add", &key, &refspec];
                space.repository().git(&add)?.checked(&add)?;
                changed.push(remote.clone());
            }
        }
    }
    changed.dedup();
    // An earlier release set this pattern, with which one agent's rebase rewrites the notes of others.
    let pattern = ["config", "--local", "--unset-all", REWRITE_REF, REWRITE_PATTERN];
    if space.repository().git(&pattern)?.success {
        changed.push(REWRITE_REF.to_owned());
    }
    if name_notes_everywhere(space)? {
        changed.push("worktrees".to_owned());
    }
    Ok(changed)
}

/// Which agents are pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushScope<'a> {
    /// All that have a branch, and the archive. What is archived here goes from the remote's own
    /// branches too, as far as the remote has nothing that the archive lacks.
    All,
    /// These.
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
            PushedLibrary::Contested(names) => contested.extend(names),
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
    let report = push_once(space, remote, specs, parts.next().unwrap_or_default())?;
    for part in parts {
        push_once(space, remote, Vec::new(), part)?;
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

/// Runs one atomic push, and returns what git reports of each ref.
fn push_once(
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
    let mut arguments = vec!["push", "--atomic", "--porcelain"];
    arguments.extend(specs.iter().map(String::as_str));
    let program = space.repository().git_untranslated(&arguments)?;
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
                repository.list_refs("refs/notes/agentic/")?.into_iter().map(|r| r.name).collect();
            for (agent, _) in space.agent_names()? {
                refs.push(agent.branch_ref());
                refs.extend(notes.get(&agent.notes_ref()).cloned());
            }
            refs.extend(repository.find_ref(ARCHIVE_REF)?.map(|_| ARCHIVE_REF.to_owned()));
        }
        PushScope::Named(agents) => {
            for agent in agents {
                space.head(agent)?;
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
    let listed = repository.git(&arguments)?.checked(&arguments)?;
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

/// Fetches, unites notes, the registry and libraries, and moves agents forward that have not diverged.
///
/// # Errors
/// Fails when git does, or an agent to adopt is not on the remote.
pub fn fetch(space: &Space, remote: &str, adopt: &[AgentName]) -> Result<FetchOutcome> {
    check_remote(space, remote)?;
    init(space, &[remote.to_owned()])?;
    let arguments = ["fetch", "--quiet", remote];
    space.repository().git(&arguments)?.checked(&arguments)?;
    space.repository().sync_filesystem()?;
    let mut fetched = FetchOutcome { remote: remote.to_owned(), ..FetchOutcome::default() };
    let registry = format!("refs/agentic/remotes/{remote}/registry");
    if let Some(theirs) = space.repository().find_ref(&registry)? {
        let transaction = unite_transaction(space)?;
        let mut writer = Writer::open(space.repository(), &Stream::Space, space.now())?;
        writer.with_refs(&[REGISTRY_REF], || {
            space.repository().unite_notes(REGISTRY_REF, theirs, &transaction)
        })?;
    }
    if space.home_remote().is_some_and(|home| home == remote) {
        for library in Library::ALL {
            let united = unite(space, library, remote)?;
            fetched.contested.extend(united.contested);
            fetched.left_out.extend(united.left_out);
        }
    }
    unite_archive(space, remote, &mut fetched)?;
    for agent in adopt {
        if space.archived_agent(agent)?.is_some() {
            return Err(Error::Agent(AgentError::NameArchived { name: agent.clone() }));
        }
    }
    let prefix = format!("refs/remotes/{remote}/agents/");
    for found in space.repository().list_refs(&prefix)? {
        let name = found.name.strip_prefix(&prefix).and_then(|name| AgentName::parse(name).ok());
        let Some(agent) = name else { continue };
        let ours = space.repository().find_ref(&agent.branch_ref())?;
        if ours.is_none() && !adopt.contains(&agent) {
            continue;
        }
        update_agent(space, remote, &agent, ours, found.target, &mut fetched)?;
    }
    for agent in adopt {
        space.head(agent)?;
    }
    // No journal holds what was fetched, so what is printed as done must be on the disk.
    space.repository().sync_filesystem()?;
    Ok(fetched)
}

fn unite_archive(space: &Space, remote: &str, fetched: &mut FetchOutcome) -> Result<()> {
    let theirs = format!("refs/agentic/remotes/{remote}/archive");
    let Some(theirs) = space.repository().find_ref(&theirs)? else { return Ok(()) };
    let signed = space.own_signatures()?;
    let mut writer = Writer::open(space.repository(), &archive_stream(), space.now())?;
    fetched.diverged = writer.with_refs(&[ARCHIVE_REF], || {
        space.repository().unite_archive(theirs, &signed.author, &signed.committer)
    })?;
    Ok(())
}

fn update_agent(
    space: &Space,
    remote: &str,
    agent: &AgentName,
    ours: Option<Oid>,
    theirs: Oid,
    fetched: &mut FetchOutcome,
) -> Result<()> {
    let repository = space.repository();
    let transaction = unite_transaction(space)?;
    let notes = format!("refs/agentic/remotes/{remote}/notes/{agent}");
    let mut writer = Writer::open(repository, &Stream::Agent(agent.clone()), space.now())?;
    let (branch_ref, notes_ref) = (agent.branch_ref(), agent.notes_ref());
    if let Some(tip) = repository.find_ref(&notes)? {
        let unite = || repository.unite_notes(&notes_ref, tip, &transaction);
        if writer.with_refs(&[&notes_ref], unite)? {
            fetched.notes_united.push(agent.clone());
        }
    }
    let Some(ours) = ours else {
        let step = BranchMove { name: branch_ref.clone(), expect: None, new: theirs };
        let adopt = || repository.move_ref(&step, &transaction.committer, "agentic: adopt");
        if writer.with_refs(&[&branch_ref], adopt)? == RefMove::Moved {
            fetched.adopted.push(agent.clone());
        }
        return Ok(());
    };
    if repository.is_ancestor(theirs, ours)? {
        return Ok(());
    }
    if !repository.is_ancestor(ours, theirs)? {
        fetched.diverged.push(agent.clone());
        return Ok(());
    }
    drop(writer);
    forward(space, agent, ours, theirs, fetched)
}

/// Moves an agent's branch on to where the remote has it, and lets its worktree follow.
fn forward(
    space: &Space,
    agent: &AgentName,
    ours: Oid,
    theirs: Oid,
    fetched: &mut FetchOutcome,
) -> Result<()> {
    let (repository, branch_ref) = (space.repository(), agent.branch_ref());
    let committer = space.own_signatures()?.committer;
    let reserved = reserve(space, &branch_ref)?;
    let trees = (space.read_commit(ours)?.tree, space.read_commit(theirs)?.tree);
    let changed = repository.scratch().changed_paths(trees.0, trees.1)?;
    let following = FollowingWorktree::of(reserved, &branch_ref, ours, &changed)?;
    let (mut writer, _) = space.writer(agent)?;
    if let Some(following) = &following {
        following.announce(&branch_ref, (ours, theirs))?;
    }
    let step = BranchMove { name: branch_ref.clone(), expect: Some(ours), new: theirs };
    let forward = || repository.move_ref(&step, &committer, "agentic: fetch");
    let is_moved = writer.with_refs(&[&branch_ref], forward)? == RefMove::Moved;
    if is_moved {
        fetched.fast_forwarded.push(agent.clone());
    }
    match following {
        Some(following) if is_moved => following.bring(space, writer, (ours, theirs))?,
        Some(following) => following.retract(),
        None => {}
    }
    Ok(())
}

/// What a fetch signs its notes commits with.
fn unite_transaction(space: &Space) -> Result<Transaction> {
    Ok(space.own_signatures()?.transaction("fetch"))
}

fn refspecs(remote: &str) -> [String; 5] {
    [
        format!("+refs/notes/agentic/*:refs/agentic/remotes/{remote}/notes/*"),
        format!("+refs/agentic/registry*:refs/agentic/remotes/{remote}/registry*"),
        format!("+refs/agentic/archive*:refs/agentic/remotes/{remote}/archive*"),
        format!("+refs/agentic/behaviours*:refs/agentic/remotes/{remote}/behaviours*"),
        format!("+refs/agentic/rules*:refs/agentic/remotes/{remote}/rules*"),
    ]
}

fn check_remote(space: &Space, remote: &str) -> Result<()> {
    if space.repository().remotes().iter().any(|known| known == remote) {
        return Ok(());
    }
    Err(Error::Remote(RemoteError::Unknown { remote: remote.to_owned() }))
}
