//! Finding transcripts where each vendor keeps them.
//!
//! Names of folders are not read, for they lose what paths say. Names of files are only what a
//! conversation is called until its first line says so itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agentic_model::Instant;

use crate::opencode_store::{is_database, is_session_file, sessions_of};
use crate::{ConversationId, HookEnvironment, Source, VendorFile, VendorFileRefusal, VendorRoots};

/// How many files are found of one source.
const FILES_MAX: usize = 1 << 20;
/// How deep folders nest in which transcripts lie.
const DEPTH_MAX: usize = 6;
/// How many databases opencode has.
const DATABASES_MAX: usize = 64;
/// What the name of a subagent's transcript begins with.
const SUBAGENT_MARK: &str = "agent-";

/// A transcript that may be somebody's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FoundTranscript {
    /// What the conversation is called, as far as the name of the file says.
    pub id: ConversationId,
    /// The subagent whose words it has.
    pub subagent: Option<String>,
    /// The file.
    pub path: PathBuf,
    /// Whether it lies in no folder of its vendor's, so that its name may be any.
    pub is_elsewhere: bool,
}

impl FoundTranscript {
    /// Takes a file that somebody named; nothing if no source has files of such a name.
    pub fn of_path(path: &Path, source: Source) -> Option<FoundTranscript> {
        let name = path.file_name()?.to_str()?;
        let plain = name.strip_suffix(".zst").unwrap_or(name);
        let endings: &[&str] = match source {
            Source::Gemini => &[".jsonl", ".json"],
            Source::Opencode if is_session_file(path) => &[".json"],
            // One that is named by its file alone cannot be read; whoever tries says why.
            Source::Opencode => &[".jsonl", ".db"],
            Source::Claude | Source::Codex | Source::Cursor | Source::Copilot => &[".jsonl"],
        };
        let stem = endings.iter().find_map(|ending| plain.strip_suffix(ending))?;
        let above = |n: usize| path.ancestors().nth(n)?.file_name()?.to_str();
        let (native, subagent) = match source {
            Source::Claude => match stem.strip_prefix(SUBAGENT_MARK) {
                Some(id) if above(1) == Some("subagents") => (above(2)?, Some(id)),
                // Older versions keep them beside the conversations, which their lines name.
                Some(id) => ("", Some(id)),
                None => (stem, None),
            },
            // `rollout-TIME-ID`: the id is a UUID.
            Source::Codex => (stem.get(stem.len().checked_sub(36)?..)?, None),
            Source::Copilot if stem == "events" => (above(1)?, None),
            Source::Cursor | Source::Gemini | Source::Copilot | Source::Opencode => (stem, None),
        };
        Some(FoundTranscript {
            id: ConversationId { source, native: native.to_owned() },
            subagent: subagent.map(str::to_owned),
            path: path.to_owned(),
            is_elsewhere: false,
        })
    }
}

impl VendorRoots {
    /// Opens a transcript that was found.
    ///
    /// # Errors
    /// Fails with the first reason why not.
    pub(super) fn open_found(
        &self,
        found: &FoundTranscript,
        now: Instant,
    ) -> Result<VendorFile, VendorFileRefusal> {
        self.open_transcript(&found.path, &found.id, now)
    }
}

/// Lists the transcripts in a file: one, or in a database those of all its conversations.
pub fn transcripts_in(path: &Path, source: Source) -> Vec<FoundTranscript> {
    let whole = || FoundTranscript::of_path(path, source).into_iter().collect();
    if source != Source::Opencode || !is_database(path) {
        return whole();
    }
    let Ok(sessions) = sessions_of(path) else { return whole() };
    let found = sessions.into_iter().map(|native| FoundTranscript {
        id: ConversationId { source, native },
        subagent: None,
        path: path.to_owned(),
        is_elsewhere: false,
    });
    found.collect()
}

/// Tells whose transcript a file is, by the folder that it lies in.
pub fn source_of(path: &Path, environment: &HookEnvironment) -> Option<Source> {
    let real = path.canonicalize().ok()?;
    let is_in = |source: &Source| {
        let homes = homes(*source, environment).into_iter();
        homes.filter_map(|home| home.canonicalize().ok()).any(|home| real.starts_with(home))
    };
    Source::ALL.into_iter().find(is_in)
}

/// Lists the transcripts of a source, in the order of their paths.
pub fn transcripts(source: Source, environment: &HookEnvironment) -> Vec<FoundTranscript> {
    let mut paths = Vec::new();
    for home in homes(source, environment) {
        for folder in folders_of(source) {
            let depth = if folder.is_empty() { 0 } else { DEPTH_MAX };
            collect(&home.join(folder), depth, &mut |path| {
                if is_transcript(source, path) {
                    paths.push(path.to_owned());
                }
                paths.len() < FILES_MAX
            });
        }
    }
    paths.sort();
    let roots = VendorRoots::of(environment, None);
    // A database is opened to be listed: only one that may be read.
    let may_be_read = |path: &&PathBuf| !is_database(path) || roots.open(path).is_ok();
    let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    match source {
        Source::Codex => {
            plain_first(paths.iter().filter_map(|path| FoundTranscript::of_path(path, source)))
        }
        Source::Opencode => {
            let paths = paths.iter().filter(may_be_read).map(real);
            first_of_each(paths.flat_map(|path| transcripts_in(&path, source)))
        }
        Source::Claude | Source::Cursor | Source::Gemini | Source::Copilot => {
            paths.iter().filter_map(|path| FoundTranscript::of_path(path, source)).collect()
        }
    }
}

