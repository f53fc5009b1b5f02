//! Claims: which host drives a session.

use agentic_model::{AgentName, Cid, Instant, Object, Value, json};
use agentic_replay::{SessionId, SessionOpening};
use agentic_store::file::{self, Persistence};

use crate::begin::{Begin, KeySource, bad};
use crate::error::SessionError;
use crate::executor::Assignment;
use crate::folder::{Folder, damaged};
use crate::language::kinds_of;
use crate::listing::with_key;
use crate::own::{self, read_journal};
use crate::segment::Segments;
use crate::shelf::{Shelf, program_heard};
use crate::{Error, Result, SessionSpace, seal};

/// How a session begins on another host. The same claim gives the same opening, however often it is
/// asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct HostedOpening {
    /// What the session is opened with.
    pub opening: SessionOpening,
    /// The time of its start record.
    pub at: Instant,
}

/// What became of a claim.
#[derive(Debug, Clone, PartialEq)]
pub enum HostClaim {
    /// The session is the host's, and may begin there if it has not.
    Open(Box<HostedOpening>),
    /// The session is the host's and some of it is sealed: it has begun there.
    Begun,
}

/// Claims the session that this begins for a host, whose address is kept here alone; its first record
/// says only `kind`. The program is pinned before. A claim of the same host is found again.
///
/// # Errors
/// Fails as [`crate::start`] does, and with [`SessionError::Hosted`] when the session is another host's,
/// or the embedded engine's.
pub fn claim(space: &SessionSpace, begin: Begin, kind: &str, address: &str) -> Result<HostClaim> {
    claim_as_it_is(space, begin.with_own_allowed(), kind, address)
}

/// Does the same for a session that another begins, which says what it may do.
pub(super) fn claim_as_it_is(
    space: &SessionSpace,
    begin: Begin,
    kind: &str,
    address: &str,
) -> Result<HostClaim> {
    let head = space.head(&begin.agent)?;
    let mut opening = begin.opening(Some(head.to_string()))?;
    opening.host = Some(kind.to_owned());
    let id = opening.session().map_err(bad)?;
    let (folder, _lock) = Folder::lock(space, &id)?;
    match read_claim(&folder)? {
        Some(found) if found.address == address => {
            return match Segments::of(space, &begin.agent)?.n_records(&id) {
                0 => Ok(HostClaim::Open(Box::new(found.opening(opening)))),
                _ => Ok(HostClaim::Begun),
            };
        }
        Some(found) => return Err(hosted(&id, found.address)),
        None => {}
    }
    if own::has_begun(space, &folder, &begin.agent)? {
        let host = own::first(space, &id)?.start.host;
        return Err(hosted(&id, host.unwrap_or_else(|| "local:".to_owned())));
    }
    if begin.key_source == KeySource::Named {
        let taken = with_key(space, &begin.agent, &begin.key)?;
        if let Some(other) = taken.into_iter().find(|other| *other != id) {
            let (key, session) = (begin.key, other.short());
            return Err(Error::Session(SessionError::KeyTaken { key, session }));
        }
    }
    opening.configuration = pin(space, &folder, &begin, &opening)?;
    let claimed = HostedOpening { opening, at: space.now() };
    write_claim(&folder, &claimed, address)?;
    Ok(HostClaim::Open(Box::new(claimed)))
}

/// Pins the program of a session, and returns the digest of what is configured for it.
fn pin(
    space: &SessionSpace,
    folder: &Folder,
    begin: &Begin,
    opening: &SessionOpening,
) -> Result<Option<Cid>> {
    let shelf = Shelf { space, folder, given: &begin.parts };
    // One that does not compile is refused before anything is kept.
    program_heard(shelf, &begin.flow, &opening.engine)?;
    kinds_of(&begin.flow)?;
    let parts = shelf.parts(&begin.flow)?;
    let pinned: Vec<Object> =
        std::iter::once(begin.flow.clone()).chain(shelf.beside(&begin.flow)?).collect();
    seal::keep(space, &begin.agent, "flow", &pinned)?;
    for object in parts.iter().chain([&begin.flow]) {
        folder.keep_copy(object)?;
    }
    let assignment = Assignment { flow: &begin.flow, key: &begin.key, allow: &begin.allow };
    Ok(assignment.executor(shelf)?.pinned(|| space.work_folder(&begin.agent)))
}

/// Returns the address of the host that drives a session; nothing where that is the embedded engine. Of
/// a session that was fetched only the kind of its host is known.
pub fn host_of(space: &SessionSpace, id: &SessionId) -> Option<String> {
    host_in(space, &Folder::of(space, id))
}

/// Returns the host of the session of a folder.
pub(super) fn host_in(space: &SessionSpace, folder: &Folder) -> Option<String> {
    if let Ok(Some(found)) = read_claim(folder) {
        return Some(found.address);
    }
    // What is driven here has a log here.
    if folder.exists() { None } else { own::first(space, &folder.id).ok()?.start.host }
}

/// Returns whom a claimed session runs as, and its key.
///
/// # Errors
/// Fails when nobody has claimed it here.
pub fn claimed(space: &SessionSpace, id: &SessionId) -> Result<(AgentName, String)> {
    let found = read_claim(&Folder::of(space, id))?;
    let found = found.map(|found| (found.agent, found.key));
    found.ok_or_else(|| Error::Session(SessionError::Unknown { id: id.to_string() }))
}

/// Returns the address in the claim of a session that was made here.
pub(super) fn address_of(space: &SessionSpace, id: &SessionId) -> Result<String> {
    let found = read_claim(&Folder::of(space, id))?;
    let found = found.map(|found| found.address);
    found.ok_or_else(|| damaged(id, "nobody here has claimed it"))
}

