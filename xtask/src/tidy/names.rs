//! A thing that finds no home is a noun that has not been named yet.

mod types;

use crate::workspace::TidyWorkspace;

/// Words that say nothing about what is inside.
const EMPTY_WORDS: [&str; 10] = [
    "common", "helper", "helpers", "manager", "managers", "misc", "shared", "stuff", "util",
    "utils",
];

/// Finds source files, folders, crates and modules with a name that says nothing.
pub fn check(workspace: &TidyWorkspace) -> Vec<String> {
    let mut findings = Vec::new();
    for package in &workspace.packages {
        if is_empty_name(&package.name) {
            findings.push(format!("names: the crate `{}` is named after nothing", package.name));
        }
    }
    for (path, text) in workspace.files.iter().filter(|(path, _)| path.ends_with(".rs")) {
        let stem = path.strip_suffix(".rs").unwrap_or(path);
        if stem.split('/').any(is_empty_name) {
            findings.push(format!("names: {path} is named after nothing"));
        }
        for name in inline_modules(text).filter(|name| is_empty_name(name)) {
            findings.push(format!("names: {path} has a module `{name}`, named after nothing"));
        }
    }
    findings.extend(types::check(workspace));
    findings
}

fn is_empty_name(name: &str) -> bool {
    name.split(['_', '-']).any(|word| EMPTY_WORDS.contains(&word))
}

/// Lists the modules whose body stands in the file itself.
fn inline_modules(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let line = line.trim_start();
        let line = line.strip_prefix("pub ").unwrap_or(line);
        let name = line.strip_prefix("mod ")?.strip_suffix('{')?;
        Some(name.trim())
    })
}
