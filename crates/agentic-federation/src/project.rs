//! The project: what keeps what was said in one repository from counting in another.

use agentic_git::{RefMove, Repository};
use agentic_model::{Cid, Value};
use agentic_session::SessionSpace;

use crate::durable::{ChainContent, RACES_MAX, mover, next_state, read_state};
use crate::fields::{MalformedInput, ObjectReader, decode_map, encode_typed};
use crate::folder::{FolderDraft, read_file};
use crate::{Error, Result};

/// The type of the object.
const TYPE: &str = "project";
/// The ref that holds the project, or the id to which it is pinned.
pub const PROJECT_REF: &str = "refs/agentic/project";
/// The longest project that is read, in bytes.
const PROJECT_BYTES_MAX: usize = 64 << 10;

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
    pub fn decode(bytes: &[u8]) -> std::result::Result<Project, MalformedInput> {
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

/// Reads to which project this repository is pinned.
///
/// # Errors
/// Fails when the ref is damaged.
pub fn pinned_project(repository: &Repository) -> Result<Option<Cid>> {
    let Some((_, folder)) = read_state(repository, PROJECT_REF)? else { return Ok(None) };
    let damaged = || Error::damaged(format!("`{PROJECT_REF}` is damaged"));
    let text = read_file(repository, &folder, "cid", PROJECT_BYTES_MAX)?.ok_or_else(damaged)?;
    let text = String::from_utf8_lossy(&text);
    Ok(Some(Cid::parse(text.trim_end()).map_err(|_| damaged())?))
}

/// Pins this repository to a project, if it is pinned to none; returns the one that counts.
///
/// # Errors
/// Fails when the ref cannot be written.
pub fn pin(space: &SessionSpace, project: Cid, object: Option<&Project>) -> Result<Cid> {
    let repository = space.repository();
    for _ in 0..RACES_MAX {
        if let Some(pinned) = pinned_project(repository)? {
            return Ok(pinned);
        }
        let mut folder = FolderDraft::default();
        folder.put("cid", format!("{project}\n").into_bytes());
        if let Some(object) = object {
            folder.put("project", object.to_bytes());
        }
        let (at, message) = (space.now(), format!("agentic project {project}"));
        let content = ChainContent { folder, also: Vec::new(), at, message };
        let next = next_state(repository, PROJECT_REF, None, content);
        if next.publish(repository, &mover(repository, at)?)? == RefMove::Moved {
            return Ok(project);
        }
    }
    Err(Error::conflict("others pin the project all the time", "try again"))
}
