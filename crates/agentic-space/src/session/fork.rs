//! Forking a session, and going on with another program.

use agentic_model::{AgentName, Briefing, Object, Oid, Value};
use agentic_replay::{
    ForkDraft, ForkError, Journal, Path, Program, Progress, Session, SessionId, Setting,
};

use super::drive::{Driver, replay_error};
use super::folder::{Folder, Values, read_journal};
use super::language::kinds_of;
use super::summary::Answered;
use super::{Language, flow_of, program_of, seal};
use crate::spawn::{Origin, spawn};
use crate::{Error, Result, Space};

/// How a session is forked.
#[derive(Debug, Clone, Default)]
pub struct ForkPlan {
    /// After how many records; all of them without.
    pub at: Option<u64>,
    /// Another program.
    pub flow: Option<Object>,
    /// The agent it runs as; one is made without.
    pub agent: Option<AgentName>,
    /// Answers that are set by hand, by path.
    pub set: Vec<(Path, Value)>,
    /// Who sets them.
    pub who: String,
}

/// Forks a session: another way from there, on a branch of its own. The parent is untouched.
///
/// # Errors
/// Fails when the session was over before the cut, and when another program does not make the
/// recorded requests.
pub fn fork(space: &Space, id: &SessionId, plan: &ForkPlan) -> Result<SessionId> {
    let journal = read_journal(space, id)?;
    let cut = cut_of(space, &journal, plan)?;
    let flow = match &plan.flow {
        Some(flow) => flow.clone(),
        None => flow_of(space, &Folder::of(space, id), &journal.up_to(cut).flow())?,
    };
    let parent = journal.start().clone();
    let name = match &plan.agent {
        Some(agent) if space.head(agent).is_ok() => {
            return Err(Error::AgentExists { name: agent.clone() });
        }
        Some(agent) => agent.clone(),
        None => free_name(space, &parent.agent)?,
    };
    // Tried before anything is made: a refused fork leaves no agent behind.
    drop(attempt(space, &journal, cut, (&name, &flow), None)?);
    make_agent(space, &journal, cut, &name)?;
    let head = Some(space.head(&name)?.to_string());
    let (session, progress) = attempt(space, &journal, cut, (&name, &flow), head)?;
    let agent = name;
    let fork_id = session.started().session;
    let (folder, lock) = Folder::lock(space, &fork_id)?;
    if plan.flow.is_some() {
        folder.keep_object(&flow.cid(), flow.bytes())?;
        seal::keep(space, &agent, "flow", std::slice::from_ref(&flow))?;
    }
    let mut driver = Driver::begin(space, folder, lock, (session, progress))?;
    for (path, value) in &plan.set {
        driver.set(path, value.clone(), plan.who.clone())?;
    }
    driver.run()?;
    Ok(fork_id)
}

/// Goes on with another program, if it makes every request that was recorded.
///
/// # Errors
/// Fails with [`Error::Diverged`] at the first request that differs.
pub fn upgrade(space: &Space, id: &SessionId, flow: &Object) -> Result<()> {
    let folder = Folder::of(space, id);
    let journal = read_journal(space, id)?;
    if journal.is_over() {
        return Err(Error::SessionOver { id: id.short() });
    }
    folder.keep_object(&flow.cid(), flow.bytes())?;
    let mut driver = Driver::load_with(space, id, flow)?;
    driver.upgraded(flow.cid())?;
    seal::keep(space, &journal.start().agent, "flow", std::slice::from_ref(flow))?;
    driver.run()
}

/// Finds where a fork leaves its parent: where it was told to, or just before the first answer
/// that is set by hand.
fn cut_of(space: &Space, journal: &Journal, plan: &ForkPlan) -> Result<u64> {
    if let Some(at) = plan.at {
        return Ok(at.max(1));
    }
    let summary = super::summary::of_journal(space, journal)?;
    let mut cut = journal.records().len() as u64;
    for (path, _) in &plan.set {
        let asked = summary.asked.iter().find(|asked| asked.path == *path);
        let asked = asked.ok_or_else(|| Error::UnknownRequest { id: path.to_string() })?;
        if let Some((seq, _, _)) = &asked.answer {
            cut = cut.min(*seq);
        }
    }
    if journal.is_over() && plan.set.is_empty() {
        // The end itself is not shared: a fork of a finished session goes on before it.
        cut -= 1;
    }
    Ok(cut)
}

/// Forks the records, without keeping anything.
fn attempt(
    space: &Space,
    journal: &Journal,
    cut: u64,
    (agent, flow): (&AgentName, &Object),
    head: Option<String>,
) -> Result<(Session<Box<dyn Program>>, Progress)> {
    let (kinds, engine) = (kinds_of(flow)?, Language::of(flow)?.engine());
    let values = Values::of(space, journal);
    let setting = Setting { engine: &engine, kinds: &kinds, objects: &values };
    let draft = ForkDraft {
        agent: agent.clone(),
        flow: flow.cid(),
        engine: engine.clone(),
        key: format!("{cut}"),
        allow: journal.start().allow.clone(),
        head,
    };
    let program = program_of(space, &Folder::of(space, &journal.start().session), flow)?;
    let id = journal.start().session;
    Session::fork(journal, cut, draft, space.now(), program, setting).map_err(|error| match error {
        ForkError::Over => Error::SessionOver { id: id.short() },
        ForkError::Replay(error) => replay_error(&id, error),
    })
}

/// Makes the agent of a fork, where the parent's agent stood at the cut.
fn make_agent(space: &Space, journal: &Journal, cut: u64, name: &AgentName) -> Result<()> {
    let parent = journal.start().agent.clone();
    let text = format!("Fork of session {} after {cut} records", journal.start().session.short());
    let briefing = Briefing::of_text(&text).to_object()?;
    let origin = match head_at(space, journal, cut)? {
        Some(commit) if space.read_commit(commit).is_ok() => Origin::Commit(commit),
        _ => Origin::Agent(parent),
    };
    spawn(space, name, &briefing, &origin)?;
    Ok(())
}

fn free_name(space: &Space, parent: &AgentName) -> Result<AgentName> {
    for n in 1.. {
        let base: String = parent.as_str().chars().take(50).collect();
        let name = AgentName::parse(&format!("{base}-fork-{n}")).expect("a name with a suffix");
        if space.head(&name).is_err() {
            return Ok(name);
        }
    }
    unreachable!("BUG: there are always free numbers")
}

/// Finds where the agent's branch stood at the cut: at the last commit that the session had made
/// or been decided by, else where it was when the session began.
fn head_at(space: &Space, journal: &Journal, cut: u64) -> Result<Option<Oid>> {
    let summary = super::summary::of_journal(space, &journal.up_to(cut))?;
    let mut head = journal.start().head.as_deref().and_then(|head| Oid::parse(head).ok());
    let mut at = 0;
    for asked in &summary.asked {
        let Some((seq, answered, by)) = &asked.answer else { continue };
        let commit = match (by, answered) {
            (agentic_replay::By::Decision(commit), _) => Some(commit.as_str()),
            (_, Answered::Ok(value)) if asked.kind == "commit" => {
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
