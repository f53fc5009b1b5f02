//! First contact: which peer on a remote a key belongs to, and which of the refs below a peer's name are its own.
//!
//! Anybody who may push can put very many refs there. So they are looked at in large groups, first their commits
//! alone, and each group costs so many bytes at most. Nothing of what is looked at is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use agentic_git::{GlimpseDepth, GlimpsedRefs, Quarantine, Repository};
use agentic_model::Oid;
use agentic_session::SessionSpace;

use crate::exchange::{bytes_max, served_folder, served_refs, unreachable};
use crate::id::{PeerId, SpaceId};
use crate::identity::IdentityChain;
use crate::key::PeerKey;
use crate::own::read_documents;
use crate::receive::ServedSpace;
use crate::wrapping::{body_of, read_bare_commit, read_wrapped};
use crate::{Error, Result};

/// How many refs of a remote are looked at where a person names the peer.
pub const NAMED_REFS_MAX: usize = 65_536;
/// How many are where nobody does.
pub const REFS_MAX: usize = 4_096;
/// How many are of a peer whose identity is known, by each fetch that names nobody.
pub const UNLISTED_MAX: usize = 256;
/// How many are downloaded at once.
const GROUP_MAX: usize = 256;
/// How many bytes the commits of a group cost at most: 8 MiB. What is longer is divided.
const TIPS_BYTES_MAX: u64 = 8 << 20;
/// How many everything costs that a group reaches: 32 MiB.
const WHOLE_BYTES_MAX: u64 = 32 << 20;
/// For how many refs one download may fail, since each costs as much as it may.
const REFS_PER_FAILURE: usize = 16;
/// How many bytes the commits of a group cost at most at each fetch, of a peer whose identity is known: 1 MiB.
const UNLISTED_BYTES_MAX: u64 = 1 << 20;
/// How many downloads of these may fail.
const UNLISTED_FAILURES_MAX: usize = 4;
/// How many refs of a bundle are looked at once: it is one pack, and costs as much for few as for many.
const BUNDLE_GROUP_MAX: usize = 2_048;
/// How many refs are downloaded that are longer than this by themselves.
const LONG_MAX: usize = 16;
/// How many commits above an announcement may be something else.
const JUNK_MAX: usize = 1_000;

/// A ref of a remote by which a peer is looked for.
#[derive(Debug, Clone)]
struct ContactRef {
    /// Whose it says that it is.
    pub peer: PeerId,
    /// The ref there.
    pub name: String,
    /// Where it is.
    pub tip: Oid,
}

/// The identities that a remote brings.
struct IdentitySearch<'a> {
    repository: &'a Repository,
    /// The remote, its address, or a bundle.
    at: &'a str,
    /// The longest chain of each peer that was found.
    pub found: BTreeMap<PeerId, IdentityChain>,
    /// How many refs were not looked at, because there are so many, or because they are so long.
    pub n_unseen: usize,
    /// How many downloads may still fail.
    failures_left: usize,
    /// When it ends.
    end: SearchEnd,
}

/// When looking ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SearchEnd {
    /// With the group that brings something.
    First,
    /// When everything was looked at.
    Everything,
    /// When all commits were, without what is below them.
    Tips,
}

/// Finds the peer on a remote whose newest identity has a key.
///
/// # Errors
/// Fails when the remote cannot be reached, and when no peer there has the key, or several have it.
pub fn find_peer(space: &SessionSpace, remote: &str, key: &PeerKey) -> Result<PeerId> {
    let repository = space.repository();
    let folder = format!("{}announce/", served_folder(repository, remote)?);
    let served = served_refs(repository, remote, &[format!("{folder}*")])?;
    let contact = |(name, tip): (String, Oid)| {
        let (peer, of) = name.strip_prefix(&folder)?.split_once('/')?;
        let (peer, _) = (PeerId::parse(peer)?, SpaceId::parse(of)?);
        Some(ContactRef { peer, name, tip })
    };
    let served: Vec<ContactRef> = served.into_iter().filter_map(contact).collect();
    let mut search = IdentitySearch::new(repository, remote, SearchEnd::Everything);
    search.look_at(&served, NAMED_REFS_MAX)?;
    let with_key = |(_, chain): &(&PeerId, &IdentityChain)| chain.newest().all_keys().contains(key);
    let found: Vec<PeerId> = search.found.iter().filter(with_key).map(|(peer, _)| *peer).collect();
    let print = key.fingerprint();
    match (found.as_slice(), search.n_unseen) {
        ([peer], _) => Ok(*peer),
        ([], 0) => Err(Error::refused(
            format!("no peer on `{remote}` has the key {print}"),
            "its owner announces with `agentic push`; or name the peer by its id",
        )),
        ([], n_unseen) => Err(Error::refused(
            format!(
                "no peer that was looked at on `{remote}` has the key {print}, and {n_unseen} refs there were not"
            ),
            "name the peer by its id, as `agentic peer init` printed it there: then only its own refs are looked at",
        )),
        (several, _) => Err(Error::refused(
            format!("{} peers on `{remote}` have the key {print}", several.len()),
            "name the peer by its id, as `agentic peer init` printed it there",
        )),
    }
}

