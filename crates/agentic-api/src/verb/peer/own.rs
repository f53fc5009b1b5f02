//! Who we are: the identity of this peer, its keys and its spaces.

use agentic_federation::changes::{Rotation, SpaceChange, change_space, rotate};
use agentic_federation::id::{PeerId, SpaceId};
use agentic_federation::identity::IdentityChain;
use agentic_federation::key::OPENPGP;
use agentic_federation::own::{InitRequest, init, join};
use agentic_model::Cid;
use schemars::JsonSchema;
use serde::Deserialize;

use super::cid;
use crate::redaction::CallerRedactor;
use crate::verb::{Reply, Verb};
use crate::view::{PeerIdentityView, PeerInitView};
use crate::{Caller, Refusal};

/// How the fingerprint of a key of SSH begins.
const FINGERPRINT: &str = "SHA256:";

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
    /// The peer whose space this becomes: one that there is on another machine already.
    pub peer: Option<String>,
    /// What this space is called; `main` without.
    pub nick: Option<String>,
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

impl Verb for PeerInit {
    type Answer = PeerInitView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<PeerInitView>, Refusal> {
        caller.require_person("begin an identity")?;
        let redactor = CallerRedactor::new(caller)?;
        redactor.refuse_text("the name", self.name.as_deref().unwrap_or_default())?;
        redactor.refuse_text("the nick", self.nick.as_deref().unwrap_or_default())?;
        let project = self.project.as_deref().map(|text| cid(text, "a project")).transpose()?;
        let at = |key: String| placed(caller, key);
        let request = InitRequest {
            name: self.name,
            key: self.key.map(at),
            control: self.control.into_iter().map(at).collect(),
            project,
            nick: self.nick,
        };
        if let Some(peer) = &self.peer {
            let peer = PeerId(cid(peer, "a peer")?);
            let joining = join(caller.space, peer, &request)?;
            return Ok(Reply::plain(PeerInitView {
                project: joining.project.to_string(),
                peer: joining.peer.to_string(),
                space: joining.space.to_string(),
                keys: vec![joining.key.to_string()],
            }));
        }
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

impl Verb for PeerRotate {
    type Answer = PeerIdentityView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<PeerIdentityView>, Refusal> {
        caller.require_person("rotate keys")?;
        if self.void.is_empty() && self.add.is_empty() {
            return Err(Refusal::usage("no key was named", "name one with `--void` or `--add`"));
        }
        let resume = self.resume.iter().map(|text| resume(text)).collect::<Result<_, _>>()?;
        let at = |keys: Vec<String>| keys.into_iter().map(|key| placed(caller, key)).collect();
        let rotation = Rotation { void: at(self.void), add: at(self.add), resume };
        Ok(Reply::plain(identity_view(&rotate(caller.space, &rotation)?)))
    }
}

impl Verb for PeerSpace {
    type Answer = PeerIdentityView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<PeerIdentityView>, Refusal> {
        caller.require_person("change spaces")?;
        let given = self.nick.as_deref().unwrap_or_default();
        CallerRedactor::new(caller)?.refuse_text("the nick", given)?;
        let nick = |text: Option<String>| text.unwrap_or_else(|| "other".to_owned());
        let change = match (self.new, self.moved, self.add, self.key, self.remove) {
            (true, false, None, None, None) => SpaceChange::New { nick: nick(self.nick) },
            (false, true, None, None, None) => SpaceChange::Moved,
            (false, false, Some(space), Some(key), None) => {
                let (space, key) = (space_id(&space)?, placed(caller, key));
                SpaceChange::Add { space, key, nick: nick(self.nick) }
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

/// Names a key so that its file is found from any folder: relative paths start from the caller's. A key itself and a
/// fingerprint stay as they are.
fn placed(caller: &Caller<'_>, key: String) -> String {
    let is_named =
        key.contains(' ') || ["/", OPENPGP, FINGERPRINT].iter().any(|begin| key.starts_with(begin));
    if is_named { key } else { caller.path(key.as_ref()).display().to_string() }
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
