//! Whether a remote has an announcement of this very space that this repository lacks.
//!
//! Then the repository is an older state of itself, such as a backup. A number that has left the machine
//! is never signed again with other content, so nothing is announced before it was taken over. It is taken
//! over last: whoever dies before finds the agents further on and the same way to go.

use agentic_git::{DownloadSource, Quarantine, RefMove, Repository};
use agentic_model::AgentName;
use agentic_session::SessionSpace;
use agentic_space::sync::{FetchOutcome, TheirAgent, take_in};
use agentic_store::fault;

use crate::accepted::AcceptedChain;
use crate::announce::{ANNOUNCE_LEASE, own_announcement};
use crate::announcement::ChainNumber;
use crate::durable::{NextState, lock, mover, read_state};
use crate::exchange::{SeenRemote, bytes_max, is_below, served_name, served_refs, told};
use crate::fetch::hear_own_spaces;
use crate::folder::{Drafts, read_subfolder};
use crate::id::announce_ref;
use crate::identity::IdentityChain;
use crate::known::KnownPeer;
use crate::own::{
    IDENTITY_REF, OwnIdentity, require_listed, require_one_identity, require_own, save_chain,
};
use crate::shard::{Heads, read_heads};
use crate::walk::{
    ChainBeginning, DocumentsOnTheWay, Walk, WalkEnd, WalkSubject, is_listed, walk_down,
};
use crate::wrapping::{WrappedAnnouncement, body_of};
use crate::{Error, Result};

/// An announcement of this space that a remote has and this repository lacks.
struct NewerState {
    /// Where it is.
    quarantine: Quarantine,
    /// The announcement.
    wrapped: WrappedAnnouncement,
    /// Our identity with the documents that came along.
    identity: IdentityChain,
    /// What is announced.
    heads: Heads,
    /// What this repository has of itself.
    ours: Option<WrappedAnnouncement>,
    /// Whether something that counts for nothing lies above it.
    has_junk: bool,
}

/// What was taken over of this space itself.
#[derive(Debug)]
pub struct RecoveredState {
    /// The announcement.
    pub announcement: WrappedAnnouncement,
    /// The one that was here before.
    pub before: Option<WrappedAnnouncement>,
    /// What moved.
    pub moved: FetchOutcome,
    /// The agents that are in the archive here, and were announced as open.
    pub archived: Vec<AgentName>,
}

/// Looks what a remote has in the place of our announcement. One of this space that this repository lacks is
/// taken over, and refused where an agent here is behind it. What is no announcement of ours is passed over:
/// the push replaces it, and says so.
///
/// # Errors
/// Fails with a conflict in that case, before `peer init`, and when the remote cannot be reached.
pub fn require_newest(space: &SessionSpace, remote: &str) -> Result<SeenRemote> {
    let own = require_own(space)?;
    let ours = own_announcement(space.repository(), &own)?;
    let named = ours.as_ref().map(|ours| ours.signed.announcement.identity);
    if named != Some(own.chain.last().cid()) {
        hear_own_spaces(space, remote)?;
    }
    let (seen, newer) = look(space, &own, remote, ours)?;
    let Some(newer) = newer else {
        require_listed(&own)?;
        return Ok(seen);
    };
    match behind(space.repository(), &newer)?.as_slice() {
        [] => adopt(space, &own, &newer).map(|()| seen),
        behind => Err(older_state(remote, &newer, behind)),
    }
}

/// Takes over what a remote has announced for this space: agents move forward or are made again, their notes
/// are united, and then the announcement is ours. Nothing where the remote has nothing newer.
///
/// # Errors
/// Fails when the remote cannot be reached, when it has another chain of this space, and when the disk does.
pub fn recover(space: &SessionSpace, remote: &str) -> Result<Option<RecoveredState>> {
    let own = require_own(space)?;
    let ours = own_announcement(space.repository(), &own)?;
    let (_, newer) = look(space, &own, remote, ours)?;
    let Some(newer) = newer else { return Ok(None) };
    keep(space.repository(), &newer)?;
    let mut moved = FetchOutcome { remote: remote.to_owned(), ..FetchOutcome::default() };
    let mut archived = Vec::new();
    for (agent, entry) in &newer.heads {
        let theirs = TheirAgent { agent: agent.clone(), head: entry.head, notes: entry.notes };
        match space.archived_agent(agent)? {
            Some(_) => archived.push(agent.clone()),
            None => take_in(space, &theirs, &mut moved)?,
        }
        fault::point("agent-recovered")?;
    }
    adopt(space, &own, &newer)?;
    let NewerState { wrapped, ours, .. } = newer;
    Ok(Some(RecoveredState { announcement: wrapped, before: ours, moved, archived }))
}

