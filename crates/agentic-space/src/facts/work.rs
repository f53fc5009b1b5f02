//! Rows about what came of each agent, counted once: when it began, what it did first and last, how
//! many commits of which kinds it has, and which behaviours its own line says that it had.
//!
//! What is counted of an agent is kept by its head; a head that has moved costs its new commits.

use std::collections::BTreeMap;
use std::rc::Rc;

use agentic_model::behaviour::BEHAVIOUR_CHANGE;
use agentic_model::commit::Claims;
use agentic_model::{Cid, Oid, Person};
use agentic_query::FactCell;

use super::SpaceFacts;
use super::cache::{PackedReader, PackedWriter};
use super::derived::{LineDerivation, OlderContent, line_key};
use super::line::{CommitLine, LineCommit};
use super::roster::{AgentPlace, FactAgent};
use super::rows::FactRows;
use crate::agent::is_genesis_of;
use crate::pin::LinePin;
use crate::signing::SigningChoice;
use crate::{Result, Space};

/// Which column has the agent.
const AGENT: usize = 0;
/// The kinds of commits that are no work of the agent.
const NO_WORK: [&str; 2] = ["decision", BEHAVIOUR_CHANGE];

/// What came of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct AgentWork {
    origin: WorkOrigin,
    /// Who spawned it: an address.
    person: String,
    began: i64,
    /// Its first commit that is work, and when that was made.
    first: Option<(Oid, i64)>,
    last_at: i64,
    /// How many commits are work.
    n_commits: i64,
    kinds: BTreeMap<String, i64>,
    /// How many commits name each behaviour that it had then.
    pinned: BTreeMap<String, i64>,
    /// The behaviour that it has.
    pin: Option<Cid>,
}

/// How an agent came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum WorkOrigin {
    /// Somebody made its branch with plain git.
    #[default]
    Branch,
    /// Somebody spawned it.
    Spawned,
    /// A request of a session did.
    Session,
    /// It is the fork of a session.
    Fork,
    /// It was made of a conversation that was over.
    Import,
}

impl WorkOrigin {
    const ALL: [WorkOrigin; 5] = [
        WorkOrigin::Branch,
        WorkOrigin::Spawned,
        WorkOrigin::Session,
        WorkOrigin::Fork,
        WorkOrigin::Import,
    ];

    fn word(self) -> &'static str {
        match self {
            WorkOrigin::Branch => "branch",
            WorkOrigin::Spawned => "spawned",
            WorkOrigin::Session => "session",
            WorkOrigin::Fork => "fork",
            WorkOrigin::Import => "import",
        }
    }

    fn of_genesis(agent: &FactAgent, claims: &Claims, committer_email: &str) -> WorkOrigin {
        match (&claims.session, &claims.request) {
            (Some(_), Some(_)) => WorkOrigin::Session,
            (Some(_), None) => WorkOrigin::Fork,
            // Whoever imports makes the first commit as it was made then, by the agent alone.
            (None, _) if committer_email == Person::of_agent(&agent.agent).email => {
                WorkOrigin::Import
            }
            (None, _) => WorkOrigin::Spawned,
        }
    }
}

impl SpaceFacts<'_> {
    /// `work`.
    pub(super) fn work_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        self.each_work(rows, &mut |rows, agent, work| {
            let first = work.first.map(|(oid, _)| oid.to_string());
            let person = (!work.person.is_empty()).then_some(work.person.as_str());
            rows.row(&[
                FactCell::Text(&agent.name),
                FactCell::Text(agent.place.word()),
                FactCell::Text(work.origin.word()),
                person.map_or(FactCell::Null, FactCell::Text),
                FactCell::Int(work.began),
                first.as_deref().map_or(FactCell::Null, FactCell::Text),
                work.first.map_or(FactCell::Null, |(_, at)| FactCell::Int(at)),
                FactCell::Int(work.last_at),
                FactCell::Int(work.n_commits),
            ])
            .is_continue()
        })
    }

    /// `work_kind`.
    pub(super) fn work_kind_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        self.each_work(rows, &mut |rows, agent, work| {
            work.kinds.iter().all(|(kind, n)| {
                let row = [FactCell::Text(&agent.name), FactCell::Text(kind), FactCell::Int(*n)];
                rows.row(&row).is_continue()
            })
        })
    }

    /// `pinned`.
    pub(super) fn pinned_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        self.each_work(rows, &mut |rows, agent, work| {
            let unused = work.pin.filter(|_| work.pinned.is_empty()).map(|cid| cid.to_string());
            let used = work.pinned.iter().map(|(cid, n)| (cid.as_str(), *n));
            used.chain(unused.as_deref().map(|cid| (cid, 0))).all(|(cid, n)| {
                let row = [FactCell::Text(&agent.name), FactCell::Text(cid), FactCell::Int(n)];
                rows.row(&row).is_continue()
            })
        })
    }

    /// Returns what came of each agent of this space.
    pub(super) fn all_work(
        &self,
        rows: &mut FactRows<'_, '_>,
    ) -> Result<Vec<(Rc<FactAgent>, AgentWork)>> {
        let agents = self.all_here()?;
        self.work_of(&agents, rows)
    }

    /// Visits what came of each agent of this space, until somebody has enough.
    fn each_work(
        &self,
        rows: &mut FactRows<'_, '_>,
        visit: &mut dyn FnMut(&mut FactRows<'_, '_>, &FactAgent, &AgentWork) -> bool,
    ) -> Result<()> {
        let agents = match rows.bound(AGENT) {
            Some(names) => self.agents(Some(&names))?,
            None => self.all_here()?,
        };
        for (agent, work) in self.work_of(&agents, rows)? {
            if !visit(rows, &agent, &work) {
                break;
            }
        }
        Ok(())
    }

    fn work_of(
        &self,
        agents: &[Rc<FactAgent>],
        rows: &mut FactRows<'_, '_>,
    ) -> Result<Vec<(Rc<FactAgent>, AgentWork)>> {
        let agents: Vec<Rc<FactAgent>> =
            agents.iter().filter(|agent| agent.place != AgentPlace::Remote).cloned().collect();
        let mut found = Vec::with_capacity(agents.len());
        let (space, signing) = (self.space, SigningChoice::of_people(self.space)?);
        let how = LineDerivation {
            what: "work of agents",
            cache: &self.caches.work,
            key: &|agent| line_key(agent.head, signing),
            make: &|agent, line, older| {
                let counting = LineCounting { space, signing, agent };
                Ok(counting.count(line, older)?.encode())
            },
        };
        for (agent, content) in agents.iter().zip(self.derived_of_lines(&agents, &how)) {
            let work = content.and_then(|bytes| {
                AgentWork::decode(&bytes).ok_or_else(|| "what was counted is damaged".to_owned())
            });
            let work = rows.noted(format_args!("the work of agent `{agent}`"), work);
            found.extend(work.map(|work| (Rc::clone(agent), work)));
        }
        Ok(found)
    }
}

