//! Where rules come from, and which of them is the one that counts for a call.
//!
//! Those of the worktree's file count, and those of the commits that the remote and the main checkout
//! have: an agent cannot edit its own rules away. The user's count beside them.

use std::path::{Path, PathBuf};

use agentic_git::Repository;
use agentic_model::json;
use agentic_store::file;

use super::guard::{FILE, GuardedFiles};
use super::rule::{BadRules, Enforcement, HeldCall, HoldRule, read_rules};
use super::tool;
use crate::Source;
use crate::wiring::AgentHomes;

/// How long a file of rules may be, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// All rules that count in a worktree.
#[derive(Debug, Clone, Default)]
pub struct HoldRules {
    rules: Vec<HoldRule>,
    /// What is held without a rule.
    guarded: GuardedFiles,
    /// The user's home.
    home: Option<PathBuf>,
}

/// Why a call is held.
#[derive(Debug, Clone)]
pub struct HeldBy {
    /// How strictly.
    pub enforce: Enforcement,
    /// The rule; nothing where a file of ours would be written.
    pub rule: Option<HoldRule>,
}

impl HoldRules {
    /// Reads the rules that count in a worktree, and those of a user.
    ///
    /// # Errors
    /// Fails when a file of rules cannot be read.
    pub fn of(
        repository: &Repository,
        checkout: &Path,
        homes: Option<&AgentHomes>,
    ) -> Result<HoldRules, BadRules> {
        let own = checkout.join(FILE);
        let mut texts: Vec<(String, String)> = Vec::new();
        texts.extend(of_file(&own)?.map(|text| (FILE.to_owned(), text)));
        texts.extend(committed(repository)?);
        if let Some(homes) = homes {
            let path = homes.configuration().join("agentic/holds.toml");
            texts.extend(of_file(&path)?.map(|text| (path.display().to_string(), text)));
        }
        let mut seen: Vec<&str> = Vec::new();
        let mut rules = HoldRules::default();
        for (file, text) in &texts {
            // The same text in several places has the same rules.
            if !seen.contains(&text.as_str()) {
                rules.rules.extend(read_rules(text, file)?);
                seen.push(text);
            }
        }
        rules.guarded = GuardedFiles::of(repository, checkout, homes)?;
        rules.home = homes.map(|homes| homes.home().to_owned());
        Ok(rules)
    }

    /// Returns the home of the user whose rules they are.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Finds out by what a call is held: the strictest rule, of several the first.
    pub fn held_by(&self, call: &HeldCall<'_>) -> Option<HeldBy> {
        let canonical = json::to_text(call.input);
        let holding = self.rules.iter().filter(|rule| rule.holds(call, &canonical));
        let strictest = holding.rev().max_by_key(|rule| rule.enforce);
        if let Some(rule) = strictest {
            return Some(HeldBy { enforce: rule.enforce, rule: Some(rule.clone()) });
        }
        self.guarded
            .are_changed_by(call)
            .then_some(HeldBy { enforce: Enforcement::Strict, rule: None })
    }

    /// Returns the matcher of a gate: the tools that rules name, and those that could change what is
    /// guarded; nothing where that has to be all of them.
    pub fn matcher(&self, source: Source) -> Option<String> {
        let guarded = tool::WRITERS.iter().chain(&tool::SHELLS);
        let mut names: Vec<String> = guarded.map(|name| (*name).to_owned()).collect();
        for rule in &self.rules {
            let words = rule.tool()?;
            // What is more than a list of names is for the gate alone to understand.
            let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_|-".contains(letter);
            if !words.chars().all(is_plain) {
                return None;
            }
            names.extend(words.split('|').map(str::to_owned));
        }
        let own: Vec<String> = names
            .iter()
            .flat_map(|name| tool::own_names(source, name))
            .map(str::to_owned)
            .collect();
        names.extend(own);
        names.sort();
        names.dedup();
        Some(names.join("|"))
    }
}

fn of_file(path: &Path) -> Result<Option<String>, BadRules> {
    match file::read_text(path, FILE_BYTES_MAX) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(BadRules { file: path.display().to_string(), reason: error.to_string() }),
    }
}

/// Reads the file as the main checkout's head and the heads of remotes have it.
fn committed(repository: &Repository) -> Result<Vec<(String, String)>, BadRules> {
    let main = repository.common_dir().display().to_string();
    let remotes = repository.remotes().into_iter();
    let heads = remotes.map(|remote| format!("refs/remotes/{remote}/HEAD"));
    let mut found = Vec::new();
    for head in std::iter::once("HEAD".to_owned()).chain(heads) {
        let spec = format!("{head}:{FILE}");
        let bad = |reason: String| BadRules { file: spec.clone(), reason };
        let git = |arguments: &[&str]| {
            let all = [&["--git-dir", main.as_str()][..], arguments].concat();
            repository.git(&all).map_err(|error| bad(error.to_string()))
        };
        if !git(&["rev-parse", "-q", "--verify", &format!("{head}^{{commit}}")])?.success {
            continue;
        }
        let listed = git(&["ls-tree", "--full-tree", "--name-only", &head, "--", FILE])?;
        if !listed.success {
            return Err(bad("its commit cannot be read".to_owned()));
        }
        if listed.stdout.trim().is_empty() {
            continue;
        }
        let shown = git(&["cat-file", "blob", &spec])?;
        if !shown.success {
            return Err(bad("it cannot be read".to_owned()));
        }
        found.push((spec.clone(), shown.stdout));
    }
    Ok(found)
}
