//! Which sessions a question is about, as far as what it binds tells.

use std::collections::BTreeSet;

use agentic_model::AgentName;
use agentic_query::{FactBinding, FactPredicate, FactRequest, IdMatch, QueryType, QueryValue};
use agentic_replay::{RequestId, SessionId};
use agentic_space::AgentBranch;
use agentic_store::Stream;

use super::predicate::SessionPredicate;
use super::reading::ReadSessions;
use super::remote::remote_agent;
use super::request::own_asks;
use crate::listing::{is_prefix, list_local, list_local_open, local_with_prefix};
use crate::{Result, roster};

/// The fewest digits of a request's own id that are accepted.
const REQUEST_DIGITS_MIN: usize = 4;

/// Which sessions a question is about.
#[derive(Debug, Default)]
pub(super) struct SessionScope {
    /// These alone.
    ids: Option<BTreeSet<SessionId>>,
    /// Those of the agents of these names alone, some of which may be a remote's.
    agents: Option<BTreeSet<String>>,
    /// Those alone that are not over.
    is_open: bool,
}

impl SessionScope {
    /// Reads it from what a request binds.
    pub(super) fn of(
        predicate: &SessionPredicate,
        described: &FactPredicate,
        request: &FactRequest,
    ) -> SessionScope {
        let mut scope = SessionScope::default();
        for bound in &request.bound {
            let column = &described.columns[bound.column];
            match (column.name, column.kind) {
                ("id" | "session", QueryType::Session) => {
                    narrow(&mut scope.ids, bound, SessionId::parse);
                }
                ("id" | "request", QueryType::Request) => {
                    narrow(&mut scope.ids, bound, |text| SessionId::parse(text.split_once('.')?.0));
                }
                ("agent", QueryType::Text) => {
                    narrow(&mut scope.agents, bound, |text| Some(text.to_owned()));
                }
                ("state", QueryType::Text) => scope.is_open |= says_open(predicate, bound),
                _ => {}
            }
        }
        scope
    }

    /// Returns the agents here that it is about, if it says so.
    pub(super) fn agents(&self) -> Option<BTreeSet<AgentName>> {
        let names = self.agents.as_ref()?.iter();
        Some(names.filter_map(|name| AgentName::parse(name).ok()).collect())
    }

    /// Returns the agents of remotes that it is about, if it says so.
    pub(super) fn remote_agents(&self, read: &ReadSessions<'_>) -> Option<Vec<AgentBranch>> {
        let names = self.agents.as_ref()?.iter();
        Some(names.filter_map(|name| remote_agent(read, name)).collect())
    }

    /// Returns the sessions that it is about, if it says so.
    pub(super) fn ids(&self) -> Option<&BTreeSet<SessionId>> {
        self.ids.as_ref()
    }

    /// Lists the sessions that come into question.
    pub(super) fn sessions(&self, read: &ReadSessions<'_>) -> Result<BTreeSet<SessionId>> {
        let mut ids = match (&self.ids, self.agents()) {
            (Some(ids), _) => return Ok(ids.clone()),
            (None, agents) if self.is_open => open_of(read, agents.as_ref())?,
            (None, Some(agents)) => {
                let mut ids = roster::select_local(read.space, is_of(&agents))?;
                ids.extend(agents.iter().flat_map(|agent| read.sealed_of(agent)));
                ids
            }
            (None, None) => {
                let mut ids = list_local(read.space)?;
                ids.extend(read.sealed_sessions()?);
                ids
            }
        };
        match self.remote_agents(read) {
            Some(agents) => {
                for agent in agents {
                    ids.extend(read.only_remote(Some(&agent))?);
                }
            }
            None if self.is_open && read.has_remote_notes()? => ids.extend(read.only_remote(None)?),
            None => {}
        }
        Ok(ids)
    }
}

