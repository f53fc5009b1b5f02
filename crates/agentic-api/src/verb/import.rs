//! Taking in what coding agents did before.

use std::path::PathBuf;

use agentic_capture::import::{
    ConversationImport, ImportProgress, ImportRun, ImportSkip, ImportedConversation, import,
};
use agentic_capture::{CaptureError, HookEnvironment, Source};
use agentic_model::Instant;

use crate::caller::agent_name;
use crate::redaction::redactor;
use crate::verb::{Reply, VerbCompletion};
use crate::view::ImportedView;
use crate::{Caller, Refusal};

/// Take in conversations of coding agents that took place in this repository.
#[derive(Debug, Clone)]
pub struct ImportConversations {
    /// Of whom; of all without.
    pub sources: Vec<Source>,
    /// Only these files, if there are some.
    pub files: Vec<PathBuf>,
    /// Conversations that nobody has gone on with since are left out.
    pub since: Option<Instant>,
    /// Whose they become, wherever they took place.
    pub agent: Option<String>,
    /// Whether anything is written.
    pub run: ImportRun,
    /// Where vendors keep what they write.
    pub environment: HookEnvironment,
}

impl ImportConversations {
    /// Imports, and tells how far it is.
    ///
    /// # Errors
    /// Fails when there is no such agent or file, and when there is no redaction.
    pub fn run(
        self,
        caller: &Caller<'_>,
        progress: &mut dyn FnMut(ImportProgress),
    ) -> Result<Reply<Vec<ImportedView>>, Refusal> {
        let agent = self.agent.as_deref().map(agent_name).transpose()?;
        if let Some(agent) = &agent {
            let _ = caller.space.head(agent)?;
        }
        let files: Vec<PathBuf> = self.files.iter().map(|file| caller.path(file)).collect();
        if let Some(gone) = files.iter().find(|file| !file.is_file()) {
            return Err(Refusal::refused(
                &format!("there is no file `{}`", gone.display()),
                "name transcripts, or coding agents: claude, codex, cursor, gemini, copilot, opencode",
            ));
        }
        // What is wrong with rules is told in full.
        let _ = redactor(caller)?;
        let request = ConversationImport {
            sources: self.sources,
            files,
            since: self.since,
            agent,
            run: self.run,
            environment: &self.environment,
        };
        let done = import(caller.space, &request, progress).map_err(refused)?;
        let failed = done.iter().filter(|it| matches!(it.skipped, Some(ImportSkip::Failed(_))));
        let completion = match failed.count() {
            0 => VerbCompletion::Whole,
            n => VerbCompletion::Short(Refusal::refused(
                &format!("{n} of {} transcripts could not be taken", done.len()),
                "the others were; look at the reasons, and import again",
            )),
        };
        let answer = done.iter().map(view).collect();
        Ok(Reply { completion, ..Reply::plain(answer) })
    }
}

fn view(done: &ImportedConversation) -> ImportedView {
    ImportedView {
        source: done.id.source.to_string(),
        conversation: done.id.native.clone(),
        agent: done.agent.as_ref().map(ToString::to_string),
        entries: done.n_entries,
        new: done.n_new,
        skipped: done.skipped.map(|_| true),
        reason: done.skipped.map(|why| why.as_str().to_owned()),
    }
}

/// Says what capture could not do.
pub(crate) fn refused(error: CaptureError) -> Refusal {
    match error {
        CaptureError::Space(error) => error.into(),
        CaptureError::Io { source } => Refusal::io("read and write what capture keeps", &source),
        CaptureError::NameTaken
        | CaptureError::Busy { .. }
        | CaptureError::Panic
        | CaptureError::Redaction { .. }
        | CaptureError::Other { .. } => {
            Refusal::refused(&error.to_string(), "look with `agentic capture status`")
        }
    }
}
