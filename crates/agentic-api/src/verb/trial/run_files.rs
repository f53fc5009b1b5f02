//! What whoever scores a run sees of it: files before and after, unless it touched what is protected.

use agentic_git::Repository;
use agentic_model::{AgentName, Oid};

use super::fixed::FixedTask;
use super::place::ShownTrees;
use crate::{Caller, Refusal};

/// What there is to score of a run.
pub(super) enum RunFiles<'t> {
    /// Its files.
    Shown(ShownTrees<'t>),
    /// Nothing: it touched these files, which are protected.
    Tampered(String),
}

impl RunFiles<'_> {
    /// Looks at what a run left.
    pub fn of<'t>(
        caller: &Caller<'_>,
        task: &'t FixedTask,
        run: &AgentName,
    ) -> Result<RunFiles<'t>, Refusal> {
        let own = caller.space.repository();
        let commit = caller.space.head(run)?;
        let touched = touched(own, task, commit)?;
        if !touched.is_empty() && !task.edits_protected {
            return Ok(RunFiles::Tampered(touched));
        }
        Ok(RunFiles::Shown(ShownTrees {
            before: own.read_commit(task.base)?.tree,
            after: own.read_commit(commit)?.tree,
            protect: &task.protect,
        }))
    }
}

/// Lists what a run touched of what is protected.
fn touched(own: &Repository, task: &FixedTask, commit: Oid) -> Result<String, Refusal> {
    let (base, commit) = (task.base.to_string(), commit.to_string());
    let mut arguments = vec!["--literal-pathspecs", "diff", "--name-only", "--no-renames"];
    arguments.extend([base.as_str(), commit.as_str(), "--"]);
    arguments.extend(task.protect.iter().map(String::as_str));
    let listed = own.git(&arguments)?.checked(&arguments)?;
    Ok(listed.lines().collect::<Vec<_>>().join(", "))
}
