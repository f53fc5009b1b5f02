//! The commit that carries an announcement: a pure function of the signed object and its signature.
//!
//! A reader makes it again and compares bytes. The same signed object in any other commit is nothing.

use agentic_model::commit::CommitData;
use agentic_model::{Instant, Oid, Person, Signature};
use agentic_store::ground::ObjectStore;
use agentic_store::journal::{GitKind, GitObject};

use crate::announcement::{ANNOUNCEMENT_BYTES_MAX, SignedAnnouncement, SpaceAnnouncement};
use crate::fields::MalformedInput;
use crate::folder::{Drafts, TreeFolder, TreeNode, encode_folder, read_file, read_folder};
use crate::key::SIGNATURE_BYTES_MAX;
use crate::{Error, Result};

/// How many tips one commit names at most.
pub const PARENTS_MAX: usize = 1_000;
/// Who makes the commits.
const AUTHOR: (&str, &str) = ("agentic", "announcement@agents.invalid");
/// The message of a commit that only names tips.
const CARRIER_MESSAGE: &str = "agentic carrier\n";
/// The longest commit that is read, in bytes.
const COMMIT_BYTES_MAX: usize = 1 << 20;

/// An announcement as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrappedAnnouncement {
    /// Its commit.
    pub commit: Oid,
    /// What is signed, and the signature.
    pub signed: SignedAnnouncement,
}

/// A commit, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BareCommit {
    /// Its tree.
    pub tree: Oid,
    /// Its parents.
    pub parents: Vec<Oid>,
    /// Its message.
    pub message: String,
}

/// Makes the commit of an announcement whose snapshot is made already.
pub fn wrap(store: &impl ObjectStore, signed: &SignedAnnouncement, drafts: &mut Drafts) -> Oid {
    let announcement = drafts.add(store, GitKind::Blob, signed.bytes.clone());
    let signature = drafts.add(store, GitKind::Blob, signed.signature.clone().into_bytes());
    let folder = TreeFolder::from([
        ("announcement".to_owned(), TreeNode::File(announcement)),
        ("body".to_owned(), TreeNode::Folder(signed.announcement.tree)),
        ("signature".to_owned(), TreeNode::File(signature)),
    ]);
    let tree = drafts.add(store, GitKind::Tree, encode_folder(&folder));
    let said = &signed.announcement;
    let commit = CommitData {
        tree,
        parents: said.parents.clone(),
        author: author(Instant::from_millis(said.time)),
        committer: author(Instant::from_millis(said.time)),
        message: format!("agentic announcement {}\n", said.seq),
    };
    drafts.add(store, GitKind::Commit, commit.to_bytes())
}

/// Reads the announcement that a commit carries. Who signed it is not looked at.
///
/// # Errors
/// Fails with [`Error::Malformed`] when the commit carries none, or in another way than it would be
/// made here.
pub fn read_wrapped(store: &impl ObjectStore, commit: Oid) -> Result<WrappedAnnouncement> {
    let missing =
        |name: &str| MalformedInput(format!("a commit has no `{name}` and is no announcement"));
    let bare = read_bare_commit(store, commit)?;
    let folder = read_folder(store, bare.tree)?;
    let bytes = read_file(store, &folder, "announcement", ANNOUNCEMENT_BYTES_MAX)?;
    let bytes = bytes.ok_or_else(|| missing("announcement"))?;
    let signature = read_file(store, &folder, "signature", SIGNATURE_BYTES_MAX)?;
    let signature = signature.ok_or_else(|| missing("signature"))?;
    let signature = String::from_utf8(signature)
        .map_err(|_| MalformedInput::new("the signature of an announcement is no text"))?;
    let announcement = SpaceAnnouncement::decode(&bytes)?;
    let signed = SignedAnnouncement { announcement, bytes, signature };
    match wrap(store, &signed, &mut Drafts::default()) == commit {
        true => Ok(WrappedAnnouncement { commit, signed }),
        false => Err(Error::Malformed(MalformedInput::new(
            "an announcement is wrapped otherwise than it would be made",
        ))),
    }
}

/// Returns the snapshot of an announcement.
///
/// # Errors
/// Fails when it cannot be read.
pub fn body_of(store: &impl ObjectStore, wrapped: &WrappedAnnouncement) -> Result<TreeFolder> {
    read_folder(store, wrapped.signed.announcement.tree)
}

/// Makes the list of parents: the commit before, then tips as they are given, newest first. Too many
/// go into carriers.
pub fn parents_of(
    store: &impl ObjectStore,
    previous: Option<Oid>,
    tips: &[(Oid, Instant)],
    drafts: &mut Drafts,
) -> Vec<Oid> {
    let before = previous.into_iter();
    if tips.len() <= PARENTS_MAX {
        return before.chain(tips.iter().map(|(tip, _)| *tip)).collect();
    }
    let tree = drafts.add(store, GitKind::Tree, Vec::new());
    let carriers: Vec<Oid> = tips
        .chunks(PARENTS_MAX)
        .map(|part| {
            let newest = part.iter().map(|(_, at)| *at).max();
            let signature = author(newest.unwrap_or(Instant::from_millis(0)));
            let commit = CommitData {
                tree,
                parents: part.iter().map(|(tip, _)| *tip).collect(),
                author: signature.clone(),
                committer: signature,
                message: CARRIER_MESSAGE.to_owned(),
            };
            drafts.add(store, GitKind::Commit, commit.to_bytes())
        })
        .collect();
    before.chain(carriers).collect()
}

/// Tells whether a tip is among the parents of an announcement, or what its carriers carry.
///
/// # Errors
/// Fails when a parent cannot be read.
pub fn carried_tips(
    store: &impl ObjectStore,
    announcement: &SpaceAnnouncement,
) -> Result<std::collections::BTreeSet<Oid>> {
    let mut tips = std::collections::BTreeSet::new();
    for parent in &announcement.parents {
        tips.insert(*parent);
        let bare = read_bare_commit(store, *parent)?;
        if bare.message == CARRIER_MESSAGE && bare.parents.len() <= PARENTS_MAX {
            tips.extend(bare.parents);
        }
    }
    Ok(tips)
}

/// Reads a commit whose bytes are checked against its id.
///
/// # Errors
/// Fails when it cannot be read, and with [`Error::Malformed`] when it is none, or very long.
pub fn read_bare_commit(store: &impl ObjectStore, commit: Oid) -> Result<BareCommit> {
    let GitObject { kind, bytes } = store.verify_object(commit)?;
    let wrong = || MalformedInput::new("something stands where a commit should");
    if kind != GitKind::Commit || bytes.len() > COMMIT_BYTES_MAX {
        return Err(wrong().into());
    }
    let text = String::from_utf8_lossy(&bytes);
    let (headers, message) = text.split_once("\n\n").ok_or_else(wrong)?;
    let oids = |name: &str| -> Vec<Oid> {
        let lines = headers.lines().filter_map(|line| line.strip_prefix(name));
        lines.filter_map(|oid| Oid::parse(oid).ok()).collect()
    };
    let tree = oids("tree ").first().copied().ok_or_else(wrong)?;
    Ok(BareCommit { tree, parents: oids("parent "), message: message.to_owned() })
}

/// Returns who makes commits here.
pub fn author(at: Instant) -> Signature {
    let (name, email) = AUTHOR;
    Signature { person: Person::new(name, email), at, offset_minutes: 0 }
}
