//! Every crate of others is accounted for, and there are not too many.

use std::collections::BTreeSet;

use crate::workspace::{DependencyOrigin, TidyWorkspace};

/// The most packages that `Cargo.lock` may hold.
pub const LOCK_PACKAGES_MAX: usize = 550;

/// Finds dependencies without a line in `DEPENDENCIES.md`, and a lock file beyond its budget.
pub fn check(workspace: &TidyWorkspace) -> Vec<String> {
    let file = |name: &str| workspace.files.get(name).map_or("", String::as_str);
    let mut findings = Vec::new();
    let n_packages = file("Cargo.lock").lines().filter(|line| *line == "[[package]]").count();
    if n_packages > LOCK_PACKAGES_MAX {
        findings.push(format!(
            "dependencies: Cargo.lock has {n_packages} packages, more than {LOCK_PACKAGES_MAX}"
        ));
    }
    let explained: BTreeSet<&str> =
        file("DEPENDENCIES.md").lines().flat_map(explained_in).collect();
    let outside: BTreeSet<&str> = workspace
        .packages
        .iter()
        .flat_map(|package| &package.dependencies)
        .filter(|dependency| dependency.origin == DependencyOrigin::Outside)
        .map(|dependency| dependency.name.as_str())
        .collect();
    for name in outside.difference(&explained) {
        findings.push(format!("dependencies: `{name}` has no line in DEPENDENCIES.md"));
    }
    findings
}

/// Lists the crates that a table line explains: those in the first cell, in backticks.
fn explained_in(line: &str) -> Vec<&str> {
    let Some(row) = line.strip_prefix("| ") else { return Vec::new() };
    let cell = row.split_once(" |").map_or("", |(cell, _)| cell);
    cell.split('`').skip(1).step_by(2).collect()
}
