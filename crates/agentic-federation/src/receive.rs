//! Receiving one space: from what a remote serves to the record of what is believed.
//!
//! Before the record is written only the quarantine and what is known of the peer are. A refusal leaves
//! no object, no ref and no fact.

mod anew;
mod candidate;
mod changed;
mod hearing;
mod judgement;
mod purged;
mod resolving;

use agentic_git::{DownloadSource, Quarantine, RefMove, RemoteStop, Repository};
use agentic_model::{AgentName, Cid, Instant, Oid};
use agentic_session::SessionSpace;
use agentic_store::fault;

pub use self::anew::{ReachingRecord, begin_records_anew, reaching_records};
use self::candidate::{CandidateSearch, CandidateSpace, SpaceDecision, decide};
pub(crate) use self::changed::announced_heads;
use self::changed::{disowned_by, names_of, rewound_agents};
use self::hearing::{Hearing, hear, keep_heard};
use self::judgement::judge_now;
pub(crate) use self::judgement::{JudgedSnapshot, judge};
pub use self::judgement::{ReleasedSpace, judge_held, may};
use self::purged::ReachedObjects;
pub use self::purged::reaches_purged;
pub use self::resolving::resolve;
use crate::acceptance::{Acceptance, AcceptanceOutline, HeldBack};
use crate::accepted::{WrittenRecord, accepted_ref};
use crate::caps::{CAPS_LOCK, read_policy};
use crate::durable::{ChainContent, NextState, RACES_MAX, lock, mover, next_state};
use crate::exchange::told;
use crate::folder::{Drafts, read_subfolder};
use crate::id::{PeerId, SpaceId};
use crate::known::KnownPeer;
use crate::project::{pin, pinned_project};
use crate::shard::{HeadChange, changed_heads};
use crate::walk::WalkSubject;
use crate::wrapping::body_of;
use crate::{Error, Result};

/// What git says of a bundle that goes on from something that is not here.
const LACKING: &str = "lacks these prerequisite commits";

/// What is served of a space, and where.
#[derive(Debug, Clone)]
pub struct ServedSpace {
    /// The peer.
    pub peer: PeerId,
    /// The space.
    pub space: SpaceId,
    /// A remote, its address, or a bundle.
    pub source: String,
    /// The ref.
    pub name: String,
    /// Where it is.
    pub tip: Oid,
    /// How many bytes are taken at most.
    pub bytes_max: u64,
}

impl ServedSpace {
    /// Says whose announcements count for it.
    fn subject(&self, own: &Repository) -> Result<WalkSubject> {
        Ok(WalkSubject { project: pinned_project(own)?, peer: self.peer, space: self.space })
    }
}

/// What became of a space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpaceResult {
    /// It is believed from now on, as far as it is granted.
    Accepted,
    /// It is what was accepted.
    Unchanged,
    /// It is older than what was accepted.
    Stale,
    /// It goes on from before what was accepted, as its newest keys say.
    Recovered,
    /// It is not believed.
    Refused(String),
    /// It goes on from something that is not here, as a bundle may.
    Incomplete,
    /// It was accepted from there, and is not served any more.
    Unserved,
    /// The peer said two things of one number.
    Frozen,
}

/// What became of a space, and what moved.
#[derive(Debug, Clone)]
pub struct SpaceOutcome {
    /// The space.
    pub space: SpaceId,
    /// What became of it.
    pub result: SpaceResult,
    /// What was accepted before.
    pub from: Option<Cid>,
    /// What is accepted now.
    pub to: Option<Cid>,
    /// The agents of which something else is believed now.
    pub moved: Vec<AgentName>,
    /// The agents whose head is none that goes on from the one before.
    pub rewound: Vec<AgentName>,
    /// What waits for a grant.
    pub held: HeldBack,
    /// What was served and is nothing.
    pub junk: Vec<String>,
    /// The record that was written.
    pub accepted: Option<WrittenRecord>,
}

/// What came of a space and is not judged yet.
pub struct ArrivedSpace {
    /// What is served.
    pub served: ServedSpace,
    outcome: SpaceOutcome,
    /// Where it is; nothing where there is nothing to judge.
    quarantine: Option<Quarantine>,
    /// Why the source was given up meanwhile, if it was.
    pub(crate) stopped: Option<RemoteStop>,
}

/// Downloads what is served of one space.
///
/// # Errors
/// Fails when the disk does. That something cannot be downloaded is an outcome.
pub fn arrive(space: &SessionSpace, served: ServedSpace) -> Result<ArrivedSpace> {
    arrive_from(space, served, None)
}

