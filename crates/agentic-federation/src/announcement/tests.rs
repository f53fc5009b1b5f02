//! Announcements: one spelling, one signature, one commit; and what one may change of the one before.

use agentic_store::ground::ObjectStore as _;
use agentic_store::journal::GitKind;
use agentic_store::memory::MemoryRepository;
use ssh_key::private::{Ed25519Keypair, PrivateKey};
use ssh_key::{HashAlg, LineEnding};

use super::*;
use crate::folder::{Drafts, FolderDraft};
use crate::identity::{ControlKeys, IdentityChain, IdentityDocument, ListedSpace, SignedDocument};
use crate::key::{PeerKey, signer};
use crate::own::put_documents;
use crate::shard::{HeadEntry, Heads, put_heads};
use crate::steps::check_step;
use crate::wrapping::{WrappedAnnouncement, parents_of, read_wrapped, wrap};

/// A key whose private half is known.
pub struct TestKey(PrivateKey);

impl TestKey {
    /// Makes the key of a number.
    pub fn new(number: u8) -> TestKey {
        TestKey(PrivateKey::from(Ed25519Keypair::from_seed(&[number; 32])))
    }

    /// Returns its public half.
    pub fn public(&self) -> PeerKey {
        let text = self.0.public_key().to_openssh().expect("a key has a text");
        PeerKey::parse(&text).expect("a key of the right sort")
    }

    /// Signs as `ssh-keygen` does.
    pub fn sign(&self, text: SignedText<'_>) -> String {
        self.sign_hashed(text, HashAlg::Sha512)
    }

    fn sign_hashed(&self, text: SignedText<'_>, hash: HashAlg) -> String {
        let signature = self.0.sign(text.namespace, hash, &text.bytes()).expect("the key signs");
        signature.to_pem(LineEnding::LF).expect("a signature has a text")
    }
}

/// Names something by a text.
pub fn cid(text: &str) -> Cid {
    Cid::of(text.as_bytes())
}

fn space() -> SpaceId {
    SpaceId([1; 16])
}

fn identity() -> IdentityChain {
    let key = TestKey::new(1);
    let listed = ListedSpace {
        space: space(),
        nick: "main".to_owned(),
        keys: vec![key.public()],
        resume: None,
    };
    let document = IdentityDocument {
        project: cid("project"),
        seq: 0,
        previous: None,
        name: "Ada".to_owned(),
        control: ControlKeys { keys: vec![key.public()], need: 1 },
        spaces: vec![listed],
        decide: Vec::new(),
        time: 1,
        nonce: vec![1],
    };
    let bytes = document.to_bytes();
    let signatures = vec![key.sign(SignedDocument::text(&bytes))];
    IdentityChain::begin(SignedDocument { document, bytes, signatures }).expect("it is signed")
}

/// A space whose announcements are made by hand.
struct AnnouncingSpace {
    store: MemoryRepository,
    identity: IdentityChain,
}

impl AnnouncingSpace {
    fn new() -> AnnouncingSpace {
        let store = MemoryRepository::new(std::path::Path::new("/nowhere"));
        AnnouncingSpace { store, identity: identity() }
    }

    /// Makes a commit upon others.
    fn commit(&self, what: &str, parents: &[Oid]) -> Oid {
        let mut drafts = Drafts::default();
        let tree = drafts.add(&self.store, GitKind::Tree, Vec::new());
        let at = agentic_model::Instant::from_millis(1_000);
        let author = crate::wrapping::author(at);
        let data = agentic_model::commit::CommitData {
            tree,
            parents: parents.to_vec(),
            author: author.clone(),
            committer: author,
            message: format!("{what}\n"),
        };
        let commit = drafts.add(&self.store, GitKind::Commit, data.to_bytes());
        let _written = self.store.write_objects(&drafts.objects).expect("memory has room");
        commit
    }

