//! Taking in what coding agents did before anybody listened.
//!
//! A conversation is found in its vendor's folder, and taken if it is one of this repository. It gets
//! the agent that it would have had: that of the worktree, else one of its own, whose genesis follows
//! from the conversation alone. Its entries are bound to that genesis, and the agent goes to the
//! archive: thousands of old conversations cost no ref. Hooks and imports know each other's entries by
//! their ids, so that both may run in any order and at once.

mod belonging;
mod endangered;
pub mod find;
mod have;
mod head;
mod order;
mod own_agent;
mod repeated;
mod take;
mod whose;

use std::path::PathBuf;

use agentic_model::{AgentName, Instant};
use agentic_session::SessionSpace;

use self::belonging::Belonging;
pub use self::endangered::endangered;
use self::find::{FoundTranscript, source_of, transcripts, transcripts_in};
use self::head::KnownHead;
use self::order::{ConversationTask, tasks};
use self::take::Importer;
use crate::opencode_store::{is_database, is_session_file};
use crate::{CaptureError, ConversationId, HookEnvironment, Source, VendorRoots, bindings};

/// How many conversations are taken between two times that agents are archived.
const BATCH_CONVERSATIONS: usize = 256;

/// Whether an import writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportRun {
    /// It does.
    Apply,
    /// It only says what it would do.
    Dry,
}

/// What is to be imported.
#[derive(Debug, Clone)]
pub struct ConversationImport<'r> {
    /// Of whom; of all without.
    pub sources: Vec<Source>,
    /// Only these files, if there are some.
    pub files: Vec<PathBuf>,
    /// Conversations that nobody has gone on with since are left out.
    pub since: Option<Instant>,
    /// Whose they become, wherever they took place.
    pub agent: Option<AgentName>,
    /// Whether anything is written.
    pub run: ImportRun,
    /// Where vendors keep what they write.
    pub environment: &'r HookEnvironment,
}

/// Why a conversation was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportSkip {
    /// It did not take place in this repository.
    Elsewhere,
    /// It has nothing to say.
    Empty,
    /// Something went wrong, by its code.
    Failed(&'static str),
}

impl ImportSkip {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            ImportSkip::Elsewhere => "elsewhere",
            ImportSkip::Empty => "empty",
            ImportSkip::Failed(code) => code,
        }
    }
}

/// What became of a conversation, or of one of its subagents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedConversation {
    /// Which.
    pub id: ConversationId,
    /// Whose it is now.
    pub agent: Option<AgentName>,
    /// How many entries its file gave, as far as it was read.
    pub n_entries: u64,
    /// How many of them nobody had.
    pub n_new: u64,
    /// Why it was left out, if it was.
    pub skipped: Option<ImportSkip>,
}

/// How far an import is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportProgress {
    /// How many conversations are done with.
    pub n_done: usize,
    /// How many there are.
    pub n_all: usize,
}

/// Imports conversations, and tells what became of each. One that fails does not keep the others from
/// being taken.
///
/// # Errors
/// Fails when the repository cannot be read, and when there is no redaction: nothing is taken then.
pub fn import(
    space: &SessionSpace,
    request: &ConversationImport<'_>,
    progress: &mut dyn FnMut(ImportProgress),
) -> Result<Vec<ImportedConversation>, CaptureError> {
    let redactor = crate::redaction::redactor(space, space.repository().work_dir())?;
    if request.run == ImportRun::Apply {
        bindings::rebuild(space)?;
    }
    let roots = roots(space, request);
    let belonging = Belonging::of(space)?;
    let tasks = tasks(space, &roots, found(request), request.since)?;
    let mut importer = Importer::new(space, request, (&roots, &redactor, &belonging), &tasks);
    let mut done = Vec::new();
    for batch in tasks.chunks(BATCH_CONVERSATIONS) {
        importer.hide_new(batch)?;
        for task in batch.iter().filter(|task| task.is_wanted) {
            importer.take(task, &mut done);
            progress(ImportProgress { n_done: task.number + 1, n_all: tasks.len() });
        }
        importer.close()?;
    }
    Ok(done)
}

fn found(request: &ConversationImport<'_>) -> Vec<FoundTranscript> {
    if request.files.is_empty() {
        let sources = match request.sources.as_slice() {
            [] => Source::ALL.to_vec(),
            sources => sources.to_vec(),
        };
        return sources.into_iter().flat_map(|it| transcripts(it, request.environment)).collect();
    }
    let files = request.files.iter().filter_map(|file| {
        let file = file.canonicalize().ok()?;
        let at_home = source_of(&file, request.environment);
        let source = request.sources.first().copied().or(at_home).or_else(|| guessed(&file))?;
        let mut transcripts = transcripts_in(&file, source);
        for transcript in &mut transcripts {
            transcript.is_elsewhere = at_home != Some(source);
        }
        Some(transcripts)
    });
    files.flatten().collect()
}

/// Tells by its name whose transcript a file is that lies in nobody's folder.
fn guessed(file: &std::path::Path) -> Option<Source> {
    let name = file.file_name()?.to_str()?;
    let is_named = |begin: &str| name.starts_with(begin);
    Some(match name {
        _ if is_named("rollout-") => Source::Codex,
        _ if is_named("session-") => Source::Gemini,
        _ if is_database(file) || is_session_file(file) => Source::Opencode,
        "events.jsonl" => Source::Copilot,
        _ => Source::Claude,
    })
}

/// The known roots, and the folders of files that a person named.
fn roots(space: &SessionSpace, request: &ConversationImport<'_>) -> VendorRoots {
    let configured = space.repository().config("agentic.captureRoots").unwrap_or_default();
    let named = request.files.iter().filter_map(|file| {
        Some(file.canonicalize().ok()?.parent()?.to_string_lossy().into_owned())
    });
    let all: Vec<String> = std::iter::once(configured).chain(named).collect();
    VendorRoots::of(request.environment, Some(&all.join(":")))
}

/// What an importer works with.
type ImportMeans<'i> = (&'i VendorRoots, &'i agentic_redact::SecretRedactor, &'i Belonging<'i>);

/// Finds a conversation's own words among all.
fn head_of<'t>(tasks: &'t [ConversationTask], id: &ConversationId) -> Option<&'t KnownHead> {
    let task = tasks.iter().find(|task| task.id == *id)?;
    task.files.iter().find(|file| file.found.subagent.is_none())
}
