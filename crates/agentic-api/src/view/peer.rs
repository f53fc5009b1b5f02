//! Peers, grants and announcements as JSON.

use agentic_federation::announce::MadeAnnouncement;
use agentic_federation::backup::RecoveredState;
use agentic_federation::fetch::PeerOutcome;
use agentic_federation::freshness::PeerFreshness;
use agentic_federation::id::SELF;
use agentic_federation::peer_log::RefusedLine;
use agentic_federation::receive::SpaceResult;
use agentic_federation::verify::VerifyReport;
use agentic_model::Instant;
use schemars::JsonSchema;
use serde::Serialize;

use crate::view::texts;

/// The answer of `agentic peer init`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PeerInitView {
    /// The project: others name it with `--project`.
    pub project: String,
    /// This peer's id: others add it by that.
    pub peer: String,
    /// This space.
    pub space: String,
    /// The keys by which this space announces.
    pub keys: Vec<String>,
}

/// The answer of `agentic peer rotate` and `agentic peer space`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PeerIdentityView {
    /// The newest document of our identity.
    pub identity: String,
    /// Its number.
    pub seq: u64,
}

/// The answer of `agentic verify`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FederationVerifyView {
    /// Whether nothing is wrong. Whether there is something newer elsewhere, nobody can know.
    pub ok: bool,
    /// The chains that were checked.
    pub chains: Vec<VerifiedChainView>,
    /// What is wrong.
    pub findings: Vec<VerifyFindingView>,
}

/// A chain that was checked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerifiedChainView {
    /// The name of the peer, or `self`.
    pub peer: String,
    /// The space.
    pub space: String,
    /// How many announcements it has.
    pub announcements: usize,
    /// How many records of what was accepted of it there are. What each believes was judged again.
    pub records: usize,
    /// How many of them were not judged again: they are from before records kept what was known.
    pub unjudged: usize,
    /// The epoch of the newest.
    pub epoch: u64,
    /// The number of the newest.
    pub seq: u64,
}

/// Something that is wrong.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerifyFindingView {
    /// What.
    pub what: String,
    /// Where.
    #[serde(rename = "where")]
    pub place: String,
    /// How grave it is, as exit codes are.
    pub code: u8,
}

impl From<&VerifyReport> for FederationVerifyView {
    fn from(report: &VerifyReport) -> FederationVerifyView {
        let chains = report.chains.iter().map(|chain| VerifiedChainView {
            peer: chain.peer.clone(),
            space: chain.space.to_string(),
            announcements: chain.n_announcements,
            records: chain.n_records,
            unjudged: chain.n_unjudged,
            epoch: chain.epoch,
            seq: chain.seq,
        });
        let findings = report.findings.iter().map(|finding| VerifyFindingView {
            what: finding.what.clone(),
            place: finding.place.clone(),
            code: finding.code,
        });
        let findings: Vec<VerifyFindingView> = findings.collect();
        FederationVerifyView { ok: findings.is_empty(), chains: chains.collect(), findings }
    }
}

/// The answer of `agentic peer add`, `trust` and `remove`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PeerChangeView {
    /// The id of the peer.
    pub peer: String,
    /// Its name here.
    pub name: String,
    /// `track`, `none` or `blocked`.
    pub trust: String,
    /// The person whom it is taken for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// The spaces of which something was accepted.
    pub spaces: Vec<String>,
    /// What it was granted by this.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub granted: Vec<PeerGrantView>,
}

/// One peer of `agentic peer list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PeerView {
    /// Its name here.
    pub name: String,
    /// Its id.
    pub peer: String,
    /// `track`, `none` or `blocked`; of this peer itself `self`.
    pub trust: String,
    /// The person whom it is taken for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// Whether nothing new of it is believed, because it said two things of one number.
    pub frozen: bool,
    /// Its spaces.
    pub spaces: Vec<PeerSpaceView>,
}

/// One space of a peer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PeerSpaceView {
    /// The space.
    pub space: String,
    /// What its owner calls it.
    pub nick: String,
    /// `new` before anything was accepted, else `current`; `behind` where others have seen more, `overdue` where
    /// the next announcement should have come, `recovered` where it goes on from before what was believed.
    pub state: String,
    /// The number of the document that gave it its keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// The number of the announcement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The announcement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub announcement: Option<String>,
    /// When it was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received_at: Option<String>,
    /// When it was announced by the clock of its peer, where that is more than ten minutes ahead of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<String>,
    /// How many agents are believed.
    pub agents: usize,
    /// How many agents wait for a grant.
    pub held: usize,
    /// Heads that were believed and that the space has disowned since.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disowned: Vec<DisownedView>,
}

/// A head that was believed once.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DisownedView {
    /// The agent.
    pub agent: String,
    /// The head.
    pub head: String,
}

/// What a peer may do.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PeerGrantView {
    /// The capability.
    pub capability: String,
    /// The peer's name here, or its id.
    pub name: String,
    /// For which kinds.
    pub kinds: Vec<String>,
    /// For what.
    pub triggers: Vec<String>,
    /// For which agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agents: Option<Vec<String>>,
    /// Until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// How often it may be given on.
    pub delegate: u64,
    /// What it is given on from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// `live`, `expired` or `revoked`.
    pub state: String,
}

/// The answer of `agentic grant`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GrantView {
    /// The capability.
    pub capability: String,
    /// The commit of the policy.
    pub caps: String,
}

/// The answer of `agentic revoke`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RevokeView {
    /// What counts no more.
    pub revoked: Vec<String>,
    /// The commit of the policy; nothing where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caps: Option<String>,
}

