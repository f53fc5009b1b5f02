//! Who we are: the project, the identity and the space of this repository.

mod joining;
mod keys;

use std::io::Read as _;

use agentic_git::{RefMove, Repository};
use agentic_model::Cid;
use agentic_session::SessionSpace;
use agentic_session::error::SessionError;
use agentic_session::hosted::space_id;
use agentic_store::ground::ObjectStore;

pub use self::joining::{
    JoiningSpace, follow_identity, is_joining, join, own_peer, require_one_identity,
};
use self::keys::{ANNOUNCE_KEY, absolute_key, public_keys, remember_keys};
pub use self::keys::{announcing_key, control_keys, public_key, remember_key};
use crate::durable::{ChainContent, mover, next_state, read_state};
use crate::folder::{FolderDraft, TreeFolder, read_file, read_subfolder};
use crate::id::{PeerId, SpaceId, is_nick};
use crate::identity::{
    ControlKeys, DOCUMENT_BYTES_MAX, IdentityChain, IdentityDocument, ListedSpace, SignedDocument,
};
use crate::key::{IDENTITY_NAMESPACE, SIGNATURE_BYTES_MAX};
use crate::project::{Project, pin, pinned_project};
use crate::{Error, Result};

/// The ref that holds our own identity. It is never pushed.
pub const IDENTITY_REF: &str = "refs/agentic/identity";
/// The folder that has the documents of an identity.
pub(crate) const IDENTITY: &str = "identity";
/// The nick of a first space.
const FIRST_NICK: &str = "main";
/// How many random bytes make an object another one.
const NONCE_BYTES: usize = 16;

/// How an identity is begun.
#[derive(Debug, Clone, Default)]
pub struct InitRequest {
    /// What we call ourselves; what git knows, without.
    pub name: Option<String>,
    /// The key by which this space announces: a public key or a file; git's signing key, without.
    pub key: Option<String>,
    /// The keys that write our identity; the key of the space, without.
    pub control: Vec<String>,
    /// The project, if it is somebody else's.
    pub project: Option<Cid>,
    /// What the owner calls this space; `main` without.
    pub nick: Option<String>,
}

/// Who we are.
#[derive(Debug, Clone)]
pub struct OwnIdentity {
    /// The project.
    pub project: Cid,
    /// All our documents.
    pub chain: IdentityChain,
    /// This space.
    pub space: SpaceId,
}

impl OwnIdentity {
    /// Returns our own id.
    pub fn peer(&self) -> PeerId {
        self.chain.peer()
    }
}

/// Begins an identity, or tells the one that there is.
///
/// # Errors
/// Fails without a key that signs, and when this is a copy of another space.
pub fn init(space: &SessionSpace, request: &InitRequest) -> Result<OwnIdentity> {
    let repository = space.repository();
    if let Some(own) = read_own(space)? {
        let other = request.project.filter(|project| *project != own.project);
        return match other {
            None => Ok(own),
            Some(_) => Err(Error::conflict(
                "this repository belongs to another project already",
                "`agentic peer show self` names it; a fresh clone can join the other one",
            )),
        };
    }
    if request.nick.as_deref().is_some_and(|nick| !is_nick(nick)) {
        return Err(Error::usage(
            "that cannot name a space",
            "use up to 32 lower-case letters, digits and `-`",
        ));
    }
    let key = match &request.key {
        Some(key) => key.clone(),
        None => repository.default_ssh_key().map_err(|error| {
            let hint = "name one with `--key`, or set `gpg.format` to `ssh` and `user.signingKey`";
            Error::refused(format!("there is no key to announce with: {error}"), hint)
        })?,
    };
    let project = match (request.project, pinned_project(repository)?) {
        (Some(named), Some(pinned)) if named != pinned => {
            return Err(Error::conflict(
                format!("this repository is pinned to the project `{pinned}`"),
                "a fresh clone can join the other one",
            ));
        }
        (Some(named), _) => pin(space, named, None)?,
        (None, Some(pinned)) => pinned,
        (None, None) => {
            let name = top_name(repository);
            let project = Project { name, nonce: random(NONCE_BYTES)? };
            pin(space, project.cid(), Some(&project))?
        }
    };
    let control =
        if request.control.is_empty() { vec![key.clone()] } else { request.control.clone() };
    let document = first_document(space, request, project, [std::slice::from_ref(&key), &control])?;
    let keys: Vec<&String> = control.iter().chain([&key]).collect();
    let signed = sign_document(repository, document, &keys)?;
    let chain = IdentityChain::begin(signed)?;
    remember_keys(repository, &key, &control)?;
    save_chain(space, None, &chain, "agentic peer init")?;
    read_own(space)?.ok_or_else(|| Error::damaged("our own identity vanished"))
}

