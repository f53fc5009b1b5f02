//! What is heard of a peer, whatever is believed of it then: identity documents and statements.

use agentic_git::{Quarantine, RefMove};
use agentic_session::SessionSpace;
use agentic_store::fault;

use super::{ServedSpace, SpaceResult};
use crate::accepted::{AcceptedChain, AcceptedOutline, read_accepted_outline};
use crate::announcement::SignedAnnouncement;
use crate::durable::RACES_MAX;
use crate::identity::IdentityChain;
use crate::known::KnownPeer;
use crate::walk::{
    ChainBeginning, DocumentsOnTheWay, Walk, WalkEnd, WalkNode, WalkSubject, is_backed, walk_down,
    why_invalid,
};
use crate::witness::hear_seen;
use crate::{Error, MalformedInput, Result};

/// How much of what is nothing is named by itself. Anybody who may push can put very much of it there.
const JUNK_NAMED_MAX: usize = 20;

/// What was heard of a space, and against what it is judged.
pub(super) struct Hearing {
    /// What is known of the peer.
    pub known: KnownPeer,
    /// What was accepted of the space when the way began.
    pub accepted: Option<AcceptedOutline>,
    /// The way down to it, or what is wrong with it.
    pub walk: std::result::Result<Walk, MalformedInput>,
    /// The valid announcements on the way.
    pub heard: Vec<SignedAnnouncement>,
    /// What was served and is nothing.
    pub junk: Vec<String>,
}

/// Takes identity documents and statements in, and keeps what is new durably.
pub(super) fn hear(
    space: &SessionSpace,
    served: &ServedSpace,
    quarantine: &Quarantine,
) -> Result<Hearing> {
    let own = space.repository();
    loop {
        let before = KnownPeer::read(own, served.peer)?;
        let mut known = before.clone();
        let accepted = read_accepted_outline(own, served.peer, served.space)?;
        let record = accepted.as_ref().map(|accepted| accepted.record);
        let mut chain = AcceptedChain::of_record(own, record)?;
        known.hear_own(own, served.peer)?;
        let subject = served.subject(own)?;
        let mut beginning = ChainBeginning::new(quarantine.repository(), subject, &known);
        let walk = match walk_down(served.tip, &mut chain, &mut beginning) {
            Ok(walk) => walk,
            // What is wrong with it is said when it is judged.
            Err(Error::Malformed(wrong)) => {
                let (heard, junk) = (Vec::new(), Vec::new());
                return Ok(Hearing { known, accepted, walk: Err(wrong), heard, junk });
            }
            Err(error) => return Err(error),
        };
        let mut documents = DocumentsOnTheWay::new(quarantine.repository(), served.peer);
        documents.hear(&walk.nodes, &mut known);
        let (heard, junk) = valid_and_junk(&walk, known.chain.as_ref(), subject);
        known.hear(&heard, &mut |stated| {
            if stated.space != served.space {
                return Ok(None);
            }
            Ok(chain.at(stated.number)?.map(|found| found.signed.clone()))
        })?;
        // What others had seen before it was accepted here is kept by the accepted chain from now on.
        known.forget(&mut |signed| {
            let said = &signed.announcement;
            let found = match said.space == served.space {
                true => chain.at(said.number())?,
                false => None,
            };
            Ok(found.is_some_and(|found| found.signed.cid() == signed.cid()))
        })?;
        // What will be accepted needs not be kept beside; what is not is heard of next time, too, but
        // only as long as somebody serves it.
        // A chain that was cut may wait for a person, who names it.
        let is_apart = accepted.is_some() && matches!(walk.end, WalkEnd::Root);
        if is_apart || !is_about_to_be_accepted(&known, &walk, subject) {
            known.keep(heard.clone());
        }
        if let Some(identity) = &known.chain {
            hear_seen(space, quarantine.repository(), &walk, (identity, subject))?;
        }
        if known.is_same(&before) || known.save(space, served.peer)? == RefMove::Moved {
            fault::point("statements-kept")?;
            return Ok(Hearing { known, accepted, walk: Ok(walk), heard, junk: named_junk(junk) });
        }
    }
}

/// Tells the valid announcements on the way from what is nothing. Before an identity is known neither is said.
fn valid_and_junk(
    walk: &Walk,
    identity: Option<&IdentityChain>,
    subject: WalkSubject,
) -> (Vec<SignedAnnouncement>, Vec<String>) {
    let (mut valid, mut junk) = (Vec::new(), Vec::new());
    for node in &walk.nodes {
        match (node, identity) {
            (WalkNode::Announced(wrapped), Some(identity)) => {
                match why_invalid(identity, subject, wrapped) {
                    None => valid.push(wrapped.signed.clone()),
                    Some(why) => junk.push(format!("{}: {why}", wrapped.commit)),
                }
            }
            (WalkNode::Junk { commit, why }, _) => junk.push(format!("{commit}: {why}")),
            (WalkNode::Announced(_), None) => {}
        }
    }
    (valid, junk)
}

/// Keeps what was heard and is not accepted: a later one with the same number proves something by it.
pub(super) fn keep_heard(
    space: &SessionSpace,
    served: &ServedSpace,
    heard: &[SignedAnnouncement],
    result: &SpaceResult,
) -> Result<()> {
    for _ in 0..RACES_MAX {
        let before = KnownPeer::read(space.repository(), served.peer)?;
        let mut known = before.clone();
        match matches!(result, SpaceResult::Refused(_)) {
            true => known.refuse(heard.to_vec()),
            false => known.keep(heard.to_vec()),
        }
        if known.is_same(&before) || known.save(space, served.peer)? == RefMove::Moved {
            return Ok(());
        }
    }
    Err(Error::conflict("others hear of that peer all the time", "fetch again"))
}

/// Names the first of what is nothing, and counts the rest.
fn named_junk(mut junk: Vec<String>) -> Vec<String> {
    let n_more = junk.len().saturating_sub(JUNK_NAMED_MAX);
    junk.truncate(JUNK_NAMED_MAX);
    if n_more > 0 {
        junk.push(format!("{n_more} more commits there are no announcement that counts"));
    }
    junk
}

fn is_about_to_be_accepted(known: &KnownPeer, walk: &Walk, subject: WalkSubject) -> bool {
    let (Some(identity), Some(first)) = (&known.chain, walk.nodes.first()) else { return false };
    !known.is_frozen()
        && first.valid(identity, subject).is_some_and(|wrapped| is_backed(identity, wrapped))
}
