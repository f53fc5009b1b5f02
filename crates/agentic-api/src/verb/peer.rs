//! Peers: whom we follow, and what became of what they serve.

mod own;
mod shown;
mod tracking;

use std::fs::File;
use std::io::Read as _;

use agentic_federation::caps::{GrantPreset, add_peer, followed, forget_peer, read_policy, trust};
use agentic_federation::contact::find_peer;
use agentic_federation::id::{PeerId, Petname, SELF};
use agentic_federation::key::{OPENPGP, PeerKey};
use agentic_federation::own::require_own;
use agentic_federation::peer_log;
use agentic_federation::policy::{FollowedPeer, PeerTrust};
use agentic_federation::receive::{judge_held, resolve};
use agentic_federation::tracking::{erase_peer, followed_peers};
use agentic_federation::unfollowed::KeptRefs;
use agentic_model::Cid;
use schemars::JsonSchema;
use serde::Deserialize;

pub use self::own::{PeerInit, PeerRotate, PeerSpace};
use self::shown::{change_view, own_view, peer_view};
pub use self::tracking::{settle_named, settle_peers};
use crate::redaction::{CallerRedactor, refuse_secret_text};
use crate::verb::grant::grant_view;
use crate::verb::remote::chosen_remote;
use crate::verb::{Reply, Verb};
use crate::view::{PeerChangeView, PeerView, RefusalView};
use crate::{Caller, Refusal};

/// How keys begin that are named by themselves.
const KEY_BEGINS: [&str; 4] = ["ssh-", "sk-ssh-", "key::", OPENPGP];
/// How the file of the public half of a key ends.
const PUBLIC_END: &str = "pub";
/// How many bytes of such a file are read.
const KEY_FILE_BYTES_MAX: u64 = 16 << 10;

/// Follow a peer.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeerAdd {
    /// The name that it has here.
    pub name: String,
    /// Its id, a key that it has, or the file of that public key.
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

impl Verb for PeerResolve {
    type Answer = PeerChangeView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<PeerChangeView>, Refusal> {
        caller.require_person("choose a side")?;
        let space = caller.space;
        let name = if self.name == SELF { Petname::own() } else { petname(&self.name)? };
        let side = cid(&self.at, "a side")?;
        let followed = match followed_peers(space)?.remove(&name) {
            Some(followed) => followed,
            None => followed(&read_policy(space)?.policy, &name)?.clone(),
        };
        let mut redactor = CallerRedactor::new(caller)?;
        resolve(space, followed.peer, side, &redactor.text("the reason", self.why))?;
        let view = change_view(space, &name, &followed)?;
        Ok(Reply { notices: redactor.notices(), ..Reply::plain(view) })
    }
}

impl Verb for PeerAdd {
    type Answer = PeerChangeView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<PeerChangeView>, Refusal> {
        caller.require_person("follow a peer")?;
        let space = caller.space;
        let own = require_own(space)?;
        let name = new_petname(&self.name)?;
        refuse_secret_text(caller, "the name", name.as_str())?;
        refuse_secret_text(caller, "the person", self.principal.as_deref().unwrap_or_default())?;
        if let Some(remote) = &self.remote
            && !space.repository().remotes().contains(remote)
        {
            return Err(Refusal::refused(
                &format!("there is no remote `{remote}`"),
                "`git remote` lists those that there are",
            ));
        }
        let peer = named_peer(caller, &self.peer, self.remote.clone())?;
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
        // What others gave on may count again, too.
        let peers = state.policy.peers.iter().collect::<Vec<_>>();
        judge_held(caller.space, &peers)?;
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
        let view = change_view(space, &name, peer)?;
        // Before nobody knows any more whose they are: they are drawn again where we die over it. And after, since
        // somebody may receive the peer meanwhile.
        erase_peer(space, &name)?;
        forget_peer(space, &name)?;
        erase_peer(space, &name)?;
        let kept = KeptRefs::list(space.repository())?;
        kept.drop_unfollowed(space.repository(), &followed_peers(space)?)?;
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
        let name = if self.name == SELF { Petname::own() } else { petname(&self.name)? };
        let lines = peer_log::read(caller.space)?;
        let of = lines.iter().filter(|line| line.peer == name.as_str());
        let of: Vec<RefusalView> = of.map(RefusalView::from).collect();
        // What a peer served that is followed no more can still be read.
        if of.is_empty() && name != Petname::own() {
            followed(&read_policy(caller.space)?.policy, &name)?;
        }
        Ok(Reply::plain(of))
    }
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

/// Reads the id of a peer, or finds the peer on a remote that has a key.
fn named_peer(caller: &Caller<'_>, text: &str, remote: Option<String>) -> Result<PeerId, Refusal> {
    if let Some(peer) = PeerId::parse(text) {
        return Ok(peer);
    }
    let key = named_key(caller, text)?;
    Ok(find_peer(caller.space, &chosen_remote(caller.space, remote)?, &key)?)
}

/// Reads a key of somebody else: one that begins as keys do, else the file of its public half, as `ssh-keygen` makes
/// it. A private one is never read.
fn named_key(caller: &Caller<'_>, text: &str) -> Result<PeerKey, Refusal> {
    let hint = "`agentic peer init` prints the id and a key there; an id begins with `bafyr4i`, \
                a key with `ssh-ed25519`, `sk-ssh-ed25519@openssh.com` or `gpg:`";
    if KEY_BEGINS.iter().any(|begin| text.starts_with(begin)) {
        return PeerKey::parse(text).map_err(|wrong| Refusal::usage(&wrong.to_string(), hint));
    }
    let path = caller.path(text.as_ref());
    let is_public = path.extension().is_some_and(|end| end == PUBLIC_END);
    let path = if is_public { path } else { path.with_added_extension(PUBLIC_END) };
    let Ok(file) = File::open(&path) else {
        return Err(Refusal::usage(
            "a peer is named by its id, by a key that it has, or by the file of a public key",
            hint,
        ));
    };
    let mut read = String::new();
    let is_read = file.take(KEY_FILE_BYTES_MAX).read_to_string(&mut read).is_ok();
    let key = PeerKey::parse(&read).ok().filter(|_| is_read);
    // What the file has instead may be meant for nobody: it is not shown.
    key.ok_or_else(|| {
        let why = format!("`{}` has no key of a peer", path.display());
        Refusal::refused(&why, "it takes one public key, `ssh-ed25519` or one on a device")
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
