//! Peers: who we are, whom we follow, and what became of what they serve.

use agentic_federation::accepted::{accepted_spaces, read_accepted};
use agentic_federation::caps::{GrantPreset, add_peer, followed, forget_peer, read_policy, trust};
use agentic_federation::changes::{Rotation, SpaceChange, change_space, rotate};
use agentic_federation::id::{PeerId, Petname, SELF, SpaceId};
use agentic_federation::identity::IdentityChain;
use agentic_federation::known::KnownPeer;
use agentic_federation::own::{InitRequest, init, read_own, require_own};
use agentic_federation::peer_log;
use agentic_federation::policy::{FollowedPeer, PeerTrust};
use agentic_federation::receive::resolve;
use agentic_federation::tracking::{erase, tracked_spaces_of};
use agentic_model::{Cid, Instant};
use agentic_session::SessionSpace;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::verb::grant::grant_view;
use crate::verb::{Reply, Verb};
use crate::view::{
    PeerChangeView, PeerIdentityView, PeerInitView, PeerSpaceView, PeerView, RefusalView,
};
use crate::{Caller, Refusal};

/// Begin an identity, so that this space can announce. Safe to repeat.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PeerInit {
    /// What this peer calls itself; what git knows, without.
    pub name: Option<String>,
    /// The key by which this space announces; git's signing key, without.
    pub key: Option<String>,
    /// The keys that write the identity; the same key, without.
    pub control: Vec<String>,
    /// The project of somebody else that this repository belongs to.
    pub project: Option<String>,
}

/// Follow a peer.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeerAdd {
    /// The name that it has here.
    pub name: String,
    /// Its id.
    pub peer: String,
    /// An announcement of it that somebody says is there.
    #[serde(default)]
    pub at: Option<String>,
    /// The remote from which it is fetched; every one, without.
    #[serde(default)]
    pub remote: Option<String>,
    /// The person whom it is taken for: `user:NAME`.
    #[serde(default)]
    pub principal: Option<String>,
    /// What it is granted: `track` or `none`.
    #[serde(default)]
    pub preset: Option<String>,
}

/// Say whether a peer is believed.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeerTrustVerb {
    /// Its name.
    pub name: String,
    /// `track`, `none` or `blocked`.
    pub trust: String,
}

/// Stop following a peer.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeerRemove {
    /// Its name.
    pub name: String,
}

/// List the peers that are followed.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PeerList {
    /// One of them, or `self`; all without.
    pub name: Option<String>,
}

/// List what of a peer was refused.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeerLog {
    /// Its name.
    pub name: String,
}

/// Let keys count no more, or others, in a new document of the identity.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PeerRotate {
    /// Keys that count no more: public keys, files or fingerprints.
    pub void: Vec<String>,
    /// Keys that count from now on.
    pub add: Vec<String>,
    /// From which announcements spaces go on: `SPACE=CID`, or `SPACE=none`.
    pub resume: Vec<String>,
}

/// Say which spaces the identity lists, or that this one has another place.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PeerSpace {
    /// Whether this repository becomes a space of its own.
    pub new: bool,
    /// Whether this repository is the space that it was, at another place.
    pub moved: bool,
    /// Another space that is listed.
    pub add: Option<String>,
    /// The key of that space.
    pub key: Option<String>,
    /// A space that is listed no more.
    pub remove: Option<String>,
    /// What its owner calls a new one.
    pub nick: Option<String>,
}

/// Choose a side of what a peer said twice, which ends that it is frozen.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeerResolve {
    /// Its name.
    pub name: String,
    /// The side: an announcement or a document of an identity.
    pub at: String,
    /// Why.
    pub why: String,
}

impl Verb for PeerRotate {
    type Answer = PeerIdentityView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<PeerIdentityView>, Refusal> {
        caller.require_person("rotate keys")?;
        if self.void.is_empty() && self.add.is_empty() {
            return Err(Refusal::usage("no key was named", "name one with `--void` or `--add`"));
        }
        let resume = self.resume.iter().map(|text| resume(text)).collect::<Result<_, _>>()?;
        let rotation = Rotation { void: self.void, add: self.add, resume };
        Ok(Reply::plain(identity_view(&rotate(caller.space, &rotation)?)))
    }
}

