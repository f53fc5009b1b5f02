//! First inputs for the readers of federation: one of each, as writers make them.

use agentic_federation::acceptance::{Acceptance, HeldAgent, HeldBack};
use agentic_federation::announcement::{
    HashName, Removal, RemovalReason, Rewind, RewoundTip, SpaceAnnouncement,
};
use agentic_federation::capability::{Capability, TriggerName};
use agentic_federation::id::{PeerId, SpaceId};
use agentic_federation::identity::{ControlKeys, IdentityDocument, ListedSpace};
use agentic_federation::key::PeerKey;
use agentic_federation::shard::Heads;
use agentic_model::{AgentName, Cid, Kind, Oid, Value, canonical};
use agentic_store::journal::GitKind;
use agentic_store::memory::MemoryRepository;

/// A key that nobody has.
const KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDldUDSqaHv05/ODxK7/PX0lX40MvV4GBg2mLaBhBzP6";
/// The place of `x` in a snapshot.
const PLACE_OF_X: [u8; 2] = [0x3a, 0x27];

/// Lists the inputs with their targets.
pub(super) fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let entry = Value::map([
        ("h", Value::Bytes(oid('a').as_bytes().to_vec())),
        ("n", Value::Bytes(oid('b').as_bytes().to_vec())),
    ]);
    let shard = canonical::encode(&Value::map([("x", entry)])).expect("it is flat");
    let mut seeds = vec![
        ("announcement", announcement().to_bytes()),
        ("identity", identity().to_bytes()),
        ("capability", capability().to_bytes()),
        ("shard", [&[0][..], &PLACE_OF_X, &shard].concat()),
        ("reply", [&PLACE_OF_X[..], &replies()].concat()),
    ];
    seeds.extend(acceptance());
    seeds
}

/// A shard with the decision of one hold of `x`.
fn replies() -> Vec<u8> {
    let to = Value::map([
        ("peer", Value::Link(cid("peer"))),
        ("space", Value::Bytes(vec![1; 16])),
        ("agent", Value::text("x")),
    ]);
    let commit = oid('a').to_string();
    canonical::encode(&Value::map([(commit.as_str(), to)])).expect("it is flat")
}

fn oid(digit: char) -> Oid {
    Oid::parse(&digit.to_string().repeat(40)).expect("an id")
}

fn cid(text: &str) -> Cid {
    Cid::of(text.as_bytes())
}

fn agent() -> AgentName {
    AgentName::parse("x").expect("a name")
}

fn announcement() -> SpaceAnnouncement {
    let (from, to) = (oid('1'), oid('2'));
    let why = "why".to_owned();
    SpaceAnnouncement {
        project: cid("project"),
        peer: PeerId(cid("peer")),
        space: SpaceId([1; 16]),
        identity: cid("identity"),
        epoch: 0,
        seq: 1,
        previous: Some(cid("previous")),
        parents: vec![from, to],
        tree: oid('3'),
        hash: HashName::Sha1,
        entries: 1,
        time: 1,
        next_by: Some(2),
        cut: None,
        rewinds: vec![Rewind { agent: agent(), of: RewoundTip::Head, from, to, why }],
        removed: vec![Removal {
            agent: agent(),
            head: from,
            notes: None,
            why: RemovalReason::Deleted,
        }],
    }
}

fn identity() -> IdentityDocument {
    let keys = vec![PeerKey::parse(KEY).expect("a key")];
    let (space, nick) = (SpaceId([1; 16]), "main".to_owned());
    IdentityDocument {
        project: cid("project"),
        seq: 0,
        previous: None,
        name: "Ada".to_owned(),
        control: ControlKeys { keys: keys.clone(), need: 1 },
        spaces: vec![ListedSpace { space, nick, keys: keys.clone(), resume: None }],
        decide: keys,
        time: 1,
        nonce: vec![7; 16],
    }
}

fn capability() -> Capability {
    Capability {
        project: cid("project"),
        issuer: PeerId(cid("issuer")),
        peer: PeerId(cid("peer")),
        kinds: vec![Kind::agent_commit()],
        triggers: vec![TriggerName::HeadMove.shown()],
        agents: Some(vec!["x*".to_owned()]),
        since: None,
        until: Some(1),
        delegate: 0,
        parent: None,
        nonce: vec![7; 16],
    }
}

/// A record: the length of its first file, and that.
fn acceptance() -> Option<(&'static str, Vec<u8>)> {
    let held = HeldAgent {
        head: Some(oid('a')),
        notes: None,
        trigger: TriggerName::Spawn.shown(),
        kind: "spawn".to_owned(),
        commit: None,
    };
    let acceptance = Acceptance {
        announcement: cid("announcement"),
        announced: oid('4'),
        identity: cid("identity"),
        policy: None,
        time: 1,
        known: None,
        way: "origin".to_owned(),
        believed: Heads::new(),
        held: HeldBack::from([(agent(), held)]),
        disowned: Heads::new(),
    };
    let store = MemoryRepository::new(std::path::Path::new("nowhere"));
    let objects = acceptance.to_objects(&store).1;
    let files = objects.into_iter().filter(|object| object.kind == GitKind::Blob);
    let files: Vec<Vec<u8>> = files.map(|object| object.bytes).collect();
    // Files are made in the order of their names: what is held, then the record.
    let [held, record] = files.as_slice() else { return None };
    let length = u16::try_from(record.len()).ok()?.to_be_bytes();
    Some(("acceptance", [&length[..], record, held].concat()))
}