    /// Makes an announcement of agents after another, changed by `edit` before it is signed.
    fn announce(
        &self,
        before: Option<&WrappedAnnouncement>,
        agents: &[(&str, Oid)],
        edit: impl FnOnce(&mut SpaceAnnouncement),
    ) -> WrappedAnnouncement {
        let mut drafts = Drafts::default();
        let mut heads = Heads::new();
        for (agent, head) in agents {
            let entry = HeadEntry { head: *head, notes: None, from: None };
            heads.insert(AgentName::parse(agent).expect("a name"), entry);
        }
        let mut folder = FolderDraft::default();
        put_documents(&self.identity, "", &mut folder);
        put_heads(&heads, "heads", &mut folder);
        let tree = folder.finish(&self.store, &mut drafts);
        let at = agentic_model::Instant::from_millis(0);
        let tips: Vec<_> = agents.iter().map(|(_, head)| (*head, at)).collect();
        let previous = before.map(|before| before.commit);
        let mut said = SpaceAnnouncement {
            project: cid("project"),
            peer: self.identity.peer(),
            space: space(),
            identity: self.identity.last().cid(),
            epoch: 0,
            seq: before.map_or(0, |before| before.signed.announcement.seq + 1),
            previous: before.map(|before| before.signed.cid()),
            parents: parents_of(&self.store, previous, &tips, &mut drafts),
            tree,
            hash: HashName::Sha1,
            entries: agents.len() as u64,
            time: 5,
            next_by: None,
            cut: None,
            rewinds: Vec::new(),
            removed: Vec::new(),
        };
        edit(&mut said);
        let bytes = said.to_bytes();
        let signature = TestKey::new(1).sign(SignedAnnouncement::text(&bytes));
        let signed = SignedAnnouncement { announcement: said, bytes, signature };
        let commit = wrap(&self.store, &signed, &mut drafts);
        let _written = self.store.write_objects(&drafts.objects).expect("memory has room");
        WrappedAnnouncement { commit, signed }
    }

    fn check(&self, before: Option<&WrappedAnnouncement>, this: &WrappedAnnouncement) -> bool {
        check_step(&self.store, &self.identity, before, this).is_ok()
    }
}

#[test]
fn an_announcement_reads_back_and_any_changed_byte_says_something_else() {
    let place = AnnouncingSpace::new();
    let head = place.commit("one", &[]);
    let made = place.announce(None, &[("x", head)], |said| {
        let agent = AgentName::parse("y").expect("a name");
        said.removed.push(Removal {
            agent: agent.clone(),
            head,
            notes: Some(head),
            why: RemovalReason::Archived,
        });
        let (from, to) = (head, head);
        said.rewinds.push(Rewind { agent, of: RewoundTip::Notes, from, to, why: "w".to_owned() });
        said.next_by = Some(7);
    });
    let bytes = &made.signed.bytes;
    let read = SpaceAnnouncement::decode(bytes);
    assert_eq!(read.as_ref(), Ok(&made.signed.announcement));
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert_ne!(SpaceAnnouncement::decode(&changed), read, "a changed byte at {at}");
        assert!(SpaceAnnouncement::decode(&bytes[..at]).is_err(), "cut at {at}");
    }
}

#[test]
fn a_signature_is_for_one_purpose_by_one_key_with_one_hash() {
    let key = TestKey::new(1);
    let (own, other) = (key.public(), TestKey::new(2).public());
    let text = SignedAnnouncement::text(b"object");
    let good = key.sign(text);
    assert_eq!(signer(text, &good, [&other, &own]), Some(&own));
    assert_eq!(signer(text, &good, [&other]), None);
    assert_eq!(signer(text, &good, []), None);
    assert_eq!(signer(SignedAnnouncement::text(b"objecu"), &good, [&own]), None);
    // The same bytes, signed as a document of an identity, or as git signs commits.
    let identity = SignedText { namespace: crate::key::IDENTITY_NAMESPACE, ..text };
    assert_eq!(signer(text, &key.sign(identity), [&own]), None);
    let commit = SignedText { namespace: "git", ..text };
    assert_eq!(signer(text, &key.sign(commit), [&own]), None);
    assert_eq!(signer(text, &key.sign_hashed(text, HashAlg::Sha256), [&own]), None);
    for broken in ["", "-----BEGIN SSH SIGNATURE-----", &good[1..], &good.replace('A', "B")] {
        assert_eq!(signer(text, broken, [&own]), None);
    }
}

#[test]
fn the_same_object_and_signature_are_the_same_commit() {
    let place = AnnouncingSpace::new();
    let head = place.commit("one", &[]);
    let made = place.announce(None, &[("x", head)], |_| {});
    let again = wrap(&place.store, &made.signed, &mut Drafts::default());
    assert_eq!(again, made.commit);
    assert_eq!(read_wrapped(&place.store, made.commit).expect("as it was made"), made);
}