impl Verb for PeerSpace {
    type Answer = PeerIdentityView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<PeerIdentityView>, Refusal> {
        caller.require_person("change spaces")?;
        let nick = |text: Option<String>| text.unwrap_or_else(|| "other".to_owned());
        let change = match (self.new, self.moved, self.add, self.key, self.remove) {
            (true, false, None, None, None) => SpaceChange::New { nick: nick(self.nick) },
            (false, true, None, None, None) => SpaceChange::Moved,
            (false, false, Some(space), Some(key), None) => {
                SpaceChange::Add { space: space_id(&space)?, key, nick: nick(self.nick) }
            }
            (false, false, None, None, Some(space)) => {
                SpaceChange::Remove { space: space_id(&space)? }
            }
            _ => {
                return Err(Refusal::usage(
                    "one change of a space was expected",
                    "it is one of `--new`, `--moved`, `--add ID KEY` and `--remove ID`",
                ));
            }
        };
        Ok(Reply::plain(identity_view(&change_space(caller.space, &change)?)))
    }
}

impl Verb for PeerResolve {
    type Answer = PeerChangeView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<PeerChangeView>, Refusal> {
        caller.require_person("choose a side")?;
        let (space, name) = (caller.space, petname(&self.name)?);
        let side = cid(&self.at, "a side")?;
        let policy = read_policy(space)?.policy;
        let followed = followed(&policy, &name)?;
        resolve(space, followed.peer, side, &self.why)?;
        Ok(Reply::plain(change_view(space, &name, followed)?))
    }
}

impl Verb for PeerInit {
    type Answer = PeerInitView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<PeerInitView>, Refusal> {
        caller.require_person("begin an identity")?;
        let project = self.project.as_deref().map(|text| cid(text, "a project")).transpose()?;
        let at = |key: String| match key.contains(' ') || key.starts_with('/') {
            true => key,
            false => caller.path(key.as_ref()).display().to_string(),
        };
        let request = InitRequest {
            name: self.name,
            key: self.key.map(at),
            control: self.control.into_iter().map(at).collect(),
            project,
        };
        let own = init(caller.space, &request)?;
        let listed = own.chain.newest().space(own.space);
        let keys = listed.map(|listed| listed.keys.iter().map(ToString::to_string).collect());
        Ok(Reply::plain(PeerInitView {
            project: own.project.to_string(),
            peer: own.peer().to_string(),
            space: own.space.to_string(),
            keys: keys.unwrap_or_default(),
        }))
    }
}

impl Verb for PeerAdd {
    type Answer = PeerChangeView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<PeerChangeView>, Refusal> {
        caller.require_person("follow a peer")?;
        let space = caller.space;
        let own = require_own(space)?;
        let name = new_petname(&self.name)?;
        let peer = PeerId::parse(&self.peer).ok_or_else(|| {
            Refusal::usage(
                "a peer is named by its id",
                "`agentic peer init` prints it there; it begins with `bafyr4i`",
            )
        })?;
        if let Some(remote) = &self.remote
            && !space.repository().remotes().contains(remote)
        {
            return Err(Refusal::refused(
                &format!("there is no remote `{remote}`"),
                "`git remote` lists those that there are",
            ));
        }
        let preset = match self.preset.as_deref() {
            None | Some("track") => GrantPreset::Track,
            Some("none") => GrantPreset::None,
            Some(other) => {
                return Err(Refusal::usage(
                    &format!("there is no preset `{other}`"),
                    "it may be `track` or `none`",
                ));
            }
        };
        if let Some(principal) = &self.principal
            && principal.strip_prefix("user:").is_none_or(str::is_empty)
        {
            return Err(Refusal::usage(
                &format!("`{principal}` names no person"),
                "write `user:NAME`",
            ));
        }
        let at = self.at.as_deref().map(|text| cid(text, "an announcement")).transpose()?;
        let followed = FollowedPeer {
            peer,
            trust: PeerTrust::Track,
            principal: self.principal,
            remote: self.remote,
            at,
        };
        let (state, granted) = add_peer(space, &own, &name, &followed, preset)?;
        let now = space.now();
        let view = |cid: &Cid| grant_view(&state.policy, *cid, now);
        let granted = granted.iter().filter_map(view).collect();
        Ok(Reply::plain(PeerChangeView { granted, ..change_view(space, &name, &followed)? }))
    }
}

