//! Why rows are answers, with the commands that show the facts they stand on.

use std::collections::BTreeMap;

use agentic_query::{QueryReasons, QueryType, QueryValue, ReasonNode};

/// Prints the reasons of one query.
pub(super) fn lines(reasons: &QueryReasons) -> Vec<String> {
    let facts = reasons.nodes.iter().filter(|node| node.rule.is_none());
    let commands: BTreeMap<String, String> =
        facts.filter_map(|node| Some((node.row_text(), command(node)?))).collect();
    let told = |line: String| match commands.get(line.trim_start()) {
        Some(command) => format!("{line}  ({command})"),
        None => line,
    };
    reasons.lines().into_iter().map(told).collect()
}

/// Returns the command that shows what a fact was read from.
fn command(fact: &ReasonNode) -> Option<String> {
    let of_kind = |kind: QueryType| {
        fact.cells.iter().filter(|cell| cell.kind == kind).find_map(|cell| match &cell.value {
            Some(QueryValue::Text(text)) => Some(text.to_string()),
            Some(QueryValue::Null | QueryValue::Bool(_) | QueryValue::Int(_)) => None,
            Some(QueryValue::Float(_)) | None => None,
        })
    };
    if let Some(request) = of_kind(QueryType::Request) {
        let session = request.split('.').next().unwrap_or_default();
        return Some(format!("agentic session show {session}"));
    }
    if let Some(session) = of_kind(QueryType::Session) {
        return Some(format!("agentic session show {session}"));
    }
    let is_object = matches!(fact.predicate.as_str(), "entry" | "edge" | "edge_event" | "object");
    if let Some(cid) = of_kind(QueryType::Cid).filter(|_| is_object) {
        return Some(format!("agentic object get {cid}"));
    }
    match fact.predicate.as_str() {
        "agent" | "standing" | "briefing" | "briefing_field" | "sub_agent_of" => {
            of_kind(QueryType::Text).map(|agent| format!("agentic show {agent}"))
        }
        "kind" | "is_a" => of_kind(QueryType::Text).map(|kind| format!("agentic kind show {kind}")),
        "pending_entry" => {
            of_kind(QueryType::Text).map(|agent| format!("agentic trace pending --agent {agent}"))
        }
        _ => of_kind(QueryType::Commit).map(|commit| format!("agentic show {commit}")),
    }
}
