//! Windows: what git committed in a worktree while one call of a tool ran.
//!
//! Before a call the length of the worktree's `logs/HEAD` is noted, after it the log is read on from
//! there. A commit in between was made during the call; whether by it is proved by its result, and only
//! where no other conversation or subagent had a window open in that worktree meanwhile. Whoever opens
//! a window marks those of others that are open, and itself: no clock decides that.

use std::fs::OpenOptions;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use agentic_model::{AgentName, Oid};
use agentic_store::Layout;
use agentic_store::file::{self, Persistence};
use serde::{Deserialize, Serialize};

use crate::conversation::file_name_of;
use crate::{CaptureError, ConversationId};

/// The longest file of a window, in bytes.
const WINDOW_BYTES_MAX: u64 = 16 << 10;
/// How much of the log one window reads, in bytes.
const LOG_BYTES_MAX: u64 = 1 << 20;
/// How many windows of one worktree are looked at.
const WINDOWS_MAX: usize = 1024;
/// When a window that nobody closed counts no more.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(24 * 60 * 60);
/// The ending of the mark that others had a window open, too.
const SHARED: &str = "shared";

/// The call for which a window is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowCall<'w> {
    /// The git directory of the worktree.
    pub git_dir: &'w Path,
    /// The conversation; of a subagent its own.
    pub conversation: &'w ConversationId,
    /// The vendor's id of the call; empty where there is none.
    pub call: &'w str,
}

/// What a file says of an open window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct OpenWindow {
    agent: String,
    log_bytes: u64,
}

/// A step of the worktree's head while a window was open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadStep {
    /// Where the head was.
    pub from: Option<Oid>,
    /// Where it went.
    pub to: Oid,
    /// What git says that was, such as `commit (amend)`.
    pub action: String,
    /// Whether it only went forward to a commit that was there.
    is_forward: bool,
}

/// What there is to know of a window that was closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedWindow {
    /// The agent for whom it was opened.
    pub agent: Option<AgentName>,
    /// What happened meanwhile, oldest first.
    pub steps: Vec<HeadStep>,
    /// Whether others had one open there.
    pub company: WindowCompany,
}

/// Whether somebody else was at work in a worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowCompany {
    /// Nobody had a window open there.
    Alone,
    /// Somebody had.
    Shared,
}

impl HeadStep {
    /// Tells whether the step made a commit. A merge that only went forward made none.
    pub fn is_commit(&self) -> bool {
        const MADE: [&str; 9] = [
            "commit",
            "commit (amend)",
            "commit (initial)",
            "commit (merge)",
            "commit (cherry-pick)",
            "cherry-pick",
            "revert",
            "rebase (pick)",
            "rebase (continue)",
        ];
        const OF_REBASE: [&str; 4] =
            ["rebase (reword)", "rebase (squash)", "rebase (fixup)", "rebase (edit)"];
        MADE.contains(&self.action.as_str())
            || OF_REBASE.contains(&self.action.as_str())
            || (self.action.starts_with("merge ") && !self.is_forward)
    }

    /// Tells whether the commit takes the place of the one before.
    pub fn is_amendment(&self) -> bool {
        self.action == "commit (amend)"
    }
}

/// Opens a window.
///
/// # Errors
/// Fails when the folder cannot be written.
pub fn open(layout: &Layout, call: &WindowCall<'_>, agent: &AgentName) -> Result<(), CaptureError> {
    let folder = folder(layout, call.git_dir);
    std::fs::create_dir_all(&folder).map_err(|source| CaptureError::Io { source })?;
    let log_bytes = std::fs::metadata(log_of(call.git_dir)).map_or(0, |found| found.len());
    let window = OpenWindow { agent: agent.to_string(), log_bytes };
    let text = serde_json::to_vec(&window).expect("a name and a number have a JSON form");
    let own = place(&folder, call);
    if call.call.is_empty() && own.exists() {
        // Of calls without names the first one began the window.
        return Ok(());
    }
    file::replace(&own, &text, Persistence::Lazy)?;
    // After it is there: of two that open at once, one sees the other.
    for other in others(&folder, call) {
        mark_shared(&other)?;
        mark_shared(&own)?;
    }
    Ok(())
}

/// Closes a window and tells what happened while it was open; nothing if none was.
///
/// # Errors
/// Fails when the folder cannot be written.
pub fn close(layout: &Layout, call: &WindowCall<'_>) -> Result<Option<ClosedWindow>, CaptureError> {
    let own = place(&folder(layout, call.git_dir), call);
    let Some(window) = read(&own) else { return Ok(None) };
    let steps = steps_from(&log_of(call.git_dir), window.log_bytes);
    let shared = own.with_extension(SHARED);
    let company = if shared.exists() { WindowCompany::Shared } else { WindowCompany::Alone };
    file::remove(&own)?;
    file::remove(&shared)?;
    Ok(Some(ClosedWindow { agent: AgentName::parse(&window.agent).ok(), steps, company }))
}

