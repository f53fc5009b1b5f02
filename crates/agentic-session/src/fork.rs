//! Forking a session, and going on with another program.

use agentic_model::commit::Claims;
use agentic_model::{AgentName, Briefing, Cid, Object, Oid, Value, canonical};
use agentic_replay::{
    AnswerSource, Body, ForkDraft, ForkError, Handling, PartedSession, Path, Program, Record,
    RecordChain, RequestAnswer, Session, SessionId, SessionProgress, SessionSetting, child_key,
};
use agentic_space::commit::Asker;
use agentic_space::error::AgentError;
use agentic_space::spawn::{SpawnOrigin, spawn_for};

use super::children::{WITH_CHILDREN, open_spawns};
use super::drive::Driver;
use super::executor::Assignment;
use super::folder::{Folder, Values};
use super::language::engine_of;
use super::language::kinds_of;
use super::listing::newest_with_key;
use super::load::replay_error;
use super::own::read_journal;
use super::shelf::{Shelf, flow_of, program_of};
use super::{own, seal};
use crate::error::{ProgramError, RequestError, SessionError};
use crate::{Error, Result, SessionSpace};

/// How much of the parent's name the name of a fork begins with, in characters.
const NAME_CHARS_SHARED: usize = 50;

/// How a session is forked.
#[derive(Debug, Clone, Default)]
pub struct ForkPlan {
    /// After how many records; all of them without.
    pub at: Option<u64>,
    /// Another program.
    pub flow: Option<Object>,
    /// The agent it runs as; one is made without.
    pub agent: Option<AgentName>,
    /// Answers that are set by hand, by the position of the request's record or of its answer's.
    pub set: Vec<(u64, Value)>,
    /// Who sets them.
    pub who: String,
    /// What becomes of the children that the session waits for at the cut.
    pub children: ChildrenOfFork,
}

/// What a fork makes of the children that its parent waits for at the cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ChildrenOfFork {
    /// It waits for the same.
    #[default]
    Share,
    /// It has forks of its own of them.
    Fork,
}

/// Forks a session: another way from there, on a branch of its own. The parent is untouched. The
/// same fork under the same name is the same session: what an attempt that was broken off has made
/// is taken up.
///
/// # Errors
/// Fails when the session was over before the cut, when another program does not make the
/// recorded requests, and when the name belongs to something else; nothing is made then.
pub fn fork(space: &SessionSpace, id: &SessionId, plan: &ForkPlan) -> Result<SessionId> {
    fork_as(space, id, plan, None)
}

/// Tells whether a record of a session, by its position, asks people something or is their answer.
///
/// # Errors
/// Fails when there is no such session or its records are damaged.
pub fn asks_people(space: &SessionSpace, id: &SessionId, seq: u64) -> Result<bool> {
    let journal = read_journal(space, id)?;
    let mut up_to = journal.records().iter().rev().skip_while(|record| record.seq > seq).peekable();
    let Some(record) = up_to.peek().filter(|record| record.seq == seq) else { return Ok(false) };
    let path = if let Body::Answer(answer) = &record.body {
        Some(&answer.path)
    } else {
        record.body.as_ask().map(|ask| &ask.path)
    };
    let ask = up_to.filter_map(|record| record.body.as_ask()).find(|ask| Some(&ask.path) == path);
    Ok(ask.is_some_and(|ask| ask.handling == Handling::Decision))
}

