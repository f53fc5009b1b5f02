//! What is generated and checked in is what would be generated now.
//!
//! The scoreboard is compared in two steps: here by its number of cases, which needs no binary, and
//! by `cargo xtask test` with the results of a run. The page of benchmarks is compared whole, with its
//! figures. The tables of verbs are looked for here by name; a test of the command line compares them
//! whole, and one of `agentic-api` the schemas.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::bench;
use crate::workspace::TidyWorkspace;

/// Where the verbs are listed, and where their tables stand.
const VERB_FILES: [&str; 2] = ["crates/agentic/src/cli/verb.rs", "docs/commands.md"];

/// Finds generated files that are stale or missing.
pub fn check(workspace: &TidyWorkspace) -> Vec<String> {
    let mut findings = check_scoreboard(workspace);
    findings.extend(check_benchmarks(workspace));
    findings.extend(check_verbs(workspace));
    findings
}

/// Finds verbs that no table of the page of commands asks for.
fn check_verbs(workspace: &TidyWorkspace) -> Vec<String> {
    let [list, page] = VERB_FILES.map(|path| workspace.files.get(path));
    let (Some(list), Some(page)) = (list, page) else { return Vec::new() };
    let asked: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("<!-- verbs: ")?.strip_suffix(" -->"))
        .flat_map(|names| names.split(' '))
        .collect();
    let verbs = list.lines().filter_map(|line| line.split_once(" = \"")?.1.strip_suffix("\","));
    verbs
        .filter(|verb| !asked.contains(verb))
        .map(|verb| format!("fresh: docs/commands.md has no table of `{verb}`; add it to a block"))
        .collect()
}

/// Finds a page of benchmarks that is not what the figures give.
fn check_benchmarks(workspace: &TidyWorkspace) -> Vec<String> {
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
fn check_scoreboard(workspace: &TidyWorkspace) -> Vec<String> {
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
