//! What a person decides of a peer that said two things.

use agentic_git::RefMove;
use agentic_model::Cid;
use agentic_session::SessionSpace;

use crate::durable::RACES_MAX;
use crate::id::PeerId;
use crate::known::KnownPeer;
use crate::own::{follow_identity, own_peer};
use crate::{Error, Result};

/// Ends that a peer is frozen: a person chose one side of what it said. Of two documents of an identity the one that
/// was chosen counts from now on, and so it does in our own. Safe to repeat.
///
/// # Errors
/// Fails when nothing that it said has that side.
pub fn resolve(space: &SessionSpace, peer: PeerId, side: Cid, why: &str) -> Result<()> {
    for _ in 0..RACES_MAX {
        let mut known = KnownPeer::read(space.repository(), peer)?;
        let is_own = own_peer(space.repository())? == Some(peer);
        if known.resolve(side, why) == 0 {
            return match is_own && known.chosen().contains(&side) {
                true => follow_identity(space, &known),
                false => Err(Error::refused(
                    format!("nothing that this peer said twice has the side `{side}`"),
                    "`agentic verify` shows both sides",
                )),
            };
        }
        if known.save(space, peer)? == RefMove::Moved {
            return if is_own { follow_identity(space, &known) } else { Ok(()) };
        }
    }
    Err(Error::conflict("others hear of that peer all the time", "try again"))
}