fn first_document(
    space: &SessionSpace,
    request: &InitRequest,
    project: Cid,
    [announcing, control]: [&[String]; 2],
) -> Result<IdentityDocument> {
    let repository = space.repository();
    let name = match &request.name {
        Some(name) => name.clone(),
        None => repository.committer()?.name,
    };
    let announcing = public_keys(repository, announcing)?;
    let listed = ListedSpace {
        space: this_space(space)?,
        nick: request.nick.clone().unwrap_or_else(|| FIRST_NICK.to_owned()),
        keys: announcing.clone(),
        resume: None,
    };
    Ok(IdentityDocument {
        project,
        seq: 0,
        previous: None,
        name,
        control: ControlKeys { keys: public_keys(repository, control)?, need: 1 },
        spaces: vec![listed],
        decide: announcing,
        time: space.now().millis(),
        nonce: random(NONCE_BYTES)?,
    })
}

/// Reads who we are; nothing before `peer init`.
///
/// # Errors
/// Fails when what we have is damaged, and when this is a copy of another space.
pub fn read_own(space: &SessionSpace) -> Result<Option<OwnIdentity>> {
    let Some(chain) = own_chain(space.repository())? else { return Ok(None) };
    let project = chain.newest().project;
    Ok(Some(OwnIdentity { project, chain, space: this_space(space)? }))
}

/// Reads our own documents; nothing before `peer init`.
///
/// # Errors
/// Fails when they are damaged.
pub fn own_chain(repository: &Repository) -> Result<Option<IdentityChain>> {
    let Some((_, folder)) = read_state(repository, IDENTITY_REF)? else { return Ok(None) };
    let damaged = |error: Error| Error::damaged(format!("our own identity is damaged: {error}"));
    let documents = read_documents(repository, &folder).map_err(damaged)?;
    Ok(Some(IdentityChain::read(documents).map_err(|wrong| damaged(wrong.into()))?))
}

/// Returns who we are, or refuses.
///
/// # Errors
/// Fails before `peer init`.
pub fn require_own(space: &SessionSpace) -> Result<OwnIdentity> {
    read_own(space)?.ok_or_else(|| {
        Error::refused("this repository has no identity yet", "make one with `agentic peer init`")
    })
}

/// Refuses to speak for a space that our identity does not list, such as a copy of one.
///
/// # Errors
/// Fails with a conflict.
pub fn require_listed(own: &OwnIdentity) -> Result<&ListedSpace> {
    own.chain.newest().space(own.space).ok_or_else(|| {
        Error::conflict(
            "our identity does not list this space: its place changed, or its file is gone",
            "`agentic peer space --moved` if this repository was moved, \
             `agentic peer space --new` if it is a copy",
        )
    })
}

/// Returns the id of this space.
pub(crate) fn this_space(space: &SessionSpace) -> Result<SpaceId> {
    let copied = |error: agentic_session::Error| {
        if !matches!(error, agentic_session::Error::Session(SessionError::Copied)) {
            return Error::Session(error);
        }
        Error::conflict(
            "this repository was copied or moved: its space belongs to another place",
            "`agentic peer space --moved` if it was moved, \
             `agentic peer space --new` if it is a copy",
        )
    };
    let id = space_id(space).map_err(copied)?;
    SpaceId::parse(&id).ok_or_else(|| Error::damaged("the file of the space holds no id"))
}

