//! What is proved of commits, in the forms of others: `agent-trace`, `git-ai`, OTLP and in-toto.
//!
//! An export says what [`crate::origin`] and [`crate::blame`] prove and nothing else: a claim is no
//! proof. It has no clock and no randomness, so the same commit gives the same bytes.

mod agent_trace;
mod attestation;
mod commit;
mod digest;
mod git_ai;
mod span;

use std::collections::BTreeSet;

use agentic_model::{AgentName, Instant, Oid};
use agentic_redact::SecretRedactor;
use agentic_session::SessionSpace;

use self::commit::ProvedCommit;
use crate::blame::LineBlame;
use crate::{CaptureError, redaction};

/// The most commits that one export is made of.
pub const EXPORT_COMMITS_MAX: usize = 100_000;
/// The ref of git-ai's notes.
pub const GIT_AI_NOTES: &str = "refs/notes/ai";

/// In whose form commits are told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// A record for each commit, by agent-trace.dev's RFC 0.1.0.
    AgentTrace,
    /// The notes of git-ai, `authorship/3.0.0`.
    GitAi,
    /// Spans of OpenTelemetry as OTLP/JSON, by the conventions for generative AI.
    Otlp,
    /// An in-toto statement for each commit, in a DSSE envelope where a key signs.
    InToto,
}

impl ExportFormat {
    /// All of them.
    pub const ALL: [ExportFormat; 4] =
        [ExportFormat::AgentTrace, ExportFormat::GitAi, ExportFormat::Otlp, ExportFormat::InToto];

    /// Returns the word by which people ask for it.
    pub fn as_str(self) -> &'static str {
        match self {
            ExportFormat::AgentTrace => "agent-trace",
            ExportFormat::GitAi => "git-ai",
            ExportFormat::Otlp => "otlp",
            ExportFormat::InToto => "in-toto",
        }
    }

    /// Finds the form that people ask for by a word.
    pub fn parse(word: &str) -> Option<ExportFormat> {
        ExportFormat::ALL.into_iter().find(|format| format.as_str() == word)
    }

    fn ending(self) -> &'static str {
        match self {
            ExportFormat::AgentTrace | ExportFormat::Otlp | ExportFormat::InToto => "json",
            ExportFormat::GitAi => "txt",
        }
    }
}

/// Whether spans carry what was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanContent {
    /// They do, as it is stored, redacted once more by the rules of today.
    Told,
    /// They say that something was said, and by whom.
    LeftOut,
}

/// What is exported.
#[derive(Debug, Clone)]
pub struct ExportRequest {
    /// In which form.
    pub format: ExportFormat,
    /// The commits, in the order in which they are told of.
    pub commits: Vec<Oid>,
    /// Whether spans carry contents.
    pub content: SpanContent,
    /// Of these it is known that an agent may have made them, and not which.
    pub unlinked: BTreeSet<Oid>,
}

/// One text of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedDocument {
    /// The commit that it is about; nothing where it is about all.
    pub commit: Option<Oid>,
    /// The name of the file that holds it.
    pub name: String,
    /// The text, ended by a line feed.
    pub text: String,
}

/// What all forms are made with.
struct ExportWork<'x> {
    space: &'x SessionSpace,
    redactor: SecretRedactor,
    content: SpanContent,
}

impl ExportWork<'_> {
    /// Takes secrets out of a text by the rules of today.
    fn clean(&self, text: &str) -> String {
        self.redactor.redact_text(text).text.into_owned()
    }
}

