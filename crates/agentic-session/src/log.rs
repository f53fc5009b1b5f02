//! The log: an agent's own commits, with what counts of their claims.

use agentic_git::{CommitInfo, NotesState};
use agentic_model::commit::{Claims, OpenFields, subject};
use agentic_model::trace::cid_in_note;
use agentic_model::{AgentName, Cid, Kind, Map, Object, Oid, Value, trailer};
use agentic_space::agent::{OwnCommits, kind_on};
use agentic_space::error::AgentError;

use crate::{AgentBranch, CommitHome, Error, Result, SessionSpace, trust};

/// The kind of a human's decision.
const DECISION: &str = "decision";

/// One commit of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionCommit {
    /// The commit as git has it.
    pub info: CommitInfo,
    /// Its kind on this branch.
    pub kind: Kind,
    /// The first line of its message.
    pub subject: String,
    /// The rest of its message, without trailers of ours.
    pub body: String,
    /// Open fields.
    pub fields: Map,
    /// The agent whose commit it was before it was copied here, if it was.
    pub copied_from: Option<AgentName>,
    /// The agent whose work it merged.
    pub merged: Option<AgentName>,
    /// The trace that is bound to it.
    pub trace: Option<Cid>,
    /// Whether it looks like a decision, and nothing here says that it is one.
    pub is_unverified: bool,
    /// Where it stands, if it was looked for by its id, and was not copied.
    pub home: Option<CommitHome>,
}

/// The own commits of an agent with the traces that some state of its notes binds, newest first, each one read when it
/// is asked for.
pub struct OwnLog<'s> {
    space: &'s SessionSpace,
    agent: AgentName,
    notes: NotesState<'s>,
    steps: OwnCommits<'s>,
}

impl OwnLog<'_> {
    /// Names the commit that comes next, which was not read yet; nothing behind the genesis.
    pub fn next_oid(&self) -> Option<Oid> {
        self.steps.next_oid()
    }

    fn describe(&self, info: CommitInfo, claims: Claims) -> Result<SessionCommit> {
        let kind = kind_on(&self.agent, &claims);
        let trace = self.notes.note(info.oid)?.as_deref().and_then(cid_in_note);
        self.space.logged(&self.agent, info, kind, claims, trace)
    }
}

impl Iterator for OwnLog<'_> {
    type Item = Result<SessionCommit>;

    fn next(&mut self) -> Option<Result<SessionCommit>> {
        let step = self.steps.next()?.map_err(Error::from);
        Some(step.and_then(|(info, claims)| self.describe(info, claims)))
    }
}

impl SessionSpace {
    /// Lists the own commits on an agent's branch, newest first, each one read when it is asked for; with `kind`,
    /// those of the kind or of one that specialises it.
    ///
    /// # Errors
    /// Fails when there is no such agent or the kind is not registered.
    pub fn log(
        &self,
        branch: &AgentBranch,
        kind: Option<Kind>,
    ) -> Result<impl Iterator<Item = Result<SessionCommit>> + use<'_>> {
        let (agent, head) = (branch.agent.clone(), self.branch_head(branch)?);
        let kinds = self.kinds()?;
        if let Some(kind) = &kind {
            self.check_kind(kind, agentic_model::kind::AGENT_COMMIT)?;
        }
        let notes = self.repository().notes(&branch.notes_ref())?;
        let steps = self.walk_own_commits(&agent, head);
        let describe = move |(info, claims): (CommitInfo, Claims)| {
            let found = kind_on(&agent, &claims);
            if kind.as_ref().is_some_and(|kind| !kinds.is_a(&found, kind)) {
                return Ok(None);
            }
            let trace = notes.note(info.oid)?.as_deref().and_then(cid_in_note);
            self.logged(&agent, info, found, claims, trace).map(Some)
        };
        Ok(steps
            .map(move |step| step.map_err(Error::from).and_then(&describe))
            .filter_map(Result::transpose))
    }

    /// Lists the own commits of an agent from a head on, newest first, with the traces that some state
    /// of its notes binds: wherever its branch and its notes are.
    ///
    /// # Errors
    /// Fails when the notes cannot be read.
    pub fn log_from(&self, agent: &AgentName, head: Oid, notes: Option<Oid>) -> Result<OwnLog<'_>> {
        let notes = self.repository().notes_at(notes)?;
        let (steps, agent) = (self.walk_own_commits(agent, head), agent.clone());
        Ok(OwnLog { space: self, agent, notes, steps })
    }

    /// Reads a commit as one of an agent's own, without a look at where its branch is.
    ///
    /// # Errors
    /// Fails when there is no such commit.
    pub fn commit_as_of(&self, agent: &AgentName, oid: Oid) -> Result<SessionCommit> {
        let info = self.read_commit(oid)?;
        let claims = Claims::read(&info.message);
        let kind = kind_on(agent, &claims);
        self.logged(agent, info, kind, claims, None)
    }

    /// Describes one commit as it stands on an agent's branch.
    pub(crate) fn logged(
        &self,
        agent: &AgentName,
        info: CommitInfo,
        kind: Kind,
        claims: Claims,
        trace: Option<Cid>,
    ) -> Result<SessionCommit> {
        let text = trailer::strip(&info.message);
        let body = text.split_once('\n').map_or("", |(_, body)| body).trim().to_owned();
        let is_decision = kind.as_str() == DECISION;
        Ok(SessionCommit {
            is_unverified: is_decision && !trust::is_recorded(self, agent, info.oid, &claims)?,
            subject: subject(&text).to_owned(),
            body,
            fields: self.fields(&claims.fields)?,
            copied_from: claims.agent.filter(|claimed| claimed != agent),
            merged: claims.merged,
            home: None,
            kind,
            trace,
            info,
        })
    }

    /// Reads open fields, which may stand in an object. One that is not here shows as its id.
    fn fields(&self, fields: &OpenFields) -> Result<Map> {
        match fields {
            OpenFields::Inline(map) => Ok(map.clone()),
            OpenFields::Object(cid) => Ok(self
                .object(*cid)
                .ok()
                .and_then(|object: Object| object.map().get("fields")?.as_map().cloned())
                .unwrap_or_else(|| Map::from([("object".to_owned(), Value::Link(*cid))]))),
        }
    }
}

