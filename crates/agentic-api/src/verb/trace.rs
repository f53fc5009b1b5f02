//! What an agent saw and said: entries, and the commits that they are bound to.

use std::collections::BTreeSet;

use agentic_capture::commit_map::CommitMap;
use agentic_capture::origin::{CommitOrigin, CommitOrigins, OriginProof};
use agentic_model::commit::Claims;
use agentic_model::trace::cid_in_note;
use agentic_model::{AgentName, Cid, Kind, Oid};
use agentic_space::trace::ShownTrace;
use agentic_space::{AgentBranch, Space};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::redaction::CallerRedactor;
use crate::verb::{Reply, Verb, settle_named};
use crate::view::{
    AttachView, BindingView, EntryView, RewritesView, TraceAddView, TraceBindingView, TraceView,
};
use crate::{Caller, Notice, Refusal};

/// Keep which commits a whole history was rewritten to, so that traces are found by the new ones.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceRewrites {
    /// The map, as `git filter-repo` writes it: an old and a new commit on each line.
    pub map: String,
}

impl Verb for TraceRewrites {
    type Answer = Vec<RewritesView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<RewritesView>>, Refusal> {
        let map = CommitMap::parse(&self.map).map_err(|error| {
            let hint = "give it what `git filter-repo` leaves in `.git/filter-repo/commit-map`";
            Refusal::refused(&error.to_string(), hint)
        })?;
        let outcome = map.keep(caller.space)?;
        let archived = outcome.archived.iter().map(|agent| Notice::Remark {
            what: format!(
                "`{agent}` is archived, and nothing was kept with it; `agentic archive --restore {agent}`, then again"
            ),
        });
        let answer = outcome
            .kept
            .iter()
            .map(|(agent, count)| RewritesView { agent: agent.to_string(), rewrites: *count })
            .collect();
        Ok(Reply { notices: archived.collect(), ..Reply::plain(answer) })
    }
}

/// Append one entry to the pending trace of an agent. It is durable when this answers.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceAdd {
    /// The agent; else the caller's.
    #[serde(default)]
    pub agent: Option<String>,
    /// What sort of thing happened; `log` without one.
    #[serde(default)]
    pub kind: Option<String>,
    /// What it was.
    pub body: EntryBody,
}

/// The bytes of a trace entry.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EntryBody {
    /// Text.
    Text(String),
    /// Any bytes, in base64 with padding.
    Base64(String),
    /// Any bytes, from a surface that has them as they are.
    #[serde(skip)]
    Bytes(Vec<u8>),
}

impl EntryBody {
    /// Returns the bytes.
    pub(super) fn into_bytes(self) -> Result<Vec<u8>, Refusal> {
        match self {
            EntryBody::Text(text) => Ok(text.into_bytes()),
            EntryBody::Bytes(bytes) => Ok(bytes),
            EntryBody::Base64(text) => {
                let hint = "send it in base64 with padding";
                let decoded = STANDARD.decode(text);
                decoded.map_err(|error| Refusal::usage(&format!("the body: {error}"), hint))
            }
        }
    }
}

impl Verb for TraceAdd {
    type Answer = TraceAddView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<TraceAddView>, Refusal> {
        let agent = caller.agent(self.agent.as_deref())?;
        let kind = entry_kind(self.kind.as_deref().unwrap_or("log"))?;
        let body = self.body.into_bytes()?;
        let mut redactor = CallerRedactor::new(caller)?;
        redactor.refuse_text("the kind", kind.as_str())?;
        let body = redactor.bytes("the entry", body);
        let added = caller.space.add_trace(&agent, &kind, &body)?;
        let answer = TraceAddView {
            agent: agent.to_string(),
            kind: kind.to_string(),
            at: added.at.to_string(),
            bytes: body.len(),
            pending: added.n_pending,
        };
        Ok(Reply { notices: redactor.notices(), ..Reply::plain(answer) })
    }
}

/// Show the entries of an agent that are bound to no commit yet.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TracePending {
    /// The agent; else the caller's.
    pub agent: Option<String>,
}

impl Verb for TracePending {
    type Answer = Vec<EntryView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<EntryView>>, Refusal> {
        let agent = caller.agent(self.agent.as_deref())?;
        let mut entries = EntryView::whole(&caller.space.pending_trace(&agent)?);
        let aside = caller.space.pending_aside(&agent)?;
        entries.extend(aside.iter().flat_map(EntryView::of_aside));
        Ok(Reply::plain(entries))
    }
}

/// Show the trace that is bound to a commit, or to an agent's newest commit that has one.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceShow {
    /// A commit, an agent (`REMOTE/NAME` for a remote's) or the id of a trace.
    pub id: String,
}

impl Verb for TraceShow {
    type Answer = TraceView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<TraceView>, Refusal> {
        let notices = settle_named(caller.space, &self.id)?;
        let (shown, proof) = self.find(caller)?;
        let how = (proof != OriginProof::Exact).then(|| proof.as_str().to_owned());
        let view = TraceView { how, ..TraceView::from(&shown) };
        Ok(Reply { notices, ..Reply::plain(view) })
    }
}

