//! Tasks that need no world: the built-in ones, and agents that make results up.
//!
//! The executor is a fold over requests: [`MockTasks`] holds the state, [`MockTasks::perform`]
//! answers one request. A host that replays a run folds the recorded requests again, in the order
//! of their answers, and has the same state.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use agentic_replay::{ProgramFailure, Request, RequestAnswer};

use crate::data::{Data, Integer, TooLarge, add, json};
use crate::program::{MOCK, answer};

/// The names of the built-in tasks.
pub const TASKS: &[&str] = &[
    "compare",
    "countdown",
    "draft",
    "extract_intent",
    "fallback_enrich",
    "flaky_fetch",
    "llm_complete",
    "merge_drafts",
    "research",
    "respond",
    "route",
];

/// Those of them that stand for a model, and are performed by one where models are asked.
pub const MODEL_TASKS: &[&str] = &["compare", "draft", "llm_complete", "research", "respond"];

/// Who performs a task that no agent is bound to.
const NOBODY: &str = "default-agent";

/// The built-in tasks of one run and what they remember.
#[derive(Debug, Clone, Default)]
pub struct MockTasks {
    /// How often each key of `flaky_fetch` has failed.
    failures: BTreeMap<String, u64>,
    /// Schemas of results, parsed once.
    schemas: HashMap<String, Arc<Data>>,
}

/// Why a task failed: the class of its error, and what it says.
type MockFailure = (&'static str, String);

/// The arguments of a task and who performs it.
struct MockInput<'a> {
    args: &'a Data,
    who: &'a str,
}

impl MockTasks {
    /// Answers a request of kind `mock`. Nothing for other kinds, and for tasks that are not built
    /// in.
    pub fn perform(&mut self, request: &Request) -> Option<RequestAnswer> {
        if request.kind != MOCK {
            return None;
        }
        let text = |key: &str| request.payload.get(key)?.as_text();
        let (task, args) = (text("task")?, text("args")?);
        let who = text("agent").unwrap_or(NOBODY);
        let args = match json::from_text(args) {
            Ok(args) => args,
            Err(error) => return Some(failed(("ValueError", error.to_string()))),
        };
        let input = MockInput { args: &args, who };
        let result = match text("result") {
            Some(schema) => self.make_up(task, schema, &input),
            None => self.built_in(task, &input)?,
        };
        Some(match result {
            Ok(value) => answer(&value),
            Err(error) => failed(error),
        })
    }

    fn built_in(&mut self, task: &str, input: &MockInput) -> Option<Result<Data, MockFailure>> {
        Some(match task {
            "research" => input.research(),
            "draft" => input.draft(),
            "compare" => input.compare(),
            "extract_intent" => input.extract_intent(),
            "route" => input.route(),
            "respond" => input.respond(),
            "flaky_fetch" => self.flaky_fetch(input),
            "llm_complete" => input.llm_complete(),
            "countdown" => input.countdown(),
            "merge_drafts" => input.merge_drafts(),
            "fallback_enrich" => input.fallback_enrich(),
            _ => return None,
        })
    }

    fn flaky_fetch(&mut self, input: &MockInput) -> Result<Data, MockFailure> {
        let key = input.text("key")?;
        let wanted = truncated(input.get("failures_before_success")?)?;
        let failed = self.failures.entry(key.clone()).or_insert(0);
        if wanted.plus(&negated(*failed)).is_positive() {
            *failed += 1;
            let text = format!("Transient failure for key '{key}' ({failed}/{wanted})");
            return Err(("ExecutionError", text));
        }
        let text = format!("[{}] fetched payload for {key}", input.who);
        object([("data", Data::text(text))])
    }

