//! What is proved of commits, in the forms of others.

use agentic_capture::export::{
    ExportError, ExportFormat, ExportRequest, ExportedDocument, SpanContent, commits_of_agent,
    commits_of_range, export, write_git_ai_notes,
};
use agentic_model::guidance::ErrorClass;
use agentic_model::{AgentName, Oid};
use schemars::JsonSchema;
use serde::Deserialize;

use super::blame::unlinked;
use crate::verb::{Reply, Verb};
use crate::view::ExportView;
use crate::{Caller, Notice, Refusal};

/// Tell of commits in the form of another tool. What is not proved is left out; the same commit gives
/// the same bytes.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Export {
    /// `agent-trace`, `git-ai`, `otlp` or `in-toto`.
    pub format: String,
    /// The commits of this agent.
    pub agent: Option<String>,
    /// This commit.
    pub commit: Option<String>,
    /// The commits of a range, as `git rev-list` takes it.
    pub range: Option<String>,
    /// Spans carry what was said, too.
    pub content: bool,
    /// Write notes of git-ai where there are none.
    pub write_notes: bool,
}

impl Export {
    fn commits(&self, caller: &Caller<'_>) -> Result<Vec<Oid>, Refusal> {
        let space = caller.space;
        match (&self.agent, &self.commit, &self.range) {
            (Some(agent), None, None) => {
                let agent = AgentName::parse(agent)
                    .map_err(|error| Refusal::usage(&error.to_string(), "name an agent"))?;
                Ok(commits_of_agent(space, &agent)?)
            }
            (None, Some(commit), None) => Ok(vec![space.repository().resolve_commit(commit)?]),
            (None, None, Some(range)) => Ok(commits_of_range(space, range)?),
            (None, None, None) => Ok(vec![space.repository().resolve_commit("HEAD")?]),
            (_, _, _) => Err(Refusal::usage(
                "agent, commit and range are three ways to name commits",
                "take one of them",
            )),
        }
    }
}

impl Verb for Export {
    type Answer = Vec<ExportView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<ExportView>>, Refusal> {
        let format = ExportFormat::parse(&self.format).ok_or_else(|| {
            let formats = ExportFormat::ALL.map(ExportFormat::as_str).join(", ");
            Refusal::usage(
                &format!("nobody knows the form `{}`", self.format),
                &format!("take one of: {formats}"),
            )
        })?;
        if self.write_notes && format != ExportFormat::GitAi {
            return Err(Refusal::usage(
                "only notes of git-ai are written as notes",
                "leave --write-notes out",
            ));
        }
        let request = ExportRequest {
            format,
            commits: self.commits(caller)?,
            content: if self.content { SpanContent::Told } else { SpanContent::LeftOut },
            unlinked: unlinked(caller),
        };
        let documents = export(caller.space, &request)?;
        let mut notices = Vec::new();
        if documents.is_empty() {
            let what = "nothing is proved of these commits, so nothing is told".to_owned();
            notices.push(Notice::Remark { what });
        }
        if self.write_notes {
            let written = write_git_ai_notes(caller.space, &documents)?.len();
            let kept = documents.len() - written;
            let what = format!("wrote {written} notes of git-ai; {kept} commits had one already");
            notices.push(Notice::Remark { what });
        }
        let answer = documents.into_iter().map(ExportView::from).collect();
        Ok(Reply { notices, ..Reply::plain(answer) })
    }
}

impl From<ExportedDocument> for ExportView {
    fn from(document: ExportedDocument) -> ExportView {
        let ExportedDocument { commit, name, text } = document;
        ExportView { commit: commit.map(|oid| oid.to_string()), name, text }
    }
}

impl From<ExportError> for Refusal {
    fn from(error: ExportError) -> Refusal {
        let said = error.to_string();
        match error {
            ExportError::Space(error) => error.into(),
            ExportError::Capture(_) => Refusal::new(
                ErrorClass::Refused,
                &said,
                "put the rules of redaction right; `agentic redact` says what is wrong",
            ),
            ExportError::NoSuchRange { .. } => {
                Refusal::refused(&said, "name a range as `git rev-list` takes it: A..B")
            }
            ExportError::TooManyCommits { .. } => Refusal::refused(&said, "name a shorter range"),
            ExportError::NoteRefused { .. } => {
                Refusal::refused(&said, "see what `git notes --ref=refs/notes/ai list` says")
            }
        }
    }
}
