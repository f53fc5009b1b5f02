//! Typed objects: storing them with an agent, finding them anywhere in the space.

use agentic_git::KeptLeaf;
use agentic_model::kind::OBJECT;
use agentic_model::{AgentName, Cid, Kind, Object, Oid};
use agentic_store::journal::{KeptObject, Transaction};

use crate::error::LookupError;
use crate::kind::REGISTRY_REF;
use crate::library::Library;
use crate::write::LockedStream;
use crate::written::WriteNotices;
use crate::{Error, Result, Space};

/// The shortest prefix of an id that is accepted, in characters.
pub const PREFIX_CHARS_MIN: usize = 10;

impl Space {
    /// Stores an object in the notes ref of an agent.
    ///
    /// # Errors
    /// Fails when its type is not registered or there is no such agent.
    pub fn put_object(&self, agent: &AgentName, object: &Object) -> Result<WriteNotices> {
        self.check_kind(object.kind(), OBJECT)?;
        let signatures = self.signatures(agent)?;
        let (locked, _) = LockedStream::agent(self, agent)?;
        let signed = (signatures.author, signatures.committer);
        let transaction = Transaction::keeping(
            "object put",
            agent.notes_ref(),
            vec![KeptObject::from(object)],
            signed,
        );
        Ok(locked.decide(transaction, None, self.durability())?.follow().written)
    }

    /// Reads an object, wherever in the space it is kept; of one that was purged what is left.
    ///
    /// # Errors
    /// Fails when no agent keeps it, or its bytes do not match its id.
    pub fn object(&self, cid: Cid) -> Result<Object> {
        if let Some(object) = self.kept_object(cid)? {
            return Ok(object);
        }
        if let Some(new) = self.replacement(cid)?
            && let Some(object) = self.kept_object(new)?
        {
            return Ok(object);
        }
        Err(Error::Lookup(LookupError::Unknown { id: cid.to_string() }))
    }

    fn kept_object(&self, cid: Cid) -> Result<Option<Object>> {
        let find = |name: &str| Ok(self.repository().notes(name)?.object(cid)?);
        for name in shared_refs() {
            if let Some(bytes) = find(&name)? {
                return Ok(Some(Object::decode(&bytes)?));
            }
        }
        let found = match self.find_in_notes(Some(&KeptLeaf::Object(cid)), None, find)? {
            Some(bytes) => Some(bytes),
            None => self.archived_object(cid)?,
        };
        found.map(|bytes| Ok(Object::decode(&bytes)?)).transpose()
    }

    /// Reads an object that only an archived agent keeps.
    fn archived_object(&self, cid: Cid) -> Result<Option<Vec<u8>>> {
        for tip in self.archived_notes()? {
            if let Some(bytes) = self.repository().notes_at(Some(tip))?.object(cid)? {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }

    /// Lists where the notes of archived agents were.
    fn archived_notes(&self) -> Result<impl Iterator<Item = Oid>> {
        let entries = self.archived_agents()?.into_iter();
        Ok(entries.filter_map(|entry| entry.archived.notes))
    }

    /// Reads the objects of one type that are kept where another object is.
    ///
    /// # Errors
    /// Fails when one of them is damaged.
    pub fn objects_beside(&self, cid: Cid, kind: &Kind) -> Result<Vec<Object>> {
        let mut found = Vec::new();
        for name in self.object_refs()? {
            let notes = self.repository().notes(&name)?;
            if notes.object(cid)?.is_none() {
                continue;
            }
            for (_, bytes) in notes.read_objects(kind)? {
                found.push(Object::decode(&bytes)?);
            }
        }
        Ok(found)
    }

    /// Finds the object that an id or a unique prefix of [`PREFIX_CHARS_MIN`] characters names.
    ///
    /// # Errors
    /// Fails when there is none, or several.
    pub fn find_object(&self, text: &str) -> Result<Cid> {
        if let Ok(cid) = Cid::parse(text) {
            return Ok(cid);
        }
        let unknown = || Error::Lookup(LookupError::Unknown { id: text.to_owned() });
        if text.len() < PREFIX_CHARS_MIN || !text.starts_with(Cid::PREFIX) {
            return Err(unknown());
        }
        let mut found = std::collections::BTreeSet::new();
        for name in self.object_refs()? {
            let cids = self.repository().notes(&name)?.objects(None)?;
            found.extend(cids.into_iter().filter(|cid| cid.to_string().starts_with(text)));
        }
        for tip in self.archived_notes()? {
            let cids = self.repository().notes_at(Some(tip))?.objects(None)?;
            found.extend(cids.into_iter().filter(|cid| cid.to_string().starts_with(text)));
        }
        match found.len() {
            0 => Err(unknown()),
            1 => Ok(*found.first().expect("there is one")),
            _ => Err(Error::Lookup(LookupError::Ambiguous {
                prefix: text.to_owned(),
                candidates: found.iter().take(5).map(Cid::to_string).collect(),
            })),
        }
    }

    /// Lists the refs that keep objects.
    fn object_refs(&self) -> Result<Vec<String>> {
        let mut names = shared_refs();
        let notes = self.repository().list_refs(AgentName::NOTES_REFS)?;
        names.extend(notes.into_iter().map(|found| found.name));
        Ok(names)
    }
}

/// Lists the refs that keep objects of no agent.
fn shared_refs() -> Vec<String> {
    let libraries = Library::ALL.iter().map(|library| library.ref_name().to_owned());
    std::iter::once(REGISTRY_REF.to_owned()).chain(libraries).collect()
}
