//! Making an announcement and pushing it.
//!
//! The order is what keeps a number from being signed twice: objects, then our own ref, both durable,
//! then the push. A crash leaves an announcement that the next command pushes, or builds upon.

mod checked;
mod published;

use std::collections::BTreeSet;

use agentic_git::{RefMove, Repository};
use agentic_model::{Instant, Oid};
use agentic_session::SessionSpace;
use agentic_store::fault;

use self::checked::{AnnouncedStep, announced_before, check_reasons, leaving_texts};
use self::published::{
    changes_of, heads_after, new_tips_of, published_heads, put_tips, removal, rewinds_of,
};
use crate::announcement::{
    ChainNumber, HashName, Removal, Rewind, SignedAnnouncement, SpaceAnnouncement,
};
use crate::durable::{NextState, lock, mover};
use crate::folder::{Drafts, FolderDraft};
use crate::given::put_given;
use crate::id::announce_ref;
use crate::key::{ANNOUNCEMENT_NAMESPACE, live_signer};
use crate::known::KnownPeer;
use crate::leaving::{LeavingRules, LeavingTips, check_leaving};
use crate::own::{
    OwnIdentity, announcing_key, put_documents, require_listed, require_one_identity, require_own,
};
use crate::reply::{own_replies, put_own};
use crate::setting::configured_count;
use crate::shard::{HeadChange, HeadEntry, Heads, put_heads};
use crate::steps::read_tip;
use crate::witness::put_seen;
use crate::wrapping::{WrappedAnnouncement, body_of, parents_of, read_wrapped, wrap};
use crate::{Error, Result};

/// The lease under which announcements are made: the only lock that is held while somebody signs.
pub(crate) const ANNOUNCE_LEASE: &str = "announce";
/// The setting that says after how many seconds the next announcement comes at the latest.
const ANNOUNCE_EVERY: &str = "agentic.announceEvery";
/// Up to how many objects are written though some may be there: to look for one that is not takes longer.
const WRITTEN_AGAIN_MAX: usize = 32;

/// What is announced.
#[derive(Debug, Clone, Default)]
pub struct AnnounceRequest {
    /// Why tips are set back, if they may be.
    pub rewind: Option<String>,
    /// Whether one is made though nothing is new.
    pub refresh: AnnounceNeed,
    /// Whether the archive goes along.
    pub archive: ArchiveChoice,
    /// Why the chain begins anew, if it does.
    pub cut: Option<String>,
}

/// When an announcement is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AnnounceNeed {
    /// When something is new.
    #[default]
    Change,
    /// In any case.
    Always,
}

/// Whether the archive is announced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ArchiveChoice {
    /// It stays here, as far as it was not announced before.
    #[default]
    Stays,
    /// It goes along.
    Goes,
}

/// An announcement that is durable here.
#[derive(Debug, Clone)]
pub struct MadeAnnouncement {
    /// The announcement.
    pub wrapped: WrappedAnnouncement,
    /// How many agents differ from the one before.
    pub n_changed: usize,
    /// Whether it is a new one.
    pub is_new: bool,
}

/// A snapshot that would be announced.
#[derive(Debug)]
pub struct AnnounceDraft {
    own: OwnIdentity,
    before: Option<WrappedAnnouncement>,
    /// The agents that differ.
    pub changes: Vec<HeadChange>,
    /// The agents that there are.
    pub heads: Heads,
    /// What is set back.
    pub rewinds: Vec<Rewind>,
    /// Who has gone.
    pub removed: Vec<Removal>,
    folder: FolderDraft,
    new_tips: BTreeSet<Oid>,
    is_new: bool,
    /// Why the chain begins anew, if it does.
    cut: Option<String>,
    /// Where our ref is.
    tip: Option<Oid>,
}

