//! Events of the language's trace, as data.

use std::sync::Arc;

use crate::ast::ImportKind;
use crate::code::{ContextCode, ForSite, Resource, UseSite, Validation};
use crate::context::clip::ClippedValue;
use crate::context::prompt::ContextItem;
use crate::dialect::Version;
use crate::json::Json;

use super::waits::Generation;

/// How many letters of a reply that failed a trace shows.
const REPLY_CHARS_MAX: usize = 4_000;

/// What became of a `parallel for`.
pub(super) struct ForkTrace {
    pub duration_ms: i64,
    pub concurrency: usize,
    pub iterations: Vec<Json>,
    pub failed: Option<Vec<usize>>,
}

fn event(kind: &str, data: Vec<(&str, Json)>) -> Json {
    Json::object([("kind", Json::text(kind)), ("data", Json::object(data))])
}

fn text_or_null(text: Option<&Arc<str>>) -> Json {
    text.map_or(Json::Null, |text| Json::Text(text.clone()))
}

pub(super) fn use_event(site: &UseSite, candidate: usize, reason: &str) -> Json {
    let picked = &site.candidates[candidate];
    let source = picked.source.as_ref();
    let budget = source.and_then(|source| source.budget.as_ref());
    let mut data = vec![
        ("source", text_or_null(source.map(|source| &source.text))),
        ("label", text_or_null(site.label.as_ref())),
        ("budget", budget.map_or(Json::Null, |budget| budget.to_json())),
    ];
    if let Some(choice) = &site.choice {
        let names = site.candidates.iter().map(|candidate| Json::Text(candidate.name.clone()));
        let variant = Json::object([
            ("site_id", Json::Text(choice.site_id.clone())),
            ("picked", Json::Text(picked.name.clone())),
            ("available", Json::List(names.collect())),
            ("reason", Json::text(reason)),
            ("empty", Json::Bool(source.is_none())),
        ]);
        data.push(("variant", variant));
    }
    event("use", data)
}

pub(super) fn for_event(site: &ForSite, index: f64, count: f64, value: Json) -> Json {
    event(
        "for",
        vec![
            ("item", Json::Text(site.item.clone())),
            ("index", Json::Number(index)),
            ("value", value),
            ("max_items", Json::Number(site.max as f64)),
            ("total_items", Json::Number(count)),
            ("truncated", Json::Bool(count > site.max as f64)),
        ],
    )
}

pub(super) fn agent_event(
    agent: Arc<str>,
    function: Arc<str>,
    args: Json,
    result: Json,
    trace: Vec<Json>,
) -> Json {
    event(
        "agent",
        vec![
            ("agent", Json::Text(agent)),
            ("function", Json::Text(function)),
            ("args", args),
            ("result", result),
            ("trace", Json::List(trace)),
        ],
    )
}

/// A call of an agent that did not return: a kind of its own, which the language lacks.
pub(super) fn failed_agent(
    agent: Arc<str>,
    function: Arc<str>,
    args: Json,
    message: &str,
    trace: Vec<Json>,
) -> Json {
    event(
        "error",
        vec![
            ("of", Json::text("agent")),
            ("agent", Json::Text(agent)),
            ("function", Json::Text(function)),
            ("args", args),
            ("error", Json::text(message)),
            ("trace", Json::List(trace)),
        ],
    )
}

/// Stands for events that a trace has no room for: a kind of its own, which the language lacks.
pub(crate) fn left_out(n_events: u64) -> Json {
    event("left_out", vec![("events", Json::Number(n_events as f64))])
}

pub(super) fn input_event(path: &str, value: Json) -> Json {
    event("input", vec![("path", Json::text(path)), ("value", value)])
}

pub(super) fn resource_event(
    resource: &Resource,
    method: &Arc<str>,
    args: Json,
    result: Json,
) -> Json {
    let name = Json::Text(resource.name.clone());
    let uri = Json::Text(resource.uri.clone());
    let method_json = Json::Text(method.clone());
    if resource.kind != ImportKind::Memory {
        let scheme = resource.uri.split(':').next().unwrap_or_default();
        let effects = result.get("effects").cloned().unwrap_or_default();
        return event(
            "tool",
            vec![
                ("tool", name),
                ("method", method_json),
                ("scheme", Json::text(scheme)),
                ("uri", uri),
                ("args", args),
                ("result", result),
                ("effects", effects),
            ],
        );
    }
    let count = result.as_list().map_or(Json::Null, |items| Json::count(items.len()));
    let (id, record) = (result.get("id").cloned(), result.get("record").cloned());
    let mut data = vec![
        ("memory", name),
        ("operation", method_json),
        ("uri", uri),
        ("args", args),
        ("result", result),
        ("count", count),
    ];
    if &**method == "add" {
        data.push(("id", id.unwrap_or_default()));
        data.push(("record", record.unwrap_or_default()));
    }
    event("memory", data)
}