/// Closes the windows of a conversation that nobody will close any more: its turn is over.
///
/// # Errors
/// Fails when the folder cannot be written.
pub fn forget(
    layout: &Layout,
    git_dir: &Path,
    conversation: &ConversationId,
) -> Result<(), CaptureError> {
    let begin = prefix(conversation);
    for path in windows(&folder(layout, git_dir)) {
        if name_of(&path).starts_with(&begin) {
            file::remove(&path)?;
            file::remove(&path.with_extension(SHARED))?;
        }
    }
    Ok(())
}

fn folder(layout: &Layout, git_dir: &Path) -> PathBuf {
    let hash = agentic_store::hash_hex(git_dir.as_os_str().as_encoded_bytes());
    layout.capture().join("window").join(&hash[..16])
}

fn log_of(git_dir: &Path) -> PathBuf {
    git_dir.join("logs/HEAD")
}

/// Names the windows of one conversation alike, so that they are known by their names.
fn prefix(conversation: &ConversationId) -> String {
    file_name_of(conversation)[..24].to_owned()
}

fn place(folder: &Path, call: &WindowCall<'_>) -> PathBuf {
    let hash = agentic_store::hash_hex(call.call.as_bytes());
    folder.join(format!("{}-{}", prefix(call.conversation), &hash[..16]))
}

/// Lists the windows that others have open in a worktree.
fn others(folder: &Path, call: &WindowCall<'_>) -> Vec<PathBuf> {
    let own = prefix(call.conversation);
    let is_old = |path: &Path| {
        let modified = path.metadata().and_then(|found| found.modified());
        let age = modified.map(|at| SystemTime::now().duration_since(at).unwrap_or_default());
        age.is_ok_and(|age| age > FORGOTTEN_AFTER)
    };
    let mut found = windows(folder);
    found.retain(|path| !name_of(path).starts_with(&own) && !is_old(path));
    found
}

fn windows(folder: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(folder).into_iter().flatten().flatten().take(WINDOWS_MAX);
    found.map(|entry| entry.path()).filter(|path| path.extension().is_none()).collect()
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn mark_shared(window: &Path) -> Result<(), CaptureError> {
    let mark = window.with_extension(SHARED);
    file::put_mark(&mark).map_err(|source| CaptureError::Io { source })
}

fn read(path: &Path) -> Option<OpenWindow> {
    serde_json::from_slice(&file::read_small(path, WINDOW_BYTES_MAX).ok()?).ok()
}

/// Reads the steps that a log of a head has behind a place. A log that was cut since has none.
fn steps_from(log: &Path, offset: u64) -> Vec<HeadStep> {
    let mut text = Vec::new();
    let read = file::open_regular(log, OpenOptions::new().read(true)).and_then(|mut file| {
        file.seek(SeekFrom::Start(offset))?;
        file.take(LOG_BYTES_MAX).read_to_end(&mut text)
    });
    match read {
        Ok(_) => String::from_utf8_lossy(&text).lines().filter_map(step).collect(),
        Err(_) => Vec::new(),
    }
}

/// Reads a line such as `OLD NEW Name <address> 1 +0000<TAB>commit (amend): message`.
fn step(line: &str) -> Option<HeadStep> {
    let (who, what) = line.split_once('\t')?;
    let mut ids = who.split(' ');
    let (from, to) = (ids.next()?, ids.next()?);
    let is_none = from.bytes().all(|digit| digit == b'0');
    Some(HeadStep {
        from: if is_none { None } else { Some(Oid::parse(from).ok()?) },
        to: Oid::parse(to).ok()?,
        action: what.split_once(": ").map_or(what, |(action, _)| action).to_owned(),
        is_forward: what.ends_with(": Fast-forward"),
    })
}

/// Finds the commits that the output of git names: it prints `[BRANCH ID] subject`.
pub fn named_commits(output: &str) -> Vec<String> {
    let lines = output.lines().filter_map(|line| {
        let (inside, _) = line.trim_start().strip_prefix('[')?.split_once(']')?;
        let id = inside.rsplit(' ').next()?;
        let is_id = id.len() >= 7 && id.bytes().all(|digit| digit.is_ascii_hexdigit());
        (is_id && inside.contains(' ')).then(|| id.to_owned())
    });
    lines.collect()
}

#[cfg(test)]
mod tests;
