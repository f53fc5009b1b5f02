//! The loop: keys, news and signals in, pictures and wishes out.

use std::io::{IsTerminal as _, stdin, stdout};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant as Moment};

use agentic_api::{Surroundings, require_person};
use agentic_providers::host::CancelFlag;
use agentic_session::SessionSpace;
use ratatui::crossterm::event::{self, Event};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::error::{Result, UiError};
use crate::key::UiKey;
use crate::line::Tone;
use crate::paint::UiColours;
use crate::reader::{ReaderDesk, UiReader};
use crate::screen::TerminalScreen;
use crate::signal::{JobSignals, can_be_continued, stop_here};
use crate::state::UiState;
use crate::wish::{DecisionSigning, UiTold, UiWish};

/// How long is waited for a key before news and signals are looked at.
const LOOK: Duration = Duration::from_millis(50);
/// How often ages on the screen are made anew.
const AGES: Duration = Duration::from_secs(20);
/// How long after one reading of everything the next may begin: this, or so many times what it took.
const REST_MIN: Duration = Duration::from_millis(150);
const REST_TIMES: u32 = 3;

/// What a screen is shown for.
#[derive(Debug)]
pub struct UiOptions {
    /// Who looks, and from where.
    pub here: Surroundings,
    /// The folder that sessions are gone on with from.
    pub folder: PathBuf,
    /// Ends the screen when it is set.
    pub stop: CancelFlag,
    /// Whether there are colours.
    pub colours: UiColours,
}

/// Shows the screen until the person ends it.
///
/// # Errors
/// Fails when there is no terminal, or it is gone.
pub fn run(space: SessionSpace, options: UiOptions) -> Result<()> {
    if !stdin().is_terminal() || !stdout().is_terminal() {
        return Err(UiError::NoTerminal);
    }
    let read_only = require_person("decide", &options.here, Some(&space)).err();
    let name = repository_name(&space);
    let space = Arc::new(space);
    let reader = UiReader::new(Arc::clone(&space), options.here, options.folder);
    let signals = JobSignals::listen()?;
    let screen = TerminalScreen::begin(options.colours)?;
    let size = screen.size()?;
    let why = read_only.map(|refusal| refusal.message);
    let state = UiState::new(&name, why, size, space.now());
    // From here on a thread that breaks is told of.
    let desk = reader.begin(&options.stop)?;
    let pace = ReadingPace { wanted: true, begun: None, rested_at: Moment::now() };
    let ui = Ui { space, screen, state, desk, signals, pace };
    ui.go_round(&options.stop)
}

/// All that belongs to a screen that is shown.
struct Ui {
    space: Arc<SessionSpace>,
    screen: TerminalScreen,
    state: UiState,
    desk: ReaderDesk,
    signals: JobSignals,
    pace: ReadingPace,
}

/// When everything that is shown is read again.
struct ReadingPace {
    /// Whether something was written since.
    wanted: bool,
    /// Since when it is being read.
    begun: Option<Moment>,
    /// When it may be read again.
    rested_at: Moment,
}

/// Whether the screen goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UiCourse {
    GoOn,
    End,
}

impl Ui {
    fn go_round(mut self, stop: &CancelFlag) -> Result<()> {
        let mut aged_at = Moment::now();
        let mut is_stale = true;
        loop {
            // What is being recorded is durable or not, whatever becomes of this program.
            if stop.is_set() {
                return Ok(());
            }
            if let Some(end) = self.signals.end() {
                self.screen.leave();
                end.come();
                return Ok(());
            }
            self.check_threads()?;
            is_stale |= self.obey_signals()?;
            is_stale |= self.hear_all()?;
            if aged_at.elapsed() >= AGES {
                (aged_at, self.pace.wanted) = (Moment::now(), true);
            }
            self.read_if_due()?;
            let size = self.screen.size()?;
            if size != self.state.screen {
                self.state.resize(size.width, size.height);
                is_stale = true;
            }
            if is_stale {
                self.screen.draw(&self.state)?;
            }
            is_stale = wait_for_input()?;
            while event::poll(Duration::ZERO).map_err(UiError::system("read keys"))? {
                is_stale = true;
                let event = event::read().map_err(UiError::system("read keys"))?;
                if self.take(event)? == UiCourse::End {
                    return Ok(());
                }
            }
        }
    }

    fn check_threads(&self) -> Result<()> {
        match self.screen.broken().said() {
            said if said.is_empty() => Ok(()),
            what => Err(UiError::Broken { what }),
        }
    }

    /// Takes what the terminal sends.
    fn take(&mut self, event: Event) -> Result<UiCourse> {
        self.state.now = self.space.now();
        let wishes = match event {
            Event::Key(key) => UiKey::of(key).map(|key| self.state.press(key)).unwrap_or_default(),
            Event::Paste(text) => {
                self.state.paste(&text);
                Vec::new()
            }
            Event::Resize(..) | Event::FocusGained | Event::FocusLost | Event::Mouse(_) => {
                Vec::new()
            }
        };
        self.grant(wishes)
    }

