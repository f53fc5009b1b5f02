//! What a document says about the code is checked like code, and no sentence is too long to follow.
//!
//! Of a passage the parts in backticks are looked at: files and folders of the repository, crates,
//! verbs, constants with their values, variables of the environment. Beside them the counts of cases,
//! suites and crates, and where links lead. What stands in a block of code is an example and is left
//! alone.

mod claim;
mod house;
mod passage;
mod sentence;

use self::claim::DocumentClaims;
use self::passage::passages;
use crate::workspace::TidyWorkspace;

/// The page of the layers and of what stands where.
pub const HOUSE: &str = "ARCHITECTURE.md";
/// Pages that tell the idea, and how many lines they may have.
const LINES_MAX: [(&str, usize); 2] = [(HOUSE, 120), ("docs/benchmarks.md", 170)];

/// Finds what is not true or not there, sentences that are too long, and pages that are.
pub fn check(workspace: &TidyWorkspace) -> Vec<String> {
    let claims = DocumentClaims::of(workspace);
    let mut findings = Vec::new();
    for (path, text) in workspace.files.iter().filter(|(path, _)| is_document(path)) {
        findings.extend(check_length(path, text));
        for passage in passages(text) {
            let said = claims.check(path, &passage.text);
            let long = sentence::check(&passage.text);
            let at = |finding: String| format!("documents: {path}:{} {finding}", passage.line);
            findings.extend(said.into_iter().chain(long).map(at));
        }
    }
    findings.extend(house::check(workspace));
    findings
}

fn is_document(path: &str) -> bool {
    let is_page = path.starts_with("docs/") && path.ends_with(".md");
    is_page || path == "README.md" || path == HOUSE
}

fn check_length(path: &str, text: &str) -> Option<String> {
    let (_, most) = LINES_MAX.iter().find(|(page, _)| *page == path)?;
    let n_lines = text.lines().count();
    (n_lines > *most).then(|| format!("documents: {path} has {n_lines} lines, more than {most}"))
}