/// Tells of commits. Those of which nothing is proved are left out.
///
/// # Errors
/// Fails when commits, notes or traces cannot be read, without rules of redaction, and where a key
/// should sign and does not.
pub fn export(
    space: &SessionSpace,
    request: &ExportRequest,
) -> Result<Vec<ExportedDocument>, ExportError> {
    let redactor = redaction::redactor(space, space.repository().work_dir());
    let redactor = redactor.map_err(CaptureError::from)?;
    let work = ExportWork { space, redactor, content: request.content };
    let mut blame = LineBlame::new(space, &request.unlinked)?;
    let mut proved = Vec::new();
    let mut documents = Vec::new();
    for oid in &request.commits {
        let Some(commit) = ProvedCommit::read(space, &mut blame, *oid)? else { continue };
        let text = match request.format {
            ExportFormat::AgentTrace => Some(agent_trace::record(&work, &commit)),
            ExportFormat::GitAi => git_ai::note(&commit),
            ExportFormat::InToto => Some(attestation::statement(&work, &commit)?),
            ExportFormat::Otlp => {
                proved.push(commit);
                continue;
            }
        };
        let name = format!("{oid}.{}", request.format.ending());
        documents.extend(text.map(|text| ExportedDocument { commit: Some(*oid), name, text }));
    }
    if request.format == ExportFormat::Otlp {
        let text = span::resource_spans(&work, &proved);
        documents.push(ExportedDocument { commit: None, name: "spans.json".to_owned(), text });
    }
    Ok(documents)
}

/// Writes the notes of an export where no note of git-ai is yet. Returns the commits that have one now.
///
/// # Errors
/// Fails when git does not write them.
pub fn write_git_ai_notes(
    space: &SessionSpace,
    documents: &[ExportedDocument],
) -> Result<Vec<Oid>, ExportError> {
    let repository = space.repository();
    let mut written = Vec::new();
    for document in documents {
        let Some(commit) = document.commit else { continue };
        let oid = commit.to_string();
        let reference = format!("--ref={GIT_AI_NOTES}");
        // Git itself refuses to write over a note that is there.
        let add = ["notes", reference.as_str(), "add", "-F", "-", oid.as_str()];
        let added = repository.git_reading(&add, document.text.as_bytes());
        if added.map_err(agentic_space::Error::from)?.success {
            written.push(commit);
            continue;
        }
        let show = ["notes", reference.as_str(), "list", oid.as_str()];
        let shown = repository.git(&show).map_err(agentic_space::Error::from)?;
        if !shown.success {
            return Err(ExportError::NoteRefused { commit });
        }
    }
    Ok(written)
}

/// Lists the commits that an agent made, oldest first. It may be archived.
///
/// # Errors
/// Fails when there is no such agent.
pub fn commits_of_agent(
    space: &SessionSpace,
    agent: &AgentName,
) -> agentic_space::Result<Vec<Oid>> {
    let head = match space.archived_agent(agent)? {
        Some(entry) => entry.archived.head,
        None => space.head(agent)?,
    };
    let own = space.own_commits(agent, head)?;
    Ok(own.into_iter().rev().map(|commit| commit.oid).collect())
}

/// Lists the commits of a range as `git rev-list` takes it, oldest first.
///
/// # Errors
/// Fails when git knows no such range, and with more than [`EXPORT_COMMITS_MAX`] commits.
pub fn commits_of_range(space: &SessionSpace, range: &str) -> Result<Vec<Oid>, ExportError> {
    let arguments = ["rev-list", "--reverse", "--end-of-options", range, "--"];
    let listed = space.repository().git(&arguments).map_err(agentic_space::Error::from)?;
    if !listed.success {
        return Err(ExportError::NoSuchRange { range: range.to_owned() });
    }
    let commits: Vec<Oid> = listed.stdout.lines().filter_map(|id| Oid::parse(id).ok()).collect();
    match commits.len() {
        ..=EXPORT_COMMITS_MAX => Ok(commits),
        count => Err(ExportError::TooManyCommits { count }),
    }
}

/// Why commits cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The repository says no.
    #[error(transparent)]
    Space(#[from] agentic_space::Error),
    /// Nothing is told without rules of redaction.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// Git knows no such range.
    #[error("git knows no range `{range}`")]
    NoSuchRange {
        /// The range.
        range: String,
    },
    /// There are too many.
    #[error("these are {count} commits, and at most {EXPORT_COMMITS_MAX} are exported at once")]
    TooManyCommits {
        /// How many.
        count: usize,
    },
    /// Git does not write a note.
    #[error("git does not write a note for commit {commit}")]
    NoteRefused {
        /// The commit.
        commit: Oid,
    },
}

/// Writes an instant as OpenTelemetry does: nanoseconds since 1970, as text.
fn nanoseconds(at: Instant) -> String {
    (i128::from(at.millis()) * 1_000_000).to_string()
}
