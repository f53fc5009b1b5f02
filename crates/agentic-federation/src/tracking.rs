//! Tracking refs, drawn from the records: for git, and for verbs that read branches.
//!
//! They are derived. Whoever moves one does not change what is believed: it is put back.

mod drawn;
mod pen;

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::Repository;
use agentic_model::{AgentName, Oid};
use agentic_session::SessionSpace;

use self::drawn::{DrawnMark, DrawnRefs};
use self::pen::RefPen;
use crate::acceptance::{Acceptance, believed_head};
use crate::accepted::{WrittenRecord, accepted_ref, accepted_spaces};
use crate::caps::read_policy;
use crate::commit_graph::keep_commit_graph;
use crate::id::{PeerId, Petname, SpaceId};
use crate::identity::IdentityChain;
use crate::known::KnownPeer;
use crate::own::own_peer;
use crate::policy::{FollowedPeer, PeerTrust};
use crate::setting::configured_count;
use crate::shard::{HeadChange, HeadEntry};
use crate::{Error, Result};

/// The setting that says of how many agents of a peer refs are drawn.
const TRACK_REFS: &str = "agentic.trackRefs";
/// How many without.
const TRACK_REFS_MAX: usize = 1_000;
/// The folder of heads.
const REMOTE_REFS: &str = "refs/remotes/";
/// The folder of notes.
const REMOTE_NOTES: &str = "refs/agentic/remotes/";

/// A space of a peer under the name by which its agents are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackedSpace {
    /// The name: `bob`, or `bob+NICK`.
    pub label: String,
    /// The name of its peer.
    pub petname: Petname,
    /// Its peer.
    pub peer: PeerId,
    /// The space.
    pub space: SpaceId,
    /// The record of what is believed of it.
    pub record: Oid,
    /// Whether the newest document of its peer lists it. If not, it can be read and nothing more.
    pub is_listed: bool,
}

impl TrackedSpace {
    /// Refuses to go on from a space that its peer lists no more.
    ///
    /// # Errors
    /// Fails in that case.
    pub fn require_listed(&self) -> Result<()> {
        match self.is_listed {
            true => Ok(()),
            false => Err(Error::not_allowed(
                format!(
                    "the newest identity of `{}` does not list the space `{}`",
                    self.petname, self.label
                ),
                format!(
                    "what was accepted of it can be read; `agentic peer show {}` lists the spaces that count",
                    self.petname
                ),
            )),
        }
    }

    /// Returns what merges say of where the work of its agents came from, without the agent.
    pub fn origin(&self) -> String {
        format!("{}/{}", self.peer, self.space)
    }
}

/// Names the spaces of a peer as people read them: its first space has the peer's name alone, unless it is ours.
pub fn label_of(petname: &Petname, chain: &IdentityChain, space: SpaceId) -> String {
    let first = chain.documents()[0].document.spaces.first();
    if first.is_some_and(|first| first.space == space) && *petname != Petname::own() {
        return petname.to_string();
    }
    let nicks = || chain.newest().spaces.iter().filter(|listed| listed.space != space);
    match chain.newest().space(space) {
        Some(listed) if nicks().all(|other| other.nick != listed.nick) => {
            format!("{petname}+{}", listed.nick)
        }
        Some(_) | None => format!("{petname}+{}", space.short()),
    }
}

/// Lists the spaces of all peers that are followed, as far as anything was accepted of them.
///
/// # Errors
/// Fails when the policy or a record is damaged.
pub fn tracked_spaces(space: &SessionSpace) -> Result<Vec<TrackedSpace>> {
    let mut tracked = Vec::new();
    for (petname, followed) in &followed_peers(space)? {
        tracked.extend(tracked_spaces_of(space.repository(), petname, followed)?);
    }
    Ok(tracked)
}

/// Lists whom this space follows: peers, and itself for its other spaces.
///
/// # Errors
/// Fails when the policy or our own identity is damaged.
pub fn followed_peers(space: &SessionSpace) -> Result<BTreeMap<Petname, FollowedPeer>> {
    let mut peers = read_policy(space)?.policy.peers;
    if let Some(peer) = own_peer(space.repository())? {
        let own =
            FollowedPeer { peer, trust: PeerTrust::Track, principal: None, remote: None, at: None };
        peers.insert(Petname::own(), own);
    }
    Ok(peers)
}