#[test]
fn the_same_object_in_another_commit_is_nothing() {
    let place = AnnouncingSpace::new();
    let head = place.commit("one", &[]);
    let made = place.announce(None, &[("x", head)], |_| {});
    let good = place.store.verify_object(made.commit).expect("just written").bytes;
    let good = String::from_utf8(good).expect("a text");
    for (from, to) in [
        ("agentic announcement 0", "agentic announcement 1"),
        ("agentic announcement 0\n", "agentic announcement 0"),
        ("author agentic ", "author Agentic "),
        ("+0000", "+0100"),
        ("\n\n", "\nencoding UTF-8\n\n"),
        ("parent ", "parent 1111111111111111111111111111111111111111\nparent "),
    ] {
        let bytes = good.replace(from, to).into_bytes();
        let mut drafts = Drafts::default();
        let commit = drafts.add(&place.store, GitKind::Commit, bytes);
        let _written = place.store.write_objects(&drafts.objects).expect("memory has room");
        assert!(read_wrapped(&place.store, commit).is_err(), "{from} {to}");
    }
}

#[test]
fn a_chain_goes_on_one_by_one() {
    let place = AnnouncingSpace::new();
    let one = place.commit("one", &[]);
    let two = place.commit("two", &[one]);
    let first = place.announce(None, &[("x", one)], |_| {});
    assert!(place.check(None, &first));
    assert!(place.check(Some(&first), &place.announce(Some(&first), &[("x", two)], |_| {})));
    let wrong: [&dyn Fn(&mut SpaceAnnouncement); 10] = [
        &|said| said.seq = 2,
        &|said| said.seq = 0,
        &|said| said.seq = 1 << 62,
        &|said| said.previous = Some(cid("other")),
        &|said| said.previous = None,
        &|said| said.time = 4,
        &|said| said.epoch = 1,
        &|said| said.entries = 2,
        &|said| {
            said.parents.remove(0);
        },
        &|said| {
            said.parents.pop();
        },
    ];
    for (number, edit) in wrong.iter().enumerate() {
        let next = place.announce(Some(&first), &[("x", two)], edit);
        assert!(!place.check(Some(&first), &next), "{number}");
    }
    let middle = place.announce(None, &[("x", one)], |said| said.seq = 3);
    assert!(!place.check(None, &middle), "a chain begins with number 0");
}

#[test]
fn a_head_is_set_back_only_by_a_rewind_that_names_both() {
    let place = AnnouncingSpace::new();
    let one = place.commit("one", &[]);
    let two = place.commit("two", &[one]);
    let first = place.announce(None, &[("x", two)], |_| {});
    let agent = || AgentName::parse("x").expect("a name");
    let rewind = |of, from, to| Rewind { agent: agent(), of, from, to, why: String::new() };
    let good = rewind(RewoundTip::Head, two, one);
    for (rewinds, counts) in [
        (vec![good.clone()], true),
        (vec![], false),
        (vec![rewind(RewoundTip::Notes, two, one)], false),
        (vec![rewind(RewoundTip::Head, one, two)], false),
        (vec![Rewind { agent: AgentName::parse("y").expect("a name"), ..good }], false),
    ] {
        let told = format!("{rewinds:?}");
        let next = place.announce(Some(&first), &[("x", one)], |said| said.rewinds = rewinds);
        assert_eq!(place.check(Some(&first), &next), counts, "{told}");
    }
}

#[test]
fn an_agent_vanishes_only_if_it_is_removed_as_it_was() {
    let place = AnnouncingSpace::new();
    let (one, other) = (place.commit("one", &[]), place.commit("other", &[]));
    let first = place.announce(None, &[("x", one), ("y", one)], |_| {});
    let removal = |head, notes| Removal {
        agent: AgentName::parse("y").expect("a name"),
        head,
        notes,
        why: RemovalReason::Deleted,
    };
    for (removed, counts) in [
        (vec![removal(one, None)], true),
        (vec![], false),
        (vec![removal(other, None)], false),
        (vec![removal(one, Some(one))], false),
    ] {
        let told = format!("{removed:?}");
        let next = place.announce(Some(&first), &[("x", one)], |said| said.removed = removed);
        assert_eq!(place.check(Some(&first), &next), counts, "{told}");
    }
}

#[test]
fn too_many_tips_go_into_carriers_and_every_one_is_found() {
    let place = AnnouncingSpace::new();
    let commits: Vec<Oid> = (0..2_500).map(|n| place.commit(&format!("{n}"), &[])).collect();
    let names: Vec<String> = (0..2_500).map(|n| format!("a{n}")).collect();
    let agents: Vec<(&str, Oid)> =
        names.iter().map(String::as_str).zip(commits.iter().copied()).collect();
    let made = place.announce(None, &agents, |_| {});
    assert_eq!(made.signed.announcement.parents.len(), 3);
    let carried = crate::wrapping::carried_tips(&place.store, &made.signed.announcement);
    let carried = carried.expect("all are there");
    assert!(commits.iter().all(|commit| carried.contains(commit)));
    assert!(place.check(None, &made));
}