/// Lists the sessions that may not be over, of some agents or of all.
fn open_of(
    read: &ReadSessions<'_>,
    agents: Option<&BTreeSet<AgentName>>,
) -> Result<BTreeSet<SessionId>> {
    let space = read.space;
    let mut ids: BTreeSet<SessionId> = list_local_open(space)?.into_iter().collect();
    let all = || Ok::<_, crate::Error>(read.open_agents()?.into_iter().map(|(name, _)| name));
    let wanted = match agents {
        Some(agents) => agents.clone(),
        None => all()?.collect(),
    };
    for agent in wanted {
        // Where nothing was written to an agent here, its sessions may have come by fetch alone.
        let stream = Stream::Agent(agent.clone());
        if !space.repository().layout().journal(&stream).exists() {
            ids.extend(read.sealed_of(&agent));
        }
    }
    Ok(match agents {
        Some(agents) => roster::select(space, ids, is_of(agents)).into_iter().collect(),
        None => ids,
    })
}

/// Tells sessions that may be of some agents from others.
fn is_of(agents: &BTreeSet<AgentName>) -> impl Fn(&roster::Mark) -> bool + use<> {
    let hashes: BTreeSet<_> = agents.iter().map(roster::hash_of_agent).collect();
    move |mark| hashes.contains(&mark.agent)
}

/// Keeps what the values of a binding name, beside what others named.
fn narrow<T: Ord + Clone>(
    known: &mut Option<BTreeSet<T>>,
    bound: &FactBinding,
    parse: impl Fn(&str) -> Option<T>,
) {
    // What is nothing there may be of any.
    if bound.values.contains(&QueryValue::Null) {
        return;
    }
    let named = bound.values.iter().filter_map(|value| match value {
        QueryValue::Text(text) => parse(text),
        QueryValue::Null | QueryValue::Bool(_) | QueryValue::Int(_) | QueryValue::Float(_) => None,
    });
    let named: BTreeSet<T> = named.collect();
    *known = Some(match known.take() {
        Some(before) => before.intersection(&named).cloned().collect(),
        None => named,
    });
}

/// Tells whether only sessions that are not over can have one of these states.
fn says_open(predicate: &SessionPredicate, bound: &FactBinding) -> bool {
    bound.values.iter().all(|value| match value {
        QueryValue::Text(text) => predicate.open_states.contains(&&**text),
        QueryValue::Null | QueryValue::Bool(_) | QueryValue::Int(_) | QueryValue::Float(_) => false,
    })
}

/// Finds the session whose id begins like a text.
pub(super) fn resolve_session(read: &ReadSessions<'_>, text: &str) -> IdMatch {
    match with_prefix(read, text) {
        Ok(found) => only(found.into_iter().map(|id| id.to_string())),
        Err(_) => IdMatch::Unknown,
    }
}

/// Finds the request that a text names: the beginnings of two ids, with a full stop between them.
pub(super) fn resolve_request(read: &ReadSessions<'_>, text: &str) -> IdMatch {
    let Some((session, request)) = text.split_once('.') else { return IdMatch::Unknown };
    let is_hex = request.bytes().all(|byte| byte.is_ascii_hexdigit());
    if request.len() < REQUEST_DIGITS_MIN || !is_hex {
        return IdMatch::Unknown;
    }
    let sessions = with_prefix(read, session).unwrap_or_default();
    let of_session = |id: SessionId| -> Vec<String> {
        let Ok(Some(journal)) = read.journal(&id) else { return Vec::new() };
        let ids = own_asks(&journal).into_iter().map(|asked| asked.id(&id));
        let named = ids.filter(|own: &RequestId| own.to_string().starts_with(request));
        named.map(|own| format!("{id}.{own}")).collect()
    };
    only(sessions.into_iter().flat_map(of_session))
}

fn with_prefix(read: &ReadSessions<'_>, text: &str) -> Result<BTreeSet<SessionId>> {
    if !is_prefix(text) {
        return Ok(BTreeSet::new());
    }
    let mut found = local_with_prefix(read.space, text)?;
    let sealed = read.sealed_sessions()?;
    found.extend(sealed.filter(|id| id.to_string().starts_with(text)));
    Ok(found)
}

fn only(mut ids: impl Iterator<Item = String>) -> IdMatch {
    match (ids.next(), ids.next()) {
        (None, _) => IdMatch::Unknown,
        (Some(only), None) => IdMatch::Found(only),
        (Some(_), Some(_)) => IdMatch::Ambiguous,
    }
}
