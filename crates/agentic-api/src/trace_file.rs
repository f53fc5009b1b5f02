//! The file that the trace of a run goes to, event by event: nobody holds all of it in memory.

use std::fs::File;
use std::io::{Error, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use agentic_lang_agent::TraceCapture;
use agentic_lang_agent::report::TraceText;
use agentic_providers::tool::{is_guarded, lies_in_git};
use agentic_replay::ProgramEvent;

use crate::Surroundings;
use crate::replacement::Replacement;
use crate::watcher::NoticeDesk;

/// How long a trace in memory becomes, in bytes, roughly: 16 MiB.
const KEPT_BYTES_MAX: usize = 16 << 20;

/// A trace on its way into a file. One that cannot be written changes nothing about the run.
pub(crate) struct TraceFile {
    name: String,
    text: TraceText,
    place: Result<TracePlace, Error>,
}

/// Where the trace of a run goes: to a file, or into memory for a failure that shows it.
pub(crate) enum TraceKeeper {
    /// Nobody wants to know.
    Nowhere,
    /// To a file.
    File(TraceFile, PathBuf),
    /// Into memory, where a program reads the answer.
    Memory(Box<KeptTrace>),
}

/// A trace in memory.
#[derive(Default)]
pub(crate) struct KeptTrace {
    pieces: TraceText,
    text: String,
}

/// A trace that is over.
pub(crate) enum EndedTrace {
    /// There is none.
    None,
    /// It stands in a file.
    File(PathBuf),
    /// It is here, an object with a `trace`.
    Text(String),
}

impl EndedTrace {
    /// Returns an object with a `trace`; nothing where there is none, or its file is none to read.
    pub fn text(self) -> Option<String> {
        match self {
            EndedTrace::None => None,
            EndedTrace::Text(text) => Some(text),
            EndedTrace::File(path) if path.is_file() => std::fs::read_to_string(path).ok(),
            EndedTrace::File(_) => None,
        }
    }
}

impl TraceKeeper {
    /// Begins a trace: in a file, or else where it is wanted.
    pub fn begin(here: &Surroundings, name: Option<&str>, wanted: TraceCapture) -> TraceKeeper {
        match (name, wanted) {
            (Some(name), _) => {
                let path = here.folder.join(name);
                TraceKeeper::File(TraceFile::begin(here, name), path)
            }
            (None, TraceCapture::On) => TraceKeeper::Memory(Box::default()),
            (None, TraceCapture::Off) => TraceKeeper::Nowhere,
        }
    }

    /// Says whether anybody wants to know.
    pub fn capture(&self) -> TraceCapture {
        match self {
            TraceKeeper::Nowhere => TraceCapture::Off,
            TraceKeeper::File(..) | TraceKeeper::Memory(_) => TraceCapture::On,
        }
    }

    /// Adds an event; what is kept in memory ends at [`KEPT_BYTES_MAX`].
    pub fn add(&mut self, event: &ProgramEvent) {
        match self {
            TraceKeeper::Nowhere => {}
            TraceKeeper::File(file, _) => file.add(event),
            TraceKeeper::Memory(kept) => {
                if kept.text.len() < KEPT_BYTES_MAX
                    && let Some(more) = kept.pieces.add(event)
                {
                    kept.text.extend(more);
                }
            }
        }
    }

    /// Ends the trace.
    pub fn end(self, desk: &NoticeDesk<'_>) -> EndedTrace {
        match self {
            TraceKeeper::Nowhere => EndedTrace::None,
            TraceKeeper::File(file, path) => {
                file.end(desk);
                EndedTrace::File(path)
            }
            TraceKeeper::Memory(kept) => {
                let KeptTrace { pieces, mut text } = *kept;
                text.extend(pieces.end());
                EndedTrace::Text(text)
            }
        }
    }
}

/// Where the text goes.
enum TracePlace {
    /// Beside the file, whose place it takes in the end.
    Beside(Replacement),
    /// Into something whose place nothing can take: a pipe, a device, our own output.
    Into(Box<dyn Write>),
}

impl TraceFile {
    /// Begins a trace.
    pub fn begin(here: &Surroundings, name: &str) -> TraceFile {
        let place = TracePlace::open(&here.folder.join(name));
        TraceFile { name: name.to_owned(), text: TraceText::default(), place }
    }

    /// Writes a trace that is there already.
    pub fn write_whole(here: &Surroundings, desk: &NoticeDesk<'_>, name: &str, text: &str) {
        let mut file = TraceFile::begin(here, name);
        file.write([text, ""]);
        file.put(desk);
    }

    /// Adds an event.
    pub fn add(&mut self, event: &ProgramEvent) {
        if let Some(pieces) = self.text.add(event) {
            self.write(pieces);
        }
    }

    /// Ends the trace and puts it in its place, or warns that it could not be written.
    pub fn end(mut self, desk: &NoticeDesk<'_>) {
        let pieces = std::mem::take(&mut self.text).end();
        self.write(pieces);
        self.put(desk);
    }

    fn put(self, desk: &NoticeDesk<'_>) {
        let ended = match self.place {
            Ok(TracePlace::Beside(file)) => file.commit(),
            Ok(TracePlace::Into(_)) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = ended {
            desk.warn(format!("the trace cannot be written to `{}`: {error}", self.name));
        }
    }

    fn write(&mut self, pieces: [&str; 2]) {
        let Ok(place) = &mut self.place else { return };
        let written = pieces.iter().try_for_each(|piece| match place {
            TracePlace::Beside(file) => file.write_all(piece.as_bytes()),
            TracePlace::Into(stream) => stream.write_all(piece.as_bytes()),
        });
        if let Err(error) = written {
            match std::mem::replace(&mut self.place, Err(error)) {
                Ok(TracePlace::Beside(file)) => file.discard(),
                Ok(TracePlace::Into(_)) | Err(_) => {}
            }
        }
    }
}

impl TracePlace {
    fn open(path: &Path) -> Result<TracePlace, Error> {
        let found = std::fs::metadata(path).ok();
        let is_same = |other: &str| {
            let (Some(one), Ok(other)) = (&found, std::fs::metadata(other)) else { return false };
            (one.dev(), one.ino()) == (other.dev(), other.ino())
        };
        if is_same("/dev/stdout") {
            return Ok(TracePlace::Into(Box::new(std::io::stdout())));
        }
        if is_same("/dev/stderr") {
            return Ok(TracePlace::Into(Box::new(std::io::stderr())));
        }
        match &found {
            Some(found) if !found.is_file() => {
                Ok(TracePlace::Into(Box::new(File::options().write(true).open(path)?)))
            }
            Some(_) | None if configures_programs(path) => {
                Err(Error::other("it configures or starts programs"))
            }
            Some(_) | None => Replacement::begin(path).map(TracePlace::Beside),
        }
    }
}

/// What a program did is text that it chose: nobody may be led to put it where programs are
/// configured.
fn configures_programs(path: &Path) -> bool {
    let real = path.canonicalize().ok();
    [Some(path), real.as_deref()].into_iter().flatten().any(|path| {
        let name = path.file_name().unwrap_or_default();
        // A folder that is not there yet lies where the one around it lies.
        let folder = path.ancestors().skip(1).find_map(|folder| folder.canonicalize().ok());
        is_guarded(&name.to_string_lossy()) || folder.is_some_and(|folder| lies_in_git(&folder))
    })
}
