//! Which program has which conversation, while it runs.
//!
//! A program is told by its number, its start and the boot, so that a later one with the same number
//! is another. Whoever wants to know whether it runs below a conversation walks up to its parents and
//! looks for a file of each: that costs the same however many conversations there are.

use std::path::PathBuf;

use agentic_model::AgentName;
use agentic_providers::process::{ProcessIdentity, parent_of, words_of};
use agentic_store::Layout;
use agentic_store::file::{self, Persistence};
use serde::{Deserialize, Serialize};

use crate::{CaptureError, ConversationId, Source};

/// How many parents are looked at.
pub const STEPS_MAX: usize = 32;
/// The longest file that is read, in bytes.
const LIVE_BYTES_MAX: u64 = 256 << 10;
/// How many conversations one program has at most.
const CONVERSATIONS_MAX: usize = 64;
/// Programs that run others by name, and are nobody's coding agent.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "fish", "ksh", "busybox"];

/// The program that has a conversation.
pub type LiveProgram = ProcessIdentity;

/// A conversation of a program that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveConversation {
    source: String,
    native: String,
    agent: String,
}

/// The conversations of one program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct LiveFile {
    program: LiveProgram,
    conversations: Vec<LiveConversation>,
}

impl LiveConversation {
    /// Returns the conversation.
    pub fn id(&self) -> Option<ConversationId> {
        let source = Source::parse(&self.source).ok()?;
        Some(ConversationId { source, native: self.native.clone() })
    }

    /// Returns the agent that it is bound to.
    pub fn agent(&self) -> Option<AgentName> {
        AgentName::parse(&self.agent).ok()
    }

    fn is_of(&self, id: &ConversationId) -> bool {
        self.source == id.source.as_str() && self.native == id.native
    }
}

/// Finds the program whose hook this process is: the nearest above it that is called as the source is,
/// else the script that started it. A shell that a person types into is neither.
pub fn program_above(source: Source) -> Option<LiveProgram> {
    let own = i32::try_from(std::process::id()).ok()?;
    let mut script = None;
    // Further up is looked only if need be: each step reads files of the system.
    for (steps, pid) in ancestors(own).enumerate() {
        let words = words_of(pid);
        if is_called(&words, source) {
            return ProcessIdentity::of(pid);
        }
        if steps == 0 && is_script(&words) {
            script = Some(pid);
        }
    }
    ProcessIdentity::of(script?)
}

/// Tells whether a program runs still.
pub fn is_alive(program: &LiveProgram) -> bool {
    ProcessIdentity::of(program.pid).as_ref() == Some(program)
}

/// Notes that a program has a conversation.
///
/// # Errors
/// Fails when the folder cannot be written.
pub fn note(
    layout: &Layout,
    program: &LiveProgram,
    id: &ConversationId,
    agent: &AgentName,
) -> Result<(), CaptureError> {
    let known = read(layout, program.pid).filter(|file| file.program == *program);
    let mut conversations = known.map_or(Vec::new(), |file| file.conversations);
    let noted = LiveConversation {
        source: id.source.to_string(),
        native: id.native.clone(),
        agent: agent.to_string(),
    };
    if conversations.contains(&noted) {
        return Ok(());
    }
    conversations.retain(|other| !other.is_of(id));
    conversations.push(noted);
    let n_too_many = conversations.len().saturating_sub(CONVERSATIONS_MAX);
    conversations.drain(..n_too_many);
    write(layout, &LiveFile { program: program.clone(), conversations })
}

/// Notes that a conversation of a program is over.
///
/// # Errors
/// Fails when the folder cannot be written.
pub fn forget(
    layout: &Layout,
    program: &LiveProgram,
    id: &ConversationId,
) -> Result<(), CaptureError> {
    let Some(mut file) = read(layout, program.pid).filter(|file| file.program == *program) else {
        return Ok(());
    };
    file.conversations.retain(|other| !other.is_of(id));
    if file.conversations.is_empty() {
        return Ok(file::remove(&place(layout, program.pid))?);
    }
    write(layout, &file)
}

/// Lists the conversations of the nearest program above this one that has some.
pub fn conversations_above(layout: &Layout) -> Vec<LiveConversation> {
    let Ok(own) = i32::try_from(std::process::id()) else { return Vec::new() };
    conversations_above_of(layout, own)
}

/// Lists the conversations of the nearest program above a process that has some.
pub fn conversations_above_of(layout: &Layout, pid: i32) -> Vec<LiveConversation> {
    if !folder(layout).exists() {
        return Vec::new();
    }
    let live = |pid: i32| {
        let file = read(layout, pid)?;
        // A program with the number of one that is gone has none of its conversations.
        (ProcessIdentity::of(pid)? == file.program).then_some(file.conversations)
    };
    ancestors(pid).find_map(live).unwrap_or_default()
}