/// Says whether a session is driven by another host.
pub(crate) fn is_hosted(space: &SessionSpace, folder: &Folder) -> bool {
    host_in(space, folder).is_some()
}

/// Says whether a host has claimed the session of a folder here.
pub(super) fn is_claimed(folder: &Folder) -> bool {
    folder.host().exists()
}

/// Refuses what only the host of a session may do.
pub(crate) fn refuse(space: &SessionSpace, folder: &Folder) -> Result<()> {
    match host_in(space, folder) {
        Some(host) => Err(hosted(&folder.id, host)),
        None => Ok(()),
    }
}

/// Refuses what only the host may do that was begun from here. Who fetched a session may do it for its agent
/// in this clone: that reaches the host with the branch.
pub(crate) fn refuse_claimed(space: &SessionSpace, folder: &Folder) -> Result<()> {
    if is_claimed(folder) { refuse(space, folder) } else { Ok(()) }
}

/// Takes a claim back whose host does not begin the session. Of one that has begun nothing is taken back.
///
/// # Errors
/// Fails when the folder of the session cannot be removed.
pub fn disclaim(space: &SessionSpace, id: &SessionId) -> Result<()> {
    let (folder, _lock) = Folder::lock(space, id)?;
    let Some(found) = read_claim(&folder)? else { return Ok(()) };
    if Segments::of(space, &found.agent)?.n_records(id) > 0 || folder.has_bytes() {
        return Ok(());
    }
    let host = folder.host();
    let place = host.parent().expect("the file stands in the folder of the session");
    std::fs::remove_dir_all(place).map_err(agentic_store::Error::io("remove", place))?;
    Ok(())
}

/// Finds the session of another host that a text names as runs are named, which may have sealed nothing
/// yet: of several that an agent runs as, the newest.
///
/// # Errors
/// Fails when there is none.
pub fn hosted_run(space: &SessionSpace, name: &str) -> Result<SessionId> {
    if let Ok(id) = crate::find_run(space, name) {
        return Ok(id);
    }
    let open = crate::listing::list_local_open(space)?;
    let claims = open.into_iter().filter_map(|id| {
        let found = read_claim(&Folder::open(space, &id)).ok().flatten()?;
        Some((id, found))
    });
    let claims: Vec<(SessionId, FoundClaim)> = claims.collect();
    let is_meant = |(id, found): &&(SessionId, FoundClaim)| {
        found.key == name || id.to_string().starts_with(name)
    };
    let mut meant = claims.iter().filter(is_meant);
    let found = match (meant.next(), meant.next()) {
        (Some((id, _)), None) => Some(id),
        (Some(_), Some(_)) => None,
        (None, _) => {
            let of_agent = claims.iter().filter(|(_, found)| found.agent.as_str() == name);
            of_agent.max_by_key(|(_, found)| found.at).map(|(id, _)| id)
        }
    };
    found.copied().ok_or_else(|| Error::Session(SessionError::Unknown { id: name.to_owned() }))
}

/// Puts the folder of a session of another host that is over to those of sessions that are.
///
/// # Errors
/// Fails when it is not over, as far as it is sealed, and when the folder cannot be moved.
pub fn retire(space: &SessionSpace, id: &SessionId) -> Result<()> {
    if !read_journal(space, id)?.is_over() {
        return Err(damaged(id, "it is not over"));
    }
    let folder = Folder::of(space, id);
    if folder.host().exists() { folder.retire(space) } else { Ok(()) }
}

fn hosted(id: &SessionId, host: String) -> Error {
    Error::Session(SessionError::Hosted { id: id.short(), host })
}

/// What the file of a claim says.
struct FoundClaim {
    address: String,
    agent: AgentName,
    key: String,
    at: Instant,
    head: Option<String>,
    configuration: Option<Cid>,
}

impl FoundClaim {
    /// Returns how the session begins whose opening was derived anew.
    fn opening(self, derived: SessionOpening) -> HostedOpening {
        let FoundClaim { at, head, configuration, .. } = self;
        HostedOpening { opening: SessionOpening { head, configuration, ..derived }, at }
    }
}

fn write_claim(folder: &Folder, claimed: &HostedOpening, address: &str) -> Result<()> {
    let text = |text: Option<String>| text.map_or(Value::Null, Value::text);
    let opening = &claimed.opening;
    let content = json::to_text(&Value::map([
        ("address", Value::text(address)),
        ("agent", Value::text(opening.agent.as_str())),
        ("key", Value::text(&opening.key)),
        ("at", Value::Int(claimed.at.millis())),
        ("head", text(opening.head.clone())),
        ("configuration", text(opening.configuration.map(|cid| cid.to_string()))),
    ]));
    let path = folder.host();
    let above = path.parent().expect("the file stands in the folder of the session");
    std::fs::create_dir_all(above).map_err(agentic_store::Error::io("create", above))?;
    Ok(file::replace(&path, content.as_bytes(), Persistence::Synced)?)
}

fn read_claim(folder: &Folder) -> Result<Option<FoundClaim>> {
    let path = folder.host();
    let content = match std::fs::read_to_string(&path) {
        Ok(content) => content,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(agentic_store::Error::io("read", &path)(error).into()),
    };
    let claim = json::from_text(&content).ok().and_then(|claim| {
        let text = |key: &str| claim.get(key).and_then(Value::as_text).map(str::to_owned);
        Some(FoundClaim {
            address: text("address")?,
            agent: AgentName::parse(&text("agent")?).ok()?,
            key: text("key")?,
            at: Instant::from_millis(claim.get("at")?.as_int()?),
            head: text("head"),
            configuration: text("configuration").and_then(|cid| Cid::parse(&cid).ok()),
        })
    });
    claim.map(Some).ok_or_else(|| damaged(&folder.id, "what says who drives it cannot be read"))
}
