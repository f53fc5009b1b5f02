//! Grants: what peers may do here.

use agentic_federation::capability::{Capability, DELEGATE_MAX, PeerTrigger};
use agentic_federation::caps::{GrantRequest, followed, grant, read_policy, revoke};
use agentic_federation::id::Petname;
use agentic_federation::own::require_own;
use agentic_federation::policy::{PeerPolicy, PolicyAnswer, RefusedRight};
use agentic_federation::receive::judge_held;
use agentic_federation::receive::may;
use agentic_model::{Cid, Instant, Kind};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::redaction::{CallerRedactor, refuse_secret_text};
use crate::verb::peer::{cid, petname};
use crate::verb::{Reply, Verb, VerbCompletion};
use crate::view::{AllowedBecause, AllowedView, GrantView, PeerGrantView, RevokeView};
use crate::{Caller, Notice, Refusal};

/// Grant a peer something. What waits for it is believed at once.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeerGrant {
    /// The name of the peer.
    pub name: String,
    /// For which kinds, and those below them.
    pub kinds: Vec<String>,
    /// For what: `spawn`, `head-move`, `merge`, `trace`, `decide`, `relate`, `behaviour-adopt`,
    /// `type-define`; with `!` something may run of it.
    pub triggers: Vec<String>,
    /// For which agents, as patterns with `*`; all without.
    #[serde(default)]
    pub agents: Vec<String>,
    /// Until when.
    #[serde(default)]
    pub until: Option<String>,
    /// How often it may be given on.
    #[serde(default)]
    pub delegate: u64,
    /// A capability of ours, as whoever gave it told us: this is given on from it, and counts there.
    #[serde(default)]
    pub parent: Option<String>,
}

/// Take back what was granted. What was believed stays.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeGrants {
    /// A capability, or a peer for all that it was granted.
    pub what: String,
    /// Why.
    #[serde(default)]
    pub why: String,
}

/// List what peers were granted.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListGrants {
    /// One peer; all without.
    pub name: Option<String>,
}

/// Say whether a peer may do something.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllowedQuestion {
    /// The name of the peer.
    pub name: String,
    /// The kind.
    pub kind: String,
    /// What it would do.
    pub trigger: String,
}

impl Verb for PeerGrant {
    type Answer = GrantView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<GrantView>, Refusal> {
        caller.require_person("grant a peer something")?;
        let (space, name) = (caller.space, petname(&self.name)?);
        let own = require_own(space)?;
        if self.kinds.is_empty() || self.triggers.is_empty() {
            return Err(Refusal::usage(
                "a grant names kinds and what may be done with them",
                "such as `--kind finding --on head-move`",
            ));
        }
        if self.delegate > DELEGATE_MAX {
            return Err(Refusal::usage(
                &format!("a right may be given on {DELEGATE_MAX} times at most"),
                "choose a smaller `--delegate`",
            ));
        }
        for pattern in &self.agents {
            refuse_secret_text(caller, "a pattern of agents", pattern)?;
        }
        let request = GrantRequest {
            kinds: self
                .kinds
                .iter()
                .map(|text| known_kind(caller, text))
                .collect::<Result<_, _>>()?,
            triggers: self.triggers.iter().map(|text| trigger(text)).collect::<Result<_, _>>()?,
            agents: (!self.agents.is_empty()).then_some(self.agents),
            until: self.until.as_deref().map(instant).transpose()?.map(Instant::millis),
            delegate: self.delegate,
            parent: self.parent.as_deref().map(|text| cid(text, "a capability")).transpose()?,
        };
        let (state, made) = grant(space, &own, &name, &request)?;
        let peers = state.policy.peers.iter().collect::<Vec<_>>();
        judge_held(space, &peers)?;
        let caps = state.tip.map_or_else(String::new, |tip| tip.to_string());
        let notices = over(&name, request.until, space.now()).into_iter().collect();
        let view = GrantView { capability: made.to_string(), caps };
        Ok(Reply { notices, ..Reply::plain(view) })
    }
}

impl Verb for RevokeGrants {
    type Answer = RevokeView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<RevokeView>, Refusal> {
        caller.require_person("revoke what a peer was granted")?;
        let mut redactor = CallerRedactor::new(caller)?;
        let why = redactor.text("the reason", self.why);
        let (state, revoked) = revoke(caller.space, &self.what, &why)?;
        let view = RevokeView {
            revoked: revoked.iter().map(ToString::to_string).collect(),
            caps: state.tip.map(|tip| tip.to_string()),
        };
        Ok(Reply { notices: redactor.notices(), ..Reply::plain(view) })
    }
}

