//! Lines in `info/exclude`, which git reads as it reads `.gitignore`, and which nobody else sees.

use std::path::Path;

use super::WiringResult;
use super::settings_file::{WiredAction, WiredText, WiringRun, change_file};

/// Adds a line.
///
/// # Errors
/// Fails when the file cannot be changed.
pub fn add_exclusion(common: &Path, line: &str, run: WiringRun) -> WiringResult<WiredAction> {
    change_file(&common.join("info/exclude"), run, &|old| {
        let old = old.unwrap_or_default();
        Ok(match old.lines().any(|known| known == line) {
            true => WiredText::Keep,
            // Without an end of line before it there is none behind it: so the text of before shows.
            false if old.is_empty() || old.ends_with('\n') => {
                WiredText::Text(format!("{old}{line}\n"))
            }
            false => WiredText::Text(format!("{old}\n{line}")),
        })
    })
}

/// Takes a line away.
///
/// # Errors
/// Fails when the file cannot be changed.
pub fn take_exclusion(common: &Path, line: &str, run: WiringRun) -> WiringResult<WiredAction> {
    change_file(&common.join("info/exclude"), run, &|old| {
        let Some(old) = old else { return Ok(WiredText::Keep) };
        if let Some(before) = old.strip_suffix(&format!("\n{line}")) {
            return Ok(WiredText::Text(before.to_owned()));
        }
        let kept = old.split_inclusive('\n').filter(|known| known.trim_end_matches('\n') != line);
        Ok(WiredText::Text(kept.collect()))
    })
}

#[cfg(test)]
mod tests {
    use super::{WiredAction, WiringRun, add_exclusion, take_exclusion};

    #[test]
    fn a_line_goes_as_it_came() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("info/exclude");
        std::fs::create_dir(folder.path().join("info")).expect("fresh");
        for text in ["", "# git's own\n", "*.log", "\n\n"] {
            std::fs::write(&path, text).expect("writable");
            for wanted in [WiredAction::Changed, WiredAction::Unchanged] {
                let action = add_exclusion(folder.path(), "/.x", WiringRun::Apply);
                assert_eq!(action.expect("writable"), wanted);
            }
            take_exclusion(folder.path(), "/.x", WiringRun::Apply).expect("writable");
            assert_eq!(std::fs::read_to_string(&path).expect("readable"), text);
        }
    }
}
