//! Tools that write, each as the server's own agent.

use agentic_api::verb::{
    BriefingSource, CheckoutPlace, Commit, CommitSource, EdgeChange, EntryBody, Relate,
    SessionCancel, SessionShow, Spawn, SpawnBeginning, TraceAdd,
};
use agentic_api::{Refusal, Verb as _};
use agentic_model::{Map as ValueMap, Value};
use serde_json::{Map as JsonMap, Value as Json};

use super::{BegunWork, ToolAct, ToolCaller, ToolEffect, ToolOffer};
use crate::answer::ToolAnswer;
use crate::field::FieldKind::{Data, Flag, Map, Text, Texts};
use crate::field::{ToolArguments, ToolField, optional, required};
use crate::schema::AnswerShape;

/// The most bytes of files in a call.
const FILES_BYTES_MAX: usize = 3 << 20;

const OWN: ToolField = optional("agent", Text, "The server's own agent; no other is taken");

/// The tools that write.
pub const TOOLS: &[ToolOffer] = &[
    ToolOffer {
        name: "spawn",
        about: "Make an agent: a branch with a briefing that says what it is to do.",
        effect: ToolEffect::Adds,
        fields: &[
            required("name", Text, "Lower-case letters, digits, `.`, `_` and `-`"),
            required("briefing", Text, "What it is to do"),
            optional("from", Text, "The agent whose sub-agent it is; the server's own without"),
        ],
        shape: AnswerShape::Of("spawn"),
        act: ToolAct::Answer(spawn),
    },
    ToolOffer {
        name: "commit",
        about: "Commit what the server's agent did: its worktree, or the files that are given.",
        effect: ToolEffect::Changes,
        fields: &[
            required("message", Text, "What was done, and why"),
            optional("kind", Text, "The kind, such as finding, refactor or test"),
            optional("fields", Map, "Open fields, such as {\"severity\": \"high\"}"),
            optional(
                "files",
                Map,
                "By path: a text, {\"base64\": …}, or null, which deletes; the worktree without",
            ),
            optional("expect", Text, "Refuse unless the branch is at this commit"),
            optional("trace", Flag, "Bind the pending trace to the commit"),
            OWN,
        ],
        shape: AnswerShape::Of("commit"),
        act: ToolAct::Answer(commit),
    },
    ToolOffer {
        name: "trace_add",
        about: "Append to what the server's agent saw and said. It is durable when this answers.",
        effect: ToolEffect::Adds,
        fields: &[
            optional("kind", Text, "What sort of thing happened; `log` without"),
            required("text", Text, "What it was"),
            OWN,
        ],
        shape: AnswerShape::Of("trace-add"),
        act: ToolAct::Answer(trace_add),
    },
    ToolOffer {
        name: "relate",
        about: "Say that the server's agent stands in a relation to another, or no longer does.",
        effect: ToolEffect::Settles,
        fields: &[
            required("relation", Text, "How, such as reviews"),
            required("target", Text, "To whom: an agent, or a person as user:NAME"),
            optional("retract", Flag, "It holds no longer"),
            OWN,
        ],
        shape: AnswerShape::Of("relate"),
        act: ToolAct::Answer(relate),
    },
    ToolOffer {
        name: "session_start",
        about: "Start a durable run of a program as the server's agent. The same program, input \
                and key are the same session. What it may not do by itself, it asks people for.",
        effect: ToolEffect::Runs,
        fields: &[
            optional("flow", Text, "The text of a flow script"),
            optional("stored", Text, "The id of a stored program instead"),
            optional("input", Data, "The input; null without"),
            optional("key", Text, "The start key; a fresh one without"),
            OWN,
        ],
        shape: AnswerShape::Of("session-start"),
        act: ToolAct::Begin(BegunWork::Session),
    },
    ToolOffer {
        name: "session_signal",
        about: "Send a session of the server's agent what it waits for with `suspend(NAME)`.",
        effect: ToolEffect::Runs,
        fields: &[
            required("session", Text, "An id or a prefix of it"),
            required("name", Text, "What it waits for"),
            optional("value", Data, "The value; null without"),
            OWN,
        ],
        shape: AnswerShape::Of("session-signal"),
        act: ToolAct::Begin(BegunWork::Signal),
    },
    ToolOffer {
        name: "session_cancel",
        about: "Stop a session of the server's agent, its children first.",
        effect: ToolEffect::Changes,
        fields: &[
            required("session", Text, "An id or a prefix of it"),
            required("reason", Text, "Why"),
            OWN,
        ],
        shape: AnswerShape::Of("session-cancel"),
        act: ToolAct::Answer(session_cancel),
    },
    ToolOffer {
        name: "ask_human",
        about: "Put a question before people. They answer elsewhere; `session` tells what they said.",
        effect: ToolEffect::Adds,
        fields: &[
            required("question", Text, "What is asked"),
            optional("choices", Texts, "The answers that are offered"),
            optional("schema", Map, "The JSON Schema of the value of an answer"),
            optional("payload", Data, "What is to be approved, or known besides"),
            optional("deadline", Text, "Until when, such as 2026-11-21T22:40:01Z"),
            OWN,
        ],
        shape: AnswerShape::Of("ask-human"),
        act: ToolAct::Ask,
    },
    ToolOffer {
        name: "decide",
        about: "Put an open hold before the person at this client, who fills in a form.",
        effect: ToolEffect::Changes,
        fields: &[required("request", Text, "The request, as `pending` lists it")],
        shape: AnswerShape::Of("decide"),
        act: ToolAct::Decide,
    },
];

