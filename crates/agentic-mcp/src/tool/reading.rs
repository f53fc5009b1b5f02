//! Tools that read.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use agentic_api::verb::{
    AskQuery, ListAgents, ListCommits, ListRelations, LogTraces, PendingHolds, SEARCH_LIMIT_MAX,
    SearchTexts, SessionList, SessionShow, Show, TraceShow,
};
use agentic_api::{Refusal, Reply, Verb as _};
use agentic_model::AgentName;
use agentic_resident::ResidentClient;
use serde_json::{Value as Json, json};

use super::{ToolAct, ToolCaller, ToolEffect, ToolOffer};
use crate::answer::ToolAnswer;
use crate::field::FieldKind::{Flag, Limit, Map, Position, Text};
use crate::field::{ToolArguments, ToolField, optional, required};
use crate::page::PageRequest;
use crate::resource;
use crate::resource::ResourceName;
use crate::schema::AnswerShape;

const LIMIT: ToolField = optional("limit", Limit, "At most so many; 50 without");
const AFTER: ToolField = optional("after", Text, "The `next` of the page before");

/// The tools that read.
pub const TOOLS: &[ToolOffer] = &[
    ToolOffer {
        name: "agents",
        about: "List the agents: branches on which somebody works, those of remotes last.",
        effect: ToolEffect::Reads,
        fields: &[LIMIT, AFTER],
        shape: AnswerShape::PageOf("agents"),
        act: ToolAct::Answer(agents),
    },
    ToolOffer {
        name: "agent",
        about: "Show one agent: where its branch is, who it came from, what it did last.",
        effect: ToolEffect::Reads,
        fields: &[required("agent", Text, "The agent")],
        shape: AnswerShape::ItemOf("agents"),
        act: ToolAct::Answer(agent),
    },
    ToolOffer {
        name: "log",
        about: "List an agent's own commits, newest first.",
        effect: ToolEffect::Reads,
        fields: &[
            optional("agent", Text, "The agent, or REMOTE/NAME; the server's own without"),
            optional("kind", Text, "Only commits of this kind, or of one that specialises it"),
            LIMIT,
            AFTER,
        ],
        shape: AnswerShape::PageOf("log"),
        act: ToolAct::Answer(log),
    },
    ToolOffer {
        name: "show",
        about: "Show a commit, an object or an agent.",
        effect: ToolEffect::Reads,
        fields: &[required("id", Text, "A commit, an object's id or a prefix of it, or an agent")],
        shape: AnswerShape::Of("show"),
        act: ToolAct::Answer(show),
    },
    ToolOffer {
        name: "trace",
        about: "Show what an agent saw and said before a commit. A long trace has `next`.",
        effect: ToolEffect::Reads,
        fields: &[required("id", Text, "A commit, an agent, or the id of a trace"), LIMIT, AFTER],
        shape: AnswerShape::Of("trace-show"),
        act: ToolAct::Answer(trace),
    },
    ToolOffer {
        name: "relations",
        about: "List what holds between agents: who came from whom, who reviews, who was merged.",
        effect: ToolEffect::Reads,
        fields: &[
            optional("of", Text, "Only what this agent or person is part of"),
            optional("kind", Text, "Only this relation"),
            LIMIT,
            AFTER,
        ],
        shape: AnswerShape::PageOf("relations"),
        act: ToolAct::Answer(relations),
    },
    ToolOffer {
        name: "sessions",
        about: "List sessions, durable runs of programs, oldest first.",
        effect: ToolEffect::Reads,
        fields: &[optional("agent", Text, "Only of this agent"), LIMIT, AFTER],
        shape: AnswerShape::PageOf("session-list"),
        act: ToolAct::Answer(sessions),
    },
    ToolOffer {
        name: "session",
        about: "Show a session with everything it asked. A long one has `next`.",
        effect: ToolEffect::Reads,
        fields: &[
            required("session", Text, "An id or a prefix of it, or an agent"),
            optional("at", Position, "As it stood after so many records"),
            LIMIT,
            AFTER,
        ],
        shape: AnswerShape::Of("session-show"),
        act: ToolAct::Answer(session),
    },
    ToolOffer {
        name: "pending",
        about: "List the questions that wait for a person, oldest first. Only a person answers them.",
        effect: ToolEffect::Reads,
        fields: &[
            optional("agent", Text, "Only of this agent, and of those that descend from it"),
            optional("kind", Text, "Only requests of this kind"),
            optional("assignee", Text, "Only what this principal may decide, such as user:ada"),
            optional("overdue", Flag, "Only what is overdue"),
            LIMIT,
            AFTER,
        ],
        shape: AnswerShape::PageOf("pending"),
        act: ToolAct::Answer(pending),
    },
    ToolOffer {
        name: "search",
        about: "Find words in traces, messages, briefings, decisions and sessions, newest first.",
        effect: ToolEffect::Reads,
        fields: &[
            required(
                "query",
                Text,
                "Words that must all occur, \"phrases\", -unwanted words, begin*, and filters: agent:, \
                 under:, kind:, in:, by:, after:, before:",
            ),
            LIMIT,
            AFTER,
        ],
        shape: AnswerShape::Of("search"),
        act: ToolAct::Answer(search),
    },
    ToolOffer {
        name: "query",
        about: "Answer a query in Datalog over all facts, one at a time. Long answers have `next`.",
        effect: ToolEffect::Reads,
        fields: &[
            optional("text", Text, "One query, or rules and queries"),
            optional("named", Text, "The rules to ask instead of a text"),
            optional("params", Map, "Values of parameters, by name"),
            LIMIT,
            AFTER,
        ],
        shape: AnswerShape::Of("query"),
        act: ToolAct::Answer(query),
    },
];