/// Lists the parents of a process, the nearest first.
fn ancestors(pid: i32) -> impl Iterator<Item = i32> {
    std::iter::successors(parent_of(pid), |pid| parent_of(*pid)).take(STEPS_MAX)
}

/// Tells whether a program is called as a source is: its own file, or the script that it runs.
fn is_called(words: &[String], source: Source) -> bool {
    let names = match source {
        Source::Claude => &["claude"][..],
        Source::Codex => &["codex"],
        Source::Cursor => &["cursor"],
        Source::Gemini => &["gemini"],
        Source::Copilot => &["copilot"],
        Source::Opencode => &["opencode"],
    };
    let program = words.first().map(|word| base_name(word));
    // A hook's own command line names its source, too, and is none of these.
    if program.is_some_and(|name| name == "agentic") {
        return false;
    }
    let is_shell = program.is_some_and(|name| SHELLS.contains(&name));
    let script = words.iter().skip(1).find(|word| !word.starts_with('-'));
    let said = match (is_shell, words.get(1).map(String::as_str)) {
        // What follows is no file but a line of commands, which may name anything.
        (true, Some("-c" | "-ec" | "-lc" | "-euc")) => None,
        _ => script.map(|word| word.as_str()),
    };
    let is_named =
        |name: &str| names.iter().any(|wanted| name.to_ascii_lowercase().contains(wanted));
    let last_two = |path: &str| {
        let mut parts = path.rsplit('/').filter(|part| !part.is_empty());
        parts.by_ref().take(3).any(is_named)
    };
    program.is_some_and(is_named) || said.is_some_and(last_two)
}

/// Tells whether a program is a shell that runs a script or a line of commands.
fn is_script(words: &[String]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let is_shell = SHELLS.contains(&base_name(program));
    is_shell && rest.iter().any(|word| !word.starts_with('-'))
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path).trim_start_matches('-')
}

fn folder(layout: &Layout) -> PathBuf {
    layout.capture().join("live")
}

fn place(layout: &Layout, pid: i32) -> PathBuf {
    folder(layout).join(pid.to_string())
}

fn read(layout: &Layout, pid: i32) -> Option<LiveFile> {
    let text = file::read_small(&place(layout, pid), LIVE_BYTES_MAX).ok()?;
    serde_json::from_slice(&text).ok()
}

fn write(layout: &Layout, live: &LiveFile) -> Result<(), CaptureError> {
    std::fs::create_dir_all(folder(layout)).map_err(|source| CaptureError::Io { source })?;
    let text = serde_json::to_vec(live).expect("numbers and texts have a JSON form");
    Ok(file::replace(&place(layout, live.program.pid), &text, Persistence::Lazy)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_program_is_known_by_its_file_or_script() {
        for (line, is_it) in [
            ("claude", true),
            ("/usr/local/bin/claude --resume x", true),
            ("node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js", true),
            ("node /usr/bin/claude", true),
            ("sh /tmp/fake-claude.sh", true),
            ("sh -c agentic hook claude", false),
            ("/opt/agentic hook claude", false),
            ("python3 harness.py", false),
            ("bash", false),
            ("node server.js claude", false),
        ] {
            assert_eq!(is_called(&words(line), Source::Claude), is_it, "{line}");
        }
    }

    #[test]
    fn a_shell_of_a_person_is_no_script() {
        for (line, is_it) in [
            ("sh -c x", true),
            ("bash fake.sh", true),
            ("bash", false),
            ("-zsh", false),
            ("bash -i", false),
            ("python3 x.py", false),
        ] {
            assert_eq!(is_script(&words(line)), is_it, "{line}");
        }
    }

    #[test]
    fn a_conversation_is_found_from_below_until_it_is_over() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let layout = Layout::new(root.path());
        let id = ConversationId { source: Source::Claude, native: "a".to_owned() };
        let agent = AgentName::parse("fix").expect("a name");
        let Some(own) = ProcessIdentity::own() else { return };
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("starts");
        let below = i32::try_from(child.id()).expect("a number");
        let found = || conversations_above_of(&layout, below);
        assert!(found().is_empty());
        note(&layout, &own, &id, &agent).expect("writable");
        note(&layout, &own, &id, &agent).expect("writable");
        let agents: Vec<AgentName> = found().iter().filter_map(LiveConversation::agent).collect();
        assert_eq!(agents, std::slice::from_ref(&agent));
        let other = LiveProgram { start: own.start + 1, ..own.clone() };
        write(&layout, &LiveFile { program: other, conversations: found() }).expect("writable");
        assert!(found().is_empty(), "it is another program");
        note(&layout, &own, &id, &agent).expect("writable");
        assert_eq!(found().len(), 1);
        forget(&layout, &own, &id).expect("writable");
        assert!(found().is_empty());
        child.kill().and_then(|()| child.wait()).expect("it runs");
    }
}
