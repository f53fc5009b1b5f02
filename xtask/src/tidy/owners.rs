//! Each heavy crate of others has one owner, so that it can be replaced in one place.

use crate::workspace::{DependencyOrigin, DependencyRole, TidyWorkspace};

/// Crates of others, and which of ours may build on them.
const OWNERS: &[(&str, &[&str])] = &[
    ("annotate-snippets", &["agentic-diag"]),
    ("anyhow", &["agentic", "xtask"]),
    ("axum", &["agentic-web"]),
    ("cid", &["agentic-model"]),
    ("clap", &["agentic"]),
    ("clap_complete", &["agentic"]),
    ("clap_mangen", &["agentic"]),
    ("corosensei", &["agentic-flow"]),
    ("datafrog", &["agentic-query"]),
    ("gix", &["agentic-git", "agentic-fuzz"]),
    ("hyper", &["agentic-web"]),
    ("hyper-util", &["agentic-web"]),
    ("indicatif", &["agentic"]),
    ("ipld-core", &["agentic-model"]),
    ("maud", &["agentic-web"]),
    ("memchr", &["agentic-redact"]),
    ("regex", &["agentic-query", "agentic-redact", "agentic-capture"]),
    ("ratatui", &["agentic-tui"]),
    ("reqwest", &["agentic-providers"]),
    ("rhai", &["agentic-flow"]),
    ("rmcp", &["agentic-mcp"]),
    ("rustyline", &["agentic"]),
    ("rusqlite", &["agentic-providers"]),
    ("ruzstd", &["agentic-capture"]),
    ("schemars", &["agentic-api"]),
    ("serde_cbor", &["agentic-conformance"]),
    ("serde_ipld_dagcbor", &["agentic-model"]),
    ("sled", &["agentic-index"]),
    ("ssh-key", &["agentic-federation"]),
    ("statrs", &["agentic-statistics"]),
    ("syn", &["xtask"]),
    ("temporalio-client", &["agentic-temporal"]),
    ("temporalio-common", &["agentic-temporal"]),
    ("temporalio-macros", &["agentic-temporal"]),
    ("temporalio-sdk", &["agentic-temporal"]),
    ("temporalio-sdk-core", &["agentic-temporal"]),
    ("temporalio-workflow", &["agentic-temporal"]),
    ("tokio", &["agentic-resident", "agentic-web", "agentic-mcp", "agentic-temporal"]),
    ("toml", &["agentic-providers", "agentic-redact"]),
    ("ureq", &["agentic-providers"]),
];

/// Finds crates that build on what another crate owns. Tests and benches may compare.
pub fn check(workspace: &TidyWorkspace) -> Vec<String> {
    let mut findings = Vec::new();
    for package in &workspace.packages {
        for dependency in &package.dependencies {
            let owners = OWNERS.iter().find(|(name, _)| *name == dependency.name);
            let Some((name, owners)) = owners else { continue };
            let counts = dependency.origin == DependencyOrigin::Outside
                && dependency.role == DependencyRole::Build;
            if counts && !owners.contains(&package.name.as_str()) {
                findings.push(format!(
                    "owners: `{}` builds on `{name}`, which belongs to `{}`",
                    package.name,
                    owners.join("` and `")
                ));
            }
        }
    }
    findings
}
