//! Letting the configuration count that came with the repository.

use agentic_providers::configuration::allowance::{Allowance, Allowances};
use agentic_providers::configuration::{Configuration, ExaminedFile};
use agentic_session::{SessionOptions, SessionSpace};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::verb::{LocalVerb, Reply};
use crate::view::{AllowanceView, OpenedView};
use crate::{Refusal, Surroundings, require_person};

/// What one says who lets configuration count.
const DOING: &str = "say what counts";
/// The fewest letters of a hash that stand for it.
const PREFIX_CHARS_MIN: usize = 10;

/// Look at what the files of configuration open that came with the repository, and whether they
/// count.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExamineConfiguration {}

impl LocalVerb for ExamineConfiguration {
    type Answer = Vec<AllowanceView>;

    fn run_here(self, here: &Surroundings) -> Result<Reply<Vec<AllowanceView>>, Refusal> {
        let examined = examined(here)?;
        let view = |file: &ExaminedFile| {
            let state = if file.counts() { "allowed" } else { "withheld" };
            file.allowance.as_ref().map(|allowance| looked_at(file, allowance, state))
        };
        Ok(Reply::plain(examined.iter().filter_map(view).collect()))
    }
}

/// Let a file of configuration count as it is. Only a person may do that.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllowConfiguration {
    /// The file, from the top of a worktree.
    pub file: String,
    /// The hash of what the person was shown. A file that has changed since does not count.
    pub hash: String,
}

impl LocalVerb for AllowConfiguration {
    type Answer = AllowanceView;

    fn run_here(self, here: &Surroundings) -> Result<Reply<AllowanceView>, Refusal> {
        may_say_what_counts(here)?;
        let known = allowances()?;
        let examined = examined(here)?;
        let is_meant = |file: &&ExaminedFile| {
            let allowance = file.allowance.as_ref();
            allowance.is_some_and(|it| it.hash == self.hash && it.file == self.file)
        };
        let file = examined.iter().find(is_meant);
        let Some((file, allowance)) = file.and_then(|it| Some((it, it.allowance.as_ref()?))) else {
            return Err(Refusal::conflict(
                &format!("`{}` does not hold {} any more", self.file, self.hash),
                "look at it again with `agentic allow`",
            ));
        };
        if !file.counts() {
            known.add(allowance).map_err(|error| Refusal::io("keep it", &error))?;
        }
        Ok(Reply::plain(looked_at(file, allowance, "allowed")))
    }
}

/// List what was allowed, in all repositories.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListAllowances {}

impl LocalVerb for ListAllowances {
    type Answer = Vec<AllowanceView>;

    fn run_here(self, _: &Surroundings) -> Result<Reply<Vec<AllowanceView>>, Refusal> {
        Ok(Reply::plain(views(&listed(&allowances()?)?, "allowed")))
    }
}

/// Take back what was allowed. Only a person may do that.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RevokeAllowance {
    /// The beginning of the hash; all of the files that count here without.
    pub hash: Option<String>,
}

impl LocalVerb for RevokeAllowance {
    type Answer = Vec<AllowanceView>;

    fn run_here(self, here: &Surroundings) -> Result<Reply<Vec<AllowanceView>>, Refusal> {
        may_say_what_counts(here)?;
        let known = allowances()?;
        let found = listed(&known)?;
        let meant: Vec<Allowance> = match self.hash.as_deref() {
            None => {
                let own = examined(here)?.into_iter().filter_map(|file| file.allowance);
                let own: Vec<Allowance> = own.collect();
                let is_here = |it: &Allowance| {
                    own.iter().any(|own| own.repository == it.repository && own.file == it.file)
                };
                found.into_iter().filter(is_here).collect()
            }
            Some(hash) if hash.len() < PREFIX_CHARS_MIN => Vec::new(),
            Some(hash) => found.into_iter().filter(|it| it.hash.starts_with(hash)).collect(),
        };
        if meant.is_empty() {
            let message = "nothing of that was allowed";
            return Err(Refusal::refused(message, "`agentic allow --list` shows what was"));
        }
        for allowance in &meant {
            known.remove(allowance).map_err(|error| Refusal::io("take it back", &error))?;
        }
        Ok(Reply::plain(views(&meant, "revoked")))
    }
}

/// Refuses agents. What is said here needs no repository.
///
/// # Errors
/// Fails when an agent is at work here.
pub fn may_say_what_counts(here: &Surroundings) -> Result<(), Refusal> {
    let space = SessionSpace::open_as_is(&here.folder, SessionOptions::default()).ok();
    require_person(DOING, here, space.as_ref())
}

fn allowances() -> Result<Allowances, Refusal> {
    Allowances::of_user().ok_or_else(|| {
        Refusal::refused("there is no place for what is allowed", "set HOME to your folder")
    })
}

fn listed(known: &Allowances) -> Result<Vec<Allowance>, Refusal> {
    known.list().map_err(|error| Refusal::io("read what was allowed", &error))
}

fn examined(here: &Surroundings) -> Result<Vec<ExaminedFile>, Refusal> {
    let (_, examined) = Configuration::examine(&here.folder)?;
    Ok(examined)
}

fn views(allowances: &[Allowance], state: &str) -> Vec<AllowanceView> {
    allowances.iter().map(|allowance| view(allowance, state)).collect()
}

fn view(allowance: &Allowance, state: &str) -> AllowanceView {
    AllowanceView {
        hash: allowance.hash.clone(),
        repository: allowance.repository.to_string_lossy().into_owned(),
        file: allowance.file.clone(),
        path: String::new(),
        state: state.to_owned(),
        opens: Vec::new(),
    }
}

/// Shows a file that was looked at, with what it opens.
fn looked_at(file: &ExaminedFile, allowance: &Allowance, state: &str) -> AllowanceView {
    let opened = file.loosenings.iter();
    let opens = opened.map(|it| OpenedView { entry: it.entry.clone(), does: it.does.clone() });
    let path = file.path.to_string_lossy().into_owned();
    AllowanceView { path, opens: opens.collect(), ..view(allowance, state) }
}
