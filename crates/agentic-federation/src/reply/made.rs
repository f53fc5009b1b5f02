//! Our own decisions of holds elsewhere: kept in one ref, and sent with the next announcement.

use agentic_git::RefMove;
use agentic_model::Oid;
use agentic_session::SessionSpace;
use agentic_session::decide::{Decision, DecisionDraft, DecisionOutcome};
use agentic_session::elsewhere::{ForeignVoice, VoiceDelegation, decide_elsewhere};
use agentic_session::error::DecisionError;
use agentic_store::fault;
use agentic_store::journal::GitObject;

use super::{PeerHold, Replies, put_replies, read_replies};
use crate::durable::{ChainContent, RACES_MAX, mover, next_state, read_state};
use crate::folder::{FolderDraft, TreeFolder};
use crate::own::{OwnIdentity, announcing_key, public_key, require_own};
use crate::reply::peer_holds;
use crate::{Error, Result};

/// The ref that holds our decisions of holds elsewhere. It is never pushed.
pub const REPLIES_REF: &str = "refs/agentic/replies";
/// The setting that names the key by which decisions are signed; the one that announces, without.
const DECIDE_KEY: &str = "agentic.decideKey";
/// From how many decisions on those go whose holds are closed.
const REPLIES_KEPT: usize = 256;

/// An answer to a hold elsewhere.
#[derive(Debug)]
pub struct PeerAnswer<'a> {
    /// The hold.
    pub hold: &'a PeerHold,
    /// The answer.
    pub answer: &'a DecisionDraft,
    /// For whom it is given, if not for whoever gives it.
    pub delegation: Option<VoiceDelegation>,
}

/// Lists our own decisions of holds elsewhere.
///
/// # Errors
/// Fails when what is kept is damaged.
pub fn own_replies(space: &SessionSpace) -> Result<Replies> {
    Ok(read_own(space)?.1)
}

/// Decides a hold elsewhere. The commit is signed and kept; it leaves with the next announcement, and decides
/// once its owner takes it in. The same answer again is the same commit.
///
/// # Errors
/// Fails without an identity, when the hold takes no such answer, when another answer was given before, and
/// when nobody signs.
pub fn answer(space: &SessionSpace, draft: &PeerAnswer<'_>) -> Result<DecisionOutcome> {
    let own = require_own(space)?;
    if let Some(earlier) = earlier_answer(space, draft)? {
        return Ok(earlier);
    }
    let repository = space.repository();
    let signer = repository.signer_by(&deciding_key(space, &own)?)?;
    let voice = ForeignVoice { identity: own.peer().0, delegation: draft.delegation.clone() };
    let hold = draft.hold;
    let made = decide_elsewhere(space, (hold.head, &hold.pending), draft.answer, (&voice, &signer));
    let (outcome, object) = made?;
    fault::point("reply-signed")?;
    keep(space, hold, (outcome.commit, object))?;
    Ok(outcome)
}

/// Finds our own answer to a hold; refuses another one.
fn earlier_answer(space: &SessionSpace, draft: &PeerAnswer<'_>) -> Result<Option<DecisionOutcome>> {
    let pending = &draft.hold.pending;
    for (commit, to) in own_replies(space)? {
        if to != draft.hold.of {
            continue;
        }
        let Some(decision) = Decision::of_commit(space, commit)? else { continue };
        if decision.request != pending.hold.id {
            continue;
        }
        let session = pending.hold.session;
        if decision.is_repeated_by(draft.answer, pending.policy.subject.as_ref()) {
            let written = agentic_session::WriteNotices::default();
            return Ok(Some(DecisionOutcome { commit, decision, session, written }));
        }
        let request = session.short_request(&decision.request);
        let (principal, action) = (decision.principal.clone(), decision.action.name());
        let commit = Some(commit);
        let error = DecisionError::AlreadyDecided { request, principal, action, commit };
        return Err(agentic_session::Error::Decision(error).into());
    }
    Ok(None)
}

/// Chooses the key by which we decide: our identity lists it for that.
fn deciding_key(space: &SessionSpace, own: &OwnIdentity) -> Result<String> {
    let repository = space.repository();
    let key = repository.config(DECIDE_KEY).map_or_else(|| announcing_key(repository), Ok)?;
    match own.chain.newest().decide.contains(&public_key(repository, &key)?) {
        true => Ok(key),
        false => Err(Error::refused(
            "our identity does not list that key among those that decide",
            format!("set `{DECIDE_KEY}` to one that `agentic peer show self` lists"),
        )),
    }
}

fn read_own(space: &SessionSpace) -> Result<(Option<Oid>, Replies)> {
    let repository = space.repository();
    let Some((tip, folder)) = read_state(repository, REPLIES_REF)? else {
        return Ok((None, Replies::new()));
    };
    let damaged = |error: Error| Error::damaged(format!("our own replies are damaged: {error}"));
    Ok((Some(tip), read_replies(repository, &folder).map_err(damaged)?))
}

fn keep(space: &SessionSpace, hold: &PeerHold, (commit, object): (Oid, GitObject)) -> Result<()> {
    let repository = space.repository();
    for _ in 0..RACES_MAX {
        let (tip, mut replies) = read_own(space)?;
        if replies.len() >= REPLIES_KEPT {
            drop_closed(space, &mut replies)?;
        }
        replies.insert(commit, hold.of.clone());
        let mut folder = FolderDraft::default();
        put_replies(&replies, &mut folder);
        let (also, at) = (vec![commit], space.now());
        let message = format!("agentic reply to {}", hold.of.agent);
        let content = ChainContent { folder, also, at, message };
        let mut next = next_state(repository, REPLIES_REF, tip, content);
        next.drafts.objects.push(object.clone());
        if next.publish(repository, &mover(repository, at)?)? == RefMove::Moved {
            return Ok(());
        }
    }
    Err(Error::conflict("others decide all the time", "try again"))
}

/// Drops the decisions whose holds are not open any more, as far as that is believed.
fn drop_closed(space: &SessionSpace, replies: &mut Replies) -> Result<()> {
    let open = peer_holds(space, None)?;
    replies.retain(|commit, to| {
        let decision = Decision::of_commit(space, *commit).ok().flatten();
        decision.is_some_and(|decision| {
            open.iter().any(|hold| hold.of == *to && hold.pending.hold.id == decision.request)
        })
    });
    Ok(())
}

/// Puts our decisions into a snapshot, and returns the commits that the one before did not have.
pub(crate) fn put_own(
    space: &SessionSpace,
    before: &TreeFolder,
    folder: &mut FolderDraft,
) -> Result<Vec<Oid>> {
    let replies = own_replies(space)?;
    put_replies(&replies, folder);
    let known = read_replies(space.repository(), before)?;
    Ok(replies.into_keys().filter(|commit| !known.contains_key(commit)).collect())
}
