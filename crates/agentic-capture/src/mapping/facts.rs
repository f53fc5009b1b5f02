//! What the lines of a transcript say about their conversation.

use std::collections::BTreeSet;

use agentic_model::{Instant, Map, Value};

use crate::entry::floor;

/// Says whether the last line was a copy of another conversation's.
pub(crate) const COPIES: &str = "copies";
/// The conversations of which lines may be copies without saying so, while some still are.
const COPIED_FROM: &str = "copied_from";
/// How many folders of one conversation are remembered.
const FOLDERS_MAX: usize = 64;
/// How many subagents of one conversation are remembered.
const CHILDREN_MAX: usize = 1024;
/// The longest text of a fact, in bytes.
const FACT_BYTES_MAX: usize = 4096;

/// What is known about a conversation: the first answer that its lines give to each question.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationFacts {
    said: Map,
    folders: BTreeSet<String>,
    first_at: Option<Instant>,
    last_at: Option<Instant>,
    /// Calls that start subagents, and of what type, until their results name them; then the
    /// subagents.
    calls: Map,
    children: Map,
}

impl ConversationFacts {
    /// Knows nothing but whose transcript it is.
    pub(crate) fn new(subagent: Option<&str>) -> ConversationFacts {
        let said = subagent.map(|id| ("subagent".to_owned(), Value::text(id)));
        ConversationFacts {
            said: said.into_iter().collect(),
            folders: BTreeSet::new(),
            first_at: None,
            last_at: None,
            calls: Map::new(),
            children: Map::new(),
        }
    }

    /// All that was said, by its name in the source.
    pub fn said(&self) -> &Map {
        &self.said
    }

    /// The folder in which the conversation began.
    pub fn cwd(&self) -> Option<&str> {
        self.text("cwd")
    }