/// Downloads it likewise, unless its source was given up because it is silent: then that is said of it, too.
///
/// # Errors
/// Fails as [`arrive`] does.
pub(crate) fn arrive_from(
    space: &SessionSpace,
    served: ServedSpace,
    silent: Option<RemoteStop>,
) -> Result<ArrivedSpace> {
    let own = space.repository();
    let before = own.find_ref(&accepted_ref(served.peer, served.space))?;
    let before = before.map(|record| AcceptanceOutline::read_outline(own, record)).transpose()?;
    let is_known = before.as_ref().is_some_and(|before| before.announced == served.tip);
    let mut outcome = SpaceOutcome {
        space: served.space,
        result: SpaceResult::Unchanged,
        from: before.as_ref().map(|before| before.announcement),
        to: before.as_ref().map(|before| before.announcement),
        moved: Vec::new(),
        rewound: Vec::new(),
        held: before.map(|before| before.held).unwrap_or_default(),
        junk: Vec::new(),
        accepted: None,
    };
    if is_known {
        return Ok(ArrivedSpace { served, outcome, quarantine: None, stopped: None });
    }
    if let Some(why) = silent {
        outcome.result = SpaceResult::Refused(format!("cannot be downloaded: {why}"));
        return Ok(ArrivedSpace { served, outcome, quarantine: None, stopped: None });
    }
    let quarantine = Quarantine::make(own)?;
    let source = DownloadSource { at: &served.source, name: &served.name };
    let end = quarantine.download(own, &source, served.bytes_max)?;
    if !end.success && end.stderr.contains(LACKING) {
        outcome.result = SpaceResult::Incomplete;
        return Ok(ArrivedSpace { served, outcome, quarantine: None, stopped: None });
    }
    if !end.success || !quarantine.repository().has_object(served.tip) {
        let said = told(&end.stderr);
        outcome.result = SpaceResult::Refused(format!("cannot be downloaded: {said}"));
        return Ok(ArrivedSpace { served, outcome, quarantine: None, stopped: end.stopped });
    }
    fault::point("quarantine-filled")?;
    Ok(ArrivedSpace { served, outcome, quarantine: Some(quarantine), stopped: None })
}

impl ArrivedSpace {
    /// Takes in what it says of its own peer and of others, so that all are judged by all that came.
    ///
    /// # Errors
    /// Fails when the disk does.
    pub fn hear(&self, space: &SessionSpace) -> Result<()> {
        match &self.quarantine {
            Some(quarantine) => hear(space, &self.served, quarantine).map(drop),
            None => Ok(()),
        }
    }

    /// Judges it, and accepts what counts.
    ///
    /// # Errors
    /// Fails when the disk does. That something is not believed is an outcome.
    pub fn receive(self, space: &SessionSpace) -> Result<SpaceOutcome> {
        let ArrivedSpace { served, mut outcome, quarantine, stopped: _ } = self;
        if let Some(quarantine) = quarantine {
            return settle_arrival(space, &served, &quarantine, outcome);
        }
        let is_frozen = KnownPeer::read(space.repository(), served.peer)?.is_frozen();
        if outcome.result == SpaceResult::Unchanged && is_frozen {
            outcome.result = SpaceResult::Frozen;
        }
        Ok(outcome)
    }
}

/// Decides what becomes of what arrived, again where something moved meanwhile.
fn settle_arrival(
    space: &SessionSpace,
    served: &ServedSpace,
    quarantine: &Quarantine,
    mut outcome: SpaceOutcome,
) -> Result<SpaceOutcome> {
    let own = space.repository();
    for _ in 0..RACES_MAX {
        let mut hearing = hear(space, served, quarantine)?;
        outcome.junk = std::mem::take(&mut hearing.junk);
        let candidate = match look(own, served, quarantine, &hearing)? {
            SpaceDecision::Accept(candidate) => candidate,
            SpaceDecision::Nothing(result) => {
                outcome.result = result;
                keep_heard(space, served, &hearing.heard, &outcome.result)?;
                return Ok(outcome);
            }
        };
        let accepted = hearing.accepted.as_ref().map(|accepted| accepted.acceptance.announced);
        let reached = ReachedObjects { tip: candidate.wrapped.commit, known: accepted };
        if let Some(id) = reached.purged(space, quarantine.repository())? {
            outcome.result = SpaceResult::Refused(format!(
                "purged: it reaches {id}, which was purged here; its peer purges it, too, and cuts its chain"
            ));
            keep_heard(space, served, &hearing.heard, &outcome.result)?;
            return Ok(outcome);
        }
        let arrival = Arrival { served, quarantine, hearing: &hearing };
        if accept(space, &arrival, &candidate, &mut outcome)? == RefMove::Moved {
            return Ok(outcome);
        }
    }
    Err(Error::conflict("others accept all the time", "fetch again"))
}

/// Decides what becomes of what was heard. That something is not believed is a decision.
fn look(
    own: &Repository,
    served: &ServedSpace,
    quarantine: &Quarantine,
    hearing: &Hearing,
) -> Result<SpaceDecision> {
    let (identity, walk) = match (&hearing.known.chain, &hearing.walk) {
        (Some(_), _) if hearing.known.is_frozen() => {
            return Ok(SpaceDecision::Nothing(SpaceResult::Frozen));
        }
        (None, _) => {
            let why = "it brings no identity of that peer".to_owned();
            return Ok(SpaceDecision::Nothing(SpaceResult::Refused(why)));
        }
        (Some(_), Err(wrong)) => {
            return Ok(SpaceDecision::Nothing(SpaceResult::Refused(wrong.0.clone())));
        }
        (Some(identity), Ok(walk)) => (identity, walk),
    };
    let search = CandidateSearch {
        repository: quarantine.repository(),
        subject: served.subject(own)?,
        identity,
        chosen: &hearing.known.chosen(),
        accepted: hearing.accepted.as_ref(),
    };
    match decide(&search, walk) {
        Err(Error::Malformed(wrong)) => Ok(SpaceDecision::Nothing(SpaceResult::Refused(wrong.0))),
        decided => decided,
    }
}

