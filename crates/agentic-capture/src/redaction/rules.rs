//! Rules of a project: `[[redact.rule]]` and `redact.files` of its `agentic.toml`.

use std::io::ErrorKind;
use std::path::{Component, Path};

use agentic_redact::{RedactRule, RedactRules, RedactTable};
use agentic_store::file::read_text;

use super::RedactionError;

/// The file of a project.
const PROJECT_FILE: &str = "agentic.toml";
/// How long a file of rules may be.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// How many files of rules there may be.
const FILES_MAX: usize = 16;
/// What every table of redaction has in its file.
const TABLE_MARK: &str = "redact";

/// Loads the built-in rules and those of the project whose worktree this is.
pub(super) fn load(worktree: Option<&Path>) -> Result<RedactRules, RedactionError> {
    let table = worktree.map(table).transpose()?.flatten();
    let (Some(worktree), Some(table)) = (worktree, table) else {
        return Ok(RedactRules::built_in());
    };
    if table.files.len() > FILES_MAX {
        let reason = format!("more than {FILES_MAX} files");
        return Err(RedactionError::Files { reason });
    }
    let mut rules = table.rule;
    for file in &table.files {
        rules.extend(rules_of(worktree, file)?);
    }
    Ok(RedactRules::with(rules)?)
}

/// Returns what a project's file says of redaction that does not count.
pub(super) fn refused(worktree: &Path) -> Vec<String> {
    let table = table(worktree).ok().flatten();
    table.into_iter().flat_map(|table| table.refused.into_keys()).collect()
}

/// Reads the table of a project's file. A file that is no TOML has none: other verbs say so, and what is
/// captured meanwhile is redacted by the built-in rules.
fn table(worktree: &Path) -> Result<Option<RedactTable>, RedactionError> {
    let path = worktree.join(PROJECT_FILE);
    let text = match read_text(&path, FILE_BYTES_MAX) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(RedactionError::ReadRules { path, source }),
    };
    if !text.contains(TABLE_MARK) || !RedactTable::is_toml(&text) {
        return Ok(None);
    }
    let table = RedactTable::parse(&text);
    table.map(Some).map_err(|fault| RedactionError::Rules { path, reason: fault.reason })
}

/// Reads a file of rules, which lies in the worktree.
fn rules_of(worktree: &Path, file: &str) -> Result<Vec<RedactRule>, RedactionError> {
    let is_inside = Path::new(file)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let path = worktree.join(file);
    let unread = |source| RedactionError::ReadRules { path: path.clone(), source };
    let real = path.canonicalize().map_err(unread)?;
    let root = worktree.canonicalize().map_err(unread)?;
    if !is_inside || !real.starts_with(root) {
        return Err(RedactionError::Files {
            reason: format!("`{file}` lies outside the worktree"),
        });
    }
    let text = read_text(&real, FILE_BYTES_MAX).map_err(unread)?;
    RedactRule::parse_file(&text)
        .map_err(|fault| RedactionError::Rules { path: path.clone(), reason: fault.reason })
}
