//! Trying out a language line by line: a [`Repl`] takes a piece and gives an answer. Where pieces come
//! from, and how answers look, is its caller's.

mod agents;
mod context;
mod notebook;
mod query;
mod words;

use std::path::PathBuf;

use agentic_lang_agent::AgentLang;
use agentic_lang_context::{ContextLanguage, Dialect};
use agentic_providers::model::Adapter;
use agentic_replay::Language;
use agentic_session::language_of_file;

use self::agents::AgentsRepl;
use self::context::ContextRepl;
use self::query::QueryRepl;
pub use self::query::{AnswerPart, QueryReplStart, TimedAnswer};
pub use self::words::{OfferedWords, ReplWords};
use crate::program::{NamedText, ProgramFindings, named_language};
use crate::view::RunAnswer;
use crate::{Notice, Refusal, Surroundings};

/// What is tried out, and how.
#[derive(Debug, Clone, Default)]
pub struct ReplStart {
    /// A program to begin with.
    pub file: Option<String>,
    /// The language: `context` or `agentlang`; that of the file without, else the context language.
    pub language: Option<String>,
    /// Who performs what agents of AgentLang do.
    pub adapter: Option<Adapter>,
    /// Whether the watcher hears what happens in a program of AgentLang, as it happens.
    pub live: bool,
    /// Whether the answer of a program of AgentLang that failed has what happened before.
    pub keep_trace: bool,
    /// Whether models, tools and memories of the context language are made up, always alike.
    pub mock: bool,
    /// What models of the context language answer: a list of `{"text"}`, `{"value"}`, `{"error"}`.
    pub script: Option<NamedText>,
    /// The version that programs of the context language are held to.
    pub dialect: Option<Dialect>,
    /// The folders that programs of the context language may import files from, beside the usual ones.
    pub imports: Vec<PathBuf>,
}

/// Somebody tries out a language.
pub struct Repl(Box<dyn TriedLanguage>);

/// What a piece came to.
#[derive(Debug, Default)]
pub struct ReplReply {
    /// What is to be shown, in order.
    pub outputs: Vec<ReplOutput>,
    /// What else is to be told.
    pub notices: Vec<Notice>,
    /// What comes next.
    pub next: ReplNext,
}

/// Something that is shown.
#[derive(Debug)]
// size: there are few at a time, on their way to whoever shows them.
#[allow(clippy::large_enum_variant)]
pub enum ReplOutput {
    /// Text that belongs to the answer.
    Text(String),
    /// What a run did: text that may hold anything.
    Trace(String),
    /// Something that is said besides.
    Said(String),
    /// What a run came to.
    Run(RunAnswer),
    /// What a query gave.
    Answer(Box<TimedAnswer>),
    /// What is wrong with a program, or to be thought of.
    Findings(ProgramFindings),
    /// Why it did not come to what was asked for.
    Refused(Refusal),
}

/// What comes next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReplNext {
    /// A further piece.
    #[default]
    GoOn,
    /// A further piece; something was wrong with this one, and was shown.
    Faulty,
    /// Nothing.
    Leave,
}

/// A language that can be tried out.
trait TriedLanguage {
    /// Does what a piece says.
    fn take(&mut self, here: &Surroundings, piece: &str) -> Result<ReplReply, Refusal>;

    /// Says whether nothing is open any more in what was typed.
    fn is_whole(&self, piece: &str) -> bool;

    /// Says whether nothing that goes wrong is held against the whole.
    fn forgives(&self) -> bool;

    /// Returns the words that a line may go on with.
    fn words(&self) -> ReplWords {
        ReplWords::default()
    }
}

impl ReplStart {
    /// Begins, with the program that was named.
    ///
    /// # Errors
    /// Fails when nobody tries out that language, when what is asked means nothing to it, and when the
    /// program cannot be taken.
    pub fn begin(self, here: &Surroundings) -> Result<(Repl, ReplReply), Refusal> {
        let named = self.file.as_deref().and_then(|file| language_of_file(file, b""));
        let chosen = named_language(self.language.as_deref())?;
        let language: &dyn Language = chosen.or(named).unwrap_or(&ContextLanguage);
        if language.is(&AgentLang) {
            let (repl, reply) = AgentsRepl::begin(self, here)?;
            return Ok((Repl(Box::new(repl)), reply));
        }
        if !language.is(&ContextLanguage) {
            return Err(Refusal::usage(
                &format!("programs of the language `{}` have no lines to try out", language.name()),
                "run them with `agentic flow run` or `agentic session start`",
            ));
        }
        let (repl, reply) = ContextRepl::begin(self, here)?;
        Ok((Repl(Box::new(repl)), reply))
    }
}

impl QueryReplStart {
    /// Begins, with the rules of the file that was named.
    ///
    /// # Errors
    /// Fails when the file cannot be read, and as a query of it does.
    pub fn begin(self, here: &Surroundings) -> Result<(Repl, ReplReply), Refusal> {
        let (repl, reply) = QueryRepl::begin(self, here)?;
        Ok((Repl(Box::new(repl)), reply))
    }
}

impl Repl {
    /// Does what a piece says.
    ///
    /// # Errors
    /// Fails with why it cannot be; everything is as it was before then.
    pub fn take(&mut self, here: &Surroundings, piece: &str) -> Result<ReplReply, Refusal> {
        self.0.take(here, piece)
    }

    /// Says whether nothing is open any more in what was typed, so that it can be taken.
    pub fn is_whole(&self, piece: &str) -> bool {
        self.0.is_whole(piece)
    }

    /// Returns the words that a line may go on with by now.
    pub fn words(&self) -> ReplWords {
        self.0.words()
    }

    /// Says whether nothing that goes wrong in a piece is held against the whole.
    pub fn forgives(&self) -> bool {
        self.0.forgives()
    }
}

impl ReplReply {
    /// Shows one thing.
    fn of(output: ReplOutput) -> ReplReply {
        ReplReply { outputs: vec![output], ..ReplReply::default() }
    }

    /// Shows text.
    fn text(text: impl Into<String>) -> ReplReply {
        ReplReply::of(ReplOutput::Text(text.into()))
    }

    /// Shows what is wrong with a piece.
    fn faulty(findings: ProgramFindings) -> ReplReply {
        ReplReply { next: ReplNext::Faulty, ..ReplReply::of(ReplOutput::Findings(findings)) }
    }

    /// Ends it.
    fn leave() -> ReplReply {
        ReplReply { next: ReplNext::Leave, ..ReplReply::default() }
    }
}
