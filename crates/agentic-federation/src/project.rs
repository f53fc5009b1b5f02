//! The project: what keeps what was said in one repository from counting in another.

use agentic_model::{Cid, Value};

use crate::fields::{MalformedInput, ObjectReader, decode_map, encode_typed};

/// The type of the object.
const TYPE: &str = "project";
/// The ref that holds the project, or the id to which it is pinned.
pub const PROJECT_REF: &str = "refs/agentic/project";

/// A project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// What people call it.
    pub name: String,
    /// What makes it another one than any of that name.
    pub nonce: Vec<u8>,
}

impl Project {
    /// Returns the bytes of the object.
    pub fn to_bytes(&self) -> Vec<u8> {
        let nonce = Value::Bytes(self.nonce.clone());
        encode_typed(TYPE, [("name", Value::text(&*self.name)), ("nonce", nonce)])
    }

    /// Reads the object.
    ///
    /// # Errors
    /// Fails when the bytes are no project.
    pub fn decode(bytes: &[u8]) -> Result<Project, MalformedInput> {
        let map = decode_map(TYPE, bytes)?;
        let fields = ObjectReader::typed(TYPE, &map)?;
        let (name, nonce) = (fields.text("name")?.to_owned(), fields.bytes("nonce")?.to_vec());
        Ok(Project { name, nonce })
    }

    /// Returns the id that stands in everything that belongs to the project.
    pub fn cid(&self) -> Cid {
        Cid::of(&self.to_bytes())
    }
}