/// Does the same; a fork that is a child itself has the start key of one.
fn fork_as(
    space: &SessionSpace,
    id: &SessionId,
    plan: &ForkPlan,
    child_key: Option<String>,
) -> Result<SessionId> {
    let journal = read_journal(space, id)?;
    let cut = cut_of(&journal, plan)?;
    let flow = match &plan.flow {
        Some(flow) => flow.clone(),
        None => flow_of(space, &Folder::of(space, id), &journal.up_to(cut).flow())?,
    };
    let parting = ForkInMaking { space, journal: &journal, cut, flow: &flow, plan, child_key };
    let (name, fork_id, standing) = parting.place()?;
    let (folder, lock) = Folder::lock(space, &fork_id)?;
    // Tried before anything is made: a refused fork leaves no agent behind.
    let replayed = match own::has_begun(space, &folder, &name)? {
        true => None,
        false => Some(parting.replayed()?),
    };
    if standing == ForkedAgent::Absent {
        if !plan.set.is_empty() {
            // Whether what is set is asked at all shows only then.
            drop(parting.begin(parting.replayed()?, parting.draft(&name)?)?);
        }
        parting.make_agent(&name, &fork_id)?;
    }
    if plan.children == ChildrenOfFork::Fork && replayed.is_some() {
        // Before the fork itself, which looks for them.
        parting.fork_children(&fork_id)?;
    }
    let mut driver = match replayed {
        None => Driver::load_locked(space, folder, lock)?,
        Some(replayed) => {
            let assignment =
                Assignment { flow: &flow, key: &parting.key()?, allow: &journal.start().allow };
            let shelf = Shelf { space, folder: &folder, given: &[] };
            let executor = assignment.executor(shelf)?;
            let draft = ForkDraft {
                head: Some(space.head(&name)?.to_string()),
                configuration: executor.pinned(|| space.work_folder(&name)),
                ..parting.draft(&name)?
            };
            let begun = parting.begin(replayed, draft)?;
            if plan.flow.is_some() {
                folder.keep_object(&flow.cid(), flow.bytes())?;
                seal::keep(space, &name, "flow", std::slice::from_ref(&flow))?;
            }
            Driver::begin(space, (folder, lock), executor, begun)?
        }
    };
    driver.run()?;
    Ok(fork_id)
}

/// What there is of the agent of a fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ForkedAgent {
    /// Nothing.
    Absent,
    /// An agent that was made for this fork, which may have begun.
    Made,
    /// An agent that has nothing to do with it.
    Foreign,
}

/// One fork that is being made.
struct ForkInMaking<'p> {
    space: &'p SessionSpace,
    journal: &'p RecordChain,
    cut: u64,
    flow: &'p Object,
    plan: &'p ForkPlan,
    /// The start key, if the fork is a child.
    child_key: Option<String>,
}