/// A call of a tool or memory that failed: a kind of its own, which the language lacks.
pub(super) fn failed_resource(
    resource: &Resource,
    method: &Arc<str>,
    args: Json,
    message: &str,
) -> Json {
    event(
        "error",
        vec![
            ("of", Json::text(resource.kind.word())),
            (resource.kind.word(), Json::Text(resource.name.clone())),
            ("method", Json::Text(method.clone())),
            ("uri", Json::Text(resource.uri.clone())),
            ("args", args),
            ("error", Json::text(message)),
        ],
    )
}

pub(super) fn iteration(
    index: usize,
    input: Json,
    outcome: Result<Json, String>,
    trace: Vec<Json>,
) -> Json {
    let mut data =
        vec![("index", Json::count(index)), ("input", input), ("ok", Json::Bool(outcome.is_ok()))];
    match outcome {
        Ok(result) => data.push(("result", result)),
        Err(message) => data.push(("error", Json::text(message))),
    }
    data.push(("trace", Json::List(trace)));
    Json::object(data)
}

pub(super) fn parallel_event(site: &ForSite, fork: ForkTrace) -> Json {
    let mut data = vec![
        ("item", Json::Text(site.item.clone())),
        ("source", Json::Text(site.source.clone())),
        ("max_items", Json::Number(site.max as f64)),
        ("items", Json::count(fork.iterations.len())),
        ("concurrency", Json::count(fork.concurrency)),
        ("duration_ms", Json::Number(fork.duration_ms as f64)),
        ("ok", Json::Bool(fork.failed.is_none())),
    ];
    if let Some(failed) = fork.failed {
        let failed = failed.into_iter().map(Json::count);
        data.push(("failed_indices", Json::List(failed.collect())));
    }
    data.push(("iterations", Json::List(fork.iterations)));
    event("parallel_for", data)
}

/// Returns the event of a `generate`; version 0.1.0 recorded none for one that failed.
pub(super) fn generate_event(
    code: &ContextCode,
    generation: &Generation,
    result: Result<Json, &str>,
) -> Option<Json> {
    let site = &code.generates[generation.site as usize];
    if site.version < Version::V0_1_3 {
        return result.ok().map(|result| first_generate_event(code, generation, result));
    }
    let ok = result.is_ok();
    let strict = site.options.validation == Validation::Strict;
    let validation = match &site.contract {
        Some(_) => Json::object([("ok", Json::Bool(ok)), ("strict", Json::Bool(strict))]),
        None => Json::Null,
    };
    let errors = generation.errors.iter().map(|error| Json::text(error.as_str()));
    let (result, error) = match result {
        Ok(result) => (result, Json::Null),
        Err(message) => (Json::Null, Json::text(message)),
    };
    let mut data = vec![
        ("instruction", generation.instruction.clone()),
        ("config", config(code, generation)),
        ("attempts", Json::Number(generation.attempt as f64)),
        ("context", context(code, generation)),
        ("validation", validation),
        ("result", result),
        ("ok", Json::Bool(ok)),
        ("error", error),
        ("errors", Json::List(errors.collect())),
    ];
    if !generation.failed_replies.is_empty() {
        let replies = generation.failed_replies.iter().map(shortened);
        data.push(("failed_replies", Json::List(replies.collect())));
    }
    if generation.usages.iter().any(|usage| *usage != Json::Null) {
        data.push(("usage", summed(&generation.usages)));
        data.push(("usage_of_attempts", Json::List(generation.usages.clone())));
    }
    Some(event("generate", data))
}

/// Cuts a reply that is long text: a trace holds many.
fn shortened(reply: &Json) -> Json {
    let Json::Text(text) = reply else { return reply.clone() };
    match text.char_indices().nth(REPLY_CHARS_MAX) {
        Some((at, _)) => Json::text(format!("{}…", &text[..at])),
        None => reply.clone(),
    }
}

/// Adds up the counts of attempts; what is negative is none.
fn summed(usages: &[Json]) -> Json {
    let sum = |key: &str| {
        let counts = usages.iter().filter_map(|usage| match usage.get(key) {
            Some(Json::Number(count)) => Some(count.max(0.0)),
            Some(_) | None => None,
        });
        Json::Number(counts.sum())
    };
    Json::object(["input_tokens", "output_tokens"].map(|key| (key, sum(key))))
}