/// Makes the announcement of what there is now, if anything is new, and makes it durable.
///
/// # Errors
/// Fails before `peer init`, in a copy of a space, when a tip is set back without a reason, when something
/// may not leave, and when nobody signs.
pub fn announce(
    space: &SessionSpace,
    request: &AnnounceRequest,
    rules: LeavingRules<'_>,
) -> Result<MadeAnnouncement> {
    let repository = space.repository();
    let _lease = lock(repository, ANNOUNCE_LEASE)?;
    let draft = draft(space, request)?;
    if !draft.is_new
        && let Some(wrapped) = draft.before
    {
        return Ok(MadeAnnouncement { wrapped, n_changed: 0, is_new: false });
    }
    let before = draft.before.as_ref().map(|before| before.commit);
    let (changes, tips) = (draft.changes.as_slice(), &draft.new_tips);
    let said = leaving_texts(&draft, request);
    check_leaving(space, rules, &LeavingTips { before, changes, tips, said })?;
    let n_changed = draft.changes.len();
    let step = AnnouncedStep { chain: draft.own.chain.clone(), before: draft.before.clone() };
    let (next, wrapped) = sign(space, draft)?;
    fault::point("announcement-signed")?;
    let next = next.write(repository)?;
    step.require_acceptable(repository, wrapped.commit)?;
    match next.publish(repository, &mover(repository, space.now())?)? {
        RefMove::Moved => Ok(MadeAnnouncement { wrapped, n_changed, is_new: true }),
        RefMove::Lost { .. } => Err(Error::conflict(
            "our own announcement was moved meanwhile",
            "look at it with `agentic verify`, then try again",
        )),
    }
}

/// Finds what would be announced. Nothing is written and nobody signs.
///
/// # Errors
/// Fails as [`announce`] does.
pub fn draft(space: &SessionSpace, request: &AnnounceRequest) -> Result<AnnounceDraft> {
    let repository = space.repository();
    let own = require_own(space)?;
    require_listed(&own)?;
    require_unforked(repository, &own)?;
    check_reasons(request)?;
    let newest = own_announcement(repository, &own)?;
    let tip = newest.as_ref().map(|newest| newest.commit);
    let before = announced_before(repository, &own, newest)?;
    // Without one before there is nothing to cut off.
    let cut = request.cut.clone().filter(|_| before.is_some());
    let old_body = before.as_ref().map(|before| body_of(repository, before)).transpose()?;
    let old_body = old_body.unwrap_or_default();
    let heads = published_heads(space)?;
    let mut folder = FolderDraft::default();
    put_documents(&own.chain, "", &mut folder);
    let given_is_new = put_given(space, &own, &old_body, &mut folder)?;
    put_seen(space, &mut folder)?;
    let named_tips = put_tips(repository, request, &old_body, &mut folder)?;
    let fresh = |(name, tip): (&'static str, Oid)| -> Result<Option<Oid>> {
        Ok((read_tip(repository, &old_body, name)? != Some(tip)).then_some(tip))
    };
    let mut new_tips = BTreeSet::new();
    for named in &named_tips {
        new_tips.extend(fresh(*named)?);
    }
    new_tips.extend(put_own(space, &old_body, &mut folder)?);
    let changes = changes_of(repository, &old_body, &heads)?;
    let (mut rewinds, mut removed) = (Vec::new(), Vec::new());
    if cut.is_some() {
        put_heads(&heads, "heads", &mut folder);
        let named = named_tips.iter().map(|(_, tip)| *tip);
        let replies = own_replies(space)?.into_keys();
        new_tips = heads.values().flat_map(HeadEntry::tips).chain(named).chain(replies).collect();
    } else {
        folder.put_folder("heads", heads_after(repository, &old_body, &changes)?);
        for change in &changes {
            match (&change.old, &change.new) {
                (Some(old), None) => removed.push(removal(space, &change.agent, old)?),
                (old, Some(new)) => {
                    new_tips.extend(new_tips_of(old.as_ref(), new));
                    rewinds.extend(rewinds_of(repository, change, request)?);
                }
                (None, None) => {}
            }
        }
    }
    let identity_is_new = before
        .as_ref()
        .is_none_or(|before| before.signed.announcement.identity != own.chain.last().cid());
    let is_new = !changes.is_empty()
        || !new_tips.is_empty()
        || given_is_new
        || identity_is_new
        || cut.is_some()
        || request.refresh == AnnounceNeed::Always;
    Ok(AnnounceDraft {
        own,
        before,
        changes,
        heads,
        rewinds,
        removed,
        folder,
        new_tips,
        is_new,
        cut,
        tip,
    })
}

impl AnnounceDraft {
    /// Returns the number that it would have.
    pub fn number(&self) -> ChainNumber {
        let epoch = self.own.chain.epoch(self.own.space).unwrap_or_default();
        let seq = self.before.as_ref().map_or(0, |before| before.signed.announcement.seq + 1);
        ChainNumber { epoch, seq }
    }
}