/// Finds the identity of a peer among refs of which only some are its own; why there is none, otherwise.
///
/// # Errors
/// Fails when the disk does.
pub(crate) fn first_contact(
    repository: &Repository,
    served: &[ServedSpace],
    refs_max: usize,
) -> Result<std::result::Result<IdentityChain, String>> {
    let Some(ServedSpace { peer, source, .. }) = served.first() else {
        return Ok(Err("nothing is served of it".to_owned()));
    };
    let refs: Vec<ContactRef> = served.iter().map(ContactRef::of).collect();
    let mut search = IdentitySearch::new(repository, source, SearchEnd::First);
    search.look_at(&refs, refs_max)?;
    if let Some(chain) = search.found.remove(peer) {
        return Ok(Ok(chain));
    }
    let n_refs = refs.len();
    Ok(Err(match (search.n_unseen, refs_max < NAMED_REFS_MAX) {
        (0, _) => format!("none of the {n_refs} refs there brings the identity of that peer"),
        (n_unseen, true) => format!(
            "{n_refs} refs there are below its name, {n_unseen} of them were not looked at, and none of the \
             others brings its identity: `agentic fetch --peer NAME` looks at {NAMED_REFS_MAX} of them"
        ),
        (n_unseen, false) => format!(
            "{n_refs} refs there are below its name, {n_unseen} of them were not looked at, and none of the \
             others brings its identity: ask for a bundle (`agentic push --bundle FILE`), or use another remote"
        ),
    }))
}

/// Finds a newer identity of a peer in the commits of spaces that the known one does not list: a space may have begun
/// while no other one announces any more. Nothing if there is none.
///
/// # Errors
/// Fails when the disk does.
pub(crate) fn newer_identity(
    repository: &Repository,
    known: &IdentityChain,
    unlisted: &[ServedSpace],
    refs_max: usize,
) -> Result<Option<IdentityChain>> {
    let Some(ServedSpace { source, .. }) = unlisted.first() else { return Ok(None) };
    let refs: Vec<ContactRef> = unlisted.iter().map(ContactRef::of).collect();
    let mut search = IdentitySearch::new(repository, source, SearchEnd::Tips);
    search.look_at(&refs, refs_max)?;
    let found = search.found.remove(&known.peer());
    Ok(found.filter(|found| found.documents().len() > known.documents().len()))
}

impl ContactRef {
    fn of(served: &ServedSpace) -> ContactRef {
        ContactRef { peer: served.peer, name: served.name.clone(), tip: served.tip }
    }
}

