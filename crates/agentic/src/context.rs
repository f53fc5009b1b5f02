//! What every verb needs: the open space, the agent it is about, and how to answer.

use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agentic_api::program::{NamedText, TEXT_BYTES_MAX};
use agentic_api::{Caller, PageFinder, Surroundings, VerbWatcher, require_person};
use agentic_host::Observer;
use agentic_model::Instant;
use agentic_providers::host::CancelFlag;
use agentic_providers::process::{AGENT_VARIABLE, REQUEST_VARIABLE, set_when_told_to_stop};
use agentic_resident::ServeFolder;
use agentic_session::{Error as SessionError, SessionOptions, SessionSpace};
use agentic_space::{Clock, Durability, Error as SpaceError};
use agentic_store::Error as StoreError;
use agentic_store::error::RepositoryError;

use crate::cli::{Cli, DurabilityMode};
use crate::failure::CommandFailure;
use crate::grace;
use crate::live::RunDisplay;
use crate::output::{Format, tell_recovered};
use crate::screen::Screen;

/// The settings that all verbs share.
#[derive(Clone)]
pub struct Context {
    /// Where the command runs.
    pub directory: PathBuf,
    /// How it answers.
    pub format: Format,
    options: SessionOptions,
    /// Where a person sees what runs do.
    screen: Arc<Screen>,
}

impl Context {
    /// Takes the settings from command line and environment.
    pub fn new(cli: &Cli) -> Result<Context, CommandFailure> {
        let here = || {
            std::env::current_dir()
                .map_err(|error| CommandFailure::io("read the current folder", &error))
        };
        let directory = match &cli.directory {
            Some(directory) => directory.clone(),
            None => here()?,
        };
        let durability = cli.durability.map(|mode| match mode {
            DurabilityMode::Full => Durability::Full,
            DurabilityMode::Git => Durability::Git,
        });
        let (clock, grace) = (clock(&directory)?, grace::read()?);
        let space = agentic_space::Options { clock, durability };
        let trial_flows = agentic_api::verb::trial_flows();
        let screen = Some(agentic_capture::redaction::screen());
        let options =
            SessionOptions { space, grace, trial_flows, screen, ..SessionOptions::default() };
        let format = if cli.json { Format::Json } else { Format::Text };
        Ok(Context { directory, format, options, screen: Arc::new(Screen::new()) })
    }

    /// Does everything in another folder.
    pub fn at(&self, directory: PathBuf) -> Context {
        Context { directory, ..self.clone() }
    }

    /// Does everything while a program of AgentLang is shown as it runs.
    pub fn showing(&self, live: RunDisplay) -> Context {
        Context { screen: Arc::new(Screen::of_live(live)), ..self.clone() }
    }

    /// Does everything with answers in another form.
    pub fn answering(&self, format: Format) -> Context {
        Context { format, ..self.clone() }
    }

    /// Opens the space and tells what had to be mended.
    pub fn space(&self) -> Result<SessionSpace, CommandFailure> {
        self.space_with(self.options.clone())
    }

    /// Opens the space for a verb that may go on with sessions: the person sees what they do.
    pub fn watched_space(&self) -> Result<SessionSpace, CommandFailure> {
        self.space_with(self.watched())
    }

    fn space_with(&self, options: SessionOptions) -> Result<SessionSpace, CommandFailure> {
        let space = SessionSpace::open(&self.directory, options)?;
        tell_recovered(space.recovered());
        space.repository().keep_until_exit();
        Ok(space)
    }

    /// Returns how spaces are opened.
    #[cfg(feature = "temporal")]
    pub fn options(&self) -> &SessionOptions {
        &self.options
    }

    fn watched(&self) -> SessionOptions {
        SessionOptions { observer: Some(self.screen.observer()), ..self.options.clone() }
    }

    /// Opens the space without looking for unfinished work.
    pub fn space_as_is(&self) -> Result<SessionSpace, CommandFailure> {
        Ok(SessionSpace::open_as_is(&self.directory, self.options.clone())?)
    }

    /// Does so where there is a repository.
    pub fn space_if_any(&self) -> Result<Option<SessionSpace>, CommandFailure> {
        match SessionSpace::open_as_is(&self.directory, self.options.clone()) {
            Err(SessionError::Space(SpaceError::Store(StoreError::Repository(
                RepositoryError::NotFound { .. },
            )))) => Ok(None),
            opened => Ok(opened.map(Some)?),
        }
    }

    /// Returns who watches a run in memory, if anybody looks.
    pub fn person(&self) -> Option<Observer> {
        self.screen.person()
    }

