//! A run as it is laid before a person who scores it: what a program would find, and nothing of whose it
//! is. The flow of the trial asks the person, and their decision is the score.

use std::path::Path;

use agentic_model::{Cid, Value, json};
use schemars::JsonSchema;
use serde::Deserialize;

use super::fixed::FixedTrial;
use super::place::TrialPlace;
use super::run_files::RunFiles;
use crate::caller::agent_name;
use crate::verb::{Reply, Verb};
use crate::view::{TrialPresentView, TrialStepOutcome};
use crate::{Caller, Refusal};

/// How many characters of a hash name the folder of a run: its own name would tell of which it is.
const LABEL_CHARS: usize = 12;
/// How much is shown of what a run changed, in bytes. The folder has all of it.
const CHANGES_BYTES_MAX: usize = 32 << 10;

/// Lay a run of a trial before a person who scores it. Only the flow of the trial asks for this.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialPresent {
    /// The name of the trial.
    pub trial: String,
    /// The number of the task.
    pub task: usize,
    /// The name of the run.
    pub run: String,
}

impl Verb for TrialPresent {
    type Answer = TrialPresentView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<TrialPresentView>, Refusal> {
        let fixed = FixedTrial::read(caller, &self.trial)?;
        let run = fixed.step(&self.run)?;
        let task = fixed.task(self.task)?;
        let shown = match RunFiles::of(caller, &task, &run)? {
            RunFiles::Shown(shown) => shown,
            RunFiles::Tampered(touched) => {
                return Ok(Reply::plain(TrialPresentView {
                    outcome: TrialStepOutcome::Tampered,
                    why: touched,
                    ..TrialPresentView::default()
                }));
            }
        };
        let hash = Cid::of(run.as_str().as_bytes()).to_string();
        let label = agent_name(&format!("run-{}", &hash[hash.len() - LABEL_CHARS..]))?;
        let place = TrialPlace::of(caller.space, &fixed.agent);
        let (repository, commits) = place.of_trees(caller, &label, &shown)?;
        let question = format!(
            "Score this run of task {} in the trial `{}`: {{\"score\": NUMBER, \"verdict\": \"pass\" or \"fail\"}}",
            self.task, self.trial
        );
        let mut shown = format!("Task: {}\n", task.briefing);
        if task.input != Value::Null {
            shown.push_str(&format!("Input: {}\n", json::to_text(&task.input)));
        }
        let folder = from_top(caller.space.repository().common_dir(), &repository.folder);
        shown.push_str(&format!("Folder: {folder}\n\n"));
        shown.push_str(&shortened(repository.changes(commits)?));
        Ok(Reply::plain(TrialPresentView {
            outcome: TrialStepOutcome::Done,
            question: Some(question),
            shown: Some(shown),
            ..TrialPresentView::default()
        }))
    }
}

/// Names a folder as it is reached from the top of the repository: other machines have other paths.
fn from_top(common: &Path, folder: &Path) -> String {
    let top = if common.ends_with(".git") { common.parent() } else { Some(common) };
    let below = top.and_then(|top| folder.strip_prefix(top).ok());
    below.unwrap_or(folder).to_string_lossy().into_owned()
}

/// Leaves the end out of what is too long to be read.
fn shortened(mut changes: String) -> String {
    let n_kept = changes.floor_char_boundary(CHANGES_BYTES_MAX);
    let n_more = changes.len() - n_kept;
    if n_more > 0 {
        changes.truncate(n_kept);
        changes.push_str(&format!("\n… and {n_more} bytes more: look into the folder\n"));
    }
    changes
}
