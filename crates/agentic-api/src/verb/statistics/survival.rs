//! How many of the lines that cases brought to branches of people are still there some days later.
//!
//! It takes a blame of each file, so it is done only where somebody asks.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::Oid;
use agentic_statistics::quartiles;

use super::case_facts::{number, oid};
use super::cases::{CaseForm, CountedCase, ask};
use super::{DAY_MS, holds::text};
use crate::shipped::ShippedRules;
use crate::view::CaseSurvivalView;
use crate::{Caller, Refusal};

/// The name of the rule that says what landed.
const RULE: &str = "landings";
/// How many files are looked at, at most.
const FILES_MAX: usize = 10_000;

/// What came to branches of people, to be looked at later.
pub(super) struct SurvivingLines<'c, 's> {
    caller: &'c Caller<'s>,
    days: u32,
    /// What landed, by the agent.
    landed: BTreeMap<String, Vec<LandedLines>>,
    n_files: usize,
}

/// The work of a commit on a branch of people.
struct LandedLines {
    commit: Oid,
    branch: String,
    /// The commit of the branch that has it.
    by: Oid,
    /// When that came there.
    at: i64,
}

/// The lines of one case.
#[derive(Debug, Clone, Copy, Default)]
struct CaseLines {
    n_added: u64,
    n_alive: u64,
}

impl<'c, 's> SurvivingLines<'c, 's> {
    /// Finds what landed.
    pub(super) fn find(
        caller: &'c Caller<'s>,
        days: u32,
        left_out: &mut Vec<String>,
    ) -> Result<SurvivingLines<'c, 's>, Refusal> {
        let rule = ShippedRules::find(RULE).expect("BUG: the rule of landings ships");
        let mut landed: BTreeMap<String, Vec<LandedLines>> = BTreeMap::new();
        for row in ask(caller, rule.text, left_out)?.into_iter().flatten() {
            let [agent, commit, branch, _, by, at, ..] = row.as_slice() else { continue };
            let (Some(commit), Some(by), Some(at)) = (oid(commit), oid(by), number(at)) else {
                continue;
            };
            let lines = LandedLines { commit, branch: text(branch).to_owned(), by, at };
            landed.entry(text(agent).to_owned()).or_default().push(lines);
        }
        Ok(SurvivingLines { caller, days, landed, n_files: 0 })
    }

    /// Tells what became of the lines of some cases, as far as they landed so many days ago.
    pub(super) fn view(&mut self, cases: &[&CountedCase]) -> Result<CaseSurvivalView, Refusal> {
        let mut view = CaseSurvivalView { days: self.days, ..CaseSurvivalView::default() };
        let mut shares = Vec::new();
        for case in cases {
            let Some(lines) = self.lines_of(case)? else { continue };
            if lines.n_added > 0 {
                shares.push(lines.n_alive as f64 / lines.n_added as f64);
            }
            view.cases += 1;
            view.added += lines.n_added;
            view.alive += lines.n_alive;
        }
        let found = quartiles(&shares);
        view.median = found.as_ref().map(|it| it.median);
        view.lower = found.as_ref().map(|it| it.lower);
        view.upper = found.map(|it| it.upper);
        Ok(view)
    }

    /// Counts the lines of a case; nothing where it did not land, or not long enough ago.
    fn lines_of(&mut self, case: &CountedCase) -> Result<Option<CaseLines>, Refusal> {
        let Some(landed) = self.landed.get(&case.agent) else { return Ok(None) };
        let is_own = |work: &&LandedLines| match case.form {
            CaseForm::Agent => true,
            CaseForm::Session => case.made.contains(&work.commit),
        };
        let mut by_branch: BTreeMap<&str, Vec<&LandedLines>> = BTreeMap::new();
        for work in landed.iter().filter(is_own) {
            by_branch.entry(&work.branch).or_default().push(work);
        }
        // Of several branches the one that has most of it counts.
        let most = by_branch.into_iter().max_by_key(|(_, work)| work.len());
        let Some((branch, work)) = most else { return Ok(None) };
        let last = work.iter().map(|work| work.at).max().unwrap_or_default();
        let then = last.saturating_add(i64::from(self.days) * DAY_MS);
        if then > self.caller.space.now().millis() {
            return Ok(None);
        }
        let commits: BTreeSet<Oid> = work.iter().map(|work| work.by).collect();
        let branch = branch.to_owned();
        let Some(tip) = self.tip_at(&branch, then)? else { return Ok(None) };
        self.count(&commits, tip).map(Some)
    }

    /// Finds where a branch was at an instant, along its first parents.
    fn tip_at(&self, branch: &str, at: i64) -> Result<Option<Oid>, Refusal> {
        let repository = self.caller.space.repository();
        let Some(head) = repository.find_ref(&format!("refs/heads/{branch}"))? else {
            return Ok(None);
        };
        for commit in repository.first_parents(head) {
            let commit = commit?;
            if commit.at.millis() <= at {
                return Ok(Some(commit.oid));
            }
        }
        Ok(None)
    }

    /// Counts what commits added, and how much of that a commit still has.
    fn count(&mut self, commits: &BTreeSet<Oid>, tip: Oid) -> Result<CaseLines, Refusal> {
        let repository = self.caller.space.repository();
        let mut pairs = Vec::new();
        for commit in commits {
            let info = repository.read_commit(*commit)?;
            let before = match info.parents.first() {
                Some(parent) => repository.tree_of(*parent)?,
                None => repository.empty_tree(),
            };
            pairs.push((before, info.tree));
        }
        let (mut lines, mut files) = (CaseLines::default(), BTreeSet::new());
        for file in repository.line_counts(&pairs)?.into_iter().flatten() {
            let Some((added, _)) = file.lines.filter(|(added, _)| *added > 0) else { continue };
            lines.n_added += added;
            files.insert(file.path);
        }
        for file in files {
            self.n_files += 1;
            if self.n_files > FILES_MAX {
                let message = format!("more than {FILES_MAX} files would be looked at");
                return Err(Refusal::refused(&message, "ask for less with --from and --agent"));
            }
            let tip = tip.to_string();
            let blame = ["blame", "-s", "-l", "--root", &tip, "--", &file];
            let told = repository.git(&blame)?;
            // A file that is gone has no line any more.
            let ids = told.stdout.lines().filter_map(|line| line.split_whitespace().next());
            let is_own = |id: &&str| Oid::parse(id).is_ok_and(|id| commits.contains(&id));
            lines.n_alive += ids.filter(is_own).count() as u64;
        }
        Ok(lines)
    }
}
