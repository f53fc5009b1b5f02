//! The page of the house names every crate, every place of what is in flight, and every file that a
//! port to another system has to look at.

use super::HOUSE;
use crate::workspace::TidyWorkspace;

/// Where the folder of what is in flight is laid out.
const LAYOUT: &str = "crates/agentic-store/src/layout.rs";
/// What only Linux has.
const LINUX_ONLY: [&str; 8] = [
    "\"/proc",
    "\"/dev/shm",
    "rustix::fs::syncfs",
    "FallocateFlags::",
    "memfd_create(",
    "ClockId::Boottime",
    "CMSG_CLOEXEC",
    "SendFlags::NOSIGNAL",
];

/// Finds what the page does not name.
pub fn check(workspace: &TidyWorkspace) -> Vec<String> {
    let Some(page) = workspace.files.get(HOUSE) else { return Vec::new() };
    let mut missing: Vec<String> = crates(workspace)
        .chain(places(workspace))
        .filter(|name| !names(page, name))
        .map(|name| format!("documents: {HOUSE} does not name `{name}`"))
        .collect();
    let files = linux_only(workspace).filter(|path| !names_file(page, path));
    missing.extend(
        files.map(|path| format!("documents: {HOUSE} names no {path} for ports: it needs Linux")),
    );
    missing.sort();
    missing.dedup();
    missing
}

fn crates(workspace: &TidyWorkspace) -> impl Iterator<Item = &str> {
    let names = workspace.packages.iter().map(|package| package.name.as_str());
    names.filter(|name| *name != "xtask")
}

/// Returns the first part of every path below the folder of what is in flight.
fn places(workspace: &TidyWorkspace) -> impl Iterator<Item = &str> {
    let layout = workspace.files.get(LAYOUT).map_or("", String::as_str);
    layout.split("self.root.join(\"").skip(1).filter_map(|rest| rest.split('"').next())
}

/// Returns the files of the product that only work on Linux. Benches measure, and tests provoke.
fn linux_only(workspace: &TidyWorkspace) -> impl Iterator<Item = &str> {
    let is_source = |path: &str| path.starts_with("crates/") && path.contains("/src/");
    let is_test = |path: &str| path.split(['/', '.']).any(|part| part == "tests");
    let files = workspace.files.iter().filter(move |(path, text)| {
        let needs = LINUX_ONLY.iter().any(|name| text.contains(name));
        is_source(path) && !is_test(path) && needs
    });
    files.map(|(path, _)| path.as_str())
}

fn names(page: &str, name: &str) -> bool {
    let forms = [format!("`{name}`"), format!("`{name}/`"), format!("agentic/{name}/`")];
    forms.iter().any(|form| page.contains(form))
}

/// Tells whether a row of the page names a file, by its path or by its crate and its name.
fn names_file(page: &str, path: &str) -> bool {
    let below = path.strip_prefix("crates/").unwrap_or(path);
    let (of_crate, file) = below.split_once("/src/").unwrap_or(("", below));
    let name = format!("`{file}`");
    page.lines()
        .any(|line| line.contains(below) || (line.contains(of_crate) && line.contains(&name)))
}
