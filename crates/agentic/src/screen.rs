//! The person at the terminal: sees replies of models while they are being written, and is asked for
//! what an input lacks.

use std::io::{BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::sync::OnceLock;
use std::sync::mpsc::Receiver;
use std::thread::Builder;

use agentic_api::view::{visible, visible_line};
use agentic_host::{Interest, Observer, ReplyPiece, ScreenEvent, ScreenPresence};
use agentic_lang_agent::TraceCapture;
use agentic_lang_context::DEBUG_EVENT;
use agentic_replay::ProgramEvent;

use crate::live::RunDisplay;
use crate::output::talk;

/// The longest line that a person is asked for, in bytes.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// What is shown of what programs say.
#[derive(Debug, Clone, Copy)]
enum ScreenDetail {
    /// What they say for the people who watch.
    Debug,
    /// The tasks and the trace of a program of AgentLang.
    Live(RunDisplay),
}

/// Where a person sees what runs do. Nothing is drained, and no thread is there for it, until the
/// first run is to be watched.
#[derive(Debug)]
pub struct Screen {
    shown: ScreenDetail,
    observer: OnceLock<Observer>,
}

impl Screen {
    /// Makes a screen that shows what programs say for the people who watch.
    pub fn new() -> Screen {
        Screen { shown: ScreenDetail::Debug, observer: OnceLock::new() }
    }

    /// Makes a screen that shows a program of AgentLang as it runs.
    pub fn of_live(live: RunDisplay) -> Screen {
        Screen { shown: ScreenDetail::Live(live), observer: OnceLock::new() }
    }

    /// Returns the end at which runs tell what is shown here.
    pub fn observer(&self) -> Observer {
        self.observer.get_or_init(|| begin(self.shown)).clone()
    }

    /// Returns that end if there is a person who looks.
    pub fn person(&self) -> Option<Observer> {
        (presence() == ScreenPresence::Person).then(|| self.observer())
    }
}

/// Says whether anybody looks.
fn presence() -> ScreenPresence {
    match std::io::stderr().is_terminal() {
        true => ScreenPresence::Person,
        false => ScreenPresence::Nobody,
    }
}

/// Begins to show what runs tell; nothing is shown where there is no thread for it.
fn begin(shown: ScreenDetail) -> Observer {
    let trace = match shown {
        ScreenDetail::Debug => TraceCapture::Off,
        ScreenDetail::Live(live) => live.trace,
    };
    let (observer, told) = Observer::channel(Interest { trace, presence: presence() });
    let _ = Builder::new().name("agentic-screen".to_owned()).spawn(move || show(shown, &told));
    observer
}

/// Shows what runs tell for as long as there are any.
fn show(shown: ScreenDetail, told: &Receiver<ScreenEvent>) {
    let mut reply = ScreenReply { is_dirty: false };
    for event in told {
        match event {
            ScreenEvent::Said { event, session: _ } => match shown {
                ScreenDetail::Debug => hear(&event),
                ScreenDetail::Live(live) => live.line(&event).iter().for_each(|line| talk(line)),
            },
            ScreenEvent::Writing(piece) => reply.show(&piece),
            ScreenEvent::Written => reply.end(),
            ScreenEvent::Question(question) => {
                if let Some(line) = ask(&question.field) {
                    question.answer(line);
                }
            }
            ScreenEvent::Pause(pause) => drop(pause),
        }
    }
}

/// Shows what a program says for the people who watch, such as the prompts of a `generate` with
/// `debug: true`.
pub fn hear(event: &ProgramEvent) {
    if event.kind == DEBUG_EVENT
        && let Some(text) = event.data.as_text()
    {
        talk(&plain(text));
    }
}

/// Leaves out what could steer a terminal, and shows what else would not be seen.
pub fn plain(text: &str) -> String {
    let stays = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    visible(&text.chars().filter(stays).collect::<String>())
}

/// Asks for a field of an input. Nothing where nobody can type, or where the typing ends.
fn ask(field: &str) -> Option<String> {
    if !std::io::stdin().is_terminal() {
        return None;
    }
    let mut stderr = std::io::stderr().lock();
    let _ = write!(stderr, "{}: ", visible_line(field)).and_then(|()| stderr.flush());
    let mut line = String::new();
    let read = std::io::stdin().lock().take(LINE_BYTES_MAX).read_line(&mut line);
    match read {
        Ok(1..) => Some(line.trim_end_matches(['\n', '\r']).to_owned()),
        Ok(0) | Err(_) => None,
    }
}

/// A reply on the person's screen: standard error, for the answer goes to standard output.
#[derive(Debug)]
struct ScreenReply {
    /// Whether the line that is being written has anything on it.
    is_dirty: bool,
}

impl ScreenReply {
    /// Shows a piece of a reply. What could steer the terminal is left out.
    fn show(&mut self, piece: &ReplyPiece) {
        let text = match piece {
            ReplyPiece::Text(text) => text,
            ReplyPiece::Again => "\n",
        };
        let shown = plain(text);
        if let Some(last) = shown.chars().last() {
            self.is_dirty = last != '\n';
        }
        let mut stderr = std::io::stderr().lock();
        // A screen that has gone away does not undo the call.
        let _ = stderr.write_all(shown.as_bytes()).and_then(|()| stderr.flush());
    }

    /// Ends the line of a reply.
    fn end(&mut self) {
        if std::mem::take(&mut self.is_dirty) {
            let _ = std::io::stderr().lock().write_all(b"\n");
        }
    }
}
