//! Peers as they are shown.

use agentic_federation::accepted::{accepted_spaces, read_accepted};
use agentic_federation::announce::own_announcement;
use agentic_federation::id::{Petname, SELF};
use agentic_federation::identity::IdentityChain;
use agentic_federation::known::KnownPeer;
use agentic_federation::own::require_own;
use agentic_federation::policy::FollowedPeer;
use agentic_federation::wrapping::read_wrapped;
use agentic_model::Instant;
use agentic_session::SessionSpace;

use crate::Refusal;
use crate::view::{PeerChangeView, PeerSpaceView, PeerView};

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
    let spaces = own.chain.newest().spaces.iter().map(|listed| {
        let said = state.as_ref().filter(|_| listed.space == own.space);
        let said = said.map(|wrapped| (&wrapped.signed.announcement, wrapped.signed.cid()));
        PeerSpaceView {
            space: listed.space.to_string(),
            nick: listed.nick.clone(),
            state: if said.is_some() { "current" } else { "new" }.to_owned(),
            epoch: said.map(|(said, _)| said.epoch),
            seq: said.map(|(said, _)| said.seq),
            announcement: said.map(|(_, cid)| cid.to_string()),
            received_at: None,
            agents: said.map_or(0, |(said, _)| said.entries as usize),
            held: 0,
        }
    });
    Ok(PeerView {
        name: SELF.to_owned(),
        peer: own.peer().to_string(),
        trust: SELF.to_owned(),
        principal: None,
        frozen: false,
        spaces: spaces.collect(),
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
    let mut spaces = Vec::new();
    for listed in listed {
        let accepted = read_accepted(space.repository(), followed.peer, listed.space)?;
        let accepted = accepted.map(|accepted| accepted.acceptance);
        let said =
            accepted.as_ref().map(|accepted| read_wrapped(space.repository(), accepted.announced));
        let said = said.transpose()?.map(|wrapped| wrapped.signed.announcement);
        spaces.push(PeerSpaceView {
            space: listed.space.to_string(),
            nick: listed.nick,
            state: if accepted.is_some() { "current" } else { "new" }.to_owned(),
            epoch: said.as_ref().map(|said| said.epoch),
            seq: said.as_ref().map(|said| said.seq),
            announcement: accepted.as_ref().map(|accepted| accepted.announcement.to_string()),
            received_at: accepted
                .as_ref()
                .map(|accepted| Instant::from_millis(accepted.time).to_string()),
            agents: accepted.as_ref().map_or(0, |accepted| accepted.believed.len()),
            held: accepted.as_ref().map_or(0, |accepted| accepted.held.len()),
        });
    }
    Ok(PeerView {
        name: name.to_string(),
        peer: followed.peer.to_string(),
        trust: followed.trust.as_str().to_owned(),
        principal: followed.principal.clone(),
        frozen: known.is_frozen(),
        spaces,
    })
}
