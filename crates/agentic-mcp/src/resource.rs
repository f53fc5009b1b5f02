//! What is stored, as resources: which there are, and how one is read.

use agentic_api::verb::{
    AgentLine, HoldQuestion, ListAgents, ListCommits, ObjectGet, PendingHolds, SessionShow, Show,
    ShowBriefing, TraceShow,
};
use agentic_api::view::{AgentView, ShowView, visible_line};
use agentic_api::{Caller, Refusal, Verb as _};
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde::Serialize;
use serde_json::Value as Json;

use crate::page::{LIMIT_MAX, PageRequest};

/// How many agents are listed.
const AGENTS_LISTED_MAX: usize = 100;
/// How many open holds are listed, the oldest first.
const HOLDS_LISTED_MAX: usize = 1000;
/// How much of a text describes a resource, in characters.
const DESCRIPTION_CHARS_MAX: usize = 200;
/// The form of most resources.
const JSON: &str = "application/json";

/// What a resource is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResourceName {
    /// An agent.
    Agent(String),
    /// What an agent did.
    Log(String),
    /// What an agent was asked to do.
    Briefing(String),
    /// A commit.
    Commit(String),
    /// A trace.
    Trace(String),
    /// A session.
    Session(String),
    /// An open hold.
    Hold(String),
    /// A typed object.
    Object(String),
}

/// The forms of names, each with what stands there.
const TEMPLATES: [(&str, &str, &str, &str); 8] = [
    ("agent://{name}", "agent", "An agent: where its branch is, who it came from", JSON),
    ("agent://{name}/log", "log", "The newest commits of an agent", JSON),
    ("agent://{name}/briefing", "briefing", "What an agent was asked to do", "text/plain"),
    ("commit://{oid}", "commit", "A commit with its kind and fields", JSON),
    ("trace://{cid}", "trace", "What an agent saw and said before a commit", JSON),
    ("session://{id}", "session", "A run with everything that it asked", JSON),
    ("hold://{request}", "hold", "A question that waits for a person", JSON),
    ("object://{cid}", "object", "A typed object", JSON),
];

impl ResourceName {
    /// Reads a name; nothing, if it is none of ours.
    pub fn parse(uri: &str) -> Option<ResourceName> {
        let (scheme, rest) = uri.split_once("://")?;
        let is_plain = |id: &str| {
            (1..=256).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
        };
        let (id, part) = rest.split_once('/').map_or((rest, None), |(id, part)| (id, Some(part)));
        let id = Some(id).filter(|id| is_plain(id))?.to_owned();
        match (scheme, part) {
            ("agent", None) => Some(ResourceName::Agent(id)),
            ("agent", Some("log")) => Some(ResourceName::Log(id)),
            ("agent", Some("briefing")) => Some(ResourceName::Briefing(id)),
            ("commit", None) => Some(ResourceName::Commit(id)),
            ("trace", None) => Some(ResourceName::Trace(id)),
            ("session", None) => Some(ResourceName::Session(id)),
            ("hold", None) => Some(ResourceName::Hold(id)),
            ("object", None) => Some(ResourceName::Object(id)),
            (_, Some(_) | None) => None,
        }
    }

    /// Reads the resource.
    ///
    /// # Errors
    /// Fails when there is none, and when it cannot be read.
    pub fn read(&self, caller: &Caller<'_>) -> Result<ResourceText, Refusal> {
        match self {
            ResourceName::Agent(name) => Ok(ResourceText::json(&agent(caller, name)?)),
            ResourceName::Log(name) => {
                let agent = Some(name.clone());
                let verb = ListCommits { agent, ..ListCommits::default() };
                let commits = verb.commits(caller, agentic_api::verb::LogTraces::Left)?;
                let views = commits.map(|commit| Ok(commit?.view));
                let page = PageRequest { limit: LIMIT_MAX, after: None };
                Ok(ResourceText::json(&page.page(views, &["commit"])?))
            }
            ResourceName::Briefing(name) => {
                let verb = ShowBriefing { agent: Some(name.clone()) };
                let text = verb.read(caller)?.text()?;
                Ok(ResourceText { text, form: "text/plain" })
            }
            ResourceName::Commit(id) | ResourceName::Object(id) => {
                let what = matches!(self, ResourceName::Commit(_));
                let shown = Show { id: id.clone() }.run(caller)?.answer;
                match (&shown, what) {
                    (ShowView::Commit { .. }, true) => Ok(ResourceText::json(&shown)),
                    (ShowView::Object { .. }, false) => {
                        let object = ObjectGet { cid: id.clone() }.run(caller)?.answer;
                        Ok(ResourceText::json(&object))
                    }
                    (
                        ShowView::Agent { .. } | ShowView::Object { .. } | ShowView::Commit { .. },
                        _,
                    ) => Err(unknown(id)),
                }
            }
            ResourceName::Trace(id) => {
                Ok(ResourceText::json(&TraceShow { id: id.clone() }.run(caller)?.answer))
            }
            ResourceName::Session(id) => {
                let verb = SessionShow { session: id.clone(), at: None };
                Ok(ResourceText::json(&verb.run(caller)?.answer))
            }
            ResourceName::Hold(request) => {
                let verb = HoldQuestion { request: request.clone(), node: None };
                Ok(ResourceText::json(&verb.run(caller)?.answer))
            }
        }
    }
}

