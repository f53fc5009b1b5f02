//! Taking back what wiring wrote. Only a person may do that.

use std::path::{Path, PathBuf};

use agentic_capture::Source;
use agentic_capture::wiring::{
    self, WiredAction, WiringPlace, WiringRun, WiringScope, take_exclusion, take_git_hooks,
};

use crate::verb::wiring::{CAPTURE, WiringHost, checkout, exclusion, program, refused, said};
use crate::verb::{Reply, Verb, VerbCompletion};
use crate::view::UnwiredView;
use crate::{Caller, Refusal};

/// Take back what wiring wrote. What was captured stays.
#[derive(Debug, Clone)]
pub struct CaptureOff {
    /// Whose settings are changed.
    pub host: WiringHost,
    /// Which coding agents; all of them without.
    pub sources: Vec<Source>,
    /// For whom; for everybody without.
    pub scope: Option<WiringScope>,
}

impl Verb for CaptureOff {
    type Answer = UnwiredView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<UnwiredView>, Refusal> {
        caller.require_person("end capture")?;
        let every = [WiringScope::User, WiringScope::Local, WiringScope::Project];
        let scopes = self.scope.map_or(every.to_vec(), |scope| vec![scope]);
        let sources =
            if self.sources.is_empty() { Source::ALL.to_vec() } else { self.sources.clone() };
        let here = checkout(caller, WiringScope::User)?;
        let mut work = UnwiringWork { caller, removed: Vec::new(), failure: None };
        for scope in scopes {
            for checkout in checkouts(caller, scope, &here)? {
                let place = WiringPlace {
                    homes: &self.host.homes,
                    checkout: &checkout,
                    program: program(&self.host)?,
                    run: WiringRun::Apply,
                };
                for source in &sources {
                    work.unwire(&place, *source, scope)?;
                }
            }
        }
        if self.sources.is_empty() {
            work.removed.extend(end_here(caller)?);
        }
        let completion = work.failure.map_or(VerbCompletion::Whole, VerbCompletion::Short);
        let mut removed = work.removed;
        removed.dedup();
        Ok(Reply { completion, ..Reply::plain(UnwiredView { removed }) })
    }
}

/// Lists the checkouts whose files are looked at. What was written for one checkout went into the
/// worktrees that were made from it, too.
fn checkouts(
    caller: &Caller<'_>,
    scope: WiringScope,
    here: &Path,
) -> Result<Vec<PathBuf>, Refusal> {
    match scope {
        WiringScope::User | WiringScope::Project => Ok(vec![here.to_owned()]),
        WiringScope::Local => {
            let worktrees = caller.space.repository().worktrees()?;
            Ok(worktrees.into_iter().map(|worktree| worktree.path).collect())
        }
    }
}

/// Files that are freed of ours one after the other.
struct UnwiringWork<'w, 's> {
    caller: &'w Caller<'s>,
    removed: Vec<String>,
    failure: Option<Refusal>,
}

impl UnwiringWork<'_, '_> {
    fn unwire(
        &mut self,
        place: &WiringPlace<'_>,
        source: Source,
        scope: WiringScope,
    ) -> Result<(), Refusal> {
        for (file, outcome) in wiring::unwire(place, source, scope) {
            match outcome {
                Ok(WiredAction::Unchanged) => continue,
                Ok(WiredAction::Made | WiredAction::Changed | WiredAction::Removed) => {
                    self.removed.push(file.display().to_string());
                }
                Err(error) => {
                    let message = format!("{} was left alone", file.display());
                    let hint = "take the entries that run `agentic` out of it by hand";
                    let mut refusal = Refusal::refused(&message, hint);
                    refusal.because = Some(said(&error));
                    self.failure.get_or_insert(refusal);
                    continue;
                }
            }
            if let Some(line) = exclusion(place, &file).filter(|_| scope == WiringScope::Local) {
                let common = self.caller.space.repository().common_dir();
                take_exclusion(common, &line, place.run).map_err(refused)?;
            }
        }
        Ok(())
    }
}

/// Ends capture in this repository: hooks of git, and the switch.
fn end_here(caller: &Caller<'_>) -> Result<Vec<String>, Refusal> {
    let repository = caller.space.repository();
    let hooks = repository.common_dir().join("hooks");
    let taken = take_git_hooks(&hooks, WiringRun::Apply).map_err(refused)?;
    let unset = ["config", "--local", "--unset-all", CAPTURE];
    // It may not be there.
    let _ = repository.configure(&unset)?;
    Ok(taken.iter().map(|path| path.display().to_string()).collect())
}
