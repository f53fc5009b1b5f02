//! How long what nobody waits for any more may take to end by itself.

use std::time::Duration;

use crate::failure::CommandFailure;

/// The variable that says so, in milliseconds.
const VARIABLE: &str = "AGENTIC_GRACE_MS";
/// The longest grace, in milliseconds: an hour.
const GRACE_MS_MAX: u64 = 3_600_000;

/// Reads what the environment says.
pub fn read() -> Result<Option<Duration>, CommandFailure> {
    let Some(text) = std::env::var_os(VARIABLE) else { return Ok(None) };
    let text = text.to_string_lossy();
    match text.parse() {
        Ok(millis) if millis <= GRACE_MS_MAX => Ok(Some(Duration::from_millis(millis))),
        Ok(_) | Err(_) => Err(CommandFailure::usage(
            &format!("{VARIABLE} is `{text}`, which is no time in milliseconds"),
            "use a number of milliseconds such as 5000, at most an hour",
        )),
    }
}