fn config(code: &ContextCode, generation: &Generation) -> Json {
    let options = &code.generates[generation.site as usize].options;
    Json::object([
        ("max_output", max_output(code, generation)),
        ("attempts", Json::Number(options.attempts as f64)),
        ("temperature", options.temperature.map_or(Json::Null, Json::Number)),
        ("think", options.think.clone()),
        ("strict", Json::Bool(options.validation == Validation::Strict)),
        ("debug", Json::Bool(options.debug == crate::code::Debug::Shown)),
    ])
}

fn max_output(code: &ContextCode, generation: &Generation) -> Json {
    let options = &code.generates[generation.site as usize].options;
    options.max_output.as_ref().map_or(Json::Null, |budget| budget.to_json())
}

/// Everything that the model could see.
fn context(code: &ContextCode, generation: &Generation) -> Json {
    let site = &code.generates[generation.site as usize];
    let model = &code.resources[site.model as usize];
    let items = generation.items.iter().enumerate().map(|(index, item)| item_json(index, item));
    let schema = site.contract.as_ref().map(|contract| contract.schema.clone());
    Json::object([
        ("agent_name", Json::Text(site.agent.clone())),
        (
            "model",
            Json::object([
                ("name", Json::Text(model.name.clone())),
                ("uri", Json::Text(model.uri.clone())),
            ]),
        ),
        (
            "identity",
            Json::object([
                ("role", Json::Text(site.role.clone())),
                ("description", Json::Text(site.description.clone())),
            ]),
        ),
        ("system", Json::text(generation.prompt.system.as_str())),
        ("context", Json::List(items.collect())),
        ("return_schema", schema.unwrap_or_default()),
        ("max_output", max_output(code, generation)),
        ("final_user_message", Json::text(generation.prompt.user.as_str())),
    ])
}

fn item_json(index: usize, item: &ContextItem) -> Json {
    let content = &item.content;
    Json::object([
        ("index", Json::count(index)),
        ("source", Json::Text(item.source.clone())),
        ("label", text_or_null(item.label.as_ref())),
        ("value", content.value.clone()),
        ("text", Json::Text(content.text.clone())),
        ("budget", item.budget.as_ref().map_or(Json::Null, |budget| budget.to_json())),
        ("clipped", Json::Bool(content.clipped)),
        ("strategy", strategy(content).map_or(Json::Null, Json::text)),
        ("original_size", Json::Number(content.original_size as f64)),
        ("clipped_size", Json::Number(content.clipped_size as f64)),
    ])
}

/// Says how a value was clipped: by its letters, its items or its fields.
fn strategy(content: &ClippedValue) -> Option<&'static str> {
    let strategy = match &content.value {
        Json::Text(_) => "letters",
        Json::List(_) => "items",
        Json::Object(_) => "fields",
        Json::Null | Json::Bool(_) | Json::Number(_) => return None,
    };
    content.clipped.then_some(strategy)
}

/// The event as version 0.1.0 wrote it.
fn first_generate_event(code: &ContextCode, generation: &Generation, result: Json) -> Json {
    let options = &code.generates[generation.site as usize].options;
    event(
        "generate",
        vec![
            ("instruction", generation.instruction.clone()),
            ("attempts", Json::Number(generation.attempt as f64)),
            ("budget", max_output(code, generation)),
            ("debug", Json::Bool(options.debug == crate::code::Debug::Shown)),
            ("context", camel_keys(&context(code, generation))),
            ("result", result),
        ],
    )
}

/// Renames the keys of the context and of its items from `snake_case` to `camelCase`; the values
/// of items and the schema are data and stay as they are.
fn camel_keys(json: &Json) -> Json {
    let Json::Object(entries) = json else { return json.clone() };
    let renamed = entries.iter().map(|(key, value)| {
        let value = match (&**key, value) {
            ("context", Json::List(items)) => Json::List(items.iter().map(camel_keys).collect()),
            (_, other) => other.clone(),
        };
        (camel(key), value)
    });
    Json::object(renamed)
}

pub(crate) fn camel(key: &str) -> String {
    let mut parts = key.split('_');
    let mut name = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (first, rest) = part.split_at(part.len().min(1));
        name.push_str(&first.to_ascii_uppercase());
        name.push_str(rest);
    }
    name
}