impl Verb for ListGrants {
    type Answer = Vec<PeerGrantView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<PeerGrantView>>, Refusal> {
        let policy = read_policy(caller.space)?.policy;
        let peer = match self.name.as_deref() {
            Some(name) => Some(followed(&policy, &petname(name)?)?.peer),
            None => None,
        };
        let now = caller.space.now();
        let of =
            policy.grants.iter().filter(|(_, grant)| peer.is_none_or(|peer| grant.peer == peer));
        Ok(Reply::plain(of.filter_map(|(cid, _)| grant_view(&policy, *cid, now)).collect()))
    }
}

impl Verb for AllowedQuestion {
    type Answer = AllowedView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<AllowedView>, Refusal> {
        let (name, trigger) = (petname(&self.name)?, trigger(&self.trigger)?);
        let kind = known_kind(caller, &self.kind)?;
        let answer = may(caller.space, &name, &kind, trigger)?;
        Ok(match answer {
            PolicyAnswer::Allowed(by) => {
                let by = by.iter().map(ToString::to_string).collect();
                Reply::plain(AllowedView {
                    allowed: true,
                    because: AllowedBecause::Capabilities(by),
                })
            }
            PolicyAnswer::Refused(RefusedRight { why, hint }) => {
                let message = format!("`{name}` may not `{trigger}` a `{kind}`: {why}");
                let completion = VerbCompletion::Short(Refusal::not_allowed(&message, &hint));
                let because = AllowedBecause::Reason(why);
                Reply { completion, ..Reply::plain(AllowedView { allowed: false, because }) }
            }
        })
    }
}

/// Shows a capability.
pub(super) fn grant_view(policy: &PeerPolicy, cid: Cid, now: Instant) -> Option<PeerGrantView> {
    let grant: &Capability = policy.grants.get(&cid)?;
    let state = if policy.revoked.contains_key(&cid) {
        "revoked"
    } else if grant.is_live_at(now.millis()) {
        "live"
    } else {
        "expired"
    };
    let name = policy.name_of(grant.peer).map(ToString::to_string);
    Some(PeerGrantView {
        capability: cid.to_string(),
        name: name.unwrap_or_else(|| grant.peer.to_string()),
        kinds: grant.kinds.iter().map(ToString::to_string).collect(),
        triggers: grant.triggers.iter().map(ToString::to_string).collect(),
        agents: grant.agents.clone(),
        until: grant.until.map(|until| Instant::from_millis(until).to_string()),
        delegate: grant.delegate,
        parent: grant.parent.map(|parent| parent.to_string()),
        state: state.to_owned(),
    })
}

/// Says that a grant is over as it is made.
fn over(name: &Petname, until: Option<i64>, now: Instant) -> Option<Notice> {
    let until = until.filter(|until| *until <= now.millis()).map(Instant::from_millis)?;
    let what = format!("`{name}` may do nothing by this grant: it ended at {until}");
    Some(Notice::Remark { what })
}

fn known_kind(caller: &Caller<'_>, text: &str) -> Result<Kind, Refusal> {
    let hint = "`agentic kind list` lists the kinds";
    let kind = Kind::parse(text).map_err(|error| Refusal::usage(&error.to_string(), hint))?;
    match caller.space.kinds()?.get(&kind) {
        Some(_) => Ok(kind),
        None => Err(Refusal::refused(&format!("there is no kind `{kind}`"), hint)),
    }
}

fn trigger(text: &str) -> Result<PeerTrigger, Refusal> {
    PeerTrigger::parse(text).map_err(|wrong| {
        Refusal::usage(
            &wrong.to_string(),
            "it may be spawn, head-move, merge, trace, decide, relate, behaviour-adopt or \
             type-define; head-move, merge, decide and behaviour-adopt may have a `!`",
        )
    })
}

fn instant(text: &str) -> Result<Instant, Refusal> {
    let found = Instant::parse(text).or_else(|| Instant::parse(&format!("{text}T00:00:00Z")));
    found.ok_or_else(|| {
        Refusal::usage(
            &format!("`{text}` is no instant"),
            "write 2026-12-31 or 2026-12-31T12:00:00Z",
        )
    })
}
