//! Lines for people that come faster than they can be written one by one.
//!
//! A thread of its own writes them: a line that comes alone at once, and what comes shortly after it
//! as one piece.

use std::io::Write as _;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use agentic_api::view::visible;

use crate::output::talk;

/// How many lines wait at most; whoever says more waits, too.
const LINES_MAX: usize = 4096;
/// How much is written as one piece, in bytes.
const PIECE_BYTES_MAX: usize = 256 << 10;
/// How long lines gather before the next piece is written.
const GATHERING: Duration = Duration::from_millis(2);

/// Says lines on standard error, in order.
#[derive(Debug, Default)]
pub struct LineWriter {
    /// Where lines go, once there was one.
    writer: Option<(SyncSender<String>, JoinHandle<()>)>,
}

impl LineWriter {
    /// Says a line.
    pub fn say(&mut self, line: String) {
        if self.writer.is_none() {
            self.writer = begin();
        }
        let unsaid = match &self.writer {
            Some((lines, _)) => lines.send(line).err().map(|error| error.0),
            None => Some(line),
        };
        if let Some(line) = unsaid {
            talk(&line);
        }
    }

    /// Waits until everything is said.
    pub fn end(self) {
        if let Some((lines, writer)) = self.writer {
            drop(lines);
            // A writer that broke down has nothing left to say.
            let _ = writer.join();
        }
    }
}

/// Starts the writer; nothing where there is no thread for it.
fn begin() -> Option<(SyncSender<String>, JoinHandle<()>)> {
    let (sender, receiver) = sync_channel(LINES_MAX);
    let thread = Builder::new().name("lines".to_owned()).spawn(move || write(&receiver));
    Some((sender, thread.ok()?))
}

fn write(lines: &Receiver<String>) {
    let mut piece = String::new();
    while let Ok(line) = lines.recv() {
        piece.extend([&visible(&line), "\n"]);
        while piece.len() < PIECE_BYTES_MAX {
            let Ok(line) = lines.try_recv() else { break };
            piece.extend([&visible(&line), "\n"]);
        }
        // Nobody reads what cannot be written.
        let _ = anstream::stderr().write_all(piece.as_bytes());
        piece.clear();
        // Nobody sees that it came so much later, and nobody is woken for each line.
        std::thread::sleep(GATHERING);
    }
}
