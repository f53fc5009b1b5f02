//! The kinds of a peer, as its snapshot has them: theirs, until somebody adopts one.

use std::cell::OnceCell;

use agentic_git::Repository;
use agentic_model::kind::AGENT_COMMIT;
use agentic_model::{Cid, Kind, KindEntry, KindTree, Map, Object, Oid, Value};
use agentic_session::SessionSpace;
use agentic_space::WriteNotices;
use agentic_space::kind::REGISTRY_REF;

use crate::acceptance::announced_by;
use crate::capability::TriggerName;
use crate::caps::{followed, read_policy};
use crate::folder::TreeFolder;
use crate::id::{PeerId, Petname};
use crate::in_force::{PolicyInForce, PolicySubject};
use crate::policy::{PolicyAnswer, PolicyQuestion};
use crate::steps::read_tip;
use crate::tracking::{TrackedSpace, tracked_spaces_of};
use crate::wrapping::{body_of, read_wrapped};
use crate::{Error, Result};

/// The file of a snapshot that names the tip of the registry.
const KINDS: &str = "kinds";
/// The type of the object that says from whom a kind was adopted. It stands beside the kind's own.
const ORIGIN: &str = "type-origin";
/// How many kinds of a peer are looked at.
const KINDS_MAX: usize = 10_000;

/// A kind that a peer, or somebody here, registered.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerKind {
    /// Its object.
    pub cid: Cid,
    /// What it says.
    pub entry: KindEntry,
    /// The object itself.
    object: Object,
}

/// From whom a kind was adopted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindOrigin {
    /// The peer.
    pub peer: PeerId,
    /// Its object there. What the peer defines later is another one.
    pub cid: Cid,
}

/// A kind that is adopted.
#[derive(Debug)]
pub struct AdoptedKind {
    /// The kind here.
    pub entry: KindEntry,
    /// Its object here.
    pub cid: Cid,
    /// Where it is from.
    pub origin: KindOrigin,
    /// Whether it was written, and is visible; nothing where it was adopted before.
    pub written: Option<WriteNotices>,
}

/// Lists the kinds that a snapshot has. What is none is left out.
///
/// # Errors
/// Fails when the registry of the snapshot cannot be read.
pub fn kinds_of(repository: &Repository, body: &TreeFolder) -> Result<Vec<PeerKind>> {
    match read_tip(repository, body, KINDS)? {
        Some(tip) => kinds_at(repository, tip),
        None => Ok(Vec::new()),
    }
}

/// Lists the kinds that were registered here.
///
/// # Errors
/// Fails when the registry cannot be read.
pub fn own_kinds(space: &SessionSpace) -> Result<Vec<PeerKind>> {
    let repository = space.repository();
    match repository.find_ref(REGISTRY_REF)? {
        Some(tip) => kinds_at(repository, tip),
        None => Ok(Vec::new()),
    }
}

fn kinds_at(repository: &Repository, tip: Oid) -> Result<Vec<PeerKind>> {
    let of_type = Kind::parse("type").expect("a valid name");
    let mut objects = repository.notes_at(Some(tip))?.read_objects(&of_type)?;
    objects.sort();
    let read = |(cid, bytes): (Cid, Vec<u8>)| {
        let object = Object::decode(&bytes).ok().filter(|_| Cid::of(&bytes) == cid)?;
        Some(PeerKind { cid, entry: KindEntry::from_object(&object).ok()?, object })
    };
    Ok(objects.into_iter().take(KINDS_MAX).filter_map(read).collect())
}

/// Lists the kinds that a space of a peer announced, as it is read here: `bob` or `bob+NICK`.
///
/// # Errors
/// Fails when nothing of it is here.
pub fn kinds_of_peer(space: &SessionSpace, label: &str) -> Result<Vec<PeerKind>> {
    Ok(read_peer(space, label)?.1)
}

fn read_peer(space: &SessionSpace, label: &str) -> Result<(TrackedSpace, Vec<PeerKind>)> {
    let unknown = || {
        Error::refused(
            format!("nothing of a peer `{label}` is here"),
            "`agentic peer list` lists those that are followed; `agentic fetch` asks remotes",
        )
    };
    let petname = label.split('+').next().unwrap_or(label);
    let petname = Petname::parse(petname).map_err(|_| unknown())?;
    let (repository, policy) = (space.repository(), read_policy(space)?.policy);
    let peer = followed(&policy, &petname)?;
    let tracked = tracked_spaces_of(repository, &petname, peer)?;
    let tracked = tracked.into_iter().find(|tracked| tracked.label == label);
    let tracked = tracked.ok_or_else(unknown)?;
    let announced = announced_by(repository, tracked.record)?;
    let body = body_of(repository, &read_wrapped(repository, announced)?)?;
    Ok((tracked, kinds_of(repository, &body)?))
}

