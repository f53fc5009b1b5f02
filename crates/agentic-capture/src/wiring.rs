//! Wiring: the entries in the settings of coding agents by which they tell us what they do.
//!
//! The files belong to others. They are edited as text, so that all of it stays that is not ours, and
//! replaced at once; what was put in is taken out again without a trace. A file that cannot be read
//! strictly is left alone, and the person is given what to paste.

mod entry;
mod exclude;
mod git_hooks;
mod hooks_text;
mod json_text;
mod place;
mod plugin;
mod report;
mod servers_text;
mod settings_file;

use std::path::{Path, PathBuf};

use self::entry::{EntryStyle, WantedEntry, capture_entries, gate_entries};
use self::hooks_text::{fresh_text, with_entries, without_entries};
use self::json_text::UnreadableJson;
use self::plugin::{with_opencode_plugin, without_opencode_plugin};
use self::servers_text::{ServerEntry, with_server, without_server};
use self::settings_file::{WiredText, change_file};
use crate::Source;

pub(crate) use self::entry::shell_word;
pub use self::entry::{EntryRole, GATE_SECONDS, WorktreeHooks};
pub use self::exclude::{add_exclusion, take_exclusion};
pub use self::git_hooks::{GIT_HOOKS, hook_line, put_git_hooks, take_git_hooks};
pub use self::place::{AgentHomes, WiringScope};
pub use self::plugin::write_claude_plugin;
pub use self::report::{gate_hint, switches, trust_hint};
pub use self::settings_file::{WiredAction, WiringRun};

/// Why a file was not changed.
#[derive(Debug, thiserror::Error)]
pub enum WiringError {
    /// It has no place for what is ours.
    #[error(transparent)]
    Misfit(#[from] Misfit),
    /// It cannot be read or replaced.
    #[error("cannot change {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Somebody else changes it all the time.
    #[error("{} changes again and again", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
}

/// Why a text has no place for what is ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// It cannot be read.
    #[error(transparent)]
    Json(UnreadableJson),
    /// It cannot be read.
    #[error("it is no TOML: {reason}")]
    Toml {
        /// What the reader says.
        reason: String,
    },
    /// Something else stands where ours should.
    #[error("something else stands where our entries belong")]
    Shape,
    /// The name is somebody else's.
    #[error("somebody else's entry has the name `agentic`")]
    Taken,
}

/// What changing a text gives.
pub type WiringResult<T> = Result<T, WiringError>;

/// Where wiring happens, and by whom.
#[derive(Debug, Clone)]
pub struct WiringPlace<'w> {
    /// Where coding agents look.
    pub homes: &'w AgentHomes,
    /// The top of the worktree.
    pub checkout: &'w Path,
    /// This program, by its whole path.
    pub program: &'w str,
    /// Whether anything is written.
    pub run: WiringRun,
}

/// What a coding agent is to have.
#[derive(Debug, Clone)]
pub struct Wiring {
    /// Whose.
    pub source: Source,
    /// For whom.
    pub scope: WiringScope,
    /// What it is to have.
    pub part: WiringPart,
}

/// What is put into one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WiringPart {
    /// The entries that capture.
    Capture(WorktreeHooks),
    /// The entries that hold.
    Gate {
        /// The tools that rules name; all of them without.
        matcher: Option<String>,
        /// How long a gate may take, in seconds.
        seconds: i64,
    },
    /// Our server of MCP.
    Server,
}

/// A file that was wired, or could not be.
#[derive(Debug)]
pub struct WiredFile {
    /// Whose it is.
    pub source: Source,
    /// The file.
    pub file: PathBuf,
    /// What became of it.
    pub outcome: Result<WiredAction, WiringFailure>,
}

/// Why a file was not wired, and what a person can do about it.
#[derive(Debug)]
pub struct WiringFailure {
    /// Why.
    pub error: WiringError,
    /// What to paste into it.
    pub paste: String,
}

/// Puts one part of the wiring into its file.
pub fn wire(place: &WiringPlace<'_>, wiring: &Wiring) -> WiredFile {
    let Wiring { source, scope, part } = wiring;
    let file = file_of(place, wiring);
    // A file that is committed is for machines on which the program is somewhere else.
    let program = match scope {
        WiringScope::Project => "agentic",
        WiringScope::User | WiringScope::Local => place.program,
    };
    let style =
        |worktrees, gate_seconds| EntryStyle { source: *source, program, worktrees, gate_seconds };
    let (decide, paste): (TextDecision<'_>, String) = match part {
        WiringPart::Capture(_) if *source == Source::Opencode => {
            plugin(program, EntryRole::Capture)
        }
        WiringPart::Gate { .. } if *source == Source::Opencode => plugin(program, EntryRole::Gate),
        WiringPart::Capture(worktrees) => {
            entries(*source, capture_entries(&style(*worktrees, GATE_SECONDS)))
        }
        WiringPart::Gate { matcher, seconds } => {
            let style = style(WorktreeHooks::Theirs, *seconds);
            entries(*source, gate_entries(&style, matcher.as_deref()))
        }
        WiringPart::Server => {
            let checkout = checkout_of(place, *source, *scope);
            let server = ServerEntry { source: *source, checkout, program };
            let paste = server.fresh_text();
            (Box::new(move |old| with_server(&server, old)), paste)
        }
    };
    let outcome = change_file(&file, place.run, &*decide);
    let outcome = outcome.map_err(|error| WiringFailure { error, paste });
    WiredFile { source: *source, file, outcome }
}