fn spawn(call: &ToolCaller<'_>, mut given: ToolArguments) -> Result<ToolAnswer, Refusal> {
    let beginning = given.text("from").map_or(SpawnBeginning::Here, SpawnBeginning::Agent);
    let verb = Spawn {
        behaviour: None,
        private: false,
        name: given.given_text("name"),
        briefing: BriefingSource::Text(given.given_text("briefing")),
        beginning,
        worktree: CheckoutPlace::Nowhere,
    };
    ToolAnswer::of_reply(verb.run(&call.caller)?)
}

fn commit(call: &ToolCaller<'_>, mut given: ToolArguments) -> Result<ToolAnswer, Refusal> {
    let agent = call.access.writer(given.text("agent").as_deref())?;
    let files = given.map("files");
    check_files(files.as_ref())?;
    let verb = Commit {
        message: given.given_text("message"),
        agent: Some(agent.to_string()),
        kind: given.text("kind"),
        fields: fields(&mut given)?,
        trace: given.flag("trace"),
        source: files.map_or(CommitSource::Worktree, CommitSource::Edits),
        expect: given.text("expect"),
        allow_empty: false,
    };
    let answer = ToolAnswer::of_reply(verb.run(&call.caller)?)?;
    let uri = format!("commit://{}", answer.data["commit"].as_str().unwrap_or_default());
    Ok(answer.at(uri))
}

fn fields(given: &mut ToolArguments) -> Result<ValueMap, Refusal> {
    match given.value("fields")? {
        Some(Value::Map(map)) => Ok(map),
        Some(_) | None => Ok(ValueMap::new()),
    }
}

/// Refuses more than a call may carry.
fn check_files(files: Option<&JsonMap<String, Json>>) -> Result<(), Refusal> {
    let length = |(path, change): (&String, &Json)| {
        let content = match change {
            Json::String(text) => text.len(),
            Json::Object(form) => form.values().filter_map(Json::as_str).map(str::len).sum(),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) => 0,
        };
        path.len() + content
    };
    let n_bytes: usize = files.into_iter().flatten().map(length).sum();
    if n_bytes <= FILES_BYTES_MAX {
        return Ok(());
    }
    Err(Refusal::usage(
        &format!("the files have {n_bytes} bytes, more than a call may carry"),
        "write them into the agent's worktree and commit without `files`, or commit in parts",
    ))
}

fn trace_add(call: &ToolCaller<'_>, mut given: ToolArguments) -> Result<ToolAnswer, Refusal> {
    let agent = call.access.writer(given.text("agent").as_deref())?;
    let verb = TraceAdd {
        agent: Some(agent.to_string()),
        kind: given.text("kind"),
        body: EntryBody::Text(given.given_text("text")),
    };
    ToolAnswer::of_reply(verb.run(&call.caller)?)
}

fn relate(call: &ToolCaller<'_>, mut given: ToolArguments) -> Result<ToolAnswer, Refusal> {
    let source = call.access.writer(given.text("agent").as_deref())?.to_string();
    let verb = Relate {
        source,
        relation: given.given_text("relation"),
        target: given.given_text("target"),
        change: if given.flag("retract") { EdgeChange::Retract } else { EdgeChange::Assert },
    };
    ToolAnswer::of_reply(verb.run(&call.caller)?)
}

fn session_cancel(call: &ToolCaller<'_>, mut given: ToolArguments) -> Result<ToolAnswer, Refusal> {
    let session = own_session(call, &mut given)?;
    let verb = SessionCancel { session, kill: false, why: given.given_text("reason") };
    ToolAnswer::of_reply(verb.run(&call.caller)?)
}

/// Finds the session that is named, which must be one of the server's own agent.
///
/// # Errors
/// Fails when there is none, and when it is another agent's.
pub fn own_session(call: &ToolCaller<'_>, given: &mut ToolArguments) -> Result<String, Refusal> {
    let agent = call.access.writer(given.text("agent").as_deref())?;
    let verb = SessionShow { session: given.given_text("session"), at: None };
    let view = verb.run(&call.caller)?.answer;
    if view.agent == agent.as_str() {
        Ok(view.session)
    } else {
        Err(call.access.foreign(&view.agent))
    }
}
