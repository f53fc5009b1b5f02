//! The history of a name: the commits of the library that changed its pointer.

use std::collections::{BTreeMap, BinaryHeap};

use agentic_model::commit::{Claims, OpenFields};
use agentic_model::edge::Party;
use agentic_model::{Cid, Instant, LibraryName, LibraryPointer, Map, Oid, trailer};

use super::{LibraryState, NAMES, pointer_of};
use crate::{Result, Space};

/// How many commits of a library are looked at.
pub const HISTORY_COMMITS_MAX: usize = 10_000;

/// One change of what a name means.
#[derive(Debug, Clone, PartialEq)]
pub struct NameChange {
    /// The commit that made it.
    pub commit: Oid,
    /// When.
    pub at: Instant,
    /// Who made it, as the pointer says; of a removal nobody says so but the commit.
    pub by: Option<Party>,
    /// The author of the commit.
    pub author: String,
    /// Why, in the words of whoever made it; may be empty.
    pub why: String,
    /// The object that the name means since then; nothing if it was removed.
    pub cid: Option<Cid>,
    /// Whether the commit carries a signature.
    pub is_signed: bool,
    /// What the commit records of an adoption; empty for other changes.
    pub fields: Map,
    /// The request of a session that made it, as the commit says.
    pub request: Option<String>,
}

/// What a commit of the library has of a name, by the file as it stands.
type PointerText = Option<Vec<u8>>;

impl LibraryState<'_> {
    /// Lists the changes of a name, newest first.
    ///
    /// # Errors
    /// Fails when the history cannot be read.
    pub fn changes(&self, space: &Space, name: &LibraryName) -> Result<Vec<NameChange>> {
        let Some(tip) = self.tip() else { return Ok(Vec::new()) };
        let mut texts = BTreeMap::new();
        let mut found = Vec::new();
        for commit in newest_first(space, tip)? {
            let (info, is_signed) = space.repository().read_commit_and_signing(commit)?;
            let text = self.text_at(space, name, commit, &mut texts)?;
            let mut is_new = info.parents.is_empty() && text.is_some();
            if !info.parents.is_empty() {
                is_new = true;
                for parent in &info.parents {
                    is_new &= self.text_at(space, name, *parent, &mut texts)? != text;
                }
            }
            if is_new {
                let pointer = text.and_then(|bytes| LibraryPointer::parse(&bytes).ok());
                let said = trailer::strip(&info.message);
                let why = said.split_once("\n\n").map_or("", |(_, why)| why.trim());
                let claims = Claims::read(&info.message);
                let fields = match claims.fields {
                    OpenFields::Inline(fields) => fields,
                    OpenFields::Object(_) => Map::new(),
                };
                found.push(NameChange {
                    commit,
                    // A commit keeps seconds alone.
                    at: pointer.as_ref().map_or(info.at, |pointer| pointer.at),
                    by: pointer.as_ref().map(|pointer| pointer.by.clone()),
                    author: info.author,
                    why: why.to_owned(),
                    cid: pointer.map(|pointer| pointer.cid),
                    is_signed,
                    fields,
                    request: claims.request,
                });
            }
        }
        Ok(found)
    }

    /// Finds the commit that made a name mean what it does: the last of its adoptions.
    ///
    /// # Errors
    /// Fails when the history cannot be read.
    pub fn adoption_of(
        &self,
        space: &Space,
        name: &LibraryName,
        pointer: &LibraryPointer,
    ) -> Result<Option<Oid>> {
        let Some(tip) = self.tip() else { return Ok(None) };
        let text = Some(pointer.to_text().into_bytes());
        let mut texts = BTreeMap::new();
        for commit in newest_first(space, tip)? {
            // It was made upon the state that the pointer names.
            let first = space.read_commit(commit)?.parents.first().copied();
            if first == pointer.on && self.text_at(space, name, commit, &mut texts)? == text {
                return Ok(Some(commit));
            }
        }
        Ok(None)
    }

    fn text_at(
        &self,
        space: &Space,
        name: &LibraryName,
        commit: Oid,
        known: &mut BTreeMap<Oid, PointerText>,
    ) -> Result<PointerText> {
        if let Some(text) = known.get(&commit) {
            return Ok(text.clone());
        }
        let state = space.library_at(self.library, Some(commit))?;
        let found = state.notes.pointer(NAMES, name.as_str())?;
        // What cannot be read is no pointer, and told where the name is used.
        let text = found.filter(|found| pointer_of(found).is_ok()).and_then(|found| found.bytes);
        known.insert(commit, text.clone());
        Ok(text)
    }
}

/// Lists a commit and its ancestors, each before those that it descends from; of a very long history
/// only the newest.
pub(super) fn newest_first(space: &Space, tip: Oid) -> Result<Vec<Oid>> {
    let mut parents: BTreeMap<Oid, Vec<Oid>> = BTreeMap::new();
    let mut times: BTreeMap<Oid, Instant> = BTreeMap::new();
    let mut n_children: BTreeMap<Oid, usize> = BTreeMap::new();
    let mut next = std::collections::VecDeque::from([tip]);
    while let Some(commit) = next.pop_front() {
        if parents.contains_key(&commit) || parents.len() == HISTORY_COMMITS_MAX {
            continue;
        }
        let info = space.read_commit(commit)?;
        for parent in &info.parents {
            *n_children.entry(*parent).or_default() += 1;
            next.push_back(*parent);
        }
        times.insert(commit, info.at);
        parents.insert(commit, info.parents);
    }
    let mut ready = BinaryHeap::from([(times[&tip], tip)]);
    let mut order = Vec::new();
    while let Some((_, commit)) = ready.pop() {
        order.push(commit);
        for parent in &parents[&commit] {
            let left = n_children.get_mut(parent).expect("BUG: every parent was counted");
            *left -= 1;
            if let (0, Some(at)) = (*left, times.get(parent)) {
                ready.push((*at, *parent));
            }
        }
    }
    Ok(order)
}