/// Registers a kind of a peer here, under its own name or another.
///
/// # Errors
/// Fails when the peer has no such kind, when its parent is unknown here, when nobody granted
/// `type-define` of that, and with a conflict when the name means something else here.
pub fn adopt_kind(
    space: &SessionSpace,
    [label, named]: [&str; 2],
    name: Option<Kind>,
) -> Result<AdoptedKind> {
    let (tracked, theirs) = read_peer(space, label)?;
    tracked.require_listed()?;
    let peer = tracked.peer;
    let found = theirs.into_iter().find(|kind| kind.entry.name.as_str() == named);
    let found = found.ok_or_else(|| {
        let hint = format!("`agentic kind list --peer {label}` lists those that it has");
        Error::refused(format!("`{label}` has no kind `{named}`"), hint)
    })?;
    let name = name.unwrap_or_else(|| found.entry.name.clone());
    let origin = KindOrigin { peer, cid: found.cid };
    let in_force = PolicyInForce::read(space, PolicySubject::Peer(peer))?;
    let parent = found.entry.parent.clone().unwrap_or_else(Kind::agent_commit);
    if in_force.kinds.get(&parent).is_none() {
        return Err(Error::refused(
            format!("the parent kind `{parent}` of `{label}/{named}` is not registered here"),
            format!("adopt it first: `agentic kind adopt {label}/{parent}`"),
        ));
    }
    let trigger = TriggerName::TypeDefine.shown();
    let question = PolicyQuestion { peer, kind: &parent, trigger, agent: None };
    if let PolicyAnswer::Refused(refused) = in_force.may(question)? {
        return Err(Error::not_allowed(
            format!("`{label}/{named}` may not be adopted: {}", refused.why),
            refused.hint,
        ));
    }
    let object = found.named(&name, &origin)?;
    let entry = KindEntry { name: name.clone(), ..found.entry };
    let (cid, known) = (object.cid(), in_force.kinds.get(&name));
    if known.is_some() {
        return match is_registered(space, cid)? {
            true => Ok(AdoptedKind { entry, cid, origin, written: None }),
            false => Err(Error::conflict(
                format!("`{name}` means something else here; ours stays"),
                format!(
                    "adopt theirs under another name: `--as NAME`; it is read as `{label}/{named}`"
                ),
            )),
        };
    }
    let beside = origin.to_object(&name)?;
    let written = space.register_kind_as(entry.clone(), &[object, beside])?;
    Ok(AdoptedKind { entry, cid, origin, written: Some(written) })
}

/// Finds from whom a kind was adopted, if it was.
///
/// # Errors
/// Fails when the registry is damaged.
pub fn origin_of(space: &SessionSpace, name: &Kind) -> Result<Option<KindOrigin>> {
    let of_origin = Kind::parse(ORIGIN).expect("a valid name");
    let objects = space.repository().notes(REGISTRY_REF)?.read_objects(&of_origin)?;
    let read = |(_, bytes): (Cid, Vec<u8>)| {
        let object = Object::decode(&bytes).ok()?;
        let map = object.map();
        let is_meant = map.get("name").and_then(Value::as_text) == Some(name.as_str());
        let link = |field: &str| match map.get(field) {
            Some(Value::Link(cid)) => Some(*cid),
            Some(_) | None => None,
        };
        Some(KindOrigin { peer: PeerId(link("peer")?), cid: link("cid")? }).filter(|_| is_meant)
    };
    Ok(objects.into_iter().find_map(read))
}

fn is_registered(space: &SessionSpace, cid: Cid) -> Result<bool> {
    Ok(space.repository().notes(REGISTRY_REF)?.object(cid)?.is_some())
}

impl PeerKind {
    /// Returns the object under a name: the very same one under its own.
    fn named(&self, name: &Kind, origin: &KindOrigin) -> Result<Object> {
        if *name == self.entry.name {
            return Ok(self.object.clone());
        }
        let mut map = self.object.map().clone();
        map.insert("name".to_owned(), Value::text(name.as_str()));
        map.insert("origin".to_owned(), origin.to_value());
        Ok(Object::new(map).map_err(agentic_space::Error::from)?)
    }
}

impl KindOrigin {
    fn to_value(&self) -> Value {
        Value::map([("peer", Value::Link(self.peer.0)), ("cid", Value::Link(self.cid))])
    }

    fn to_object(&self, name: &Kind) -> Result<Object> {
        let map = Map::from([
            ("type".to_owned(), Value::text(ORIGIN)),
            ("name".to_owned(), Value::text(name.as_str())),
            ("peer".to_owned(), Value::Link(self.peer.0)),
            ("cid".to_owned(), Value::Link(self.cid)),
        ]);
        Ok(Object::new(map).map_err(agentic_space::Error::from)?)
    }
}

/// What kinds of commits mean here that a peer gave them.
pub struct KindTranslation<'a> {
    repository: &'a Repository,
    ours: &'a KindTree,
    body: &'a TreeFolder,
    theirs: OnceCell<KindTree>,
}

impl KindTranslation<'_> {
    /// Begins with a snapshot, whose registry is read only if a kind is unknown here.
    pub fn new<'a>(
        repository: &'a Repository,
        ours: &'a KindTree,
        body: &'a TreeFolder,
    ) -> KindTranslation<'a> {
        KindTranslation { repository, ours, body, theirs: OnceCell::new() }
    }

    /// Returns the kind that a name means here. One that is ours means what our registry says; one that
    /// we lack means its nearest ancestor, by the peer's own definitions, that we have.
    pub fn here(&self, kind: Kind) -> Kind {
        if self.ours.get(&kind).is_some() {
            return kind;
        }
        let theirs = self.theirs.get_or_init(|| {
            let mut tree = KindTree::built_in();
            // A registry that cannot be read defines nothing.
            for found in kinds_of(self.repository, self.body).unwrap_or_default() {
                tree.adopt(found.entry);
            }
            tree
        });
        let commit = Kind::parse(AGENT_COMMIT).expect("a valid name");
        let mut known = theirs.ancestors(&kind).filter(|above| self.ours.get(above).is_some());
        let nearest = known.next().filter(|above| self.ours.is_a(above, &commit));
        nearest.cloned().unwrap_or(commit)
    }
}