fn agents(call: &ToolCaller<'_>, mut given: ToolArguments) -> Result<ToolAnswer, Refusal> {
    let mut notices = Vec::new();
    let lines = ListAgents {}.lines(&call.caller)?;
    let sound = lines.filter_map(|line| match line {
        Ok(line) => Some(Ok(line)),
        Err(damaged) => {
            notices.push(damaged.sentence());
            None
        }
    });
    let page = PageRequest::of(&mut given).page(sound, &["agent"])?;
    Ok(ToolAnswer { notices, ..ToolAnswer::of(page) })
}

fn agent(call: &ToolCaller<'_>, mut given: ToolArguments) -> Result<ToolAnswer, Refusal> {
    let found = resource::agent(&call.caller, &given.given_text("agent"))?;
    let uri = format!("agent://{}", found.agent);
    Ok(ToolAnswer::of_reply(Reply::plain(found))?.at(uri))
}

fn log(call: &ToolCaller<'_>, mut given: ToolArguments) -> Result<ToolAnswer, Refusal> {
    let page = PageRequest::of(&mut given);
    let (agent, kind) = (given.text("agent"), given.text("kind"));
    let branch = call.caller.branch(agent.as_deref())?;
    // The resource has the newest commits of an agent here, of any kind.
    let is_beginning = page.after.is_none() && kind.is_none();
    let resource = ResourceName::parse(&format!("agent://{branch}/log"));
    let uri = resource.filter(|_| is_beginning).map(|_| format!("agent://{branch}/log"));
    let verb = ListCommits { agent, kind, limit: None };
    let commits = verb.commits(&call.caller, LogTraces::Left)?.map(|commit| Ok(commit?.view));
    let answer = ToolAnswer::of(page.page(commits, &["commit"])?);
    Ok(ToolAnswer { resource: uri, ..answer })
}

fn show(call: &ToolCaller<'_>, mut given: ToolArguments) -> Result<ToolAnswer, Refusal> {
    let answer = ToolAnswer::of_reply(Show { id: given.given_text("id") }.run(&call.caller)?)?;
    let id = answer.data["id"].as_str().unwrap_or_default().to_owned();
    let scheme = answer.data["what"].as_str().unwrap_or_default().to_owned();
    Ok(answer.at(format!("{scheme}://{id}")))
}

fn trace(call: &ToolCaller<'_>, mut given: ToolArguments) -> Result<ToolAnswer, Refusal> {
    let page = PageRequest::of(&mut given);
    let verb = TraceShow { id: given.given_text("id") };
    let mut answer = ToolAnswer::of_reply(verb.run(&call.caller)?)?;
    let whole = answer.data.clone();
    let cid = answer.data["cid"].as_str().unwrap_or_default().to_owned();
    // An agent's newest trace is another one later.
    cut(&page.within(&cid)?, &mut answer.data, "entries")?;
    if let Some(next) = answer.data.get("next").and_then(Json::as_str) {
        answer.data["next"] = json!(format!("{next}@{cid}"));
    }
    let uri = format!("trace://{cid}");
    Ok(answer.at_whole(uri, &whole))
}

fn relations(call: &ToolCaller<'_>, mut given: ToolArguments) -> Result<ToolAnswer, Refusal> {
    let page = PageRequest::of(&mut given);
    let verb = ListRelations { of: given.text("of"), kind: given.text("kind") };
    let found = verb.run(&call.caller)?.answer;
    let called = ["source", "relation", "target", "derived"];
    page.page(found.into_iter().map(Ok), &called).map(ToolAnswer::of)
}

