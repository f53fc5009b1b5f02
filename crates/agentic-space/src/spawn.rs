//! Spawning: a new agent, as a branch with its genesis and a stored briefing.

use agentic_model::commit::{Claims, CommitData};
use agentic_model::{AgentName, Briefing, Cid, Instant, Kind, Object, Oid, Person, Signature};
use agentic_store::journal::{
    BranchMove, GitKind, GitObject, KeptObject, NotesEdit, StreamPin, Transaction,
};
use agentic_store::{Durability, Patience, Stream};

use crate::commit::Asker;
use crate::error::{AgentError, BranchError};
use crate::signatures::Signatures;
use crate::signing::SigningChoice;
use crate::write::LockedStream;
use crate::written::WriteNotices;
use crate::{Error, Result, Space};

/// Where a new agent begins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SpawnOrigin {
    /// Nowhere: no parent commit, an empty tree.
    #[default]
    Root,
    /// At the head of another agent, whose sub-agent it becomes.
    Agent(AgentName),
    /// At any commit.
    Commit(Oid),
}

/// What became of a spawn.
#[derive(Debug)]
pub struct SpawnOutcome {
    /// The agent.
    pub agent: AgentName,
    /// Its first commit, and its head.
    pub genesis: Oid,
    /// The id of its briefing.
    pub briefing: Cid,
    /// The agent it was forked from.
    pub parent: Option<AgentName>,
    /// Whether everything is visible.
    pub written: WriteNotices,
}

/// Creates an agent. The cost does not depend on the size of the repository.
///
/// # Errors
/// Fails when the name is taken or the origin does not exist; nothing is written then.
pub fn spawn(
    space: &Space,
    name: &AgentName,
    briefing: &Object,
    origin: &SpawnOrigin,
) -> Result<SpawnOutcome> {
    spawn_for(space, name, briefing, origin, None)
}

/// Does the same on behalf of a session or its request, which the genesis then names.
pub fn spawn_for(
    space: &Space,
    name: &AgentName,
    briefing: &Object,
    origin: &SpawnOrigin,
    asker: Option<Asker>,
) -> Result<SpawnOutcome> {
    let patience = Patience::Endless;
    spawn_draft(space, name, SpawnDraft { briefing, origin, behaviour: None, asker, patience })
}

/// What an agent is spawned with.
#[derive(Debug)]
pub struct SpawnDraft<'a> {
    /// Its briefing.
    pub briefing: &'a Object,
    /// Where it begins.
    pub origin: &'a SpawnOrigin,
    /// The behaviour that it has.
    pub behaviour: Option<Cid>,
    /// The session or the request that asks for it.
    pub asker: Option<Asker>,
    /// How long others are waited for.
    pub patience: Patience,
}

/// Creates an agent with all that its genesis says.
///
/// # Errors
/// Fails as [`spawn`] does, and with [`AgentError::Busy`] when others are not waited for any longer;
/// nothing is written then.
pub fn spawn_draft(space: &Space, name: &AgentName, draft: SpawnDraft<'_>) -> Result<SpawnOutcome> {
    let SpawnDraft { briefing, origin, behaviour, asker, patience } = draft;
    let signing = SigningChoice::of(space, asker.as_ref())?;
    let signatures = space.signatures(name)?;
    let own = signatures.clone();
    let making =
        GenesisParts { name, briefing, origin, behaviour, asker, signing, signatures: own };
    spawn_parts(space, making, SpawnWay { signatures, patience })
}

/// Creates the agent of something that is over. Its genesis is the agent's own at that time, signed by
/// nobody: the same history gives the same genesis everywhere.
///
/// # Errors
/// Fails as [`spawn`] does.
pub fn spawn_past(
    space: &Space,
    name: &AgentName,
    briefing: &Object,
    origin: &SpawnOrigin,
    at: Instant,
) -> Result<SpawnOutcome> {
    let own = Signature { person: Person::of_agent(name), at, offset_minutes: 0 };
    let signatures = Signatures { author: own.clone(), committer: own };
    let (behaviour, asker, signing) = (None, None, SigningChoice::Plain);
    let making = GenesisParts { name, briefing, origin, behaviour, asker, signing, signatures };
    let (signatures, patience) = (space.signatures(name)?, Patience::Endless);
    spawn_parts(space, making, SpawnWay { signatures, patience })
}