    /// Returns how long a program may take to end once nobody waits for it any more.
    pub fn grace(&self) -> Option<Duration> {
        self.options.grace
    }

    /// Returns what puts down what is under way when it is set.
    pub fn stop_flag(&self) -> CancelFlag {
        self.options.stop.clone()
    }

    /// Listens to SIGTERM and ctrl-c from now on. Returns what they set: sessions are then put down.
    pub fn listen(&self) -> Result<CancelFlag, CommandFailure> {
        set_when_told_to_stop(&self.options.stop)
            .map_err(|error| CommandFailure::io("listen to signals", &error))?;
        Ok(self.options.stop.clone())
    }

    /// Makes the caller of a verb: who runs it, and where.
    pub fn caller<'s>(&self, space: &'s SessionSpace) -> Caller<'s> {
        self.caller_at(space, self.surroundings())
    }

    /// Makes the caller of a verb who stands somewhere.
    pub fn caller_at<'s>(&self, space: &'s SessionSpace, here: Surroundings) -> Caller<'s> {
        Caller { surroundings: here, ..Caller::new(space, &self.directory) }
    }

    /// Says where the person or the program stands that runs the command.
    pub fn surroundings(&self) -> Surroundings {
        Surroundings {
            folder: self.directory.clone(),
            agent: variable(AGENT_VARIABLE),
            request: variable(REQUEST_VARIABLE),
            person: None,
            page: Some(Arc::new(ServedPage)),
            engine: None,
            engines: crate::engine::finder(&self.directory),
            watcher: VerbWatcher::default(),
        }
    }
}

/// The page of a process that serves a repository: nobody is asked, and nothing waits.
#[derive(Debug, Clone, Copy)]
pub struct ServedPage;

impl PageFinder for ServedPage {
    fn address(&self, space: &SessionSpace) -> Option<String> {
        let at = ServeFolder::of(space.repository().layout()).whereabouts()?;
        at.deciding_url().filter(|_| at.process.is_alive()).map(str::to_owned)
    }
}

/// Returns a variable of the environment, unless it is empty.
fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name).filter(|text| !text.is_empty());
    value.map(|text| text.to_string_lossy().into_owned())
}

impl Context {
    /// Names the text of a file, or takes standard input for `-`; up to a bound, for that may have no
    /// end.
    pub fn named_text(&self, name: &str) -> Result<NamedText, CommandFailure> {
        if name != "-" {
            return Ok(NamedText::file(name));
        }
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes);
        read.map_err(|error| CommandFailure::io("read `-`", &error))?;
        Ok(NamedText::given(name, bytes))
    }
}

/// Reads standard input to its end.
pub fn read_stdin() -> Result<Vec<u8>, CommandFailure> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| CommandFailure::io("read standard input", &error))?;
    Ok(bytes)
}

/// Tells whether standard input is a terminal, where nobody should be waited for.
pub fn stdin_is_terminal() -> bool {
    std::io::stdin().is_terminal()
}

/// Reads a file, or standard input for `-`.
pub fn read_file_or_stdin(path: &str) -> Result<Vec<u8>, CommandFailure> {
    if path == "-" {
        return read_stdin();
    }
    std::fs::read(path).map_err(|error| CommandFailure::io(&format!("read `{path}`"), &error))
}

/// Reads which clock the command goes by.
fn clock(directory: &Path) -> Result<Clock, CommandFailure> {
    let Ok(text) = std::env::var("AGENTIC_NOW") else { return Ok(Clock::System) };
    let instant = Instant::parse(&text).or_else(|| text.parse().ok().map(Instant::from_millis));
    match instant {
        // Git's dates begin in 1970.
        Some(instant) if instant.millis() >= 0 => Ok(match is_agent_at_work(directory) {
            true => Clock::Dated(instant),
            false => Clock::Fixed(instant),
        }),
        _ => Err(CommandFailure::usage(
            &format!("AGENTIC_NOW is `{text}`, which is no instant"),
            "use RFC 3339 such as `2026-11-21T22:40:01Z`, or milliseconds since 1970",
        )),
    }
}

/// Tells whether an agent runs the command, as far as one can tell: whoever may not decide a hold may not bring
/// along the time at which it is over either.
fn is_agent_at_work(directory: &Path) -> bool {
    let surroundings = Surroundings {
        folder: directory.to_owned(),
        agent: variable(AGENT_VARIABLE),
        request: variable(REQUEST_VARIABLE),
        ..Surroundings::default()
    };
    let space = SessionSpace::open_as_is(directory, SessionOptions::default()).ok();
    require_person("set the clock", &surroundings, space.as_ref()).is_err()
}
