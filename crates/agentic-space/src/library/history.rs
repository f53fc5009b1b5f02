//! The history of a name: the commits of the library that changed its pointer.

use std::collections::{BTreeMap, HashMap, VecDeque};

use agentic_model::commit::{Claims, OpenFields};
use agentic_model::edge::Party;
use agentic_model::{Cid, Instant, LibraryName, LibraryPointer, Map, Oid, Value, trailer};

use super::{LibraryState, NAMES, pointer_of};
use crate::commit_order::{OrderedCommit, newest_first};
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

impl NameChange {
    /// Lists what the commit records of an adoption as speaking for it: ids of objects.
    pub fn evidence(&self) -> impl Iterator<Item = &str> {
        let listed = self.fields.get("evidence").and_then(Value::as_list).unwrap_or_default();
        listed.iter().filter_map(Value::as_text)
    }
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
        for commit in history_of(space, tip)? {
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
        for commit in history_of(space, tip)? {
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

/// A commit of a library, as far as its place goes.
struct HistoryLink {
    at: Instant,
    parents: Vec<Oid>,
}

impl OrderedCommit for HistoryLink {
    fn at(&self) -> Instant {
        self.at
    }

    fn parents(&self) -> &[Oid] {
        &self.parents
    }
}

/// Lists a commit and its ancestors, each before those that it descends from; of a very long history
/// only the newest.
pub(super) fn history_of(space: &Space, tip: Oid) -> Result<Vec<Oid>> {
    let mut found: HashMap<Oid, HistoryLink> = HashMap::new();
    let mut next = VecDeque::from([tip]);
    while let Some(commit) = next.pop_front() {
        if found.contains_key(&commit) || found.len() == HISTORY_COMMITS_MAX {
            continue;
        }
        let info = space.read_commit(commit)?;
        next.extend(&info.parents);
        found.insert(commit, HistoryLink { at: info.at, parents: info.parents });
    }
    Ok(newest_first(tip, &found))
}