impl TraceShow {
    /// Finds the trace, and tells how; by its id or by an agent it is found exactly.
    fn find(&self, caller: &Caller<'_>) -> Result<(ShownTrace, OriginProof), Refusal> {
        let (space, id) = (caller.space, self.id.as_str());
        let exact = |shown| Ok((shown, OriginProof::Exact));
        if let Ok(agent) = AgentName::parse(id)
            && space.head(&agent).is_ok()
        {
            return exact(space.trace_of_branch(&AgentBranch::here(agent))?);
        }
        if let Some(branch) = space.remote_branch(id)? {
            return exact(space.trace_of_branch(&branch)?);
        }
        if let Ok(agent) = AgentName::parse(id)
            && let Some(entry) = space.archived_agent(&agent)?
        {
            return exact(space.trace_of_archived(&entry.archived)?);
        }
        if id.starts_with(Cid::PREFIX) {
            return exact(space.trace_by_cid(space.find_object(id)?, None)?);
        }
        of_commit(space, space.repository().resolve_commit(id)?)
    }
}

/// Finds the trace of a commit: by the note of the agent whose it says to be, which is looked up, else
/// by all that is known of commits that were rewritten.
fn of_commit(space: &Space, commit: Oid) -> Result<(ShownTrace, OriginProof), Refusal> {
    let claimed = Claims::read(&space.read_commit(commit)?.message).agent;
    if let Some(agent) = claimed {
        if let Some(cid) = space.bound_trace(&agent, commit)? {
            // Its own notes keep it, as a rule: nobody else's are looked through.
            let shown = space.trace_on_branch(&AgentBranch::here(agent), cid, commit)?;
            return Ok((shown, OriginProof::Exact));
        }
        if let Some(shown) = at_home(space, &agent, commit)? {
            return Ok((shown, OriginProof::Exact));
        }
    }
    let origin = CommitOrigins::new(space).find(commit)?;
    let Some(CommitOrigin { proof, traces, .. }) = origin else {
        return Ok((space.trace_of_commit(commit)?, OriginProof::Exact));
    };
    let cids: BTreeSet<Cid> = traces.iter().map(|noted| noted.cid).collect();
    match cids.iter().collect::<Vec<_>>().as_slice() {
        [] => Ok((space.trace_of_commit(commit)?, OriginProof::Exact)),
        [only] => {
            let noted = traces.iter().find(|noted| noted.cid == **only);
            let notes = noted.map(|noted| noted.notes);
            Ok((space.trace_in_notes(notes, **only, commit)?, proof))
        }
        [_, _, ..] => {
            let named = traces.iter().map(|noted| format!("`{}` of `{}`", noted.cid, noted.agent));
            let named = named.collect::<Vec<_>>().join(", ");
            let message = format!("several traces are as good for commit `{commit}`: {named}");
            Err(Refusal::conflict(&message, "show one of them by its id"))
        }
    }
}

/// Finds the trace of a commit that stands on the branch of a remote's agent or of an archived one, by the
/// notes that came with it.
fn at_home(space: &Space, agent: &AgentName, commit: Oid) -> Result<Option<ShownTrace>, Refusal> {
    let Some(home) = space.home_of_commit(agent, commit)? else { return Ok(None) };
    let tip = home.notes_tip(space)?;
    let note = space.repository().notes_at(tip)?.note(commit)?;
    let Some(cid) = note.as_deref().and_then(cid_in_note) else { return Ok(None) };
    Ok(Some(space.trace_in_notes(tip, cid, commit)?))
}

/// Bind the pending entries to a commit that the agent has already made.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceAttach {
    /// The commit.
    pub commit: String,
    /// The agent; else the caller's.
    #[serde(default)]
    pub agent: Option<String>,
}

impl Verb for TraceAttach {
    type Answer = AttachView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<AttachView>, Refusal> {
        let agent = caller.agent(self.agent.as_deref())?;
        let commit = caller.space.repository().resolve_commit(&self.commit)?;
        let attached = caller.space.attach_trace(&agent, commit)?;
        Ok(Reply::written(AttachView::from(&attached), &attached.written))
    }
}

/// List the traces that a commit has had, newest first.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceHistory {
    /// The commit.
    pub commit: String,
}

impl Verb for TraceHistory {
    type Answer = Vec<BindingView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<BindingView>>, Refusal> {
        let commit = caller.space.repository().resolve_commit(&self.commit)?;
        let bindings = caller.space.trace_history(commit)?;
        Ok(Reply::plain(bindings.iter().map(BindingView::from).collect()))
    }
}

/// How many bindings are held against each other.
const BINDINGS_MAX: usize = 50;

/// List the traces that a commit has had, newest first, with what each added and left out.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceBindings {
    /// The commit.
    pub commit: String,
}

impl Verb for TraceBindings {
    type Answer = Vec<TraceBindingView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<TraceBindingView>>, Refusal> {
        let mut bindings = TraceHistory { commit: self.commit }.run(caller)?.answer;
        bindings.truncate(BINDINGS_MAX);
        let read = |cid: &str| {
            let (shown, _) = TraceShow { id: cid.to_owned() }.find(caller).ok()?;
            Some(EntryView::whole(&shown.trace.entries))
        };
        Ok(Reply::plain(TraceBindingView::compare(bindings, read)))
    }
}

fn entry_kind(text: &str) -> Result<Kind, Refusal> {
    let hint = "a kind has lower-case letters, digits and `-`";
    Kind::parse(text).map_err(|error| Refusal::usage(&error.to_string(), hint))
}