/// Makes an announcement of this space that came from a remote our own, and the identity that came along.
fn adopt(space: &SessionSpace, own: &OwnIdentity, newer: &NewerState) -> Result<()> {
    let repository = space.repository();
    keep(repository, newer)?;
    if newer.identity != own.chain {
        let tip = read_state(repository, IDENTITY_REF)?.map(|(tip, _)| tip);
        save_chain(space, tip, &newer.identity, "agentic fetch --recover")?;
    }
    let _lease = lock(repository, ANNOUNCE_LEASE)?;
    let next = NextState {
        name: announce_ref(own.peer(), own.space),
        expect: newer.ours.as_ref().map(|ours| ours.commit),
        commit: newer.wrapped.commit,
        drafts: Drafts::default(),
        why: "agentic fetch --recover".to_owned(),
    };
    match next.publish(repository, &mover(repository, space.now())?)? {
        RefMove::Moved => Ok(()),
        RefMove::Lost { .. } => Err(Error::conflict(
            "our own announcement was moved meanwhile",
            "look at it with `agentic verify`, then try again",
        )),
    }
}

/// Moves what came here to our own objects, without what somebody put above it.
fn keep(own: &Repository, newer: &NewerState) -> Result<()> {
    match newer.has_junk {
        true => {
            let known = newer.ours.as_ref().map(|ours| ours.commit);
            newer.quarantine.keep_reached(own, newer.wrapped.commit, known)?;
        }
        false => newer.quarantine.keep_all(own)?,
    }
    Ok(())
}

/// Lists the agents that are not as far here as they were announced.
fn behind(own: &Repository, newer: &NewerState) -> Result<Vec<AgentName>> {
    let both = newer.quarantine.repository();
    let mut behind = Vec::new();
    for (agent, entry) in &newer.heads {
        let is_there = match own.find_ref(&agent.branch_ref())? {
            Some(head) => both.is_ancestor(entry.head, head)?,
            None => false,
        };
        if !is_there {
            behind.push(agent.clone());
        }
    }
    Ok(behind)
}

/// Looks what a remote has in the place of our announcement: where its ref is, and what others would take for
/// a newer one of ours than the one here.
fn look(
    space: &SessionSpace,
    own: &OwnIdentity,
    remote: &str,
    ours: Option<WrappedAnnouncement>,
) -> Result<(SeenRemote, Option<NewerState>)> {
    let repository = space.repository();
    let name = served_name(repository, remote, own.peer(), own.space)?;
    let served = served_refs(repository, remote, std::slice::from_ref(&name))?;
    let there = served.into_iter().find(|(found, _)| *found == name).map(|(_, oid)| oid);
    let seen = SeenRemote { remote: remote.to_owned(), there };
    let is_known = match (there, &ours) {
        (None, _) => true,
        (Some(there), Some(ours)) => is_below(repository, there, ours.commit)?,
        (Some(_), None) => false,
    };
    let newer = if is_known { None } else { newer_state(space, own, ours, &seen)? };
    Ok((seen, newer))
}

