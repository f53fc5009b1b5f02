//! Announcing this space, and what of a remote's peers is received.

mod received;

use agentic_federation::adoption::{self, FollowChoice, FollowedAgents, ForeignAgent};
use agentic_federation::announce::{AnnounceNeed, AnnounceRequest, ArchiveChoice, announce, draft};
use agentic_federation::backup::{RecoveredState, recover, require_newest};
use agentic_federation::exchange::{
    PushedAnnouncement, RemoteMode, mode_of, push_announcement, served_name,
};
use agentic_federation::fetch::PeerOutcome;
use agentic_federation::freshness::PeerFreshness;
use agentic_federation::id::{Petname, SELF};
use agentic_federation::leaving::{LeavingAllowance, LeavingRules};
use agentic_federation::receive::SpaceResult;
use agentic_model::guidance::ErrorClass;
use agentic_space::sync::FetchOutcome;
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) use self::received::{OtherRemotes, PeerSearch, ReceivedPeers};
use crate::caller::agent_name;
use crate::redaction::{CallerRedactor, redactor};
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
    /// Why the chain begins anew; without it it goes on.
    pub cut: Option<String>,
    /// What leaves though it looks like a secret: findings by their ids, or `PATH:RULE`.
    pub allow: Vec<String>,
    /// Whether it is only shown what would be announced.
    pub dry_run: bool,
}

impl Verb for Announce {
    type Answer = AnnounceView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<AnnounceView>, Refusal> {
        require_announcer(caller)?;
        let mut said = CallerRedactor::new(caller)?;
        let mut reason = |text: String| said.text("the reason", text);
        let (rewind, cut) = (self.rewind.map(&mut reason), self.cut.map(&mut reason));
        let request = AnnounceRequest {
            rewind,
            refresh: if self.refresh { AnnounceNeed::Always } else { AnnounceNeed::Change },
            cut,
            archive: if self.archive { ArchiveChoice::Goes } else { ArchiveChoice::Stays },
        };
        if self.dry_run {
            return Ok(Reply::plain(drafted(caller, &request)?));
        }
        let allow = self.allow.iter().map(|text| allowance(text)).collect::<Result<Vec<_>, _>>()?;
        let remote = chosen_remote(caller.space, self.remote)?;
        let mut reply = announce_to(caller, &remote, &request, &allow)?;
        reply.notices.extend(said.notices());
        Ok(reply)
    }
}