/// Makes the genesis, and writes it in the name of whoever runs the command.
fn spawn_parts(space: &Space, making: GenesisParts<'_>, way: SpawnWay) -> Result<SpawnOutcome> {
    let repository = space.repository();
    let GenesisParts { name, briefing, origin, behaviour, .. } = making;
    // What a session has asked for is fully durable before its answer is recorded.
    let durability = making.asker.as_ref().map_or(space.durability(), |_| Durability::Full);
    let (objects, parents, parent) = genesis(space, making)?;
    let genesis = repository.name_object(objects.last().expect("the genesis comes last"));

    let SpawnWay { signatures, patience } = way;
    let busy = || Error::Agent(AgentError::Busy { name: name.clone() });
    let stream = Stream::Agent(name.clone());
    let mut locked = LockedStream::stream_within(space, &stream, patience)?.ok_or_else(busy)?;
    check_free(space, name)?;
    // A journal is made before the refs are: it would stay behind.
    for name in refs_of(name) {
        locked.check_place(&name)?;
    }
    let is_durable = match origin {
        SpawnOrigin::Root => true,
        SpawnOrigin::Agent(parent) => space.is_journalled(parent, parents[0])?,
        SpawnOrigin::Commit(_) => false,
    };
    // Whoever made that commit may not have synced it.
    if !is_durable && !agentic_store::recovery::make_durable(repository, parents[0], patience)? {
        return Err(busy());
    }
    locked.begin(Some(genesis), None)?;
    let transaction = Transaction {
        objects,
        branch: Some(BranchMove { name: name.branch_ref(), expect: None, new: genesis }),
        notes: Some(NotesEdit {
            name: name.notes_ref(),
            notes: Vec::new(),
            objects: vec![KeptObject::from(briefing)],
        }),
        pin: StreamPin::found(behaviour),
        ..signatures.transaction("spawn")
    };
    let written = match locked.decide(transaction, None, durability) {
        Err(Error::Branch(BranchError::HeadMoved { .. })) => {
            return Err(Error::Agent(AgentError::Exists { name: name.clone() }));
        }
        decided => decided?.follow().written,
    };
    Ok(SpawnOutcome { agent: name.clone(), genesis, briefing: briefing.cid(), parent, written })
}

/// Checks that nobody has a name, here or in the archive.
fn check_free(space: &Space, name: &AgentName) -> Result<()> {
    if space.repository().find_ref(&name.branch_ref())?.is_some() {
        return Err(Error::Agent(AgentError::Exists { name: name.clone() }));
    }
    if space.repository().archive_entry(name)?.is_some() {
        return Err(Error::Agent(AgentError::NameArchived { name: name.clone() }));
    }
    Ok(())
}

/// Names the refs that a new agent has.
fn refs_of(name: &AgentName) -> [String; 2] {
    [name.branch_ref(), name.notes_ref()]
}

/// In whose name an agent is written, and how long others are waited for meanwhile.
struct SpawnWay {
    signatures: Signatures,
    patience: Patience,
}

/// Everything that goes into the genesis of an agent.
struct GenesisParts<'a> {
    name: &'a AgentName,
    briefing: &'a Object,
    origin: &'a SpawnOrigin,
    behaviour: Option<Cid>,
    asker: Option<Asker>,
    signing: SigningChoice,
    signatures: Signatures,
}

/// Makes the objects of a genesis, the commit last, and tells its parents and the agent that it is
/// forked from.
fn genesis(
    space: &Space,
    making: GenesisParts<'_>,
) -> Result<(Vec<GitObject>, Vec<Oid>, Option<AgentName>)> {
    let GenesisParts { name, briefing, origin, behaviour, asker, signing, signatures } = making;
    if signing == SigningChoice::Signed {
        // Nobody is asked for a passphrase in vain.
        check_free(space, name)?;
        for name in refs_of(name) {
            space.repository().check_place_of_ref(&name)?;
        }
    }
    let (parents, tree, parent) = match origin {
        SpawnOrigin::Root => (Vec::new(), space.repository().empty_tree(), None),
        SpawnOrigin::Agent(parent) => {
            let head = space.head(parent)?;
            (vec![head], space.read_commit(head)?.tree, Some(parent.clone()))
        }
        SpawnOrigin::Commit(commit) => (vec![*commit], space.read_commit(*commit)?.tree, None),
    };
    let claims = Claims {
        kind: Kind::parse("spawn").ok(),
        agent: Some(name.clone()),
        briefing: Some(briefing.cid()),
        parent: parent.clone(),
        behaviour,
        session: asker.as_ref().map(|asker| asker.session.clone()),
        request: asker.and_then(|asker| asker.request),
        ..Claims::default()
    };
    let subject = match Briefing::from_object(briefing)?.headline() {
        headline if headline.is_empty() => format!("Spawn {name}"),
        headline => format!("Spawn {name}: {headline}"),
    };
    let commit = CommitData {
        tree,
        parents: parents.clone(),
        author: signatures.author,
        committer: signatures.committer,
        message: claims.write(&subject)?,
    };
    let (_, commit) = signing.make(space.repository(), &commit)?;
    let mut objects = vec![commit];
    if *origin == SpawnOrigin::Root {
        objects.insert(0, GitObject { kind: GitKind::Tree, bytes: Vec::new() });
    }
    Ok((objects, parents, parent))
}