impl ForkInMaking<'_> {
    /// Finds the name of the fork's agent, its id, and what there is of it. Without a name it is
    /// the first that is free, or that an attempt has left without a session.
    fn place(&self) -> Result<(AgentName, SessionId, ForkedAgent)> {
        if let Some(name) = &self.plan.agent {
            let (id, standing) = self.standing(name)?;
            return match standing {
                ForkedAgent::Foreign => {
                    Err(agentic_space::Error::Agent(AgentError::Exists { name: name.clone() })
                        .into())
                }
                ForkedAgent::Absent | ForkedAgent::Made => Ok((name.clone(), id, standing)),
            };
        }
        let parent = &self.journal.start().agent;
        let base: String = parent.as_str().chars().take(NAME_CHARS_SHARED).collect();
        for n in 1.. {
            let name = AgentName::parse(&format!("{base}-fork-{n}")).expect("a name with a suffix");
            let (id, standing) = self.standing(&name)?;
            let is_free = match standing {
                ForkedAgent::Absent => true,
                ForkedAgent::Made => {
                    !own::has_begun(self.space, &Folder::of(self.space, &id), &name)?
                }
                ForkedAgent::Foreign => false,
            };
            if is_free {
                return Ok((name, id, standing));
            }
        }
        unreachable!("BUG: there are always free numbers")
    }

    fn standing(&self, name: &AgentName) -> Result<(SessionId, ForkedAgent)> {
        let id = self.draft(name)?.session(self.journal, self.cut);
        match self.space.head(name) {
            Ok(_) => {}
            Err(agentic_space::Error::Agent(AgentError::Unknown { .. })) => {
                return Ok((id, ForkedAgent::Absent));
            }
            Err(agentic_space::Error::Agent(AgentError::Archived { .. })) => {
                return Ok((id, ForkedAgent::Foreign));
            }
            Err(error) => return Err(error.into()),
        }
        let Some(genesis) = self.space.agent(name)?.genesis else {
            return Ok((id, ForkedAgent::Foreign));
        };
        let claims = Claims::read(&self.space.read_commit(genesis)?.message);
        let is_ours = claims.session == Some(id.to_string()) && claims.request.is_none();
        Ok((id, if is_ours { ForkedAgent::Made } else { ForkedAgent::Foreign }))
    }

    fn draft(&self, name: &AgentName) -> Result<ForkDraft> {
        Ok(ForkDraft {
            agent: name.clone(),
            flow: self.flow.cid(),
            engine: engine_of(self.flow, self.journal.start())?,
            key: self.key()?,
            allow: self.journal.start().allow.clone(),
            head: None,
            configuration: None,
        })
    }

    /// The start key: where the fork leaves, what is set by hand, and what becomes of children.
    fn key(&self) -> Result<String> {
        if let Some(key) = &self.child_key {
            return Ok(key.clone());
        }
        let set = self.plan.set.iter().map(|(seq, value)| (seq.to_string(), value.clone()));
        let set = canonical::encode(&Value::Map(set.collect())).map_err(|error| {
            Error::Program(ProgramError::BadRequest { reason: error.to_string() })
        })?;
        let set = match self.plan.set.is_empty() {
            true => String::new(),
            false => format!(" {}", Cid::of(&set)),
        };
        let children = match self.plan.children {
            ChildrenOfFork::Share => "",
            ChildrenOfFork::Fork => WITH_CHILDREN,
        };
        Ok(format!("{}{set}{children}", self.cut))
    }

    /// Forks the children that the session waited for at the cut, each as it stood before the
    /// session went on.
    fn fork_children(&self, fork_id: &SessionId) -> Result<()> {
        let shared = self.journal.up_to(self.cut);
        let parent = self.journal.start().session;
        let next = self.journal.records().get(shared.records().len()).map(|record| record.at);
        for path in open_spawns(self.space, &shared)? {
            let key = child_key(fork_id, &path);
            let child = newest_with_key(self.space, &child_key(&parent, &path))?;
            let (Some(child), None) = (child, newest_with_key(self.space, &key)?) else { continue };
            let journal = read_journal(self.space, &child)?;
            let is_before = |record: &&Record| next.is_none_or(|next| record.at <= next);
            let n_before = journal.records().iter().filter(is_before).count() as u64;
            let n_open = journal.records().len() as u64 - u64::from(journal.is_over());
            let plan = ForkPlan {
                at: Some(n_before.clamp(1, n_open.max(1))),
                children: ChildrenOfFork::Fork,
                ..ForkPlan::default()
            };
            fork_as(self.space, &child, &plan, Some(key))?;
        }
        Ok(())
    }

    /// Runs the program over the records up to the cut, without keeping anything.
    fn replayed(&self) -> Result<PartedSession<Box<dyn Program>>> {
        let space = self.space;
        let (kinds, engine) = (kinds_of(self.flow)?, engine_of(self.flow, self.journal.start())?);
        let values = Values::of(space, self.journal);
        let setting = SessionSetting { engine: &engine, kinds: &kinds, objects: &values };
        let id = self.journal.start().session;
        let program = program_of(space, &Folder::of(space, &id), self.flow, &engine)?;
        let parted = PartedSession::replay(self.journal, self.cut, program, setting);
        parted.map_err(|error| match error {
            ForkError::Over => Error::Session(SessionError::Over { id: id.short() }),
            ForkError::Replay(error) => replay_error(&id, error),
        })
    }

    /// Begins the fork and sets what is set by hand, without keeping anything.
    fn begin(
        &self,
        parted: PartedSession<Box<dyn Program>>,
        draft: ForkDraft,
    ) -> Result<(Session<Box<dyn Program>>, SessionProgress)> {
        let space = self.space;
        let (mut session, mut progress) = parted.begin(draft, space.now());
        for (seq, value) in &self.plan.set {
            let by = AnswerSource::Edited(self.plan.who.clone());
            let answer = RequestAnswer::Ok(value.clone());
            let path = path_at(self.journal, *seq)?;
            let more = session.answered(&path, answer, by, space.now());
            let more =
                more.map_err(|_| Error::Request(RequestError::Unknown { id: seq.to_string() }))?;
            progress.join(&path, more);
        }
        Ok((session, progress))
    }

    /// Makes the agent, where the parent's agent stood at the cut.
    fn make_agent(&self, name: &AgentName, fork: &SessionId) -> Result<()> {
        let (space, parent) = (self.space, self.journal.start());
        let text = format!("Fork of session {} after {} records", parent.session.short(), self.cut);
        let briefing = Briefing::of_text(&text).to_object()?;
        let origin = match head_at(space, self.journal, self.cut)? {
            Some(commit) if space.read_commit(commit).is_ok() => SpawnOrigin::Commit(commit),
            _ => SpawnOrigin::Agent(parent.agent.clone()),
        };
        let asker = Asker { session: fork.to_string(), request: None, behaviour: None };
        Ok(spawn_for(space, name, &briefing, &origin, Some(asker))?.written.visible()?)
    }
}

