//! Peers as they are shown.

use agentic_federation::accepted::{accepted_spaces, read_accepted};
use agentic_federation::announce::own_announcement;
use agentic_federation::freshness::{PeerFreshness, announced_ahead, freshness};
use agentic_federation::id::{Petname, SELF};
use agentic_federation::identity::{IdentityChain, ListedSpace};
use agentic_federation::known::KnownPeer;
use agentic_federation::own::require_own;
use agentic_federation::policy::FollowedPeer;
use agentic_federation::tracking::followed_peers;
use agentic_federation::wrapping::read_wrapped;
use agentic_model::Instant;
use agentic_session::SessionSpace;

use crate::Refusal;
use crate::view::{DisownedView, PeerChangeView, PeerSpaceView, PeerView};

/// Shows what became of a peer that is followed.
pub(super) fn change_view(
    space: &SessionSpace,
    name: &Petname,
    followed: &FollowedPeer,
) -> Result<PeerChangeView, Refusal> {
    let spaces = accepted_spaces(space.repository(), followed.peer)?;
    Ok(PeerChangeView {
        peer: followed.peer.to_string(),
        name: name.to_string(),
        trust: followed.trust.as_str().to_owned(),
        principal: followed.principal.clone(),
        spaces: spaces.iter().map(|(space, _)| space.to_string()).collect(),
        granted: Vec::new(),
    })
}

/// Shows this peer itself.
pub(super) fn own_view(space: &SessionSpace) -> Result<PeerView, Refusal> {
    let own = require_own(space)?;
    let state = own_announcement(space.repository(), &own)?;
    let followed = followed_peers(space)?.remove(&Petname::own());
    let mut spaces = Vec::new();
    for listed in &own.chain.newest().spaces {
        let said = state.as_ref().map(|wrapped| &wrapped.signed);
        spaces.push(match (listed.space == own.space, &followed) {
            (false, Some(followed)) => space_view(space, followed, listed)?,
            (true, _) | (false, None) => PeerSpaceView {
                space: listed.space.to_string(),
                nick: listed.nick.clone(),
                state: if said.is_some() { "current" } else { "new" }.to_owned(),
                epoch: said.map(|said| said.announcement.epoch),
                seq: said.map(|said| said.announcement.seq),
                announcement: said.map(|said| said.cid().to_string()),
                received_at: None,
                ahead: None,
                agents: said.map_or(0, |said| said.announcement.entries as usize),
                held: 0,
                disowned: Vec::new(),
            },
        });
    }
    Ok(PeerView {
        name: SELF.to_owned(),
        peer: own.peer().to_string(),
        trust: SELF.to_owned(),
        principal: None,
        frozen: KnownPeer::read(space.repository(), own.peer())?.is_frozen(),
        spaces,
    })
}

/// Shows a peer that is followed, with its spaces.
pub(super) fn peer_view(
    space: &SessionSpace,
    name: &Petname,
    followed: &FollowedPeer,
) -> Result<PeerView, Refusal> {
    let known = KnownPeer::read(space.repository(), followed.peer)?;
    let chain: Option<&IdentityChain> = known.chain.as_ref();
    let listed = chain.map(|chain| chain.newest().spaces.clone()).unwrap_or_default();
    let spaces = listed.iter().map(|listed| space_view(space, followed, listed));
    Ok(PeerView {
        name: name.to_string(),
        peer: followed.peer.to_string(),
        trust: followed.trust.as_str().to_owned(),
        principal: followed.principal.clone(),
        frozen: known.is_frozen(),
        spaces: spaces.collect::<Result<_, _>>()?,
    })
}

/// Shows a space of a peer.
fn space_view(
    space: &SessionSpace,
    followed: &FollowedPeer,
    listed: &ListedSpace,
) -> Result<PeerSpaceView, Refusal> {
    let accepted = read_accepted(space.repository(), followed.peer, listed.space)?;
    let accepted = accepted.map(|accepted| accepted.acceptance);
    let said = accepted.as_ref().map(|found| read_wrapped(space.repository(), found.announced));
    let said = said.transpose()?.map(|wrapped| wrapped.signed.announcement);
    let state = match &accepted {
        None => "new",
        Some(found) => match freshness(space, followed, listed.space)? {
            PeerFreshness::Current if !found.disowned.is_empty() => "recovered",
            age @ (PeerFreshness::Current
            | PeerFreshness::Behind
            | PeerFreshness::Unconnected
            | PeerFreshness::Overdue { .. }) => age.as_str(),
        },
    };
    let disowned = accepted.iter().flat_map(|found| &found.disowned);
    let disowned = disowned.map(|(agent, entry)| DisownedView {
        agent: agent.to_string(),
        head: entry.head.to_string(),
    });
    Ok(PeerSpaceView {
        space: listed.space.to_string(),
        nick: listed.nick.clone(),
        state: state.to_owned(),
        epoch: said.as_ref().map(|said| said.epoch),
        seq: said.as_ref().map(|said| said.seq),
        announcement: accepted.as_ref().map(|found| found.announcement.to_string()),
        received_at: accepted.as_ref().map(|found| Instant::from_millis(found.time).to_string()),
        ahead: announced_ahead(space, followed, listed.space)?.map(|at| at.to_string()),
        agents: accepted.as_ref().map_or(0, |found| found.believed.len()),
        held: accepted.as_ref().map_or(0, |found| found.held.len()),
        disowned: disowned.collect(),
    })
}