fn sign(space: &SessionSpace, draft: AnnounceDraft) -> Result<(NextState, WrappedAnnouncement)> {
    let repository = space.repository();
    let mut drafts = Drafts::default();
    let number = draft.number();
    let tips = by_date(repository, &draft.new_tips)?;
    let AnnounceDraft { own, before, heads, rewinds, removed, folder, cut, tip, .. } = draft;
    let tree = folder.finish(repository, &mut drafts);
    let previous = before.as_ref().map(|before| before.commit);
    let first_parent = previous.filter(|_| cut.is_none());
    let parents = parents_of(repository, first_parent, &tips, &mut drafts);
    let last_time = before.as_ref().map_or(0, |before| before.signed.announcement.time);
    let announcement = SpaceAnnouncement {
        project: own.project,
        peer: own.peer(),
        space: own.space,
        identity: own.chain.last().cid(),
        epoch: number.epoch,
        seq: number.seq,
        previous: before.as_ref().map(|before| before.signed.cid()),
        parents,
        tree,
        hash: HashName::of_oid(tree),
        entries: heads.len() as u64,
        time: space.now().millis().max(last_time),
        next_by: next_by(repository, space.now().millis())?,
        cut,
        rewinds,
        removed,
    };
    let bytes = announcement.to_bytes();
    let text = SignedAnnouncement::text(&bytes).bytes();
    let key = announcing_key(repository)?;
    let signature = repository.sign_bytes(&text, ANNOUNCEMENT_NAMESPACE, &key)?;
    let signed = SignedAnnouncement { announcement, bytes, signature };
    check_signed(&own, &signed)?;
    let commit = wrap(repository, &signed, &mut drafts);
    if drafts.objects.len() > WRITTEN_AGAIN_MAX {
        // What the space before had is there already.
        drafts.retain_missing(repository);
    }
    let next = NextState {
        name: announce_ref(own.peer(), own.space),
        expect: tip,
        commit,
        drafts,
        why: format!("agentic announcement {}", number.seq),
    };
    Ok((next, WrappedAnnouncement { commit, signed }))
}

/// Refuses to publish what others would refuse: a key may have been taken out of our identity.
fn check_signed(own: &OwnIdentity, signed: &SignedAnnouncement) -> Result<()> {
    let listed = require_listed(own)?;
    let text = SignedAnnouncement::text(&signed.bytes);
    match live_signer(text, &signed.signature, &listed.keys) {
        Some(_) => Ok(()),
        None => Err(Error::refused(
            "the key that signed is none of this space's, or has expired in our identity",
            "set `agentic.announceKey` to one that `agentic peer show self` lists, or add one with \
             `agentic peer rotate --add KEY`",
        )),
    }
}

/// Reads the newest announcement of this space that is here.
///
/// # Errors
/// Fails when it is damaged.
pub fn own_announcement(
    repository: &Repository,
    own: &OwnIdentity,
) -> Result<Option<WrappedAnnouncement>> {
    let name = announce_ref(own.peer(), own.space);
    let Some(tip) = repository.find_ref(&name)? else { return Ok(None) };
    let read = read_wrapped(repository, tip);
    let damaged = |error| Error::damaged(format!("our own announcement {tip} is damaged: {error}"));
    read.map(Some).map_err(damaged)
}

/// Refuses to announce for a space that has said two things of one number, and for an identity that has.
fn require_unforked(repository: &Repository, own: &OwnIdentity) -> Result<()> {
    let known = KnownPeer::read(repository, own.peer())?;
    require_one_identity(&own.chain, &known)?;
    match known.contradicts(own.space) {
        false => Ok(()),
        true => Err(Error::conflict(
            "this space has announced two things of one number, as others have proved",
            "`agentic peer space --new` begins another chain, in the newer of the two repositories",
        )),
    }
}

/// Says when the next announcement comes at the latest, where the configuration does.
fn next_by(repository: &Repository, now: i64) -> Result<Option<i64>> {
    let every = configured_count(repository, ANNOUNCE_EVERY)?.filter(|seconds| *seconds > 0);
    let every = every.and_then(|seconds| i64::try_from(seconds).ok()?.checked_mul(1_000));
    Ok(every.and_then(|every| now.checked_add(every)))
}

/// Orders tips by the dates of their commits, newest first: git walks them in that order.
fn by_date(repository: &Repository, tips: &BTreeSet<Oid>) -> Result<Vec<(Oid, Instant)>> {
    let mut dated = Vec::new();
    for tip in tips {
        dated.push((*tip, repository.read_commit(*tip)?.at));
    }
    dated.sort_by(|left, right| right.1.cmp(&left.1).then(left.0.cmp(&right.0)));
    Ok(dated)
}
