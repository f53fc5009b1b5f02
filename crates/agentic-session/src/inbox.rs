//! The inbox of a session: what is sent to it while somebody else drives it.
//!
//! Only whoever drives a session appends to its records. A signal or a cancellation that comes
//! meanwhile is put into a folder beside them, durably, and the driver looks there again and again
//! while it waits for an effect. What it has recorded it takes away; a letter that a crash left is
//! taken up by whoever drives the session next, and recorded once: a signal has an id, and a session
//! stops once.
//!
//! A decision is a commit and needs no letter; one that only wakes tells the driver to look at once. It
//! is neither synced nor recorded, and if it is lost whoever drives next finds the decision.

use std::path::{Path as FilePath, PathBuf};
use std::time::{Duration, Instant as Moment, SystemTime};

use agentic_model::{Value, canonical};
use agentic_replay::record::{CancelMode, CancelRecord};
use agentic_replay::{SIGNALS_MAX, SessionId, SessionRefusal, Signal};
use agentic_store::file::{self, Persistence, unique_number};

use super::drive::{Driver, LOOK_EVERY};
use super::folder::{Folder, damaged};
use crate::error::{ProgramError, SessionError};
use crate::{Error, Result, SessionSpace};

/// How often a sender looks whether the driver has gone.
const KNOCK_EVERY: Duration = Duration::from_millis(10);
/// How long the sender of a signal waits for the driver to take it in. It is safe either way.
const WAIT: Duration = Duration::from_secs(2);

/// The letter that only wakes. Its name is not counted among the others.
const WAKE: &str = "wake.up";

/// Something that is sent to a session.
#[derive(Debug, Clone, PartialEq)]
pub enum InboxMessage {
    /// A signal.
    Signal(Signal),
    /// It is to stop.
    Cancel(CancelRecord),
}

/// Gives a letter to a session: directly if nobody drives it, else through its inbox. Returns the
/// session, to be run on; nothing where somebody else drives it and has the letter.
///
/// # Errors
/// Fails with [`SessionError::Over`] when the session is over.
pub fn send<'a>(
    space: &'a SessionSpace,
    id: &SessionId,
    letter: InboxMessage,
) -> Result<Option<Driver<'a>>> {
    if let Some(mut driver) = Driver::try_load(space, id)? {
        let received = driver.take_letters().and_then(|()| driver.receive(letter));
        driver.or_put_off(received)?;
        return Ok(Some(driver));
    }
    let name = token();
    put(&Folder::of(space, id), &name, &letter)?;
    let mut driver = match letter {
        // The driver is stopped by it: what comes after is for whoever sent it to tell.
        InboxMessage::Cancel(_) => Driver::load(space, id)?,
        InboxMessage::Signal(_) => match knock(space, id, &name)? {
            Some(driver) => driver,
            None => return Ok(None),
        },
    };
    let left = driver.folder.inbox().join(&name);
    if left.exists() && driver.session().end().is_some() {
        let _ = std::fs::remove_file(&left);
        return Err(Error::Session(SessionError::Over { id: id.short() }));
    }
    driver.take_letters()?;
    Ok(Some(driver))
}

/// Tells whoever drives a session that something was decided; returns the session, to be run on,
/// where nobody does.
///
/// # Errors
/// Fails when the session cannot be loaded.
pub fn wake<'a>(space: &'a SessionSpace, id: &SessionId) -> Result<Option<Driver<'a>>> {
    let began = Moment::now();
    let mut is_left = false;
    loop {
        if let Some(driver) = Driver::try_load(space, id)? {
            return Ok(Some(driver));
        }
        let inbox = Folder::of(space, id).inbox();
        let letter = inbox.join(WAKE);
        if is_left && !letter.exists() {
            return Ok(None);
        }
        if began.elapsed() >= WAIT {
            // The driver is at something long; it looks when that is over.
            return Ok(None);
        }
        if !is_left {
            // Where neither can be made the session has just come to its end.
            let _ = std::fs::create_dir(&inbox);
            is_left = std::fs::write(&letter, b"").is_ok();
        }
        std::thread::sleep(KNOCK_EVERY);
    }
}

/// Waits until the driver of a session has taken a letter or has gone, not for ever.
fn knock<'a>(space: &'a SessionSpace, id: &SessionId, name: &str) -> Result<Option<Driver<'a>>> {
    let began = Moment::now();
    while began.elapsed() < WAIT {
        if let Some(driver) = Driver::try_load(space, id)? {
            return Ok(Some(driver));
        }
        if !Folder::of(space, id).inbox().join(name).exists() {
            return Ok(None);
        }
        std::thread::sleep(KNOCK_EVERY);
    }
    Ok(None)
}

/// Makes a name that no other letter has; later ones come later in the order of names.
pub fn token() -> String {
    let number = unique_number();
    // The machine's own clock: this tells letters apart, and nothing depends on the time in it.
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("{:020}-{}-{number}", since.as_nanos(), std::process::id())
}

