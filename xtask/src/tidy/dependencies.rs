//! Every crate of others is accounted for, and there are not too many.

use std::collections::BTreeSet;

use crate::workspace::{DependencyOrigin, TidyWorkspace};

/// The most packages that `Cargo.lock` may hold for a build without [`LEFT_OUT`].
pub const LOCK_PACKAGES_MAX: usize = 550;
/// The crate of ours that is no member of the workspace: what it alone brings is built only where
/// somebody asks for it.
const LEFT_OUT: &str = "agentic-temporal";

/// Finds dependencies without a line in `DEPENDENCIES.md`, and a lock file beyond its budget.
pub fn check(workspace: &TidyWorkspace) -> Vec<String> {
    let file = |name: &str| workspace.files.get(name).map_or("", String::as_str);
    let mut findings = Vec::new();
    let n_packages = n_packages(file("Cargo.lock"));
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

/// Counts the packages of a lock file that something else than the crate which is left out needs.
fn n_packages(lock: &str) -> usize {
    let packages: Vec<LockedPackage<'_>> =
        lock.split("[[package]]").filter_map(LockedPackage::read).collect();
    let is_asked = |package: &LockedPackage<'_>| {
        packages.iter().any(|other| other.needs.iter().any(|need| package.is_meant(need)))
    };
    // What nobody asks for is ours, or of no use; it counts all the same.
    let mut next: Vec<usize> = (0..packages.len()).filter(|at| !is_asked(&packages[*at])).collect();
    let mut reached = BTreeSet::new();
    while let Some(at) = next.pop() {
        if packages[at].name == LEFT_OUT || !reached.insert(at) {
            continue;
        }
        let needs = &packages[at].needs;
        let is_needed = |at: &usize| needs.iter().any(|need| packages[*at].is_meant(need));
        next.extend((0..packages.len()).filter(is_needed));
    }
    reached.len()
}

/// A package of a lock file.
struct LockedPackage<'l> {
    name: &'l str,
    version: &'l str,
    /// What it needs: names, with versions where there are several.
    needs: Vec<&'l str>,
}

impl<'l> LockedPackage<'l> {
    fn read(text: &'l str) -> Option<LockedPackage<'l>> {
        let quoted = |line: &'l str| line.split('"').nth(1);
        let field = |name: &str| text.lines().find(|line| line.starts_with(name)).and_then(quoted);
        let needs = text.lines().filter(|line| line.starts_with(" \"")).filter_map(quoted);
        let (name, version) = (field("name = ")?, field("version = ")?);
        Some(LockedPackage { name, version, needs: needs.collect() })
    }

    fn is_meant(&self, need: &str) -> bool {
        let mut words = need.split(' ');
        words.next() == Some(self.name) && words.next().is_none_or(|it| it == self.version)
    }
}

/// Lists the crates that a table line explains: those in the first cell, in backticks.
fn explained_in(line: &str) -> Vec<&str> {
    let Some(row) = line.strip_prefix("| ") else { return Vec::new() };
    let cell = row.split_once(" |").map_or("", |(cell, _)| cell);
    cell.split('`').skip(1).step_by(2).collect()
}