/// Lists the files that may have the rows of a conversation of opencode: its databases first.
pub fn rows_of(id: &ConversationId, environment: &HookEnvironment) -> Vec<PathBuf> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_name = id.native.chars().all(is_plain);
    let (mut databases, mut files) = (Vec::new(), Vec::new());
    for home in homes(Source::Opencode, environment) {
        collect(&home, 0, &mut |path| {
            if is_database(path) && is_transcript(Source::Opencode, path) {
                databases.push(path.to_owned());
            }
            databases.len() < DATABASES_MAX
        });
        let projects = std::fs::read_dir(home.join("storage/session")).into_iter().flatten();
        let projects = projects.flatten().take(FILES_MAX).filter(|_| is_name);
        let file = format!("{}.json", id.native);
        files.extend(projects.map(|project| project.path().join(&file)).filter(|it| it.exists()));
    }
    databases.sort();
    files.sort();
    databases.into_iter().chain(files).collect()
}

/// Of a session that is in a database and in files of before the database counts.
fn first_of_each(found: impl Iterator<Item = FoundTranscript>) -> Vec<FoundTranscript> {
    let mut seen = std::collections::BTreeSet::new();
    found.filter(|one| seen.insert(one.id.clone())).collect()
}

/// Of a transcript that is there in several forms the plain one counts.
fn plain_first(found: impl Iterator<Item = FoundTranscript>) -> Vec<FoundTranscript> {
    let mut kept: BTreeMap<ConversationId, FoundTranscript> = BTreeMap::new();
    let is_packed = |found: &FoundTranscript| found.path.extension().is_some_and(|it| it == "zst");
    for one in found {
        match kept.get(&one.id) {
            Some(other) if !is_packed(other) || is_packed(&one) => {}
            Some(_) | None => drop(kept.insert(one.id.clone(), one)),
        }
    }
    let mut kept: Vec<FoundTranscript> = kept.into_values().collect();
    kept.sort_by(|left, right| left.path.cmp(&right.path));
    kept
}

/// Returns the folders in which a vendor keeps its own.
pub fn homes(source: Source, environment: &HookEnvironment) -> Vec<PathBuf> {
    let home = |names: &[&str]| {
        let home = environment.home();
        names.iter().filter_map(|name| Some(home.as_ref()?.join(name))).collect::<Vec<_>>()
    };
    let named = |variable: &str, names: &[&str]| match environment.path(variable) {
        Some(named) => vec![named],
        None => home(names),
    };
    match source {
        Source::Claude => named("CLAUDE_CONFIG_DIR", &[".claude", ".config/claude"]),
        Source::Codex => named("CODEX_HOME", &[".codex"]),
        Source::Cursor => home(&[".cursor"]),
        Source::Gemini => named("GEMINI_HOME", &[".gemini"]),
        Source::Copilot => named("COPILOT_HOME", &[".copilot"]),
        Source::Opencode => match environment.path("XDG_DATA_HOME") {
            Some(data) => vec![data.join("opencode")],
            None => home(&[".local/share/opencode"]),
        },
    }
}

fn folders_of(source: Source) -> &'static [&'static str] {
    match source {
        Source::Claude | Source::Cursor => &["projects"],
        Source::Codex => &["sessions", "archived_sessions"],
        Source::Gemini => &["tmp"],
        Source::Copilot => &["session-state"],
        Source::Opencode => &["", "storage/session"],
    }
}

fn is_transcript(source: Source, path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let folder = |n: usize| path.ancestors().nth(n).and_then(Path::file_name);
    let is_in = |n: usize, name: &str| folder(n).is_some_and(|folder| folder == name);
    match source {
        Source::Claude => name.ends_with(".jsonl"),
        Source::Codex => {
            name.starts_with("rollout-")
                && (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst"))
        }
        Source::Cursor => {
            name.ends_with(".jsonl")
                && (is_in(1, "agent-transcripts") || is_in(2, "agent-transcripts"))
        }
        Source::Gemini => {
            // Older versions wrote one object of JSON.
            let is_json = name.ends_with(".jsonl") || name.ends_with(".json");
            name.starts_with("session-") && is_json && is_in(1, "chats")
        }
        Source::Copilot => name == "events.jsonl",
        // Each channel of it has a database of its own.
        Source::Opencode => {
            let is_own = name.starts_with("opencode") && is_database(path);
            (is_own && is_in(1, "opencode")) || is_session_file(path)
        }
    }
}

/// Visits the files below a folder, until `visit` has enough. Links are not followed into folders.
fn collect(folder: &Path, depth: usize, visit: &mut dyn FnMut(&Path) -> bool) -> bool {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let goes_on = match is_folder {
            true => depth == 0 || collect(&entry.path(), depth - 1, visit),
            false => visit(&entry.path()),
        };
        if !goes_on {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests;
