//! The handlers of the `plugin` cases, natively.

use std::collections::BTreeMap;
use std::sync::Arc;

use agentic_lang_agent::{Data, answer, argument_text, json};
use agentic_replay::{ProgramFailure, Request, RequestAnswer};

/// The handlers and what they remember.
#[derive(Debug, Clone, Default)]
pub struct TestKit {
    calls: BTreeMap<String, i64>,
    /// How many `gauge` calls are active, and the most there ever were.
    active: i64,
    peak: i64,
}

impl TestKit {
    pub const NAMES: [&str; 12] = [
        "echo", "boom", "sleep_ms", "gauge", "count", "shape", "pick", "maybe", "mutate",
        "research", "think", "num",
    ];

    /// How long a call takes, in milliseconds.
    pub fn duration(request: &Request) -> i64 {
        match task(request) {
            Some("sleep_ms" | "gauge") => whole(arguments(request).get("ms")),
            _ => 0,
        }
    }

    /// Takes note that a call begins, and says how long it takes.
    pub fn begin(&mut self, request: &Request) -> i64 {
        if task(request) == Some("gauge") {
            self.active += 1;
            self.peak = self.peak.max(self.active);
        }
        TestKit::duration(request)
    }

    /// Takes the state from a recorded answer where it depends on how calls overlapped.
    pub fn adopt(&mut self, request: &Request, recorded: &RequestAnswer) -> bool {
        if task(request) != Some("gauge") {
            return false;
        }
        if let RequestAnswer::Ok(agentic_model::Value::Text(text)) = recorded {
            let recorded = json::from_text(text).expect("recorded answers are JSON");
            self.peak = self.peak.max(whole(recorded.get("peak")));
        }
        true
    }

    pub fn end(&mut self, request: &Request) {
        if task(request) == Some("gauge") {
            self.active -= 1;
        }
    }

    /// Answers a call; nothing if the task is not one of these.
    pub fn perform(&mut self, request: &Request) -> Option<RequestAnswer> {
        let name = task(request)?;
        let args = arguments(request);
        let text = |key: &str| args.get(key).and_then(Data::as_text).unwrap_or("").to_owned();
        let agent = request.payload.get("agent").and_then(|agent| agent.as_text());
        let value = match name {
            "echo" => object([
                ("value", args.get("value").cloned().unwrap_or(Data::Null)),
                ("who", Data::text(agent.unwrap_or("none"))),
            ]),
            "boom" => match text("kind").as_str() {
                "value" => return Some(failed("ValueError", "bad value")),
                "key" => return Some(failed("KeyError", "'missing'")),
                "empty" => return Some(failed("RuntimeError", "")),
                "spaces" => return Some(failed("RuntimeError", "  padded  ")),
                _ => object([("ok", Data::Bool(true))]),
            },
            "sleep_ms" => object([("slept", args.get("ms").cloned().unwrap_or(Data::Null))]),
            "gauge" => object([("peak", Data::Int(self.peak.max(1)))]),
            "count" => {
                let calls = self.calls.entry(text("key")).or_insert(0);
                *calls += 1;
                if *calls < whole(args.get("ok_from")) {
                    return Some(failed("RuntimeError", &format!("call {calls}")));
                }
                object([("calls", Data::Int(*calls))])
            }
            "shape" => shape(&text("which")),
            "pick" => {
                let text = Data::text(text("as_text"));
                let many = list(vec![text.clone()]);
                object([("e", text.clone()), ("many", many), ("opt", text)])
            }
            "maybe" => match args.get("flag").and_then(Data::as_bool) {
                Some(true) => object([("name", Data::text("Ada"))]),
                Some(false) | None => Data::Null,
            },
            "mutate" => {
                let mut items = args.get("items").and_then(Data::items).unwrap_or(&[]).to_vec();
                items.push(Data::text("changed"));
                object([("items", list(items)), ("box", object([("n", Data::Int(99))]))])
            }
            "research" => object([("notes", Data::text(format!("plugin:{}", text("topic"))))]),
            "think" => {
                let answer = format!("{} thought about {}", agent.unwrap_or("none"), text("q"));
                object([("answer", Data::text(answer))])
            }
            "num" => number(&text("which")),
            _ => return None,
        };
        Some(answer(&value))
    }
}

fn task(request: &Request) -> Option<&str> {
    request.payload.get("task")?.as_text()
}

fn arguments(request: &Request) -> Data {
    json::from_text(argument_text(request).unwrap_or("{}")).expect("arguments are JSON")
}

fn whole(value: Option<&Data>) -> i64 {
    if let Some(Data::Int(value)) = value { *value } else { 0 }
}

fn object<const N: usize>(fields: [(&str, Data); N]) -> Data {
    let fields = fields.into_iter().map(|(name, value)| (Arc::from(name), value)).collect();
    Data::object(fields).expect("small")
}

fn list(items: Vec<Data>) -> Data {
    Data::list(items).expect("small")
}

fn failed(class: &str, text: &str) -> RequestAnswer {
    RequestAnswer::Failed(ProgramFailure::new(class, text))
}

fn shape(which: &str) -> Data {
    match which {
        "missing" => object([("wrong", Data::Int(1))]),
        "extra" => object([("text", Data::text("t")), ("more", list(vec![Data::Int(1)]))]),
        "nulls" => object([("text", Data::Null)]),
        "list" => list(vec![Data::Int(1)]),
        _ => object([("text", Data::Bool(true))]),
    }
}

fn number(which: &str) -> Data {
    match which {
        "int" => Data::Int(3),
        "float" => Data::Float(3.0),
        "half" => Data::Float(0.5),
        "big" => json::from_text("100000000000000000000").expect("a number"),
        _ => Data::Int(-7),
    }
}
