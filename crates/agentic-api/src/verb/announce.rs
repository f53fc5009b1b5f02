//! Announcing this space, and what of a remote's peers is received.

use agentic_federation::announce::{
    AnnounceNeed, AnnounceRequest, ArchiveChoice, announce, announce_ref, draft,
};
use agentic_federation::backup::require_newest;
use agentic_federation::exchange::{
    PeerOutcome, PushedAnnouncement, RemoteMode, fetch_peers, mode_of, push_announcement,
};
use agentic_federation::id::Petname;
use agentic_federation::receive::SpaceResult;
use agentic_model::guidance::ErrorClass;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::verb::remote::chosen_remote;
use crate::verb::{Reply, Verb, VerbCompletion};
use crate::view::{AnnounceView, AnnouncedView};
use crate::{Caller, Notice, Refusal};

/// The setting that lets agents announce.
const AGENTS_ANNOUNCE: &str = "agentic.agentsAnnounce";

/// Sign a snapshot of all agents, and push it.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Announce {
    /// The remote; the only one, or `origin`, without.
    pub remote: Option<String>,
    /// Whether one is made though nothing is new.
    pub refresh: bool,
    /// Why agents that were set back are announced; without it they are not.
    pub rewind: Option<String>,
    /// Whether the archive goes along.
    pub archive: bool,
    /// Whether it is only shown what would be announced.
    pub dry_run: bool,
}

impl Verb for Announce {
    type Answer = AnnounceView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<AnnounceView>, Refusal> {
        require_announcer(caller)?;
        let request = AnnounceRequest {
            rewind: self.rewind,
            refresh: if self.refresh { AnnounceNeed::Always } else { AnnounceNeed::Change },
            archive: if self.archive { ArchiveChoice::Goes } else { ArchiveChoice::Stays },
        };
        if self.dry_run {
            return Ok(Reply::plain(drafted(caller, &request)?));
        }
        let remote = chosen_remote(caller.space, self.remote)?;
        announce_to(caller, &remote, &request)
    }
}

/// Makes an announcement and pushes it.
pub(super) fn announce_to(
    caller: &Caller<'_>,
    remote: &str,
    request: &AnnounceRequest,
) -> Result<Reply<AnnounceView>, Refusal> {
    let seen = require_newest(caller.space, remote)?;
    let made = announce(caller.space, request)?;
    let said = &made.wrapped.signed.announcement;
    let name = announce_ref(said.peer, said.space);
    let pushed = push_announcement(caller.space, &seen, &made)?;
    let (pushed, notices) = match pushed {
        PushedAnnouncement::Known => (Vec::new(), Vec::new()),
        PushedAnnouncement::New => (vec![name], Vec::new()),
        PushedAnnouncement::Replaced => {
            let what = format!("`{remote}` had something else in the place of our announcement");
            (vec![name], vec![Notice::Remark { what }])
        }
    };
    let view = AnnounceView { made: AnnouncedView::from(&made), pushed };
    Ok(Reply { notices, ..Reply::plain(view) })
}

/// Refuses agents, unless the configuration lets them announce.
pub(super) fn require_announcer(caller: &Caller<'_>) -> Result<(), Refusal> {
    match caller.space.repository().is_set(AGENTS_ANNOUNCE)? {
        true => Ok(()),
        false => caller.require_person("announce").map_err(|refusal| Refusal {
            hint: format!("{}, or set `{AGENTS_ANNOUNCE}`", refusal.hint),
            ..refusal
        }),
    }
}

fn drafted(caller: &Caller<'_>, request: &AnnounceRequest) -> Result<AnnounceView, Refusal> {
    let draft = draft(caller.space, request)?;
    let number = draft.number();
    let made = AnnouncedView {
        announcement: None,
        epoch: number.epoch,
        seq: number.seq,
        agents: draft.heads.len() as u64,
        changed: draft.changes.len(),
        rewinds: draft.rewinds.iter().map(|rewind| rewind.agent.to_string()).collect(),
        removed: draft.removed.iter().map(|gone| gone.agent.to_string()).collect(),
    };
    Ok(AnnounceView { made, pushed: Vec::new() })
}

/// Receives what a remote serves of peers, if it is in a mode for that or somebody names peers.
pub(super) fn receive_peers(
    caller: &Caller<'_>,
    source: &str,
    only: &[String],
) -> Result<Vec<PeerOutcome>, Refusal> {
    let only: Vec<Petname> =
        only.iter().map(|name| crate::verb::peer::petname(name)).collect::<Result<_, _>>()?;
    Ok(fetch_peers(caller.space, source, &only)?)
}

/// Tells whether plain refs of a remote are read and written, and whether signed ones are.
pub(super) fn mode(caller: &Caller<'_>, remote: &str) -> Result<RemoteMode, Refusal> {
    Ok(mode_of(caller.space.repository(), remote)?)
}

/// Says what people should know of what was received, and how the fetch ends: the gravest counts.
pub(super) fn ending(outcomes: &[PeerOutcome]) -> (Vec<Notice>, VerbCompletion) {
    let mut notices = Vec::new();
    let mut gravest: Option<Refusal> = None;
    for found in outcomes {
        notices.extend(found.put_back.iter().map(|name| Notice::put_back(name)));
        let label = &found.label;
        let refusal = match &found.outcome.result {
            SpaceResult::Accepted
            | SpaceResult::Unchanged
            | SpaceResult::Stale
            | SpaceResult::Recovered => continue,
            SpaceResult::Refused(why) => Refusal::refused(
                &format!("what is served of `{label}` is refused: {why}"),
                &format!(
                    "what was accepted stays; `agentic peer log {}` keeps this",
                    found.petname
                ),
            ),
            SpaceResult::Frozen => Refusal::not_allowed(
                &format!("`{label}` is frozen: its peer said two things of one number"),
                &format!(
                    "ask its owner, then choose a side with `agentic peer resolve {} --at CID -m WHY`",
                    found.petname
                ),
            ),
        };
        let is_graver = gravest.as_ref().is_none_or(|gravest| {
            refusal.class == ErrorClass::NotAllowed && gravest.class != ErrorClass::NotAllowed
        });
        if is_graver {
            gravest = Some(refusal);
        }
    }
    (notices, gravest.map_or(VerbCompletion::Whole, VerbCompletion::Short))
}