/// Lists those of one peer.
///
/// # Errors
/// Fails as [`tracked_spaces`] does.
pub fn tracked_spaces_of(
    repository: &Repository,
    petname: &Petname,
    followed: &FollowedPeer,
) -> Result<Vec<TrackedSpace>> {
    let spaces = accepted_spaces(repository, followed.peer)?;
    if spaces.is_empty() {
        return Ok(Vec::new());
    }
    let known = KnownPeer::read_newest(repository, followed.peer)?;
    let chain = known.chain.as_ref().ok_or_else(|| {
        Error::damaged(format!("what was accepted of `{petname}` has no identity"))
    })?;
    let tracked = spaces.into_iter().map(|(space, record)| TrackedSpace {
        label: label_of(petname, chain, space),
        is_listed: known.lists(space),
        petname: petname.clone(),
        peer: followed.peer,
        space,
        record,
    });
    Ok(tracked.collect())
}

/// Draws the refs of a space from its record; returns those that somebody had moved.
///
/// # Errors
/// Fails when the record is damaged, and when a ref cannot be written.
pub fn draw(space: &SessionSpace, tracked: &TrackedSpace) -> Result<Vec<String>> {
    draw_known(space, tracked, None)
}

/// Draws them likewise. Where they are what the record before the one that was just written says, only what that one
/// changes is drawn, and neither is read.
///
/// # Errors
/// Fails as [`draw`] does.
pub(crate) fn draw_known(
    space: &SessionSpace,
    tracked: &TrackedSpace,
    written: Option<&WrittenRecord>,
) -> Result<Vec<String>> {
    let (repository, label) = (space.repository(), &tracked.label);
    // Of two that draw at once the second one sees what the first one left, and the newest record.
    let pen = RefPen::take(space)?;
    let record = repository.find_ref(&accepted_ref(tracked.peer, tracked.space))?;
    let record = record.unwrap_or(tracked.record);
    let (found, n_shown) = (drawn_refs(repository, label)?, refs_max(repository)?);
    let mark = DrawnMark::read(space, label);
    let there = DrawnRefs::of(&found, n_shown);
    let is_drawn = |record| mark.is_of(record, &there);
    if is_drawn(record) {
        return Ok(Vec::new());
    }
    let drawn = DrawnSpace { label, found: &found, n_shown };
    let n_changed = written.map_or(0, |written| written.changes.len());
    let written = written.filter(|written| written.record == record);
    let written = written.filter(|written| written.before.is_some_and(is_drawn));
    let wanted = written.and_then(|written| drawn.changed(&written.changes));
    let wanted = match wanted {
        Some(wanted) => wanted,
        None => drawn.wanted(&Acceptance::read(repository, record)?),
    };
    let moved = pen.write(&found, &wanted)?;
    mark.note(record, &DrawnRefs::of(&wanted, n_shown))?;
    drop(pen);
    let n_agents = wanted.keys().filter(|name| name.starts_with(REMOTE_REFS)).count();
    keep_commit_graph(repository, n_agents, n_changed);
    Ok(moved)
}

/// Lists the refs of a space that are not what its record says. Nothing is written.
///
/// # Errors
/// Fails when the record is damaged.
pub fn misplaced(space: &SessionSpace, tracked: &TrackedSpace) -> Result<Vec<String>> {
    let repository = space.repository();
    let acceptance = Acceptance::read(repository, tracked.record)?;
    let (found, n_shown) = (drawn_refs(repository, &tracked.label)?, refs_max(repository)?);
    let drawn = DrawnSpace { label: &tracked.label, found: &found, n_shown };
    let wanted = drawn.wanted(&acceptance);
    let names: BTreeSet<&String> = found.keys().chain(wanted.keys()).collect();
    let wrong = names.into_iter().filter(|name| found.get(*name) != wanted.get(*name));
    Ok(wrong.cloned().collect())
}

/// The refs that a space has.
struct DrawnSpace<'a> {
    label: &'a str,
    found: &'a BTreeMap<String, Oid>,
    /// Of how many agents refs are drawn by themselves.
    n_shown: usize,
}