    /// Makes up the result of an agent's task from the schema of its type.
    fn make_up(
        &mut self,
        task: &str,
        schema: &str,
        input: &MockInput,
    ) -> Result<Data, MockFailure> {
        let parsed = match self.schemas.get(schema) {
            Some(parsed) => Arc::clone(parsed),
            None => {
                let parsed = json::from_text(schema);
                let parsed = Arc::new(parsed.map_err(|error| ("ValueError", error.to_string()))?);
                self.schemas.insert(schema.to_owned(), Arc::clone(&parsed));
                parsed
            }
        };
        let subject = input.args.get("topic").or_else(|| input.args.get("query"));
        let subject = subject.map(|subject| format!(" {}", subject.shown())).unwrap_or_default();
        let label = format!("{}:{task}", input.who);
        invent(&parsed, &label, &subject)
    }
}

fn failed((class, text): MockFailure) -> RequestAnswer {
    RequestAnswer::Failed(ProgramFailure::new(class, text))
}

fn too_large(error: TooLarge) -> MockFailure {
    ("ValueError", error.to_string())
}

fn object<const N: usize>(fields: [(&str, Data); N]) -> Result<Data, MockFailure> {
    let fields = fields.into_iter().map(|(name, value)| (name.into(), value)).collect();
    Data::object(fields).map_err(too_large)
}

fn negated(number: u64) -> Integer {
    Integer::parse(&format!("-{number}")).expect("a printed integer parses")
}

/// Cuts a number to a whole one.
fn truncated(number: &Data) -> Result<Integer, MockFailure> {
    match number {
        Data::Int(number) => Ok(Integer::from(*number)),
        Data::Big(number) => Ok(Integer::clone(number)),
        Data::Float(number) => Ok(Integer::parse(&format!("{:.0}", number.trunc()))
            .expect("a float without fraction prints as an integer")),
        Data::Null | Data::Bool(_) | Data::Text(_) | Data::List(_) | Data::Object(_) => {
            Err(("TypeError", "failures_before_success must be a number".to_owned()))
        }
    }
}

impl MockInput<'_> {
    fn get(&self, name: &str) -> Result<&Data, MockFailure> {
        self.args.get(name).ok_or_else(|| ("KeyError", format!("'{name}'")))
    }

    /// Returns an argument as a part of a text.
    fn text(&self, name: &str) -> Result<String, MockFailure> {
        self.get(name).map(Data::shown)
    }

    fn research(&self) -> Result<Data, MockFailure> {
        let text = format!("[{}] key points for '{}'", self.who, self.text("topic")?);
        object([("notes", Data::text(text))])
    }

    fn draft(&self) -> Result<Data, MockFailure> {
        let text = format!("[{}] Draft article:\n{}", self.who, self.text("notes")?);
        object([("article", Data::text(text))])
    }

    fn compare(&self) -> Result<Data, MockFailure> {
        let (one, other) = (self.text("note_a")?, self.text("note_b")?);
        let text = format!("[{}] Option A vs B\nA: {one}\nB: {other}", self.who);
        object([("decision", Data::text(text))])
    }

    fn extract_intent(&self) -> Result<Data, MockFailure> {
        let message = self.text("message")?.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
        let intent = if has(&["refund"]) {
            "billing"
        } else if has(&["bug", "error"]) {
            "technical"
        } else {
            "general"
        };
        let urgency = if has(&["urgent", "asap", "down"]) { "high" } else { "normal" };
        object([("intent", Data::text(intent)), ("urgency", Data::text(urgency))])
    }

    fn route(&self) -> Result<Data, MockFailure> {
        let (intent, urgency) = (self.text("intent")?, self.text("urgency")?);
        let lane = if urgency == "high" { "priority" } else { "standard" };
        object([("queue", Data::text(format!("{intent}-{lane}")))])
    }

    fn respond(&self) -> Result<Data, MockFailure> {
        let (intent, queue) = (self.text("intent")?, self.text("queue")?);
        let text = format!("[{}] Routed as {intent} to {queue}.", self.who);
        object([("reply", Data::text(text))])
    }

    fn llm_complete(&self) -> Result<Data, MockFailure> {
        let text = format!("[{}] {}", self.who, self.text("prompt")?);
        object([("text", Data::text(text))])
    }

    fn fallback_enrich(&self) -> Result<Data, MockFailure> {
        let text = format!("[fallback enrichment for '{}']", self.text("query")?);
        object([("extra", Data::text(text))])
    }

    fn countdown(&self) -> Result<Data, MockFailure> {
        let current = self.get("current")?;
        let next = add(current, &Data::Int(-1));
        let next = next.ok_or_else(|| ("TypeError", "current must be a number".to_owned()))?;
        let (next, is_done) = match next {
            Data::Int(next) => (Data::Int(next.max(0)), next <= 0),
            Data::Big(next) if next.is_negative() => (Data::Int(0), true),
            Data::Float(next) if next <= 0.0 => (Data::Int(0), true),
            Data::Float(next) if next.fract() == 0.0 => {
                let whole = truncated(&Data::Float(next))?;
                (add(&Data::Big(Arc::new(whole)), &Data::Int(0)).unwrap_or(Data::Null), false)
            }
            next @ (Data::Null
            | Data::Bool(_)
            | Data::Big(_)
            | Data::Float(_)
            | Data::Text(_)
            | Data::List(_)
            | Data::Object(_)) => (next, false),
        };
        object([("next", next), ("done", Data::Bool(is_done))])
    }

    fn merge_drafts(&self) -> Result<Data, MockFailure> {
        let (one, other) = (self.text("draft_a")?, self.text("draft_b")?);
        let counts = [self.get("word_count_a")?, self.get("word_count_b")?];
        let total =
            add(counts[0], counts[1]).ok_or_else(|| match counts.iter().all(is_number) {
                true => ("OverflowError", "the sum of the word counts is too large".to_owned()),
                false => ("TypeError", "word counts must be numbers".to_owned()),
            })?;
        let sections = [&one, &other].into_iter().filter(|text| !text.is_empty());
        let sections = sections.map(|text| Data::text(text.as_str())).collect();
        let sections = Data::list(sections).map_err(too_large)?;
        let article = if other.is_empty() { one } else { format!("{one}\n\n{other}") };
        object([("article", Data::text(article)), ("sections", sections), ("total_words", total)])
    }
}

