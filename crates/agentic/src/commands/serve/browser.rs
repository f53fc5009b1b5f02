//! Opening the page in a browser.
//!
//! The address has a code that logs in. Other users can see command lines, so the browser is given a
//! file that only this user can read, that leads to the address, and that goes away.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;

/// The variable that names a browser.
const BROWSER_VARIABLE: &str = "BROWSER";
/// What opens a file where nothing is named.
const OPENER: &str = "xdg-open";
/// How long a browser may take to read the file.
const FILE_LIFE: Duration = Duration::from_secs(5);
/// How often is looked whether it has failed.
const LOOK: Duration = Duration::from_millis(20);

/// A page that a browser was asked to open.
#[must_use = "the file that leads there goes away with it"]
pub struct OpenedPage {
    program: OsString,
    browser: Child,
    _file: NamedTempFile,
}

/// Opens a page.
pub fn show_page(address: &str) -> std::io::Result<OpenedPage> {
    let mut file = tempfile::Builder::new().prefix("agentic-").suffix(".html").tempfile()?;
    // An address of ours has no character that HTML reads otherwise.
    write!(file, "<!doctype html><meta http-equiv=refresh content=\"0;url={address}\">")?;
    file.flush()?;
    let named = std::env::var_os(BROWSER_VARIABLE).filter(|name| !name.is_empty());
    let program = named.unwrap_or_else(|| OPENER.into());
    let mut command = Command::new(&program);
    command.arg(file.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(OpenedPage { browser: command.spawn()?, program, _file: file })
}

impl OpenedPage {
    /// Waits until the browser has had the time to read the file.
    ///
    /// # Errors
    /// Fails when the program that was to open it fails in that time.
    pub fn wait(mut self) -> std::io::Result<()> {
        let begun = Instant::now();
        while begun.elapsed() < FILE_LIFE {
            // Whoever opens files ends soon, and the browser reads on; a browser itself may stay.
            if let Some(status) = self.browser.try_wait()?
                && !status.success()
            {
                let program = self.program.to_string_lossy();
                return Err(std::io::Error::other(format!("`{program}` failed: {status}")));
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }
}
