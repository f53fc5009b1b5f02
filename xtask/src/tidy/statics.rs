//! State that a whole process shares is named with its reason, or is not there: two spaces in one
//! process, or two tests, must not meet in it.

use crate::workspace::TidyWorkspace;

/// What stands above state of the whole process, followed by why it cannot belong to a value.
const REASON: &str = "// process: ";

/// Finds statics that are no tables, and values of threads, without a reason beside them.
pub fn check(workspace: &TidyWorkspace) -> Vec<String> {
    let is_production = |path: &str| {
        let is_test = path.contains("/tests/") || path.ends_with("tests.rs");
        path.starts_with("crates/") && path.contains("/src/") && path.ends_with(".rs") && !is_test
    };
    let sources = workspace.files.iter().filter(|(path, _)| is_production(path));
    sources.flat_map(|(path, text)| check_file(path, text)).collect()
}

fn check_file(path: &str, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut findings = Vec::new();
    let mut is_in_threads = false;
    for (at, line) in lines.iter().enumerate() {
        let begins_threads = line.starts_with("thread_local!");
        is_in_threads = begins_threads || (is_in_threads && !line.starts_with('}'));
        // What stands in a block of threads has the reason of the block.
        let is_shared = begins_threads || (!is_in_threads && is_state(line));
        let above = lines[..at].iter().rev().take_while(|line| line.starts_with("//"));
        if is_shared && !above.into_iter().any(|line| line.starts_with(REASON)) {
            let number = at + 1;
            findings.push(format!("statics: {path}:{number} has no `{REASON}` line with a reason"));
        }
    }
    findings
}

/// Tells whether a line declares a static that is no table of constants.
fn is_state(line: &str) -> bool {
    let bare = line.strip_prefix("pub ").unwrap_or(line);
    let bare = bare.strip_prefix("pub(crate) ").unwrap_or(bare);
    let Some((name, kind)) = bare.strip_prefix("static ").and_then(|rest| rest.split_once(": "))
    else {
        return false;
    };
    let is_name =
        name.chars().all(|letter| letter.is_ascii_uppercase() || "_0123456789".contains(letter));
    is_name && !kind.starts_with('[') && !kind.starts_with('&')
}