fn is_number(value: &&Data) -> bool {
    matches!(value, Data::Int(_) | Data::Big(_) | Data::Float(_))
}

/// Makes up a value for a schema. Schemas come from types, whose depth and size are bounded.
fn invent(schema: &Data, label: &str, subject: &str) -> Result<Data, MockFailure> {
    if schema.get("anyOf").is_some() {
        return Ok(Data::Null);
    }
    if let Some(variants) = schema.get("enum").and_then(Data::items) {
        return Ok(variants.first().cloned().unwrap_or(Data::Null));
    }
    match schema.get("type").and_then(Data::as_text) {
        Some("string") => Ok(Data::text(format!("[{label}]{subject}"))),
        Some("number") => Ok(Data::Int(0)),
        Some("boolean") => Ok(Data::Bool(false)),
        Some("array") => Data::list(Vec::new()).map_err(too_large),
        Some("object") => invent_object(schema, label, subject),
        _ => Ok(Data::Null),
    }
}

fn invent_object(schema: &Data, label: &str, subject: &str) -> Result<Data, MockFailure> {
    let properties = schema.get("properties").and_then(Data::fields).unwrap_or(&[]);
    let has = |name: &str, wanted: &str| {
        properties.iter().any(|(field, schema)| {
            let kind = schema.get("type").and_then(Data::as_text);
            &**field == name && kind == Some(wanted) && schema.get("enum").is_none()
        })
    };
    let is_verdict = has("approved", "boolean") && has("feedback", "string");
    let mut fields: Vec<(Arc<str>, Data)> = Vec::with_capacity(properties.len());
    if is_verdict {
        fields.push(("approved".into(), Data::Bool(true)));
        fields.push(("feedback".into(), Data::text("mock approved")));
    }
    for (name, schema) in properties {
        if is_verdict && matches!(&**name, "approved" | "feedback") {
            continue;
        }
        let value = invent(schema, &format!("{label}.{name}"), subject)?;
        fields.push((name.clone(), value));
    }
    Data::object(fields).map_err(too_large)
}