/// What an id names.
#[derive(Debug, Clone, PartialEq)]
pub enum NamedRecord {
    /// An agent.
    Agent(agentic_space::agent::Agent),
    /// A typed object.
    Object(Cid, Object),
    /// A commit.
    Commit(Box<SessionCommit>),
}

impl SessionSpace {
    /// Finds what an id names: an agent, an object or a commit.
    ///
    /// # Errors
    /// Fails when it names nothing, or several things.
    pub fn show(&self, id: &str) -> Result<NamedRecord> {
        if let Ok(name) = AgentName::parse(id)
            && self.repository().find_ref(&name.branch_ref())?.is_some()
        {
            return Ok(NamedRecord::Agent(self.agent(&name)?));
        }
        if let Ok(name) = AgentName::parse(id)
            && self.archived_agent(&name)?.is_some()
        {
            return Err(agentic_space::Error::Agent(AgentError::Archived { name }).into());
        }
        if let Some(branch) = self.remote_branch(id)? {
            let head = self.branch_head(&branch)?;
            return Ok(NamedRecord::Agent(self.describe(branch.agent, head)?));
        }
        if id.starts_with(Cid::PREFIX) {
            let cid = self.find_object(id)?;
            return Ok(NamedRecord::Object(cid, self.object(cid)?));
        }
        let oid: Oid = self.repository().resolve_commit(id)?;
        let info = self.read_commit(oid)?;
        let claims = Claims::read(&info.message);
        let claimed = claims.agent.clone();
        let home = match &claimed {
            Some(agent) => self.home_of_commit(agent, oid)?,
            None => None,
        };
        let nobody = || AgentName::parse("0").expect("a valid name");
        let agent = claimed.filter(|_| home.is_some()).unwrap_or_else(nobody);
        let trace = self.trace_at(home.as_ref(), oid)?;
        let kind = kind_on(&agent, &claims);
        let logged = self.logged(&agent, info, kind, claims, trace)?;
        Ok(NamedRecord::Commit(Box::new(SessionCommit { home, ..logged })))
    }

    /// Finds the trace that is bound to a commit: by the notes of the agent whose it is, wherever those are.
    fn trace_at(&self, home: Option<&CommitHome>, commit: Oid) -> Result<Option<Cid>> {
        let elsewhere = home.filter(|home| match home {
            CommitHome::Branch(branch) => branch.remote.is_some(),
            CommitHome::Archive(_) => true,
        });
        if let Some(home) = elsewhere {
            let notes = self.repository().notes_at(home.notes_tip(self)?)?;
            if let Some(cid) = notes.note(commit)?.as_deref().and_then(cid_in_note) {
                return Ok(Some(cid));
            }
        }
        Ok(self.trace_of_commit(commit).ok().map(|shown| shown.cid))
    }
}
