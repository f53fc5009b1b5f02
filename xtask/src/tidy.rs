//! The rules of the house that a machine can check. `STYLE.md` says why they are rules.

mod cycles;
mod dependencies;
mod documents;
mod fresh;
mod layers;
mod names;
mod owners;
mod purity;
mod sizes;
mod statics;

pub use self::fresh::compare;
use crate::workspace::TidyWorkspace;

/// Returns every breach of a rule, one line each, sorted.
pub fn check(workspace: &TidyWorkspace) -> Vec<String> {
    let rules: [fn(&TidyWorkspace) -> Vec<String>; 10] = [
        layers::check,
        cycles::check,
        owners::check,
        purity::check,
        sizes::check,
        statics::check,
        names::check,
        dependencies::check,
        documents::check,
        fresh::check,
    ];
    let mut findings: Vec<String> = rules.iter().flat_map(|rule| rule(workspace)).collect();
    findings.sort();
    findings
}

#[cfg(test)]
mod tests;