    /// All folders that its lines name.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        self.folders.iter().map(String::as_str)
    }

    /// The branch that was checked out when it began.
    pub fn branch(&self) -> Option<&str> {
        self.text("branch").or_else(|| self.git("branch"))
    }

    /// The commit that was checked out when it began.
    pub fn commit(&self) -> Option<&str> {
        self.text("commit").or_else(|| self.git("commit_hash"))
    }

    /// The address of the repository in which it took place.
    pub fn repository_url(&self) -> Option<&str> {
        self.git("repository_url")
    }

    /// The conversation of which it is a fork.
    pub fn forked_from(&self) -> Option<&str> {
        self.text("forked_from_id")
    }

    /// The conversation of which the last line is a copy, if it is one.
    pub fn copies_of(&self) -> Option<&str> {
        let copies = self.said.get(COPIES).and_then(Value::as_bool).unwrap_or(false);
        self.forked_from().filter(|_| copies)
    }

    /// The conversations of which lines may be copies, though they do not say so.
    pub fn copied_from(&self) -> impl Iterator<Item = &str> {
        let names = self.said.get(COPIED_FROM).and_then(Value::as_list).unwrap_or_default();
        names.iter().filter_map(Value::as_text)
    }

    /// The conversation that started this one.
    pub fn parent(&self) -> Option<&str> {
        self.text("parent_thread_id")
    }

    /// Which subagent's transcript it is, if it is one's.
    pub fn subagent(&self) -> Option<&str> {
        self.text("subagent")
    }

    /// How people call the conversation.
    pub fn title(&self) -> Option<&str> {
        self.text("title")
    }

    /// The model that spoke first.
    pub fn model(&self) -> Option<&str> {
        self.text("model")
    }

    /// The time of the first line that has one.
    pub fn first_at(&self) -> Option<Instant> {
        self.first_at
    }

    /// The subagents that results have named: their id, the call that started them and their type.
    pub fn children(&self) -> impl Iterator<Item = (&str, &str, Option<&str>)> {
        self.children.iter().map(|(id, child)| {
            let call = child.get("call").and_then(Value::as_text).unwrap_or_default();
            (id.as_str(), call, child.get("type").and_then(Value::as_text))
        })
    }

    /// The time of the last line that has one; the beginning of time before that.
    pub(crate) fn last_at(&self) -> Instant {
        self.last_at.unwrap_or(Instant::from_millis(0))
    }

    pub(crate) fn saw_time(&mut self, at: Instant) {
        self.first_at.get_or_insert(at);
        self.last_at = Some(at);
    }

    /// Notes of which conversations lines may be copies; of none once they are over.
    pub(crate) fn copies_from<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        let names: Vec<Value> = names.map(Value::text).collect();
        match names.is_empty() {
            true => drop(self.said.remove(COPIED_FROM)),
            false => self.replace(COPIED_FROM, Value::List(names)),
        }
    }

    /// Takes an answer, if it is the first.
    pub(crate) fn first(&mut self, name: &str, answer: Option<&str>) {
        if let Some(answer) = answer.filter(|_| !self.said.contains_key(name)) {
            self.replace(name, Value::text(&answer[..floor(answer, FACT_BYTES_MAX)]));
        }
    }

    /// Takes an answer that is no text, if it is the first.
    pub(crate) fn first_value(&mut self, name: &str, answer: Value) {
        if !self.said.contains_key(name) {
            self.replace(name, answer);
        }
    }

    /// Counts one more.
    pub(crate) fn count(&mut self, name: &str) {
        let count = self.said.get(name).and_then(Value::as_int).unwrap_or(0);
        self.replace(name, Value::Int(count + 1));
    }

    /// Takes an answer in the place of the one before.
    pub(crate) fn replace(&mut self, name: &str, answer: Value) {
        self.said.insert(name.to_owned(), answer);
    }

    /// Notes a folder that a line names.
    pub(crate) fn saw_folder(&mut self, folder: Option<&str>) {
        self.first("cwd", folder);
        let Some(folder) = folder.filter(|folder| folder.len() <= FACT_BYTES_MAX) else { return };
        if self.folders.len() < FOLDERS_MAX && !self.folders.contains(folder) {
            self.folders.insert(folder.to_owned());
        }
    }

    /// Notes a call that starts a subagent of a type.
    pub(crate) fn saw_start(&mut self, call: &str, kind: &str) {
        if self.calls.len() < CHILDREN_MAX && call.len() + kind.len() <= FACT_BYTES_MAX {
            self.calls.insert(call.to_owned(), Value::text(kind));
        }
    }

    /// Notes which subagent a call has started.
    pub(crate) fn saw_child(&mut self, call: &str, id: &str) {
        let kind = self.calls.remove(call);
        if self.children.len() >= CHILDREN_MAX || call.len() + id.len() > FACT_BYTES_MAX {
            return;
        }
        let mut child = Map::from([("call".to_owned(), Value::text(call))]);
        child.extend(kind.map(|kind| ("type".to_owned(), kind)));
        self.children.entry(id.to_owned()).or_insert(Value::Map(child));
    }

    pub(crate) fn to_value(&self) -> Value {
        let time = |at: Option<Instant>| at.map_or(Value::Null, |at| Value::Int(at.millis()));
        Value::map([
            ("said", Value::Map(self.said.clone())),
            ("folders", Value::List(self.folders.iter().map(Value::text).collect())),
            ("first", time(self.first_at)),
            ("last", time(self.last_at)),
            ("calls", Value::Map(self.calls.clone())),
            ("children", Value::Map(self.children.clone())),
        ])
    }

    pub(crate) fn from_value(value: &Value) -> Option<ConversationFacts> {
        let map = |name: &str| value.get(name).and_then(Value::as_map).cloned();
        let time = |name: &str| value.get(name).and_then(Value::as_int).map(Instant::from_millis);
        let folders = value.get("folders")?.as_list()?.iter();
        Some(ConversationFacts {
            said: map("said")?,
            folders: folders.filter_map(Value::as_text).map(str::to_owned).collect(),
            first_at: time("first"),
            last_at: time("last"),
            calls: map("calls")?,
            children: map("children")?,
        })
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.said.get(name).and_then(Value::as_text)
    }

    fn git(&self, name: &str) -> Option<&str> {
        self.said.get("git").and_then(|git| git.get(name)).and_then(Value::as_text)
    }
}