/// Makes an announcement and pushes it.
pub(super) fn announce_to(
    caller: &Caller<'_>,
    remote: &str,
    request: &AnnounceRequest,
    allow: &[LeavingAllowance],
) -> Result<Reply<AnnounceView>, Refusal> {
    let seen = require_newest(caller.space, remote)?;
    let redactor = redactor(caller)?;
    let rules = LeavingRules { redactor: &redactor, allow, remote: Some(remote) };
    let made = announce(caller.space, request, rules)?;
    let said = &made.wrapped.signed.announcement;
    let name = served_name(caller.space.repository(), remote, said.peer, said.space)?;
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

fn allowance(text: &str) -> Result<LeavingAllowance, Refusal> {
    LeavingAllowance::parse(text).ok_or_else(|| {
        Refusal::usage(
            &format!("`{text}` names nothing that leaves"),
            "write the id of a finding, or `PATH:RULE`",
        )
    })
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

/// Tells whether plain refs of a remote are read and written, and whether signed ones are.
pub(super) fn mode(caller: &Caller<'_>, remote: &str) -> Result<RemoteMode, Refusal> {
    Ok(mode_of(caller.space.repository(), remote)?)
}

/// Reads names of agents of other spaces: `self+desk/x`.
pub(super) fn foreign_names(texts: &[String]) -> Result<Vec<ForeignAgent>, Refusal> {
    let foreign = |text: &String| {
        let (label, name) = text.rsplit_once('/').unwrap_or((SELF, text));
        Ok(ForeignAgent { label: label.to_owned(), agent: agent_name(name)? })
    };
    texts.iter().map(foreign).collect()
}

/// Adopts agents of other spaces of ours.
pub(super) fn adopt_own(
    caller: &Caller<'_>,
    adopt: &[ForeignAgent],
    choice: FollowChoice,
) -> Result<FetchOutcome, Refusal> {
    let mut moved = FetchOutcome::default();
    for foreign in adopt {
        adoption::adopt(caller.space, foreign, choice, &mut moved)?;
    }
    Ok(moved)
}

/// Moves agents forward that follow those of other spaces of ours; what was adopted before is told too.
pub(super) fn follow_own(
    caller: &Caller<'_>,
    received: &[PeerOutcome],
    moved: FetchOutcome,
) -> Result<FollowedAgents, Refusal> {
    let own = received.iter().filter(|found| found.petname == Petname::own());
    let set_back = own.flat_map(|found| {
        let space = found.outcome.space;
        found.outcome.rewound.iter().map(move |agent| (space, agent.clone()))
    });
    let mut followed = adoption::follow(caller.space, &set_back.collect::<Vec<_>>())?;
    followed.moved.adopted.extend(moved.adopted);
    followed.moved.fast_forwarded.extend(moved.fast_forwarded);
    followed.moved.notes_united.extend(moved.notes_united);
    Ok(followed)
}

/// Takes over what this very space announced, if the remote has something newer.
pub(super) fn recover_own(
    caller: &Caller<'_>,
    remote: &str,
) -> Result<Option<RecoveredState>, Refusal> {
    caller.require_person("take over what this space announced")?;
    Ok(recover(caller.space, remote)?)
}

/// Says what was not done when the state of this space was taken over.
pub(super) fn recovered_notices(recovered: &RecoveredState) -> Vec<Notice> {
    let archived = recovered.archived.iter().map(|agent| Notice::Remark {
        what: format!("`{agent}` was announced as open, and stays in the archive here"),
    });
    let diverged = recovered.moved.diverged.iter().map(|agent| Notice::Remark {
        what: format!("`{agent}` has gone another way here than it was announced: its head stays"),
    });
    archived.chain(diverged).collect()
}

/// Says that what was accepted is not the newest that there is.
fn age_of(found: &PeerOutcome) -> Option<Notice> {
    let label = &found.label;
    let what = match &found.freshness {
        PeerFreshness::Current => return None,
        PeerFreshness::Behind => format!(
            "others have seen more of `{label}` than `{}` serves: ask another remote",
            found.source
        ),
        PeerFreshness::Unconnected => format!(
            "what others have seen of `{label}` is unconnected: nothing says that it is one chain"
        ),
        PeerFreshness::Overdue { since } => {
            format!("`{label}` should have announced by {since}: ask its owner, or another remote")
        }
    };
    Some(Notice::Remark { what })
}

/// Says what people should know of what was received, and how the fetch ends: the gravest counts.
pub(super) fn ending(
    outcomes: &[PeerOutcome],
    unreachable: Option<Refusal>,
) -> (Vec<Notice>, VerbCompletion) {
    let mut notices = Vec::new();
    let mut gravest: Option<Refusal> = unreachable;
    for found in outcomes {
        notices.extend(found.put_back.iter().map(|name| Notice::put_back(name)));
        let label = &found.label;
        notices.extend(age_of(found));
        notices.extend(found.ahead.map(|at| Notice::Remark {
            what: format!(
                "`{label}` was announced at {at} by the clock of its owner, which is ahead of ours"
            ),
        }));
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
            SpaceResult::Incomplete => Refusal::refused(
                &format!("what is served of `{label}` goes on from something that is not here"),
                &match found.outcome.to {
                    Some(cid) => format!(
                        "take in what came before first, or ask for a bundle `--since {cid}`"
                    ),
                    None => "ask for a whole bundle: one without `--since`".to_owned(),
                },
            ),
            SpaceResult::Unserved => Refusal::refused(
                &format!("`{}` does not serve `{label}` any more", found.source),
                "what was accepted stays; fetch from another remote",
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
