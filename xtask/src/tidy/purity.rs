//! Pure crates take values and return values.

use crate::workspace::TidyWorkspace;

/// The crates that must give the same answer everywhere and at any time.
const PURE: [&str; 8] = [
    "crates/agentic-model/src/",
    "crates/agentic-query/src/",
    "crates/agentic-replay/src/",
    "crates/agentic-flow/src/",
    "crates/agentic-plan/src/",
    "crates/agentic-redact/src/",
    "crates/agentic-statistics/src/",
    "crates/agentic-lang-",
];
/// Ways to a clock, an environment, files, threads, processes and networks.
const IMPURE: [&str; 8] = [
    "std::env::",
    "std::fs",
    "std::net",
    "std::process",
    "std::thread",
    "SystemTime",
    "Instant::now",
    "UNIX_EPOCH",
];

/// Finds impure names in pure crates. Their tests may be impure.
pub fn check(workspace: &TidyWorkspace) -> Vec<String> {
    let mut findings = Vec::new();
    for (path, text) in &workspace.files {
        let is_pure = PURE.iter().any(|start| path.starts_with(start));
        let is_test =
            path.contains("/tests") || path.contains("/benches/") || !path.ends_with(".rs");
        if !is_pure || is_test {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap_or(text);
        let lines =
            code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
        for (at, line) in lines {
            if let Some(name) = IMPURE.iter().find(|name| line.contains(*name)) {
                findings.push(format!("purity: {path}:{} names `{name}` in a pure crate", at + 1));
            }
        }
    }
    findings
}
