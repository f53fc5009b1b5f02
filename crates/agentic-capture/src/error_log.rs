//! The error log: what a hook could not do, one line each, since it may tell nobody.
//!
//! A line has the time, the source, the event and a code, and nothing that anybody said.

use std::fs::OpenOptions;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use agentic_model::Instant;
use agentic_store::Layout;
use agentic_store::file::{self, Persistence};

use crate::Source;

/// The most that the log holds, in bytes: 256 KiB.
pub const ERROR_LOG_BYTES_MAX: u64 = 256 << 10;
/// How much of a name that somebody else chose is kept, in characters.
const NAME_CHARS_MAX: usize = 48;

/// One line of the error log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureFault {
    /// When it happened.
    pub at: Instant,
    /// In whose hook.
    pub source: Option<Source>,
    /// At which event, as the vendor calls it; `-` where nobody knows.
    pub event: String,
    /// What went wrong.
    pub code: String,
}

impl CaptureFault {
    fn line(&self) -> String {
        let source = self.source.map_or("-", Source::as_str);
        format!("{} {source} {} {}\n", self.at, plain(&self.event), plain(&self.code))
    }

    fn parse(line: &str) -> Option<CaptureFault> {
        let [at, source, event, code] = line.split(' ').collect::<Vec<_>>()[..] else {
            return None;
        };
        Some(CaptureFault {
            at: Instant::parse(at)?,
            source: Source::parse(source).ok(),
            // What stands in the file may be anybody's.
            event: plain(event),
            code: plain(code),
        })
    }
}

/// Appends to the log. What goes wrong with that nobody can be told.
pub fn note(layout: &Layout, fault: &CaptureFault) {
    let _nobody_hears_of_it = append(layout, fault);
}

/// Lists what the log holds, oldest first.
pub fn faults(layout: &Layout) -> Vec<CaptureFault> {
    let read = file::read_small(&layout.capture_errors(), 2 * ERROR_LOG_BYTES_MAX);
    let text = read.unwrap_or_default();
    String::from_utf8_lossy(&text).lines().filter_map(CaptureFault::parse).collect()
}

fn append(layout: &Layout, fault: &CaptureFault) -> std::io::Result<()> {
    std::fs::create_dir_all(layout.capture())?;
    let path = layout.capture_errors();
    let mut options = OpenOptions::new();
    let options = options.create(true).append(true).read(true).mode(0o600);
    let mut log = file::open_regular(&path, options)?;
    let line = fault.line();
    let length = log.metadata()?.len();
    if length + line.len() as u64 > ERROR_LOG_BYTES_MAX {
        // Its later half stays. Of two that do this at once one loses lines, and nothing else.
        log.seek(SeekFrom::Start(length.saturating_sub(ERROR_LOG_BYTES_MAX / 2)))?;
        let mut kept = Vec::new();
        log.take(ERROR_LOG_BYTES_MAX / 2).read_to_end(&mut kept)?;
        let start = kept.iter().position(|byte| *byte == b'\n').map_or(kept.len(), |at| at + 1);
        kept.drain(..start);
        kept.extend_from_slice(line.as_bytes());
        return file::replace(&path, &kept, Persistence::Lazy).map_err(std::io::Error::other);
    }
    log.write_all(line.as_bytes())
}

/// Keeps of a word what can stand in a line between blanks.
fn plain(word: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let kept: String = word.chars().filter(is_plain).take(NAME_CHARS_MAX).collect();
    if kept.is_empty() { "-".to_owned() } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(event: &str, code: &str) -> CaptureFault {
        let at = Instant::from_millis(1_763_800_000_000);
        CaptureFault {
            at,
            source: Some(Source::Claude),
            event: event.to_owned(),
            code: code.to_owned(),
        }
    }

    #[test]
    fn a_line_holds_no_text_of_others() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let layout = Layout::new(folder.path());
        note(&layout, &fault("Stop\n1 2 3 4", "unknown-agent"));
        note(&layout, &fault("", "panic"));
        let found = faults(&layout);
        assert_eq!(found, [fault("Stop1234", "unknown-agent"), fault("-", "panic")]);
    }

    #[test]
    fn the_log_stays_short_and_keeps_what_is_new() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let layout = Layout::new(folder.path());
        for n in 0..8_000 {
            note(&layout, &fault("Stop", &format!("code-{n}")));
        }
        let length = std::fs::metadata(layout.capture_errors()).expect("there").len();
        assert!(length <= ERROR_LOG_BYTES_MAX, "{length}");
        let found = faults(&layout);
        assert_eq!(found.last().expect("one").code, "code-7999");
        assert!(found.len() > 1_000, "{}", found.len());
    }
}
