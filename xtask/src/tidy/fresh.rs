//! What is generated and checked in is what would be generated now.
//!
//! The scoreboard is compared in two steps: here by its number of cases, which needs no binary, and
//! by `cargo xtask test` with the results of a run. Schemas are generated from the types of
//! `agentic-view` and compared whole, and so is the page of benchmarks with its figures.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::bench;
use crate::workspace::Workspace;

/// How to make the schemas anew.
const SCHEMAS_HOW: &str = "cargo xtask schemas";

/// Finds generated files that are stale, missing or no longer generated.
pub fn check(workspace: &Workspace) -> Vec<String> {
    let mut findings = compare(&workspace.files, &workspace.generated, SCHEMAS_HOW);
    let schemas = workspace.files.keys().filter(|path| path.starts_with("schemas/"));
    for path in schemas.filter(|path| !workspace.generated.contains_key(*path)) {
        findings.push(format!("fresh: {path} is not generated any more; remove it"));
    }
    findings.extend(check_scoreboard(workspace));
    findings.extend(check_benchmarks(workspace));
    findings
}

/// Finds a page of benchmarks that is not what the figures give.
fn check_benchmarks(workspace: &Workspace) -> Vec<String> {
    match bench::page_of(workspace) {
        None => Vec::new(),
        Some(Err(error)) => vec![format!("fresh: {error:#}")],
        Some(Ok(page)) => {
            let wanted = BTreeMap::from([(bench::PAGE.to_owned(), page)]);
            compare(&workspace.files, &wanted, bench::PAGE_HOW)
        }
    }
}

/// Finds suites whose number of cases is not that of the scoreboard, and failures on it.
fn check_scoreboard(workspace: &Workspace) -> Vec<String> {
    let Some(text) = workspace.files.get("scoreboard.json") else {
        return vec!["fresh: there is no scoreboard.json; run `cargo xtask scoreboard`".to_owned()];
    };
    let Ok(scoreboard) = serde_json::from_str::<Json>(text) else {
        return vec!["fresh: scoreboard.json is not JSON".to_owned()];
    };
    let mut shown = BTreeMap::new();
    let mut findings = Vec::new();
    for suite in scoreboard["suites"].as_array().into_iter().flatten() {
        let name = suite["name"].as_str().unwrap_or_default().to_owned();
        let count = |field: &str| suite[field].as_u64().unwrap_or(0);
        if count("failed") > 0 {
            findings.push(format!("fresh: scoreboard.json shows failures in `{name}`"));
        }
        shown.insert(name, usize::try_from(count("passed") + count("failed")).unwrap_or(0));
    }
    if shown != workspace.cases {
        findings.push(format!(
            "fresh: the scoreboard counts {shown:?}, but there are {:?}; run `cargo xtask scoreboard`",
            workspace.cases
        ));
    }
    findings
}

/// Finds files that differ from what would be generated now.
pub fn compare(
    files: &BTreeMap<String, String>,
    generated: &BTreeMap<String, String>,
    how: &str,
) -> Vec<String> {
    generated
        .iter()
        .filter(|(path, text)| files.get(*path) != Some(*text))
        .map(|(path, _)| format!("fresh: {path} is stale; run `{how}`"))
        .collect()
}
