//! What a book has read of a session, as it is written down.

use std::collections::BTreeSet;
use std::sync::Arc;

use agentic_model::{AgentName, Instant, Map, Oid, Value};
use agentic_replay::{HoldReason, Path, RequestId, SessionId};

use super::{BookedHold, BookedSession, SessionMark};
use crate::action::Action;
use crate::outlook::Permanence;
use crate::policy::Policy;

/// The reasons for which a human is asked.
const REASONS: [HoldReason; 3] = [HoldReason::Asked, HoldReason::NotAllowed, HoldReason::InDoubt];

/// Writes a session down; nothing of one that another process would have to read again anyway.
pub(super) fn write(session: &BookedSession) -> Option<Value> {
    let until = match session.permanence {
        Permanence::Moves => return None,
        Permanence::Until(at) => Value::Int(at.millis()),
        Permanence::Still => Value::Null,
    };
    let SessionMark { log_bytes, refs, configuration } = &session.mark;
    if configuration.is_empty() {
        return None;
    }
    let oid =
        |oid: &Option<Oid>| oid.map_or(Value::Null, |oid| Value::Bytes(oid.as_bytes().to_vec()));
    Some(Value::map([
        ("agent", Value::text(session.agent.as_str())),
        ("bytes", optional_count(*log_bytes)?),
        ("configuration", Value::text(&**configuration)),
        ("head", oid(&refs[0])),
        ("holds", Value::List(session.holds.iter().map(write_hold).collect::<Option<_>>()?)),
        ("notes", oid(&refs[1])),
        ("read_at", Value::Int(session.read_at.millis())),
        ("unattended", Value::from(session.is_unattended)),
        ("until", until),
    ]))
}

/// Reads what was written down of a session.
pub(super) fn read(session: SessionId, written: &Value) -> Option<BookedSession> {
    let map = written.as_map()?;
    let agent = AgentName::parse(map.get("agent")?.as_text()?).ok()?;
    let oid = |name: &str| present(map.get(name)?, |oid| Oid::from_bytes(oid.as_bytes()?).ok());
    let holds = map.get("holds")?.as_list()?.iter();
    let configuration: Arc<str> = map.get("configuration")?.as_text()?.into();
    Some(BookedSession {
        holds: holds.map(|hold| read_hold(session, &agent, hold)).collect::<Option<_>>()?,
        mark: SessionMark {
            log_bytes: present(map.get("bytes")?, |bytes| u64::try_from(bytes.as_int()?).ok())?,
            refs: [oid("head")?, oid("notes")?],
            configuration: Some(configuration).filter(|mark| !mark.is_empty())?,
        },
        read_at: Instant::from_millis(map.get("read_at")?.as_int()?),
        is_unattended: map.get("unattended")?.as_bool()?,
        permanence: match instant(map.get("until")?)? {
            None => Permanence::Still,
            Some(until) => Permanence::Until(until),
        },
        agent,
    })
}

fn write_hold(hold: &BookedHold) -> Option<Value> {
    let texts = |texts: &[String]| Value::List(texts.iter().map(Value::text).collect());
    let policy = &hold.policy;
    let voters: Vec<String> = hold.voters.iter().cloned().collect();
    let actions: Vec<String> = policy.actions.iter().map(|it| it.name().to_owned()).collect();
    Some(Value::map([
        ("actions", texts(&actions)),
        ("asked_at", Value::Int(hold.asked_at.millis())),
        ("assignees", texts(&policy.assignees)),
        ("deadline", policy.deadline.map_or(Value::Null, |at| Value::Int(at.millis()))),
        ("kind", Value::text(&hold.kind)),
        ("level", count(policy.level)?),
        ("need", count(policy.need)?),
        ("overdue", Value::from(hold.overdue)),
        ("path", Value::text(hold.path.to_string())),
        ("reason", Value::text(hold.reason.name())),
        ("rejections", count(policy.rejections)?),
        ("request", Value::text(hold.id.to_string())),
        ("role", policy.role.as_ref().map_or(Value::Null, Value::text)),
        ("voters", texts(&voters)),
    ]))
}

fn read_hold(session: SessionId, agent: &AgentName, written: &Value) -> Option<BookedHold> {
    let map = written.as_map()?;
    let text = |name: &str| map.get(name)?.as_text();
    let number = |name: &str| usize::try_from(map.get(name)?.as_int()?).ok();
    let reason = text("reason")?;
    Some(BookedHold {
        session,
        agent: agent.clone(),
        id: RequestId::parse(text("request")?)?,
        path: Path::parse(text("path")?).ok()?,
        kind: text("kind")?.to_owned(),
        reason: REASONS.into_iter().find(|known| known.name() == reason)?,
        asked_at: Instant::from_millis(map.get("asked_at")?.as_int()?),
        policy: Policy {
            actions: texts(map, "actions")?
                .iter()
                .map(|name| Action::parse(name))
                .collect::<Option<_>>()?,
            assignees: texts(map, "assignees")?,
            role: present(map.get("role")?, |role| Some(role.as_text()?.to_owned()))?,
            deadline: instant(map.get("deadline")?)?,
            on_expiry: None,
            need: number("need")?,
            rejections: number("rejections")?,
            subject: None,
            schema: None,
            choices: Vec::new(),
            escalations: Vec::new(),
            level: number("level")?,
        },
        overdue: map.get("overdue")?.as_bool()?,
        voters: texts(map, "voters")?.into_iter().collect::<BTreeSet<String>>(),
    })
}

fn texts(map: &Map, name: &str) -> Option<Vec<String>> {
    let texts = map.get(name)?.as_list()?.iter();
    texts.map(|text| Some(text.as_text()?.to_owned())).collect()
}

/// Reads something that there may be none of.
fn present<T>(value: &Value, read: impl FnOnce(&Value) -> Option<T>) -> Option<Option<T>> {
    if *value == Value::Null { Some(None) } else { read(value).map(Some) }
}

fn instant(value: &Value) -> Option<Option<Instant>> {
    present(value, |millis| Some(Instant::from_millis(millis.as_int()?)))
}

fn count(n: usize) -> Option<Value> {
    i64::try_from(n).ok().map(Value::Int)
}

fn optional_count(n: Option<u64>) -> Option<Value> {
    n.map_or(Some(Value::Null), |n| i64::try_from(n).ok().map(Value::Int))
}