impl DrawnSpace<'_> {
    /// Lists the refs that it should have by its record.
    fn wanted(&self, acceptance: &Acceptance) -> BTreeMap<String, Oid> {
        let DrawnSpace { label, found, n_shown } = *self;
        let refs = |(agent, entry)| refs_of(label, agent, entry);
        let shown = acceptance.believed.iter().take(n_shown);
        let mut wanted: BTreeMap<String, Oid> = shown.flat_map(refs).collect();
        if found.keys().any(|name| !wanted.contains_key(name)) {
            // Beyond the limit those are drawn that somebody asked for.
            let further = acceptance.believed.iter().skip(n_shown).flat_map(refs);
            wanted.extend(further.filter(|(name, _)| found.contains_key(name)));
        }
        wanted
    }

    /// Lists the refs that it should have after some changes, if it has those from before them; nothing where others
    /// may come in or fall out by the limit.
    fn changed(&self, changes: &[HeadChange]) -> Option<BTreeMap<String, Oid>> {
        let DrawnSpace { label, found, n_shown } = *self;
        let [heads, _] = prefixes(label);
        let n_agents = |refs: &BTreeMap<String, Oid>| {
            refs.keys().filter(|name| name.starts_with(&heads)).count()
        };
        let has_all = n_agents(found) < n_shown;
        let mut wanted = found.clone();
        for HeadChange { agent, old, new } in changes {
            let [old, new] = [old, new].map(|entry| {
                let refs = entry.iter().flat_map(|entry| refs_of(label, agent, entry));
                refs.collect::<BTreeMap<String, Oid>>()
            });
            if !has_all && !old.keys().eq(new.keys()) {
                return None;
            }
            for name in old.keys() {
                wanted.remove(name);
            }
            wanted.extend(new.into_iter().filter(|(name, _)| has_all || found.contains_key(name)));
        }
        (!has_all || n_agents(&wanted) <= n_shown).then_some(wanted)
    }
}

/// Lists the refs that a space has.
fn drawn_refs(repository: &Repository, label: &str) -> Result<BTreeMap<String, Oid>> {
    let mut found: BTreeMap<String, Oid> = BTreeMap::new();
    for prefix in prefixes(label) {
        let refs = repository.list_refs(&prefix)?.into_iter();
        found.extend(refs.map(|found| (found.name, found.target)));
    }
    Ok(found)
}

/// Takes away the refs of a name.
///
/// # Errors
/// Fails when a ref cannot be removed.
pub fn erase(space: &SessionSpace, label: &str) -> Result<()> {
    let pen = RefPen::take(space)?;
    let found = drawn_refs(space.repository(), label)?;
    pen.write(&found, &BTreeMap::new())?;
    Ok(())
}

/// Takes away the refs of names that no record has, such as the one that a space had before it was called otherwise.
///
/// # Errors
/// Fails when a record is damaged, and when a ref cannot be removed.
pub fn erase_unrecorded(space: &SessionSpace) -> Result<()> {
    let recorded: BTreeSet<String> =
        tracked_spaces(space)?.into_iter().map(|tracked| tracked.label).collect();
    for petname in followed_peers(space)?.keys() {
        for label in further_labels(space.repository(), petname)? {
            if !recorded.contains(&label) {
                erase(space, &label)?;
            }
        }
    }
    Ok(())
}

/// Takes away the refs of all spaces of a peer.
///
/// # Errors
/// Fails when a ref cannot be removed.
pub fn erase_peer(space: &SessionSpace, petname: &Petname) -> Result<()> {
    for label in drawn_labels(space.repository(), petname)? {
        erase(space, &label)?;
    }
    Ok(())
}

/// Lists the names `bob` and `bob+NICK` of which there are refs. A remote of git's keeps its own.
///
/// # Errors
/// Fails when refs cannot be read.
pub(crate) fn drawn_labels(repository: &Repository, petname: &Petname) -> Result<BTreeSet<String>> {
    let mut labels = further_labels(repository, petname)?;
    let has_refs = |prefix: &String| repository.has_refs_below(prefix);
    let first = petname.to_string();
    for prefix in prefixes(&first) {
        if has_refs(&prefix)? && !repository.remotes().contains(&first) {
            labels.insert(first.clone());
        }
    }
    Ok(labels)
}