impl<'a> IdentitySearch<'a> {
    /// Begins with nothing.
    fn new(repository: &'a Repository, at: &'a str, end: SearchEnd) -> IdentitySearch<'a> {
        let found = BTreeMap::new();
        IdentitySearch { repository, at, found, n_unseen: 0, failures_left: 0, end }
    }

    /// Looks at refs, so many at most: at their commits, then below those that announce nothing.
    ///
    /// # Errors
    /// Fails when the disk does. What cannot be downloaded brings nothing.
    fn look_at(&mut self, refs: &[ContactRef], refs_max: usize) -> Result<()> {
        let mut tips = BTreeSet::new();
        // What is in several places of one peer says one thing.
        let apart: Vec<&ContactRef> =
            refs.iter().filter(|served| tips.insert((served.peer, served.tip))).collect();
        self.n_unseen = apart.len().saturating_sub(refs_max);
        let apart = &apart[..apart.len().min(refs_max)];
        if Path::new(self.at).is_file() {
            return self.look_at_bundle(apart);
        }
        self.failures_left = match self.end {
            SearchEnd::Tips => UNLISTED_FAILURES_MAX,
            SearchEnd::First | SearchEnd::Everything => refs_max / REFS_PER_FAILURE,
        };
        let mut silent = Vec::new();
        for group in apart.chunks(GROUP_MAX) {
            silent.extend(self.look(group, GlimpseDepth::Tips)?);
        }
        if self.end == SearchEnd::Tips {
            return Ok(());
        }
        let mut long = Vec::new();
        for group in silent.chunks(GROUP_MAX) {
            let mut group = group.to_vec();
            group.retain(|served| !self.found.contains_key(&served.peer));
            long.extend(self.look(&group, GlimpseDepth::Whole)?);
        }
        long.retain(|served| !self.found.contains_key(&served.peer));
        self.n_unseen += long.len().saturating_sub(LONG_MAX);
        for served in long.into_iter().take(LONG_MAX) {
            if !self.is_over() {
                self.glimpse(&[served], GlimpseDepth::Whole, bytes_max(self.repository)?)?;
            }
        }
        Ok(())
    }

    /// Looks at the refs of a bundle, with everything that they reach.
    fn look_at_bundle(&mut self, refs: &[&ContactRef]) -> Result<()> {
        for group in refs.chunks(BUNDLE_GROUP_MAX) {
            if !self.is_over() {
                self.glimpse(group, GlimpseDepth::Whole, bytes_max(self.repository)?)?;
            }
        }
        Ok(())
    }

    /// Tells whether enough was found.
    fn is_over(&self) -> bool {
        self.end == SearchEnd::First && !self.found.is_empty()
    }

    /// Looks at a group of refs; at each half, where it cannot be downloaded as a whole. Returns those that have to
    /// be looked at closer: they announce nothing, or cannot be downloaded like this.
    fn look<'r>(
        &mut self,
        group: &[&'r ContactRef],
        depth: GlimpseDepth,
    ) -> Result<Vec<&'r ContactRef>> {
        let bytes_max = match depth {
            GlimpseDepth::Tips if self.end == SearchEnd::Tips => UNLISTED_BYTES_MAX,
            GlimpseDepth::Tips => TIPS_BYTES_MAX,
            GlimpseDepth::Whole => WHOLE_BYTES_MAX,
        };
        let (mut groups, mut closer) = (vec![group], Vec::new());
        while let Some(group) = groups.pop().filter(|group| !group.is_empty() && !self.is_over()) {
            if self.failures_left == 0 {
                self.n_unseen += group.len();
                continue;
            }
            let Some(silent) = self.glimpse(group, depth, bytes_max)? else {
                self.failures_left -= 1;
                match group.split_at(group.len() / 2) {
                    ([], one) => closer.extend(one),
                    (one, other) => groups.extend([one, other]),
                }
                continue;
            };
            if depth == GlimpseDepth::Tips {
                closer.extend(silent);
            }
        }
        Ok(closer)
    }

    /// Downloads a group and reads what it brings. Returns the refs whose commit announces nothing; nothing where the
    /// group cannot be downloaded.
    fn glimpse<'r>(
        &mut self,
        group: &[&'r ContactRef],
        depth: GlimpseDepth,
        bytes_max: u64,
    ) -> Result<Option<Vec<&'r ContactRef>>> {
        let quarantine = Quarantine::make(self.repository)?;
        let names: Vec<&str> = group.iter().map(|served| served.name.as_str()).collect();
        let source = GlimpsedRefs { at: self.at, names: &names, depth };
        let end = quarantine.glimpse(self.repository, &source, bytes_max)?;
        if let Some(why) = end.stopped {
            // Each further group would be waited for as long.
            return Err(unreachable(self.at, why));
        }
        if !end.success {
            return Ok(None);
        }
        let store = quarantine.repository();
        let mut silent = Vec::new();
        for served in group {
            let Some(chain) = identity_below(store, served, depth) else {
                silent.push(*served);
                continue;
            };
            let known = self.found.get(&served.peer);
            if known.is_none_or(|known| known.documents().len() < chain.documents().len()) {
                self.found.insert(served.peer, chain);
            }
        }
        Ok(Some(silent))
    }
}

/// Reads the longest identity that a ref brings of the peer whose it says that it is. What lies above an announcement
/// says nothing.
fn identity_below(
    store: &Repository,
    served: &ContactRef,
    depth: GlimpseDepth,
) -> Option<IdentityChain> {
    let read = |commit: Oid| {
        let body = body_of(store, &read_wrapped(store, commit).ok()?).ok()?;
        let documents = read_documents(store, &body).ok()?;
        // What is about others is not worth the time that it takes to check signatures.
        let first = documents.first().filter(|first| first.peer() == served.peer);
        first.is_some().then(|| IdentityChain::read(documents).ok()).flatten()
    };
    if depth == GlimpseDepth::Tips {
        return read(served.tip);
    }
    let parent = |commit: &Oid| read_bare_commit(store, *commit).ok()?.parents.first().copied();
    let line = std::iter::successors(Some(served.tip), parent).take(JUNK_MAX);
    line.filter_map(read).max_by_key(|chain| chain.documents().len())
}