/// A resource that was read.
#[derive(Debug)]
pub struct ResourceText {
    /// Its text.
    pub text: String,
    /// The form of the text.
    pub form: &'static str,
}

impl ResourceText {
    fn json<V: Serialize>(view: &V) -> ResourceText {
        let text = serde_json::to_string(view).expect("views have text keys");
        ResourceText { text, form: JSON }
    }

    /// Returns it under its name.
    pub fn contents(self, uri: &str) -> ResourceContents {
        ResourceContents::text(self.text, uri).with_mime_type(self.form)
    }

    /// Returns what of it says that something happened: a clock alone changes nothing.
    pub fn lasting(&self) -> String {
        let Ok(mut data) = serde_json::from_str::<Json>(&self.text) else {
            return self.text.clone();
        };
        still(&mut data);
        data.to_string()
    }
}

/// Takes out what changes by itself.
fn still(data: &mut Json) {
    match data {
        Json::Object(map) => {
            map.remove("age_ms");
            if map.contains_key("shown") {
                map.remove("at");
            }
            map.values_mut().for_each(still);
        }
        Json::Array(items) => items.iter_mut().for_each(still),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// Reads an agent.
///
/// # Errors
/// Fails when there is none of that name here.
pub fn agent(caller: &Caller<'_>, name: &str) -> Result<AgentView, Refusal> {
    let named = agentic_api::chosen_agent(Some(name), None)?;
    // Of what is no agent it is said that there is no agent, whatever else has such a name.
    caller.space.branch_head(&caller.branch(Some(name))?)?;
    let shown = Show { id: named.map_or_else(String::new, |name| name.to_string()) };
    match shown.run(caller)?.answer {
        ShowView::Agent { agent, .. } => Ok(agent),
        ShowView::Object { .. } | ShowView::Commit { .. } => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> Refusal {
    Refusal::refused(&format!("there is no `{name}` here"), "`agents` and `log` list what there is")
}

/// Lists the newest agents and the open holds.
///
/// # Errors
/// Fails when they cannot be read.
pub fn list(caller: &Caller<'_>) -> Result<Vec<Resource>, Refusal> {
    let mut agents = Vec::new();
    let lines = ListAgents {}.lines(caller)?;
    for line in lines {
        match line {
            Ok(AgentLine::Here(agent)) => agents.push(agent),
            // The tool `agents` says which are damaged.
            Ok(AgentLine::Remote(_)) | Err(_) => {}
        }
    }
    agents.sort_by(|left, right| right.at.cmp(&left.at).then(left.agent.cmp(&right.agent)));
    agents.truncate(AGENTS_LISTED_MAX);
    let named = |agent: &AgentView| {
        let uri = format!("agent://{}", agent.agent);
        Resource::new(uri, &agent.agent)
            .with_description(described(&agent.subject))
            .with_mime_type(JSON)
    };
    let mut resources: Vec<Resource> = agents.iter().map(named).collect();
    for hold in PendingHolds::default().run(caller)?.answer.into_iter().take(HOLDS_LISTED_MAX) {
        let (uri, name) = (format!("hold://{}", hold.request), format!("hold {}", hold.request));
        let about =
            format!("{} asks: {}", hold.agent, hold.question.as_ref().unwrap_or(&hold.kind));
        let hold = Resource::new(uri, name).with_description(described(&about));
        let hold = hold.with_mime_type(JSON);
        resources.push(hold);
    }
    Ok(resources)
}

/// Says what a resource is about, in one short line.
fn described(text: &str) -> String {
    let line = visible_line(text);
    match line.char_indices().nth(DESCRIPTION_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Lists the forms of names.
pub fn templates() -> Vec<ResourceTemplate> {
    let template = |(uri, name, about, form): (&str, &str, &str, &str)| {
        ResourceTemplate::new(uri, name).with_description(about).with_mime_type(form)
    };
    TEMPLATES.into_iter().map(template).collect()
}

/// Returns what a form of names leaves open; nothing, if it is none of ours.
pub fn placeholder(form: &str) -> Option<&'static str> {
    let (form, ..) = TEMPLATES.iter().find(|(known, ..)| *known == form)?;
    Some(form.split_once('{')?.1.split_once('}')?.0)
}

#[cfg(test)]
mod tests {
    use super::ResourceName;

    #[test]
    fn names_are_read_and_others_are_none() {
        let name = |uri| ResourceName::parse(uri);
        assert_eq!(name("agent://alice"), Some(ResourceName::Agent("alice".to_owned())));
        assert_eq!(name("agent://alice/log"), Some(ResourceName::Log("alice".to_owned())));
        assert_eq!(name("hold://ab.cd"), Some(ResourceName::Hold("ab.cd".to_owned())));
        let long = format!("agent://{}", "a".repeat(10_000));
        for uri in
            ["", "agent://", "agent:alice", "agent://a/b", "commit://a/log", "agent://a b", &long]
        {
            assert_eq!(name(uri), None, "{uri:.40}");
        }
    }
}