/// Lists the names `bob+NICK` of which there are refs.
fn further_labels(repository: &Repository, petname: &Petname) -> Result<BTreeSet<String>> {
    let mut labels = BTreeSet::new();
    for folder in [REMOTE_REFS, REMOTE_NOTES] {
        let refs = repository.list_refs(&format!("{folder}{petname}+"))?;
        let label = |name: &str| name.strip_prefix(folder)?.split('/').next().map(str::to_owned);
        labels.extend(refs.iter().filter_map(|found| label(&found.name)));
    }
    if !labels.is_empty() {
        let remotes = repository.remotes();
        labels.retain(|label| !remotes.contains(label));
    }
    Ok(labels)
}

/// Refuses a name of a space of a peer that no record has: its refs are nothing that is believed.
fn require_recorded(space: &SessionSpace, label: &str) -> Result<()> {
    let petname = label.split('+').next().unwrap_or(label);
    let is_peer = followed_peers(space)?.keys().any(|name| name.as_str() == petname);
    match is_peer {
        true => Err(Error::refused(
            format!("nothing of `{label}` is here"),
            "`agentic fetch` asks remotes; `agentic peer list` lists what there is",
        )),
        false => Ok(()),
    }
}

/// Makes the refs of one agent what the record says, before somebody reads them; returns those that
/// somebody had moved. Nothing for a name that no peer has.
///
/// # Errors
/// Fails when the record is damaged, and when a ref cannot be written.
pub fn settle(space: &SessionSpace, label: &str, agent: &AgentName) -> Result<Vec<String>> {
    let repository = space.repository();
    let tracked = tracked_spaces(space)?;
    let Some(tracked) = tracked.iter().find(|tracked| tracked.label == label) else {
        return require_recorded(space, label).map(|()| Vec::new());
    };
    let pen = RefPen::take(space)?;
    let record = repository.find_ref(&accepted_ref(tracked.peer, tracked.space))?;
    let entry = believed_head(repository, record.unwrap_or(tracked.record), agent)?;
    let wanted: BTreeMap<String, Oid> =
        entry.iter().flat_map(|entry| refs_of(label, agent, entry)).collect();
    let mut found = BTreeMap::new();
    for prefix in prefixes(label) {
        let name = format!("{prefix}{agent}");
        if let Some(oid) = repository.find_ref(&name)? {
            found.insert(name, oid);
        }
    }
    pen.write(&found, &wanted)
}

/// Makes all refs what the records say.
///
/// # Errors
/// Fails as [`draw`] does.
pub fn settle_all(space: &SessionSpace) -> Result<Vec<String>> {
    let mut moved = Vec::new();
    for tracked in tracked_spaces(space)? {
        moved.extend(draw(space, &tracked)?);
    }
    erase_unrecorded(space)?;
    Ok(moved)
}

fn prefixes(label: &str) -> [String; 2] {
    [format!("{REMOTE_REFS}{label}/agents/"), format!("{REMOTE_NOTES}{label}/notes/")]
}

/// Names the ref under which the notes of an agent are tracked.
pub(crate) fn notes_ref(label: &str, agent: &AgentName) -> String {
    let [_, notes] = prefixes(label);
    format!("{notes}{agent}")
}

fn refs_of(label: &str, agent: &AgentName, entry: &HeadEntry) -> Vec<(String, Oid)> {
    let [heads, notes] = prefixes(label);
    let head = (format!("{heads}{agent}"), entry.head);
    let notes = entry.notes.map(|tip| (format!("{notes}{agent}"), tip));
    [head].into_iter().chain(notes).collect()
}

/// Returns how many agents of a space get tracking refs.
///
/// # Errors
/// Fails when the configuration says no number.
pub(crate) fn refs_max(repository: &Repository) -> Result<usize> {
    let configured = configured_count(repository, TRACK_REFS)?;
    Ok(configured.map_or(TRACK_REFS_MAX, |number| usize::try_from(number).unwrap_or(usize::MAX)))
}