/// Finds in what a remote has the announcement that others would take for a newer one of ours.
fn newer_state(
    space: &SessionSpace,
    own: &OwnIdentity,
    ours: Option<WrappedAnnouncement>,
    seen: &SeenRemote,
) -> Result<Option<NewerState>> {
    let (remote, Some(there)) = (&seen.remote, seen.there) else { return Ok(None) };
    let repository = space.repository();
    let name = served_name(repository, remote, own.peer(), own.space)?;
    let source = DownloadSource { at: remote, name: &name };
    let mut quarantine = Quarantine::make(repository)?;
    let end = quarantine.download(repository, &source, bytes_max(repository)?)?;
    let is_whole = end.success && quarantine.repository().has_object(there);
    if !is_whole {
        // What git refuses nobody takes for an announcement of ours, unless it is one.
        quarantine = Quarantine::make(repository)?;
        let looked = quarantine.download_to_look_at(repository, &source, bytes_max(repository)?)?;
        if !looked.success || !quarantine.repository().has_object(there) {
            return Err(cannot_look(remote, &end.stderr));
        }
    }
    let mut chain = AcceptedChain::new(repository, ours.as_ref().map(|ours| ours.commit));
    let before = KnownPeer::read(repository, own.peer())?;
    let mut known = before.clone();
    known.hear_documents(own.peer(), own.chain.documents().to_vec());
    let mut beginning = ChainBeginning::new(quarantine.repository(), subject(own), &known);
    let walk = match walk_down(there, &mut chain, &mut beginning) {
        Ok(walk) => walk,
        // It is longer than any chain: nobody would take it for ours.
        Err(Error::Malformed(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    DocumentsOnTheWay::new(quarantine.repository(), own.peer()).hear(&walk.nodes, &mut known);
    let identity = grown(space, own, &before, known)?;
    let Some(found) = newest_of_ours(&identity, own, &walk) else { return Ok(None) };
    if let Some(ours) = &ours
        && is_before(&mut chain, ours, &found)?
    {
        return Ok(None);
    }
    if !is_whole {
        return Err(cannot_look(remote, &end.stderr));
    }
    let goes_on = match (&ours, &walk.end) {
        (Some(ours), WalkEnd::Meets(met)) => ours.commit == met.commit,
        (Some(ours), WalkEnd::Root) => {
            let said = &found.signed.announcement;
            said.cut.is_some() && said.previous == Some(ours.signed.cid())
        }
        (None, WalkEnd::Root) => true,
        (None, WalkEnd::Meets(_)) | (_, WalkEnd::Gap) => false,
    };
    if !goes_on {
        let seq = found.signed.announcement.seq;
        return Err(Error::conflict(
            format!("`{remote}` has another announcement {seq} of this space than we have"),
            "this repository and another one announced as one space: `agentic peer space --new` here",
        ));
    }
    let body = body_of(quarantine.repository(), &found)?;
    let heads = read_subfolder(quarantine.repository(), &body, "heads")?;
    let heads = read_heads(quarantine.repository(), &heads)?;
    let has_junk = found.commit != there;
    Ok(Some(NewerState { quarantine, wrapped: found, identity, heads, ours, has_junk }))
}

/// Tells whether an announcement of ours is from before what our chain begins with: the chain was cut since, or goes on
/// from before it in a later epoch. Where ours has another one of its number, or names another one as the one
/// before, it is none of that.
fn is_before(
    chain: &mut AcceptedChain<'_>,
    ours: &WrappedAnnouncement,
    found: &WrappedAnnouncement,
) -> Result<bool> {
    let number = found.signed.announcement.number();
    if number >= ours.signed.announcement.number() || chain.at(number)?.is_some() {
        return Ok(false);
    }
    let next = ChainNumber { seq: number.seq.saturating_add(1), ..number };
    let previous = chain.at(next)?.and_then(|next| next.signed.announcement.previous);
    Ok(previous.is_none_or(|previous| previous == found.signed.cid()))
}

fn cannot_look(remote: &str, said: &str) -> Error {
    let said = told(said);
    Error::refused(
        format!(
            "`{remote}` has something in place of our announcement, which cannot be downloaded: {said}"
        ),
        "nothing is announced before it was looked at: try again",
    )
}

/// Says whose announcements are ours.
fn subject(own: &OwnIdentity) -> WalkSubject {
    WalkSubject { project: Some(own.project), peer: own.peer(), space: own.space }
}

/// Finds the newest announcement on the way that others would take for ours.
fn newest_of_ours(
    identity: &IdentityChain,
    own: &OwnIdentity,
    walk: &Walk,
) -> Option<WrappedAnnouncement> {
    let mut valid = walk.nodes.iter().filter_map(|node| node.valid(identity, subject(own)));
    valid.find(|wrapped| is_listed(identity, wrapped)).cloned()
}

/// Returns our identity with the documents that are on the way: an older state lacks the newest. Two documents with
/// one number are kept, since a person has to choose one of them.
fn grown(
    space: &SessionSpace,
    own: &OwnIdentity,
    before: &KnownPeer,
    mut known: KnownPeer,
) -> Result<IdentityChain> {
    if known.forked_documents().is_some() && !known.is_same(before) {
        match known.save(space, own.peer())? {
            // It is refused in any case, and the next try keeps what was found.
            RefMove::Moved | RefMove::Lost { .. } => {}
        }
    }
    require_one_identity(&own.chain, &known)?;
    Ok(known.chain.unwrap_or_else(|| own.chain.clone()))
}

fn older_state(remote: &str, newer: &NewerState, behind: &[AgentName]) -> Error {
    let said = &newer.wrapped.signed.announcement;
    let have = newer.ours.as_ref().map_or_else(
        || "none".to_owned(),
        |ours| format!("announcement {}", ours.signed.announcement.seq),
    );
    let names: Vec<String> = behind.iter().map(|agent| format!("`{agent}`")).collect();
    Error::conflict(
        format!(
            "`{remote}` has announcement {} of this space, and here is {have}: this repository is an \
             older state of itself, and behind in {}",
            said.seq,
            names.join(", ")
        ),
        format!("`agentic fetch {remote} --recover` takes it over, and moves these agents forward"),
    )
}