type TextDecision<'d> = Box<dyn Fn(Option<&str>) -> WiringResult<WiredText> + 'd>;

fn entries<'d>(source: Source, wanted: Vec<WantedEntry>) -> (TextDecision<'d>, String) {
    let paste = fresh_text(source, &wanted);
    (Box::new(move |old| with_entries(source, old, &wanted)), paste)
}

fn plugin(program: &str, role: EntryRole) -> (TextDecision<'_>, String) {
    let paste = match with_opencode_plugin(None, program, role) {
        Ok(WiredText::Text(text)) => text,
        Ok(WiredText::Keep | WiredText::Remove) | Err(_) => String::new(),
    };
    (Box::new(move |old| with_opencode_plugin(old, program, role)), paste)
}

/// Returns the file of a part of the wiring.
pub fn file_of(place: &WiringPlace<'_>, wiring: &Wiring) -> PathBuf {
    let Wiring { source, scope, part } = wiring;
    match part {
        WiringPart::Capture(_) | WiringPart::Gate { .. } => {
            place.homes.hooks_file(*source, *scope, place.checkout)
        }
        WiringPart::Server => place.homes.servers_file(*source, *scope, place.checkout),
    }
}

/// A server for one checkout stands, with Claude Code, in the file of all of them.
fn checkout_of<'p>(place: &WiringPlace<'p>, source: Source, scope: WiringScope) -> Option<&'p str> {
    match (source, scope) {
        (Source::Claude, WiringScope::Local) => place.checkout.to_str(),
        (_, _) => None,
    }
}

/// Takes everything of ours out of the files of a coding agent. Returns those that are others now,
/// and those that could not be changed.
pub fn unwire(
    place: &WiringPlace<'_>,
    source: Source,
    scope: WiringScope,
) -> Vec<(PathBuf, WiringResult<WiredAction>)> {
    let both = [EntryRole::Capture, EntryRole::Gate];
    let hooks = place.homes.hooks_file(source, scope, place.checkout);
    let servers = place.homes.servers_file(source, scope, place.checkout);
    let checkout = checkout_of(place, source, scope);
    let server = ServerEntry { source, checkout, program: place.program };
    let from_hooks = change_file(&hooks, place.run, &|old| match source {
        Source::Opencode => Ok(without_opencode_plugin(old)),
        Source::Claude | Source::Codex | Source::Cursor | Source::Gemini | Source::Copilot => {
            without_entries(source, old, &both)
        }
    });
    let from_servers = change_file(&servers, place.run, &|old| without_server(&server, old));
    vec![(hooks, from_hooks), (servers, from_servers)]
}

/// Tells which of our entries the files of a coding agent have.
pub fn wired_roles(
    homes: &AgentHomes,
    source: Source,
    scope: WiringScope,
    checkout: &Path,
) -> Vec<EntryRole> {
    let Ok(Some(text)) = settings_file::read(&homes.hooks_file(source, scope, checkout)) else {
        return Vec::new();
    };
    match source {
        Source::Opencode => plugin::opencode_roles(&text),
        Source::Claude | Source::Codex | Source::Cursor | Source::Gemini | Source::Copilot => {
            hooks_text::roles_in(source, &text)
        }
    }
}

/// Tells whether a file of a coding agent has gates that are not asked about all tools of a matcher;
/// without one they have to be asked about every tool.
pub fn lacks_gates(file: &Path, source: Source, wanted: Option<&str>) -> bool {
    match (source, settings_file::read(file)) {
        // Its plugin asks about all of them.
        (Source::Opencode, _) | (_, Err(_) | Ok(None)) => false,
        (
            Source::Claude | Source::Codex | Source::Cursor | Source::Gemini | Source::Copilot,
            Ok(Some(text)),
        ) => hooks_text::lacks_gates(source, &text, wanted),
    }
}

/// Returns what is left for a person to do after a coding agent was wired.
pub fn hints(source: Source, part: &WiringPart) -> Vec<String> {
    let said = match part {
        WiringPart::Capture(_) => trust_hint(source),
        WiringPart::Gate { .. } => gate_hint(source),
        WiringPart::Server => None,
    };
    said.into_iter().map(str::to_owned).collect()
}