    fn grant(&mut self, wishes: Vec<UiWish>) -> Result<UiCourse> {
        for wish in wishes {
            match wish {
                UiWish::Quit => return Ok(UiCourse::End),
                UiWish::Suspend => self.suspend()?,
                UiWish::Redraw => self.screen.forget()?,
                UiWish::Decide(wanted) if wanted.signing == DecisionSigning::Signed => {
                    self.decide_signed(UiWish::Decide(wanted))?;
                }
                wish @ (UiWish::Decide(_)
                | UiWish::ReadLists(_)
                | UiWish::ReadDetail(_)
                | UiWish::ReadHold(_)) => self.desk.wish(wish)?,
            }
        }
        Ok(UiCourse::GoOn)
    }

    /// Gives the terminal to whoever signs, who may ask for a passphrase there.
    fn decide_signed(&mut self, wish: UiWish) -> Result<()> {
        self.screen.leave();
        self.desk.wish(wish)?;
        let mut heard = Vec::new();
        while !heard.iter().any(|told| matches!(told, UiTold::Decided(_))) {
            self.check_threads()?;
            heard.extend(self.desk.hear(LOOK));
        }
        self.screen.enter_again()?;
        for told in heard {
            self.hear(told)?;
        }
        Ok(())
    }

    /// Hears all that was told; says whether there was anything.
    fn hear_all(&mut self) -> Result<bool> {
        let mut is_any = false;
        while let Some(told) = self.desk.hear(Duration::ZERO) {
            is_any = true;
            self.hear(told)?;
        }
        Ok(is_any)
    }

    fn hear(&mut self, told: UiTold) -> Result<()> {
        self.state.now = self.space.now();
        match &told {
            UiTold::Changed => self.pace.wanted = true,
            // They are read last.
            UiTold::Agents(_) => self.pace.rest(),
            UiTold::Inbox(_) | UiTold::Detail(..) | UiTold::Hold(..) | UiTold::Decided(_) => {}
        }
        let wishes = self.state.hear(told);
        self.grant(wishes).map(drop)
    }

    /// Asks for everything that is shown, if something was written and it is time.
    fn read_if_due(&mut self) -> Result<()> {
        if self.pace.is_due() {
            let wishes = self.state.read_all();
            self.grant(wishes)?;
        }
        Ok(())
    }

    /// Does what signals say; says whether there was one.
    fn obey_signals(&mut self) -> Result<bool> {
        if self.signals.is_to_stop() {
            self.suspend()?;
            return Ok(true);
        }
        let went_on = self.signals.went_on();
        if went_on {
            // Somebody else stopped it, and may have used the terminal.
            self.screen.enter_again()?;
            self.pace.wanted = true;
        }
        Ok(went_on)
    }

    /// Gives the terminal back until somebody goes on with this program.
    fn suspend(&mut self) -> Result<()> {
        if !can_be_continued() {
            self.state
                .say(Tone::Alarm, "there is no shell here that could go on with this program");
            return Ok(());
        }
        self.screen.leave();
        stop_here()?;
        self.screen.enter_again()?;
        // That was this very stop.
        self.signals.went_on();
        self.pace.wanted = true;
        Ok(())
    }
}

impl ReadingPace {
    /// Says whether everything is to be read now, and notes that it is.
    fn is_due(&mut self) -> bool {
        let is_due = self.wanted && self.begun.is_none() && Moment::now() >= self.rested_at;
        if is_due {
            (self.wanted, self.begun) = (false, Some(Moment::now()));
        }
        is_due
    }

    /// Notes that everything was read.
    fn rest(&mut self) {
        if let Some(begun) = self.begun.take() {
            let now = Moment::now();
            self.rested_at = now + REST_MIN.max((now - begun) * REST_TIMES);
        }
    }
}

/// Waits a moment for keys.
///
/// A terminal that has gone away would be read for ever: it is looked for here.
fn wait_for_input() -> Result<bool> {
    let stdin = stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    let most = Timespec { tv_sec: 0, tv_nsec: i64::from(LOOK.subsec_nanos()) };
    match poll(&mut fds, Some(&most)) {
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => return Ok(true),
        Err(error) => return Err(UiError::system("wait for keys")(error.into())),
    }
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    if fds[0].revents().intersects(gone) {
        let gone = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        return Err(UiError::system("read keys: the terminal is gone")(gone));
    }
    Ok(false)
}

/// Returns what the repository is called: the last part of its folder's path.
fn repository_name(space: &SessionSpace) -> String {
    let common = space.repository().common_dir();
    let folder = match common.file_name() {
        Some(name) if name == ".git" => common.parent(),
        Some(_) | None => Some(common),
    };
    let name = folder.and_then(|folder| folder.file_name());
    name.map_or_else(|| "repository".to_owned(), |name| name.to_string_lossy().into_owned())
}