/// Whose work is counted.
struct LineCounting<'a> {
    space: &'a Space,
    /// Whether only changes of behaviours count that somebody signed.
    signing: SigningChoice,
    agent: &'a FactAgent,
}

impl LineCounting<'_> {
    /// Counts what is new on the line, and adds it to what was counted before.
    fn count(&self, line: &CommitLine, older: Option<OlderContent<'_>>) -> Result<AgentWork> {
        let LineCounting { space, signing, agent } = *self;
        let counted = |older: OlderContent<'_>| {
            Some((older.head_under(signing)?, AgentWork::decode(older.content)?))
        };
        let older = older.and_then(counted);
        let new = line.after(older.as_ref().map(|it| it.0));
        let mut work = older.filter(|_| new.below.is_some()).map(|it| it.1).unwrap_or_default();
        let mut pin = LinePin { space, signing, agent: &agent.agent, pin: work.pin };
        for commit in &new.oldest_first {
            let claims = commit.claims();
            pin.take(commit.oid, &claims)?;
            let is_work = work.take(agent, commit, &claims);
            let is_pinned = claims.session.is_none() && claims.behaviour == pin.pin;
            if let Some(cid) = claims.behaviour.filter(|_| is_pinned && is_work) {
                *work.pinned.entry(cid.to_string()).or_default() += 1;
            }
        }
        work.pin = pin.pin;
        Ok(work)
    }
}

impl AgentWork {
    /// Returns when it began; if it has work that is older, as clocks go, when that was made.
    pub fn oldest(&self) -> i64 {
        self.first.map_or(self.began, |(_, at)| self.began.min(at))
    }

    /// Counts a commit. Tells whether it is work.
    fn take(&mut self, agent: &FactAgent, commit: &LineCommit<'_>, claims: &Claims) -> bool {
        let at = commit.at.millis();
        if self.kinds.is_empty() {
            self.began = at;
        }
        *self.kinds.entry(commit.kind.to_owned()).or_default() += 1;
        self.last_at = at;
        if is_genesis_of(&agent.agent, claims) {
            self.origin = WorkOrigin::of_genesis(agent, claims, commit.committer_email);
            self.person = commit.committer_email.to_owned();
            return false;
        }
        let is_work = !NO_WORK.contains(&commit.kind);
        if is_work {
            self.first.get_or_insert((commit.oid, at));
            self.n_commits += 1;
        }
        is_work
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = PackedWriter::default();
        let origin = WorkOrigin::ALL.iter().position(|one| *one == self.origin);
        out.number(origin.unwrap_or_default() as i64);
        out.bytes(self.person.as_bytes());
        out.number(self.began);
        let (first, first_at) =
            self.first.map_or((Vec::new(), 0), |(oid, at)| (oid.as_bytes().to_vec(), at));
        out.bytes(&first);
        out.number(first_at);
        out.number(self.last_at);
        out.number(self.n_commits);
        out.bytes(self.pin.map_or_else(String::new, |cid| cid.to_string()).as_bytes());
        out.number(self.kinds.len() as i64);
        for (name, n) in self.kinds.iter().chain(&self.pinned) {
            out.bytes(name.as_bytes());
            out.number(*n);
        }
        out.into_bytes()
    }

    fn decode(bytes: &[u8]) -> Option<AgentWork> {
        let mut reader = PackedReader::new(bytes);
        let origin = WorkOrigin::ALL.get(usize::try_from(reader.number()?).ok()?)?;
        let mut work = AgentWork { origin: *origin, ..AgentWork::default() };
        work.person = reader.text()?.to_owned();
        work.began = reader.number()?;
        let (first, first_at) = (reader.bytes()?, reader.number()?);
        work.first = Oid::from_bytes(first).ok().map(|oid| (oid, first_at));
        work.last_at = reader.number()?;
        work.n_commits = reader.number()?;
        work.pin = Cid::parse(reader.text()?).ok();
        let n_kinds = reader.number()?;
        for at in 0.. {
            if reader.is_at_end() {
                break;
            }
            let counts = if at < n_kinds { &mut work.kinds } else { &mut work.pinned };
            counts.insert(reader.text()?.to_owned(), reader.number()?);
        }
        Some(work)
    }
}
