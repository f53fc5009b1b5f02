//! The file that the trace of a run goes to, event by event: nobody holds all of it in memory.

use std::fs::File;
use std::io::{Error, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use agentic_lang_agent::report::TraceText;
use agentic_replay::Event;

use crate::context::Context;
use crate::output::warn;
use crate::replacement::Replacement;

/// A trace on its way into a file. One that cannot be written changes nothing about the run.
pub struct TraceFile {
    name: String,
    text: TraceText,
    place: Result<Place, Error>,
}

/// Where the text goes.
enum Place {
    /// Beside the file, whose place it takes in the end.
    Beside(Replacement),
    /// Into something whose place nothing can take: a pipe, a device, our own output.
    Into(Box<dyn Write>),
}

impl TraceFile {
    /// Begins a trace.
    pub fn begin(context: &Context, name: &str) -> TraceFile {
        let place = Place::open(&context.directory.join(name));
        TraceFile { name: name.to_owned(), text: TraceText::default(), place }
    }

    /// Adds an event.
    pub fn add(&mut self, event: &Event) {
        if let Some(pieces) = self.text.add(event) {
            self.write(pieces);
        }
    }

    /// Ends the trace and puts it in its place, or warns that it could not be written.
    pub fn end(mut self) {
        let pieces = std::mem::take(&mut self.text).end();
        self.write(pieces);
        let ended = match self.place {
            Ok(Place::Beside(file)) => file.commit(),
            Ok(Place::Into(_)) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = ended {
            warn(&format!("the trace cannot be written to `{}`: {error}", self.name));
        }
    }

    fn write(&mut self, pieces: [&str; 2]) {
        let Ok(place) = &mut self.place else { return };
        let written = pieces.iter().try_for_each(|piece| match place {
            Place::Beside(file) => file.write_all(piece.as_bytes()),
            Place::Into(stream) => stream.write_all(piece.as_bytes()),
        });
        if let Err(error) = written {
            match std::mem::replace(&mut self.place, Err(error)) {
                Ok(Place::Beside(file)) => file.discard(),
                Ok(Place::Into(_)) | Err(_) => {}
            }
        }
    }
}

impl Place {
    fn open(path: &Path) -> Result<Place, Error> {
        let found = std::fs::metadata(path).ok();
        let is_same = |other: &str| {
            let (Some(one), Ok(other)) = (&found, std::fs::metadata(other)) else { return false };
            (one.dev(), one.ino()) == (other.dev(), other.ino())
        };
        if is_same("/dev/stdout") {
            return Ok(Place::Into(Box::new(std::io::stdout())));
        }
        if is_same("/dev/stderr") {
            return Ok(Place::Into(Box::new(std::io::stderr())));
        }
        match &found {
            Some(found) if !found.is_file() => {
                Ok(Place::Into(Box::new(File::options().write(true).open(path)?)))
            }
            Some(_) | None => Replacement::begin(path).map(Place::Beside),
        }
    }
}