/// Puts a letter into an inbox, durably.
fn put(folder: &Folder, name: &str, letter: &InboxMessage) -> Result<()> {
    let inbox = folder.inbox();
    // The folder of a session that ends meanwhile is gone from here, and is not made anew.
    let over = |error: std::io::Error| {
        if error.kind() == std::io::ErrorKind::NotFound {
            Error::Session(SessionError::Over { id: folder.id.short() })
        } else {
            agentic_store::Error::io("create", &inbox)(error).into()
        }
    };
    match std::fs::create_dir(&inbox) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(over(error)),
        Err(_) => {}
        Ok(()) => {
            let parent = inbox.parent().unwrap_or(&inbox);
            std::fs::File::open(parent).and_then(|folder| folder.sync_all()).map_err(over)?;
        }
    }
    if names(&inbox)?.len() >= SIGNALS_MAX {
        return Err(Error::Session(SessionError::InboxFull { id: folder.id.short() }));
    }
    let bytes = canonical::encode(&letter.to_value());
    let bytes = bytes
        .map_err(|error| Error::Program(ProgramError::BadRequest { reason: error.to_string() }))?;
    Ok(file::replace(&inbox.join(name), &bytes, Persistence::Synced)?)
}

/// Lists the letters of an inbox, oldest first.
fn names(inbox: &FilePath) -> Result<Vec<String>> {
    let entries = match std::fs::read_dir(inbox) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(agentic_store::Error::io("read", inbox)(error).into()),
    };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    // What is being written, and what was put aside, has a dot in its name.
    let mut names: Vec<String> = names.filter(|name| !name.contains('.')).collect();
    names.sort();
    Ok(names)
}

impl Driver<'_> {
    /// Looks into the inbox, if it was not looked at just now.
    pub(super) fn look_for_letters(&mut self) -> Result<()> {
        if self.looked_at.elapsed() < LOOK_EVERY {
            return Ok(());
        }
        self.take_letters()
    }

    /// Records what was sent, oldest first, and takes it out of the inbox.
    pub(super) fn take_letters(&mut self) -> Result<()> {
        self.looked_at = Moment::now();
        let inbox = self.folder.inbox();
        // Taken before looking: what is decided after that leaves another.
        if std::fs::remove_file(inbox.join(WAKE)).is_ok() {
            self.apply_decisions()?;
            self.take_in_children()?;
        }
        for name in names(&inbox)? {
            let path = inbox.join(&name);
            match read(&path)? {
                Some(letter) => match self.receive(letter) {
                    Ok(()) | Err(Error::Session(SessionError::Over { .. })) => remove(&path)?,
                    // It stays until there is room.
                    Err(Error::Session(SessionError::InboxFull { .. })) => {}
                    Err(error) => return Err(error),
                },
                None => {
                    let id = self.folder.id.short();
                    self.space.note_mended(format!("session {id}: put aside a damaged letter"));
                    std::fs::rename(&path, path.with_added_extension("damaged"))
                        .map_err(agentic_store::Error::io("move", &path))?;
                }
            }
        }
        Ok(())
    }

    /// Records something that was sent to the session, and takes in what the program makes of it.
    fn receive(&mut self, letter: InboxMessage) -> Result<()> {
        match letter {
            InboxMessage::Signal(signal) => {
                let received = self.session.signal(signal, self.space.now());
                let progress = received.map_err(|refused| self.refusal(refused))?;
                agentic_store::fault::point("before-signal")?;
                self.take_in(progress)
            }
            InboxMessage::Cancel(cancel) => self.cancel(&cancel),
        }
    }

    fn refusal(&self, refused: SessionRefusal) -> Error {
        let id = self.folder.id;
        match refused {
            SessionRefusal::Over => Error::Session(SessionError::Over { id: id.short() }),
            SessionRefusal::TooManySignals => {
                Error::Session(SessionError::InboxFull { id: id.short() })
            }
            SessionRefusal::NotOpen { .. } | SessionRefusal::NotData(_) => {
                damaged(&id, &refused.to_string())
            }
        }
    }
}

/// Reads a letter; nothing if it is none.
fn read(path: &PathBuf) -> Result<Option<InboxMessage>> {
    let bytes = std::fs::read(path).map_err(agentic_store::Error::io("read", path))?;
    Ok(canonical::decode(&bytes).ok().and_then(|value| InboxMessage::from_value(&value)))
}

fn remove(path: &PathBuf) -> Result<()> {
    match std::fs::remove_file(path) {
        // With the session's folder it was put to those that are over.
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(agentic_store::Error::io("remove", path)(error).into())
        }
        _ => Ok(()),
    }
}

impl InboxMessage {
    fn to_value(&self) -> Value {
        match self {
            InboxMessage::Signal(signal) => Value::map([
                ("signal", Value::text(&signal.name)),
                ("id", Value::text(&signal.id)),
                ("value", signal.value.clone()),
            ]),
            InboxMessage::Cancel(cancel) => Value::map([
                ("cancel", Value::text(&cancel.who)),
                ("why", Value::text(&cancel.why)),
                ("kill", Value::Bool(cancel.mode == CancelMode::Kill)),
            ]),
        }
    }

    fn from_value(value: &Value) -> Option<InboxMessage> {
        let text = |key: &str| value.get(key).and_then(Value::as_text).map(str::to_owned);
        if let Some(name) = text("signal") {
            let value = value.get("value")?.clone();
            return Some(InboxMessage::Signal(Signal { id: text("id")?, name, value }));
        }
        let mode = if matches!(value.get("kill")?, Value::Bool(true)) {
            CancelMode::Kill
        } else {
            CancelMode::Cooperative
        };
        Some(InboxMessage::Cancel(CancelRecord { who: text("cancel")?, why: text("why")?, mode }))
    }
}

#[cfg(test)]
mod tests;