/// Signs a document by keys that are named as the configuration names them; each key signs once.
///
/// # Errors
/// Fails when a key does not sign.
pub fn sign_document(
    repository: &Repository,
    document: IdentityDocument,
    keys: &[&String],
) -> Result<SignedDocument> {
    let bytes = document.to_bytes();
    let text = SignedDocument::text(&bytes).bytes();
    let (mut signatures, mut done) = (Vec::new(), Vec::new());
    for key in keys {
        let public = public_key(repository, key)?;
        if !done.contains(&public) {
            signatures.push(repository.sign_bytes(&text, IDENTITY_NAMESPACE, key)?);
            done.push(public);
        }
    }
    Ok(SignedDocument { document, bytes, signatures })
}

/// Puts the documents of a chain into a folder, below a prefix.
pub fn put_documents(chain: &IdentityChain, under: &str, folder: &mut FolderDraft) {
    for signed in chain.documents() {
        let number = signed.document.seq;
        folder.put(&format!("{under}identity/{number}"), signed.bytes.clone());
        for (at, signature) in signed.signatures.iter().enumerate() {
            let path = format!("{under}identity/{number}.{at}.sig");
            folder.put(&path, signature.clone().into_bytes());
        }
    }
}

/// Reads the documents of a folder, in their order. Anything else in it is refused.
///
/// # Errors
/// Fails when one is missing or is none.
pub fn read_documents(
    store: &impl ObjectStore,
    folder: &TreeFolder,
) -> Result<Vec<SignedDocument>> {
    let identity = read_subfolder(store, folder, IDENTITY)?;
    let read = |name: &str, max: usize| read_file(store, &identity, name, max);
    let (mut documents, mut n_files) = (Vec::new(), 0);
    while let Some(bytes) = read(&documents.len().to_string(), DOCUMENT_BYTES_MAX)? {
        let mut signatures = Vec::new();
        let name = |at: usize| format!("{}.{at}.sig", documents.len());
        while let Some(signature) = read(&name(signatures.len()), SIGNATURE_BYTES_MAX)? {
            let text = String::from_utf8(signature);
            signatures
                .push(text.map_err(|_| crate::MalformedInput::new("a signature is no text"))?);
        }
        n_files += 1 + signatures.len();
        documents.push(SignedDocument::read(bytes, signatures)?);
    }
    match n_files == identity.len() {
        true => Ok(documents),
        false => {
            Err(crate::MalformedInput::new("an identity has files that belong to none of it")
                .into())
        }
    }
}

/// Makes a chain our own.
///
/// # Errors
/// Fails when somebody else changed it meanwhile.
pub fn save_chain(
    space: &SessionSpace,
    expect: Option<agentic_model::Oid>,
    chain: &IdentityChain,
    why: &str,
) -> Result<()> {
    let mut folder = FolderDraft::default();
    put_documents(chain, "", &mut folder);
    let (at, message) = (space.now(), why.to_owned());
    let content = ChainContent { folder, also: Vec::new(), at, message };
    let repository = space.repository();
    let next = next_state(repository, IDENTITY_REF, expect, content);
    match next.publish(repository, &mover(repository, at)?)? {
        RefMove::Moved => Ok(()),
        RefMove::Lost { .. } => Err(Error::conflict(
            "somebody else changed our identity meanwhile",
            "look at it with `agentic peer show self`, then try again",
        )),
    }
}

fn top_name(repository: &Repository) -> String {
    let folder = repository.work_dir().unwrap_or(repository.common_dir());
    let name = folder.canonicalize().ok();
    let name = name.as_deref().and_then(|folder| folder.file_name());
    name.map_or_else(|| "project".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Returns random bytes.
///
/// # Errors
/// Fails when the system has none.
pub fn random(n_bytes: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; n_bytes];
    let path = std::path::Path::new("/dev/urandom");
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(agentic_store::Error::io("read", path))?;
    Ok(bytes)
}