/// The answer of `agentic allowed`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AllowedView {
    /// Whether it may.
    pub allowed: bool,
    /// The capabilities by which it may, or why it may not.
    pub because: AllowedBecause,
}

/// Why a peer may do something, or not.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum AllowedBecause {
    /// These capabilities.
    Capabilities(Vec<String>),
    /// A reason.
    Reason(String),
}

/// A line of `agentic peer log`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RefusalView {
    /// When it came last.
    pub at: String,
    /// When it came first.
    pub first_at: String,
    /// The peer.
    pub peer: String,
    /// Where it came from.
    pub remote: String,
    /// What was served.
    pub oid: String,
    /// Why it was refused.
    pub reason: String,
    /// How often.
    pub count: i64,
}

/// The answer of `agentic announce`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AnnounceView {
    /// The announcement that was made.
    #[serde(flatten)]
    pub made: AnnouncedView,
    /// The refs that the remote did not have like this before.
    pub pushed: Vec<String>,
}

/// An announcement.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AnnouncedView {
    /// Its id; nothing of one that was only drafted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub announcement: Option<String>,
    /// The number of the document that gave the space its keys.
    pub epoch: u64,
    /// Its number.
    pub seq: u64,
    /// How many agents it has.
    pub agents: u64,
    /// How many of them differ from the one before.
    pub changed: usize,
    /// The agents that it sets back.
    pub rewinds: Vec<String>,
    /// The agents that have gone.
    pub removed: Vec<String>,
}

/// What became of a space of a peer in `agentic fetch`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PeerFetchView {
    /// The name under which its agents are read.
    pub name: String,
    /// The space.
    pub space: String,
    /// `accepted`, `unchanged`, `stale`, `behind`, `recovered`, `refused` or `frozen`.
    pub result: String,
    /// What was accepted before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What is accepted now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The agents of which something else is believed now.
    pub moved: Vec<String>,
    /// The agents that their owner set back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rewound: Vec<String>,
    /// What waits for a grant.
    pub held: Vec<HeldAgentView>,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An agent of a peer that waits for a grant.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HeldAgentView {
    /// The agent.
    pub agent: String,
    /// What would have to be granted.
    pub trigger: String,
    /// For which kind.
    pub kind: String,
    /// The first commit that is not granted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

impl From<&MadeAnnouncement> for AnnouncedView {
    fn from(made: &MadeAnnouncement) -> AnnouncedView {
        let said = &made.wrapped.signed.announcement;
        AnnouncedView {
            announcement: Some(made.wrapped.signed.cid().to_string()),
            epoch: said.epoch,
            seq: said.seq,
            agents: said.entries,
            changed: made.n_changed,
            rewinds: said.rewinds.iter().map(|rewind| rewind.agent.to_string()).collect(),
            removed: said.removed.iter().map(|gone| gone.agent.to_string()).collect(),
        }
    }
}

impl From<&PeerOutcome> for PeerFetchView {
    fn from(found: &PeerOutcome) -> PeerFetchView {
        let outcome = &found.outcome;
        let (result, reason) = match &outcome.result {
            SpaceResult::Unchanged | SpaceResult::Stale
                if matches!(
                    found.freshness,
                    PeerFreshness::Behind | PeerFreshness::Unconnected
                ) =>
            {
                ("behind", None)
            }
            SpaceResult::Accepted => ("accepted", None),
            SpaceResult::Unchanged => ("unchanged", None),
            SpaceResult::Stale => ("stale", None),
            SpaceResult::Recovered => ("recovered", None),
            SpaceResult::Refused(why) => ("refused", Some(why.clone())),
            SpaceResult::Incomplete => {
                ("refused", Some("it goes on from something that is not here".to_owned()))
            }
            SpaceResult::Unserved => ("refused", Some("it is not served any more".to_owned())),
            SpaceResult::Frozen => {
                ("frozen", Some("the peer said two things of one number".to_owned()))
            }
        };
        let held = outcome.held.iter().map(|(agent, held)| HeldAgentView {
            agent: agent.to_string(),
            trigger: held.trigger.to_string(),
            kind: held.kind.clone(),
            commit: held.commit.map(|oid| oid.to_string()),
        });
        PeerFetchView {
            name: found.label.clone(),
            space: outcome.space.to_string(),
            result: result.to_owned(),
            from: outcome.from.map(|cid| cid.to_string()),
            to: outcome.to.map(|cid| cid.to_string()),
            moved: texts(&outcome.moved),
            rewound: texts(&outcome.rewound),
            held: held.collect(),
            reason,
        }
    }
}

impl From<&RecoveredState> for PeerFetchView {
    fn from(recovered: &RecoveredState) -> PeerFetchView {
        let signed = &recovered.announcement.signed;
        let before = recovered.before.as_ref().map(|before| before.signed.cid().to_string());
        let moved = recovered.moved.fast_forwarded.iter().chain(&recovered.moved.adopted);
        PeerFetchView {
            name: SELF.to_owned(),
            space: signed.announcement.space.to_string(),
            result: "recovered".to_owned(),
            from: before,
            to: Some(signed.cid().to_string()),
            moved: moved.map(ToString::to_string).collect(),
            rewound: Vec::new(),
            held: Vec::new(),
            reason: None,
        }
    }
}

impl From<&RefusedLine> for RefusalView {
    fn from(line: &RefusedLine) -> RefusalView {
        let at = |millis: i64| Instant::from_millis(millis).to_string();
        RefusalView {
            at: at(line.at),
            first_at: at(line.first_at),
            peer: line.peer.clone(),
            remote: line.remote.clone(),
            oid: line.oid.to_string(),
            reason: line.reason.clone(),
            count: line.count,
        }
    }
}
