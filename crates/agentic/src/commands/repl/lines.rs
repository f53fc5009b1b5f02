//! Where lines come from: an editor on a terminal, plain lines otherwise.

use std::io::{BufRead as _, IsTerminal as _, Read as _};
use std::path::PathBuf;

use agentic_api::repl::ReplWords;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use crate::failure::CommandFailure;

/// The longest line that is read, in bytes.
const LINE_BYTES_MAX: u64 = 1 << 20;
/// How many lines are remembered from one time to the next.
const HISTORY_LINES_MAX: usize = 10_000;

/// Whether a line begins something or goes on with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinePlace {
    First,
    Further,
}

/// What came next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextLine {
    /// A line, without its end.
    Text(String),
    /// The person wants to begin anew.
    Dropped,
    /// There is no more.
    End,
}

/// A source of lines.
pub struct Lines {
    editor: Option<EditedLine>,
}

struct EditedLine {
    editor: Editor<WordHelper, FileHistory>,
    /// Where lines are remembered; nowhere without a home.
    history: Option<PathBuf>,
}

/// Completes words at the tabulator.
#[derive(Default)]
struct WordHelper {
    words: ReplWords,
}

impl Helper for WordHelper {}
impl Highlighter for WordHelper {}
impl Validator for WordHelper {}

impl Hinter for WordHelper {
    type Hint = String;
}

impl Completer for WordHelper {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let offered = self.words.complete(line, at);
        Ok((offered.start, offered.words))
    }
}

impl Lines {
    /// Opens the editor if there is a terminal.
    pub fn open(history: &str) -> Result<Lines, CommandFailure> {
        if !std::io::stdin().is_terminal() {
            return Ok(Lines { editor: None });
        }
        let config = Config::builder().max_history_size(HISTORY_LINES_MAX);
        let config = config.map_err(|error| broken(&error))?.auto_add_history(true);
        let config = config.completion_type(CompletionType::List).build();
        let mut editor = Editor::with_config(config).map_err(|error| broken(&error))?;
        editor.set_helper(Some(WordHelper::default()));
        let history = history_file(history);
        if let Some(file) = &history {
            // There is none the first time.
            let _ = editor.load_history(file);
        }
        Ok(Lines { editor: Some(EditedLine { editor, history }) })
    }

    /// Says which words lines may go on with; asked only where somebody could choose.
    pub fn offer(&mut self, words: impl FnOnce() -> ReplWords) {
        let helper = self.editor.as_mut().and_then(|edited| edited.editor.helper_mut());
        if let Some(helper) = helper {
            helper.words = words();
        }
    }

    /// Tells whether a person types the lines.
    pub fn is_terminal(&self) -> bool {
        self.editor.is_some()
    }

    /// Reads the next line.
    pub fn next(&mut self, place: LinePlace) -> Result<NextLine, CommandFailure> {
        let Some(edited) = &mut self.editor else { return plain_line() };
        let prompt = match place {
            LinePlace::First => "> ",
            LinePlace::Further => ". ",
        };
        match edited.editor.readline(prompt) {
            Ok(line) => Ok(NextLine::Text(line)),
            Err(ReadlineError::Interrupted) => Ok(NextLine::Dropped),
            Err(ReadlineError::Eof) => Ok(NextLine::End),
            Err(error) => Err(broken(&error)),
        }
    }

    /// Remembers the lines for the next time.
    pub fn close(&mut self) {
        if let Some(EditedLine { editor, history: Some(file) }) = &mut self.editor {
            let folder = file.parent().map(std::fs::create_dir_all);
            // A history that cannot be written is no reason to fail.
            let _ = folder.map(|made| made.map(|()| editor.save_history(file)));
        }
    }
}

/// Reads a line of standard input, which has to be text.
fn plain_line() -> Result<NextLine, CommandFailure> {
    let mut bytes = Vec::new();
    let stdin = std::io::stdin().lock();
    let read = stdin.take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut bytes);
    read.map_err(|error| CommandFailure::io("read standard input", &error))?;
    if bytes.is_empty() {
        return Ok(NextLine::End);
    }
    if bytes.len() as u64 > LINE_BYTES_MAX {
        let message = format!("a line is longer than {LINE_BYTES_MAX} bytes");
        return Err(CommandFailure::refused(&message, "break the line, or put it into a file"));
    }
    let line = String::from_utf8(bytes).map_err(|_| {
        CommandFailure::refused("a line is not UTF-8 text", "write the lines as UTF-8")
    })?;
    Ok(NextLine::Text(line.trim_end_matches(['\n', '\r']).to_owned()))
}

fn history_file(name: &str) -> Option<PathBuf> {
    let from = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = from("XDG_STATE_HOME").or_else(|| Some(from("HOME")?.join(".local/state")))?;
    Some(state.join("agentic").join(name))
}

fn broken(error: &ReadlineError) -> CommandFailure {
    CommandFailure::refused(
        &format!("the terminal cannot be read: {error}"),
        "pipe the lines into it",
    )
}
