//! The terminal: how this program takes it over, and gives it back whatever happens.

use std::io::{Stdout, stdout};
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, KeyboardEnhancementFlags,
    PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::layout::Rect;

use crate::error::{Result, UiError};
use crate::paint::{UiColours, paint};
use crate::state::UiState;

/// Whether the terminal is taken over now; shared with the hook that a panic runs.
#[derive(Debug, Clone, Default)]
struct TakenOver(Arc<AtomicBool>);

/// A terminal that was taken over. It is given back when this is dropped.
pub struct TerminalScreen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    taken: TakenOver,
    colours: UiColours,
    broken: BrokenThreads,
}

/// What threads said that broke, other than the one of the screen.
#[derive(Debug, Clone, Default)]
pub struct BrokenThreads(Arc<Mutex<Vec<String>>>);

impl BrokenThreads {
    /// Returns what they said.
    pub fn said(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).join("; ")
    }

    fn note(&self, panic: &PanicHookInfo<'_>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(panic.to_string());
    }
}

impl TerminalScreen {
    /// Takes the terminal over.
    ///
    /// # Errors
    /// Fails when it is none, or refuses.
    pub fn begin(colours: UiColours) -> Result<TerminalScreen> {
        let (taken, broken) = (TakenOver::default(), BrokenThreads::default());
        guard(&taken, &broken);
        let failed = UiError::system("take the terminal over");
        taken.take().map_err(failed)?;
        match Terminal::new(CrosstermBackend::new(stdout())) {
            Ok(terminal) => Ok(TerminalScreen { terminal, taken, colours, broken }),
            Err(source) => {
                taken.give_back();
                Err(UiError::System { attempt: "draw on the terminal", source })
            }
        }
    }

    /// Returns what threads said that broke.
    pub fn broken(&self) -> BrokenThreads {
        self.broken.clone()
    }

    /// Returns the size of the screen.
    ///
    /// # Errors
    /// Fails when the terminal is gone.
    pub fn size(&self) -> Result<Rect> {
        let size = self.terminal.size().map_err(UiError::system("ask how large the screen is"))?;
        Ok(Rect::new(0, 0, size.width, size.height))
    }

    /// Draws.
    ///
    /// # Errors
    /// Fails when the terminal is gone.
    pub fn draw(&mut self, state: &UiState) -> Result<()> {
        agentic_store::fault::point("ui-draw")
            .expect("BUG: a test wants this thread to break here");
        let colours = self.colours;
        self.terminal
            .draw(|frame| paint(frame, state, colours))
            .map(drop)
            .map_err(UiError::system("draw on the terminal"))
    }

    /// Gives the terminal back for a while.
    pub fn leave(&self) {
        self.taken.give_back();
    }

    /// Takes it over again, and draws everything anew the next time.
    ///
    /// # Errors
    /// Fails when it refuses.
    pub fn enter_again(&mut self) -> Result<()> {
        // Whoever had it meanwhile may have set it as they like.
        self.taken.give_back();
        self.taken.take().map_err(UiError::system("take the terminal over again"))?;
        self.forget()
    }

    /// Draws everything anew the next time.
    ///
    /// # Errors
    /// Fails when the terminal is gone.
    pub fn forget(&mut self) -> Result<()> {
        let failed = UiError::system("draw on the terminal");
        let begin_anew = || {
            execute!(stdout(), Clear(ClearType::All))?;
            // One that remembers nothing. To clear it would ask the terminal where its cursor is, and wait.
            Terminal::new(CrosstermBackend::new(stdout()))
        };
        self.terminal = begin_anew().map_err(failed)?;
        Ok(())
    }
}

impl Drop for TerminalScreen {
    fn drop(&mut self) {
        self.taken.give_back();
    }
}

impl TakenOver {
    fn take(&self) -> std::io::Result<()> {
        self.0.store(true, Ordering::SeqCst);
        let taken = enable_raw_mode().and_then(|()| {
            // Where a terminal can, Ctrl+Enter is told from Enter; others ignore this.
            let keys = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES;
            execute!(
                stdout(),
                EnterAlternateScreen,
                EnableBracketedPaste,
                PushKeyboardEnhancementFlags(keys)
            )
        });
        taken.inspect_err(|_| self.give_back())
    }

    /// Gives it back, once: a second time would move the cursor to where it was before.
    fn give_back(&self) {
        if self.0.swap(false, Ordering::SeqCst) {
            // A terminal that has gone away wants nothing back.
            let _ = execute!(
                stdout(),
                PopKeyboardEnhancementFlags,
                DisableBracketedPaste,
                LeaveAlternateScreen,
                Show
            );
            let _ = disable_raw_mode();
        }
    }
}

/// Lets a panic of this thread give the terminal back before it is told. What another thread says is kept:
/// this one hears of it, and gives the terminal back itself.
fn guard(taken: &TakenOver, broken: &BrokenThreads) {
    let (taken, broken) = (taken.clone(), broken.clone());
    let own = std::thread::current().id();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let is_taken = taken.0.load(Ordering::SeqCst);
        match std::thread::current().id() == own || !is_taken {
            true => {
                taken.give_back();
                before(panic);
            }
            false => broken.note(panic),
        }
    }));
}
