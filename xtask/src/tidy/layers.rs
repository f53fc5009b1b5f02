//! A crate depends only on lower layers.

use crate::workspace::{DependencyOrigin, DependencyRole, TidyWorkspace};

/// Our crates by layer; `*` stands for any ending. `ARCHITECTURE.md` shows the same table.
const LAYERS: [&[&str]; 11] = [
    &["agentic-model", "agentic-diag", "agentic-testkit"],
    &[
        "agentic-query",
        "agentic-replay",
        "agentic-flow",
        "agentic-plan",
        "agentic-redact",
        "agentic-statistics",
    ],
    &["agentic-store", "agentic-git", "agentic-providers", "agentic-lang-*"],
    &["agentic-space", "agentic-host", "agentic-index"],
    &["agentic-session"],
    &["agentic-capture", "agentic-federation", "agentic-temporal", "agentic-bench", "agentic-fuzz"],
    &["agentic-api"],
    &["agentic-resident"],
    &["agentic-mcp", "agentic-web", "agentic-tui", "agentic-conformance"],
    &["agentic"],
    &["xtask"],
];
/// The pairs inside a layer: a flow is a Program, and `agentic-replay` says what a Program is; git is one
/// form of ground state, and `agentic-store` says what that is; what holds of any bytes is said of all readers.
const BESIDE: [(&str, &str); 3] = [
    ("agentic-flow", "agentic-replay"),
    ("agentic-git", "agentic-store"),
    ("agentic-fuzz", "agentic-federation"),
];

/// Tests may look up: what only tests need is no layer of the product.
pub fn check(workspace: &TidyWorkspace) -> Vec<String> {
    let mut findings = Vec::new();
    for package in &workspace.packages {
        let Some(layer) = layer_of(&package.name) else {
            findings.push(format!("layers: `{}` stands in no layer", package.name));
            continue;
        };
        let built = package.dependencies.iter().filter(|found| found.role == DependencyRole::Build);
        for dependency in built.filter(|found| found.origin == DependencyOrigin::Ours) {
            let name = dependency.name.as_str();
            let is_lower = layer_of(name).is_some_and(|other| other < layer);
            if !is_lower && !BESIDE.contains(&(package.name.as_str(), name)) {
                findings.push(format!(
                    "layers: `{}` depends on `{name}`, which is not in a lower layer",
                    package.name
                ));
            }
        }
    }
    findings
}

fn layer_of(name: &str) -> Option<usize> {
    let fits = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *pattern,
    };
    LAYERS.iter().position(|layer| layer.iter().any(fits))
}