/// How something came here.
struct Arrival<'a> {
    served: &'a ServedSpace,
    quarantine: &'a Quarantine,
    hearing: &'a Hearing,
}

/// Judges a candidate and makes it the accepted one, if nothing moved meanwhile.
fn accept(
    space: &SessionSpace,
    arrival: &Arrival<'_>,
    candidate: &CandidateSpace,
    outcome: &mut SpaceOutcome,
) -> Result<RefMove> {
    let own = space.repository();
    let Arrival { served, quarantine, hearing } = *arrival;
    let policy = read_policy(space)?;
    // What the candidate was held against, not what may be there by now.
    let before = hearing.accepted.as_ref();
    let believed = before.map(|before| before.acceptance.believed.clone()).unwrap_or_default();
    let (repository, peer) = (quarantine.repository(), served.peer);
    let body = body_of(repository, &candidate.wrapped)?;
    let announced = read_subfolder(repository, &body, "heads")?;
    let changes = changed_heads(repository, &believed, &announced)?;
    let snapshot = JudgedSnapshot { repository, peer, body: &body, changes: &changes };
    let now = judge_now(space, &policy, &snapshot)?;
    let judged = now.space;
    let rewound = rewound_agents(repository, &judged.changes)?;
    let acceptance = Acceptance {
        announcement: candidate.wrapped.signed.cid(),
        announced: candidate.wrapped.commit,
        identity: candidate.identity,
        policy: policy.tip,
        time: now.time,
        known: Some(now.known),
        way: served.source.clone(),
        believed,
        held: judged.held,
        disowned: disowned_by(repository, before.map(|before| &before.acceptance), candidate)?,
    };
    let _caps = lock(own, CAPS_LOCK)?;
    let _peer = lock(own, &peer_lock(served.peer))?;
    let name = accepted_ref(served.peer, served.space);
    let is_as_before = read_policy(space)?.tip == policy.tip
        && own.find_ref(&name)? == before.map(|before| before.record)
        && KnownPeer::read(own, served.peer)?.tip == hearing.known.tip;
    if !is_as_before {
        return Ok(RefMove::Lost { found: None });
    }
    pin(space, candidate.wrapped.signed.announcement.project, None)?;
    match candidate.has_junk {
        true => {
            let known = before.map(|before| before.acceptance.announced);
            quarantine.keep_reached(own, candidate.wrapped.commit, known)?;
        }
        false => quarantine.keep_all(own)?,
    }
    fault::point("packs-moved")?;
    let before = before.map(|before| before.record);
    let made = MadeRecord { name: &name, before, changes: &judged.changes };
    let next = made.next(own, &acceptance)?;
    let record = next.commit;
    let moved = next.publish(own, &mover(own, space.now())?)?;
    if moved == RefMove::Moved {
        outcome.result = candidate.result.clone();
        outcome.to = Some(acceptance.announcement);
        outcome.moved = names_of(&judged.changes);
        outcome.rewound = rewound;
        outcome.held = acceptance.held;
        outcome.accepted = Some(WrittenRecord { record, before, changes: judged.changes });
    }
    Ok(moved)
}

/// A record that is made of the one before.
struct MadeRecord<'a> {
    /// The ref of records of the space.
    name: &'a str,
    before: Option<Oid>,
    /// What it believes else than that one.
    changes: &'a [HeadChange],
}

impl MadeRecord<'_> {
    /// Makes it. `acceptance` says what it says, with what the record before believes.
    fn next(&self, own: &Repository, acceptance: &AcceptanceOutline) -> Result<NextState> {
        let mut shards = Drafts::default();
        let believed = acceptance.changed_believed(own, self.changes)?;
        let believed = (!believed.is_empty()).then(|| believed.finish(own, &mut shards));
        // Most of them the record before has, or what was announced; the rest of the record is new.
        shards.retain_missing(own);
        let content = ChainContent {
            folder: acceptance.to_folder_with(believed),
            also: vec![acceptance.announced],
            at: Instant::from_millis(acceptance.time),
            message: format!("agentic accepted {} by {}", acceptance.announcement, acceptance.way),
        };
        let mut next = next_state(own, self.name, self.before, content);
        next.drafts.objects.extend(shards.objects);
        Ok(next)
    }
}

/// Names the lock under which records of a peer are written.
pub fn peer_lock(peer: PeerId) -> String {
    let hash = agentic_store::hash_hex(peer.to_string().as_bytes());
    format!("peer-{}", &hash[..16])
}