/// Goes on with another program, if it makes every request that was recorded.
///
/// # Errors
/// Fails with [`SessionError::Diverged`] at the first request that differs.
pub fn upgrade(space: &SessionSpace, id: &SessionId, flow: &Object) -> Result<()> {
    Driver::load_upgraded(space, id, flow)?.run()
}

/// Finds where a fork leaves its parent: where it was told to, or just before the first answer
/// that is set by hand.
fn cut_of(journal: &RecordChain, plan: &ForkPlan) -> Result<u64> {
    if let Some(at) = plan.at {
        return Ok(at.max(1));
    }
    let mut cut = journal.records().len() as u64;
    for (seq, _) in &plan.set {
        let path = path_at(journal, *seq)?;
        let answered = journal.records().iter().find(|record| {
            let is_answer = matches!(record.body, Body::Answer(_));
            is_answer && record.body.path() == Some(&path) && record.seq >= *seq
        });
        cut = answered.map_or(cut, |record| cut.min(record.seq));
    }
    if journal.is_over() && plan.set.is_empty() {
        // The end itself is not shared: a fork of a finished session goes on before it.
        cut -= 1;
    }
    Ok(cut)
}

/// Finds the request that is asked, or answered, at a position of a journal.
fn path_at(journal: &RecordChain, seq: u64) -> Result<Path> {
    let record = usize::try_from(seq).ok().and_then(|seq| journal.records().get(seq));
    match record.map(|record| &record.body) {
        Some(Body::Ask(ask)) => Ok(ask.path.clone()),
        Some(Body::Answer(answer)) => Ok(answer.path.clone()),
        _ => Err(Error::Request(RequestError::Unknown { id: seq.to_string() })),
    }
}

/// Finds where the agent's branch stood at the cut: at the last commit that the session had made
/// or been decided by, else where it was when the session began.
fn head_at(space: &SessionSpace, journal: &RecordChain, cut: u64) -> Result<Option<Oid>> {
    let summary = super::summary::of_journal(space, &journal.up_to(cut))?;
    let mut head = journal.start().head.as_deref().and_then(|head| Oid::parse(head).ok());
    let mut at = 0;
    for asked in &summary.asked {
        let Some((seq, answered, by)) = &asked.answer else { continue };
        let commit = match (by, answered) {
            (AnswerSource::Decision(commit), _) => Some(commit.as_str()),
            (_, RequestAnswer::Ok(value)) if asked.kind == "commit" => {
                value.get("commit").and_then(Value::as_text)
            }
            _ => None,
        };
        if let Some(Ok(commit)) = commit.map(Oid::parse)
            && *seq >= at
        {
            (head, at) = (Some(commit), *seq);
        }
    }
    Ok(head)
}