impl Verb for PeerTrustVerb {
    type Answer = PeerChangeView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<PeerChangeView>, Refusal> {
        caller.require_person("say whom to trust")?;
        let name = petname(&self.name)?;
        let level = PeerTrust::parse(&self.trust).ok_or_else(|| {
            Refusal::usage(
                &format!("there is no trust `{}`", self.trust),
                "it may be `track`, `none` or `blocked`",
            )
        })?;
        let state = trust(caller.space, &name, level)?;
        let followed = followed(&state.policy, &name)?;
        Ok(Reply::plain(change_view(caller.space, &name, followed)?))
    }
}

impl Verb for PeerRemove {
    type Answer = PeerChangeView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<PeerChangeView>, Refusal> {
        caller.require_person("stop following a peer")?;
        let (space, name) = (caller.space, petname(&self.name)?);
        let state = read_policy(space)?;
        let peer = followed(&state.policy, &name)?;
        let tracked = tracked_spaces_of(space.repository(), &name, peer)?;
        let gone = forget_peer(space, &name)?;
        let view = change_view(space, &name, &gone)?;
        for tracked in tracked {
            erase(space, &tracked.label)?;
        }
        agentic_federation::caps::drop_peer_refs(space, gone.peer)?;
        Ok(Reply::plain(view))
    }
}

impl Verb for PeerList {
    type Answer = Vec<PeerView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<PeerView>>, Refusal> {
        let space = caller.space;
        if self.name.as_deref() == Some(SELF) {
            return Ok(Reply::plain(vec![own_view(space)?]));
        }
        let policy = read_policy(space)?.policy;
        if let Some(name) = &self.name {
            let name = petname(name)?;
            let followed = followed(&policy, &name)?;
            return Ok(Reply::plain(vec![peer_view(space, &name, followed)?]));
        }
        let peers = policy.peers.iter().map(|(name, peer)| peer_view(space, name, peer));
        Ok(Reply::plain(peers.collect::<Result<_, _>>()?))
    }
}

impl Verb for PeerLog {
    type Answer = Vec<RefusalView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<RefusalView>>, Refusal> {
        let name = petname(&self.name)?;
        let lines = peer_log::read(caller.space)?;
        let of = lines.iter().filter(|line| line.peer == name.as_str());
        Ok(Reply::plain(of.map(RefusalView::from).collect()))
    }
}

fn space_id(text: &str) -> Result<SpaceId, Refusal> {
    SpaceId::parse(text).ok_or_else(|| {
        Refusal::usage(
            &format!("`{text}` is no space"),
            "a space has 32 digits; `agentic peer show` prints them",
        )
    })
}

fn resume(text: &str) -> Result<(SpaceId, Option<Cid>), Refusal> {
    let (space, from) = text.split_once('=').ok_or_else(|| {
        Refusal::usage(&format!("`{text}` names no space"), "write `SPACE=CID` or `SPACE=none`")
    })?;
    let from = match from {
        "none" => None,
        from => Some(cid(from, "an announcement")?),
    };
    Ok((space_id(space)?, from))
}

fn identity_view(chain: &IdentityChain) -> PeerIdentityView {
    PeerIdentityView { identity: chain.last().cid().to_string(), seq: chain.newest().seq }
}

/// Reads the id of an object.
pub(super) fn cid(text: &str, what: &str) -> Result<Cid, Refusal> {
    Cid::parse(text).map_err(|error| {
        Refusal::usage(
            &error.to_string(),
            &format!("{what} is named by an id that begins with `bafyr4i`"),
        )
    })
}

/// Reads the name of a peer that is followed.
pub(super) fn petname(text: &str) -> Result<Petname, Refusal> {
    Petname::parse(text).map_err(|error| {
        Refusal::usage(&error.to_string(), "`agentic peer list` lists those that there are")
    })
}

fn new_petname(text: &str) -> Result<Petname, Refusal> {
    Petname::parse(text).map_err(|error| {
        let hint = "use up to 32 lower-case letters, digits and `-`, and not `self`";
        Refusal::usage(&error.to_string(), hint)
    })
}

fn change_view(
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

fn own_view(space: &SessionSpace) -> Result<PeerView, Refusal> {
    let own = read_own(space)?.ok_or_else(|| {
        Refusal::refused("this repository has no identity yet", "make one with `agentic peer init`")
    })?;
    let state = agentic_federation::announce::own_announcement(space.repository(), &own)?;
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

fn peer_view(
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
        let said = accepted.as_ref().map(|accepted| {
            agentic_federation::wrapping::read_wrapped(space.repository(), accepted.announced)
        });
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
