//! The registry of kinds, kept in `refs/agentic/registry` so that it travels.

use agentic_model::kind::{AGENT_COMMIT, RegisterError};
use agentic_model::{Kind, KindEntry, KindTree, Map, Object, Value};
use agentic_store::Stream;
use agentic_store::journal::{KeptObject, Transaction};

use crate::error::KindError;
use crate::write::LockedStream;
use crate::written::WriteNotices;
use crate::{Error, Result, Space, schema};

/// The ref that holds the registered kinds.
pub const REGISTRY_REF: &str = "refs/agentic/registry";

impl Space {
    /// Returns all kinds: the built-in ones and those registered here.
    ///
    /// # Errors
    /// Fails when the registry is damaged.
    pub fn kinds(&self) -> Result<KindTree> {
        let mut tree = KindTree::built_in();
        let notes = self.repository().notes(REGISTRY_REF)?;
        let type_kind = Kind::parse("type").expect("a valid name");
        // Ordered by id, so that two registrations united by a fetch give the same tree everywhere.
        let mut objects = notes.read_objects(&type_kind)?;
        objects.sort();
        for (_, bytes) in objects {
            tree.adopt(KindEntry::from_object(&Object::decode(&bytes)?)?);
        }
        Ok(tree)
    }

    /// Registers a kind.
    ///
    /// # Errors
    /// Fails when the name is taken, the parent is not registered, or its schema is none.
    pub fn register_kind(&self, entry: KindEntry) -> Result<WriteNotices> {
        let object = entry.to_object()?;
        self.register_kind_as(entry, &[object])
    }

    /// Registers a kind by its object as somebody else made it, with what is kept beside it.
    ///
    /// # Errors
    /// Fails as [`Space::register_kind`] does.
    pub fn register_kind_as(&self, entry: KindEntry, objects: &[Object]) -> Result<WriteNotices> {
        check_schema(&entry)?;
        let signatures = self.own_signatures()?;
        let mut locked = LockedStream::stream(self, &Stream::Space)?;
        let name = entry.name.clone();
        self.kinds()?.register(entry).map_err(|error| match error {
            RegisterError::Taken { name } => Error::Kind(KindError::Taken { kind: name }),
            RegisterError::UnknownParent { parent } => {
                Error::Kind(KindError::UnknownParent { parent })
            }
            RegisterError::NoParent { name } => {
                Error::Kind(KindError::UnknownParent { parent: name })
            }
        })?;
        locked.begin(None, None)?;
        let signed = (signatures.author, signatures.committer);
        let transaction = Transaction::keeping(
            format!("kind {name}"),
            REGISTRY_REF,
            objects.iter().map(KeptObject::from).collect(),
            signed,
        );
        Ok(locked.decide(transaction, None, self.durability())?.follow().written)
    }

    /// Checks that a kind is registered below a root.
    ///
    /// # Errors
    /// Fails when it is not, and when the registry is damaged.
    pub fn check_kind(&self, kind: &Kind, root: &'static str) -> Result<()> {
        self.kinds_with(kind, root).map(drop)
    }

    /// Checks that a commit may be of a kind, and that its open fields are as this kind says, and each
    /// kind above it.
    ///
    /// # Errors
    /// Fails when it may not or they are not, and when the registry is damaged.
    pub fn check_commit(&self, kind: &Kind, fields: &Map) -> Result<()> {
        // The built-in kinds leave all fields open.
        let Some(tree) = self.kinds_with(kind, AGENT_COMMIT)? else { return Ok(()) };
        let fields = Value::Map(fields.clone());
        for kind in tree.ancestors(kind) {
            let schema = tree.get(kind).and_then(|entry| entry.schema.as_ref());
            let Some(Err(mismatch)) = schema.map(|schema| schema::fits(schema, &fields)) else {
                continue;
            };
            let reason = match mismatch.pointer.as_str() {
                "" => mismatch.reason,
                pointer => format!("{pointer}: {}", mismatch.reason),
            };
            return Err(Error::Kind(KindError::Misfit { kind: kind.clone(), reason }));
        }
        Ok(())
    }

    /// Returns the kinds among which one is registered below a root; none where it is built in, which
    /// needs no look into the repository.
    fn kinds_with(&self, kind: &Kind, root: &'static str) -> Result<Option<KindTree>> {
        let above = Kind::parse(root).expect("roots are valid names");
        if KindTree::built_in().is_a(kind, &above) {
            return Ok(None);
        }
        let tree = self.kinds()?;
        match tree.is_a(kind, &above) {
            true => Ok(Some(tree)),
            false => Err(Error::Kind(KindError::Unknown { kind: kind.clone(), root })),
        }
    }
}

fn check_schema(entry: &KindEntry) -> Result<()> {
    let read = entry.schema.as_ref().map_or(Ok(()), |schema| schema::validator(schema).map(drop));
    read.map_err(|reason| Error::Kind(KindError::NoSchema { kind: entry.name.clone(), reason }))
}