fn sessions(call: &ToolCaller<'_>, mut given: ToolArguments) -> Result<ToolAnswer, Refusal> {
    let page = PageRequest::of(&mut given);
    let found = SessionList { agent: given.text("agent") }.run(&call.caller)?;
    let notices = found.notices.iter().map(agentic_api::Notice::sentence).collect();
    let data = page.page(found.answer.into_iter().map(Ok), &["session"])?;
    Ok(ToolAnswer { notices, ..ToolAnswer::of(data) })
}

fn session(call: &ToolCaller<'_>, mut given: ToolArguments) -> Result<ToolAnswer, Refusal> {
    let page = PageRequest::of(&mut given);
    let verb = SessionShow { session: given.given_text("session"), at: given.number("at") };
    let mut answer = ToolAnswer::of_reply(verb.run(&call.caller)?)?;
    let whole = answer.data.clone();
    cut(&page, &mut answer.data, "requests")?;
    let uri = format!("session://{}", answer.data["session"].as_str().unwrap_or_default());
    Ok(answer.at_whole(uri, &whole))
}

fn pending(call: &ToolCaller<'_>, mut given: ToolArguments) -> Result<ToolAnswer, Refusal> {
    let page = PageRequest::of(&mut given);
    let verb = PendingHolds {
        agent: given.text("agent"),
        kind: given.text("kind"),
        assignee: given.text("assignee"),
        overdue: given.flag("overdue"),
        peer: None,
    };
    let found = verb.run(&call.caller)?;
    let notices = found.notices.iter().map(agentic_api::Notice::sentence).collect();
    let data = page.page(found.answer.into_iter().map(Ok), &["request"])?;
    Ok(ToolAnswer { notices, ..ToolAnswer::of(data) })
}

fn search(call: &ToolCaller<'_>, mut given: ToolArguments) -> Result<ToolAnswer, Refusal> {
    let page = PageRequest::of(&mut given);
    // One more than the page says whether there is another; what stands before it is passed over.
    let limit = if page.after.is_some() { SEARCH_LIMIT_MAX } else { page.limit + 1 };
    let verb = SearchTexts { query: given.given_text("query"), limit: Some(limit) };
    let layout = call.caller.space.repository().layout();
    let mut reply = match ResidentClient::search(layout, &verb) {
        Some(found) => Reply::plain(found),
        None => verb.run(&call.caller)?,
    };
    let items = std::mem::take(&mut reply.answer.items).into_iter().map(Ok);
    let mut found = page.page(items, &["in", "id", "agent", "commit", "n", "pending"])?;
    let mut answer = ToolAnswer::of_reply(reply)?;
    answer.data["items"] = found["items"].take();
    let next = found["next"].as_str().map(str::to_owned);
    if next.is_some() {
        answer.data["more"] = json!(true);
    }
    name_next(&mut answer.data, next);
    Ok(answer)
}

fn query(call: &ToolCaller<'_>, mut given: ToolArguments) -> Result<ToolAnswer, Refusal> {
    let page = PageRequest::of(&mut given);
    let (text, named) = (given.text("text"), given.text("named"));
    if text.is_some() == named.is_some() {
        return Err(Refusal::usage(
            "a query has either `text` or `named`",
            "send `text` such as `? commit(agent: A, kind: finding).`, or the name of rules",
        ));
    }
    let param = |(name, value): (String, Json)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (name, text)
    };
    let params: BTreeMap<String, String> =
        given.map("params").unwrap_or_default().into_iter().map(param).collect();
    let text = text.unwrap_or_default();
    let verb = AskQuery { text, named, params, ..AskQuery::default() };
    let asker = call.access.agent.as_ref().map_or("nobody", AgentName::as_str);
    // One takes five seconds at most: who gives the call up waits for no longer.
    let reply = call.queries.ask(asker, verb, &call.caller, &AtomicBool::new(false))?;
    let mut answer = ToolAnswer::of_reply(reply)?;
    let answers = answer.data["answers"].as_array_mut().into_iter().flatten();
    let mut rows: Vec<_> = answers.filter_map(|answer| answer["rows"].as_array_mut()).collect();
    let next = page.cut(&mut rows)?;
    name_next(&mut answer.data, next);
    Ok(answer)
}

/// Cuts a list inside of an answer to the page that is wanted.
fn cut(page: &PageRequest, data: &mut Json, list: &str) -> Result<(), Refusal> {
    let Some(items) = data.get_mut(list).and_then(Json::as_array_mut) else { return Ok(()) };
    let next = page.cut(&mut [items])?;
    name_next(data, next);
    Ok(())
}

fn name_next(data: &mut Json, next: Option<String>) {
    if let Some(next) = next {
        data["next"] = json!(next);
    }
}
