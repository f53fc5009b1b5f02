//! What models were sent, for people who want to see it before it is sent.

use crate::json::{Json, compact};

/// What is printed when no model was asked.
const NONE: &str = "(no model is asked)";

/// Prints every prompt of a trace: who asks which model, the messages word for word, and what was
/// left out of the context to keep its budgets.
pub fn prompts(trace: &[Json]) -> String {
    let mut found = Vec::new();
    collect(trace, &mut found);
    if found.is_empty() {
        return NONE.to_owned();
    }
    found.join("\n\n")
}

fn collect(trace: &[Json], found: &mut Vec<String>) {
    for event in trace {
        let Some(data) = event.get("data") else { continue };
        if event.get("kind").and_then(Json::as_text) == Some("generate") {
            found.push(prompt(data));
        }
        let inner = |json: &Json, found: &mut Vec<String>| {
            if let Some(trace) = json.get("trace").and_then(Json::as_list) {
                collect(trace, found);
            }
        };
        inner(data, found);
        for iteration in data.get("iterations").and_then(Json::as_list).unwrap_or_default() {
            inner(iteration, found);
        }
    }
}

fn prompt(data: &Json) -> String {
    let context = data.get("context").cloned().unwrap_or_default();
    let text = |key: &str| part(&context, key).and_then(Json::as_text).unwrap_or_default();
    let model = context.get("model").cloned().unwrap_or_default();
    let model_text = |key| model.get(key).and_then(Json::as_text).unwrap_or_default();
    let limit = match part(&context, "max_output") {
        None | Some(Json::Null) => String::new(),
        Some(budget) => format!(", at most {} of output", budget_text(budget)),
    };
    let mut lines = vec![
        format!(
            "--- {} asks {} ({}){limit}",
            text("agent_name"),
            model_text("name"),
            model_text("uri")
        ),
        format!("system:\n{}", text("system")),
        format!("user:\n{}", text("final_user_message")),
    ];
    let items = context.get("context").and_then(Json::as_list).unwrap_or_default();
    lines.extend(items.iter().map(item));
    lines.join("\n")
}

/// Prints how much of a source is shown.
fn item(item: &Json) -> String {
    let name = match item.get("label").and_then(Json::as_text) {
        Some(label) => label.to_owned(),
        None => item.get("index").map(compact).unwrap_or_default(),
    };
    let size = |key| part(item, key).map(compact).unwrap_or_default();
    let (shown, whole) = (size("clipped_size"), size("original_size"));
    let budget = match item.get("budget") {
        None | Some(Json::Null) => "no budget".to_owned(),
        Some(budget) => format!("budget {}", budget_text(budget)),
    };
    let clipped = if item.get("clipped") == Some(&Json::Bool(true)) { ", clipped" } else { "" };
    format!("[{name}] {shown} of {whole} characters, {budget}{clipped}")
}

fn budget_text(budget: &Json) -> String {
    let amount = budget.get("amount").map(compact).unwrap_or_default();
    let unit = budget.get("unit").and_then(Json::as_text).unwrap_or_default();
    format!("{amount}{unit}")
}

/// Returns a member under its name, or under the name that version 0.1.0 gave it.
fn part<'a>(json: &'a Json, key: &str) -> Option<&'a Json> {
    json.get(key).or_else(|| json.get(&crate::run::camel(key)))
}
