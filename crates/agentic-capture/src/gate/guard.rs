//! What nobody changes unasked, whatever the rules say: the rules themselves, the wiring, and the
//! settings of git by which a repository is captured and held.
//!
//! A conversation in one worktree may reach all others of its repository, so what stands in any of
//! them counts. Commands are looked at as far as they name a setting, or a file that is guarded; what a
//! program does that they start is beyond this.

mod line;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use agentic_git::Repository;
use regex::Regex;

use super::rule::{BadRules, HeldCall};
use super::tool;
use crate::Source;
use crate::wiring::{AgentHomes, WiringScope};

/// The file of a repository that has rules.
pub(super) const FILE: &str = "agentic.toml";
/// The file of a worktree in which git has settings, beside that of the repository.
const WORKTREE_SETTINGS: &str = "config.worktree";
/// What is the name of a file behind our own, and no setting: git may be asked about it.
const FILE_ENDINGS: [&str; 6] = ["toml", "md", "rs", "ts", "json", "git"];
/// The scopes whose files stand in a checkout.
const OF_CHECKOUT: [WiringScope; 2] = [WiringScope::Local, WiringScope::Project];

/// The files whose changes are held without a rule.
#[derive(Debug, Clone, Default)]
pub(super) struct GuardedFiles {
    /// Those of the user and of the checkout in which the call is made, and where they lead.
    files: Vec<PathBuf>,
    /// All checkouts of the repository, and where they lead.
    checkouts: Vec<PathBuf>,
    /// What is guarded in each of them.
    inside: Vec<PathBuf>,
    /// The git directory of all checkouts, and where it leads.
    git: Vec<PathBuf>,
}

impl GuardedFiles {
    /// Finds them.
    ///
    /// # Errors
    /// Fails when the checkouts cannot be listed.
    pub(super) fn of(
        repository: &Repository,
        checkout: &Path,
        homes: Option<&AgentHomes>,
    ) -> Result<GuardedFiles, BadRules> {
        let worktrees = repository.worktrees().map_err(|error| BadRules {
            file: "the list of worktrees".to_owned(),
            reason: error.to_string(),
        })?;
        // These stand in a checkout, so nothing in a home counts for them.
        let nowhere = AgentHomes::at(Path::new(""));
        let mut inside = vec![PathBuf::from(FILE), PathBuf::from(".git")];
        inside.extend(OF_CHECKOUT.into_iter().flat_map(|scope| {
            Source::ALL.map(|source| nowhere.hooks_file(source, scope, Path::new("")))
        }));
        let own = inside.iter().map(|name| checkout.join(name));
        let users = homes.into_iter().flat_map(|homes| {
            let rules = homes.configuration().join("agentic/holds.toml");
            let hooks =
                Source::ALL.map(|source| homes.hooks_file(source, WiringScope::User, checkout));
            std::iter::once(rules).chain(hooks)
        });
        let checkouts = worktrees.iter().map(|it| it.path.as_path()).chain([checkout]);
        Ok(GuardedFiles {
            files: places(own.chain(users)),
            checkouts: places(checkouts.map(Path::to_owned)),
            git: places(std::iter::once(repository.common_dir().to_owned())),
            inside,
        })
    }

    /// Tells whether a call would change one of them, or a setting that they stand for.
    pub(super) fn are_changed_by(&self, call: &HeldCall<'_>) -> bool {
        let writes = tool::writes(call.source, call.tool)
            && call.files().iter().any(|file| self.contain(file));
        writes
            || tool::commands(call.input).iter().any(|command| changes_settings(command))
            || tool::lines(call.input).iter().any(|line| self.are_changed_by_line(line, call))
    }

    fn contain(&self, file: &PathBuf) -> bool {
        let inside = |top: &PathBuf| file.strip_prefix(top).ok();
        self.files.contains(file)
            || self
                .checkouts
                .iter()
                .filter_map(inside)
                .any(|name| self.inside.iter().any(|guarded| guarded == name))
            || self
                .git
                .iter()
                .filter_map(inside)
                .any(|name| name == Path::new("config") || name.ends_with(WORKTREE_SETTINGS))
    }
}

fn places(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = paths.flat_map(|path| tool::places(&path)).collect();
    places.sort();
    places.dedup();
    places
}

/// Tells whether a command names a setting of ours to git, or a file in which such settings stand.
fn changes_settings(command: &str) -> bool {
    // process: an expression, compiled once; it never changes.
    static FILES: LazyLock<Regex> =
        LazyLock::new(|| expression(r"(?i)\.git/config\b|\bconfig\.worktree\b"));
    // process: an expression, compiled once; it never changes.
    static GIT: LazyLock<Regex> = LazyLock::new(|| expression(r"(?i)\bgit\b"));
    // process: an expression, compiled once; it never changes.
    static SETTING: LazyLock<Regex> =
        LazyLock::new(|| expression(r"(?i)(?:^|[^\w./-])agentic\.([a-z][a-z0-9-]*)"));
    // process: an expression, compiled once; it never changes.
    static SECTION: LazyLock<Regex> =
        LazyLock::new(|| expression(r"(?i)\b(?:remove|rename)-section\b.*\bagentic\b"));
    let is_setting = |found: regex::Captures<'_>| {
        !FILE_ENDINGS.iter().any(|ending| found[1].eq_ignore_ascii_case(ending))
    };
    FILES.is_match(command)
        || (GIT.is_match(command)
            && (SECTION.is_match(command) || SETTING.captures_iter(command).any(is_setting)))
}

fn expression(text: &str) -> Regex {
    Regex::new(text).expect("an expression that tests compile")
}

#[cfg(test)]
mod tests {
    use super::changes_settings;

    #[test]
    fn commands_that_name_settings_of_ours_are_known() {
        for command in [
            "git config agentic.capture off",
            "git config --local --unset Agentic.Capture",
            "cd x && git -C ../main config set agentic.captureUnbound skip",
            "git config --remove-section agentic",
            "git config rename-section agentic other",
            "git -c agentic.capture=off status",
            "sed -i /capture/d .git/config",
            "printf x >>../main/.git/config",
        ] {
            assert!(changes_settings(command), "{command}");
        }
        for command in [
            "git config user.name Ada",
            "git add agentic.toml",
            "git log -- docs/agentic.md agentic.rs",
            "git clone https://example.com/agentic.git",
            "cat agentic.toml",
            "agentic commit --trace -m 'agentic.capture is on'",
            "git remote remove agentic",
        ] {
            assert!(!changes_settings(command), "{command}");
        }
    }
}
