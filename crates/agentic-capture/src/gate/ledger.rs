//! The ledger of a conversation: which calls were asked about, and which decisions were used.
//!
//! A file for each conversation, below `agentic/capture/gate/`, of one line of JSON for each fact. A
//! decision that is used stands there durably before anybody hears of it, so that it is used once. The
//! file is the lock, too. What cannot be read stops the call.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agentic_store::file::{open_regular, read_text};
use serde_json::{Value as Json, json};

use super::GateError;
use super::call_key::CallKey;
use crate::ConversationId;

/// How long a gate waits for others of its conversation.
const LOCK_MAX: Duration = Duration::from_secs(5);
/// How long between two looks at a lock.
const PAUSE: Duration = Duration::from_millis(10);
/// Where ledgers lie, below the common git directory.
const FOLDER: &str = "agentic/capture/gate";
/// The longest ledger that is read, in bytes.
const LEDGER_BYTES_MAX: u64 = 16 << 20;

/// A fact about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerFact {
    /// It was asked for the N-th time, by this session.
    Asked {
        /// How many decisions were used before.
        n: u64,
        /// The session.
        session: String,
    },
    /// The decision was used.
    Used {
        /// How many were used before.
        n: u64,
        /// The commit.
        decision: String,
        /// Whether it counts for as long as the conversation lasts.
        lasts: UseScope,
        /// Before what it was used.
        before: UseMoment,
    },
    /// The call ran although this session still asked about it.
    Passed {
        /// How many decisions were used before.
        n: u64,
        /// The session.
        session: String,
    },
}

/// For how long a decision counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UseScope {
    /// For one call.
    Once,
    /// For this call as long as the conversation lasts.
    Conversation,
}

/// What a decision was used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UseMoment {
    /// The call itself.
    Call,
    /// The request for leave that belongs to a call.
    Leave,
}

/// The ledger of a conversation, locked.
#[derive(Debug)]
pub struct Ledger {
    file: File,
    facts: Vec<(String, LedgerFact)>,
    /// Whether the last line was never finished.
    is_torn: bool,
}

impl Ledger {
    /// Returns where the ledger of a conversation is.
    pub fn path(common: &Path, conversation: &ConversationId) -> PathBuf {
        let hash = blake3::hash(conversation.to_string().as_bytes());
        common.join(FOLDER).join(&hash.to_hex()[..32])
    }

    /// Opens a ledger, waiting for others up to five seconds.
    ///
    /// # Errors
    /// Fails when it cannot be opened, read or locked, and when it is damaged.
    pub fn open(common: &Path, conversation: &ConversationId) -> Result<Ledger, GateError> {
        let path = Ledger::path(common, conversation);
        let folder = path.parent().unwrap_or(common);
        fs::create_dir_all(folder).map_err(GateError::record)?;
        let mut options = OpenOptions::new();
        let opened = open_regular(&path, options.read(true).append(true).create(true));
        let mut file = opened.map_err(GateError::record)?;
        lock(&file)?;
        let length = file.metadata().map_err(GateError::record)?.len();
        if length > LEDGER_BYTES_MAX {
            return Err(GateError::Damaged { what: "the ledger of this conversation" });
        }
        let mut text = String::new();
        file.seek(SeekFrom::Start(0)).map_err(GateError::record)?;
        file.read_to_string(&mut text)
            .map_err(|_| GateError::Damaged { what: "the ledger of this conversation" })?;
        if text.is_empty() {
            // The name has to last as long as what will stand in the file.
            File::open(folder).and_then(|it| it.sync_all()).map_err(GateError::record)?;
        }
        let is_torn = !text.is_empty() && !text.ends_with('\n');
        let facts = facts_of(&text)?;
        Ok(Ledger { file, facts, is_torn })
    }

    /// Returns how many decisions were used for a call.
    pub fn n_used(&self, key: &CallKey) -> u64 {
        let used = self.of(key).filter_map(|fact| match fact {
            LedgerFact::Used { n, .. } => Some(*n + 1),
            LedgerFact::Asked { .. } | LedgerFact::Passed { .. } => None,
        });
        used.max().unwrap_or(0)
    }

    /// Returns the session that asks, or asked, about a call for the N-th time.
    pub fn asked<'l>(&'l self, key: &'l CallKey, n: u64) -> Option<&'l str> {
        self.of(key).filter_map(|fact| asked_as(fact, n)).last()
    }

    /// Returns the decision that counts for a call as long as the conversation lasts.
    pub fn lasting<'l>(&'l self, key: &'l CallKey) -> Option<(u64, &'l str)> {
        self.of(key).find_map(|fact| match fact {
            LedgerFact::Used { n, decision, lasts: UseScope::Conversation, .. } => {
                Some((*n, decision.as_str()))
            }
            LedgerFact::Used { .. } | LedgerFact::Asked { .. } | LedgerFact::Passed { .. } => None,
        })
    }

    /// Returns the decision that let the last call go on, if nobody has asked for leave since: a
    /// request for leave belongs to its call.
    pub fn of_last_call<'l>(&'l self, key: &'l CallKey) -> Option<(u64, &'l str)> {
        match self.of(key).last()? {
            LedgerFact::Used { n, decision, before: UseMoment::Call, .. } => {
                Some((*n, decision.as_str()))
            }
            LedgerFact::Used { .. } | LedgerFact::Asked { .. } | LedgerFact::Passed { .. } => None,
        }
    }

    /// Lists the sessions of all conversations whose calls ran although they still asked, one for each
    /// call. A ledger that cannot be read is left out: its gate stops every call and says why.
    pub fn all_passed(common: &Path) -> Vec<String> {
        let folder = fs::read_dir(common.join(FOLDER)).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = folder.map(|file| file.path()).collect();
        files.sort();
        let texts = files.iter().filter_map(|file| read_text(file, LEDGER_BYTES_MAX).ok());
        let facts = texts.filter_map(|text| facts_of(&text).ok()).flatten();
        facts.filter_map(|(_, fact)| passed(fact)).collect()
    }

    /// Writes a fact down, durably.
    ///
    /// # Errors
    /// Fails when it cannot be written.
    pub fn add(&mut self, key: &CallKey, fact: LedgerFact) -> Result<(), GateError> {
        let mut line = line_of(key, &fact);
        if self.is_torn {
            line.insert(0, '\n');
        }
        let written = self.file.write_all(line.as_bytes());
        written.and_then(|()| self.file.sync_data()).map_err(GateError::record)?;
        self.is_torn = false;
        self.facts.push((key.as_str().to_owned(), fact));
        Ok(())
    }

    fn of<'l>(&'l self, key: &'l CallKey) -> impl Iterator<Item = &'l LedgerFact> {
        self.facts.iter().filter(move |(of, _)| of == key.as_str()).map(|(_, fact)| fact)
    }
}

fn asked_as(fact: &LedgerFact, wanted: u64) -> Option<&str> {
    match fact {
        LedgerFact::Asked { n, session } if *n == wanted => Some(session),
        LedgerFact::Asked { .. } | LedgerFact::Used { .. } | LedgerFact::Passed { .. } => None,
    }
}

fn passed(fact: LedgerFact) -> Option<String> {
    match fact {
        LedgerFact::Passed { session, .. } => Some(session),
        LedgerFact::Asked { .. } | LedgerFact::Used { .. } => None,
    }
}

fn lock(file: &File) -> Result<(), GateError> {
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if begun.elapsed() < LOCK_MAX => {
                std::thread::sleep(PAUSE);
            }
            Err(TryLockError::WouldBlock) => return Err(GateError::Busy),
            Err(TryLockError::Error(error)) => return Err(GateError::record(error)),
        }
    }
}

/// Reads the lines of a ledger. One at the end that a crash broke off says nothing.
fn facts_of(text: &str) -> Result<Vec<(String, LedgerFact)>, GateError> {
    let mut facts = Vec::new();
    let count = text.lines().count();
    for (at, line) in text.lines().enumerate() {
        let is_torn = at + 1 == count && !text.ends_with('\n');
        match fact_of(line) {
            Some(fact) => facts.push(fact),
            // A later writer ended the line that a crash broke off.
            None if line.is_empty() || is_torn || !line.ends_with('}') => {}
            None => return Err(GateError::Damaged { what: "the ledger of this conversation" }),
        }
    }
    Ok(facts)
}

fn line_of(key: &CallKey, fact: &LedgerFact) -> String {
    let said = match fact {
        LedgerFact::Asked { n, session } => json!({"k": key.as_str(), "n": n, "asked": session}),
        LedgerFact::Used { n, decision, lasts, before } => json!({
            "k": key.as_str(),
            "n": n,
            "used": decision,
            "lasts": *lasts == UseScope::Conversation,
            "leave": *before == UseMoment::Leave,
        }),
        LedgerFact::Passed { n, session } => json!({"k": key.as_str(), "n": n, "passed": session}),
    };
    format!("{said}\n")
}

fn fact_of(line: &str) -> Option<(String, LedgerFact)> {
    let said: Json = serde_json::from_str(line).ok()?;
    let text = |key: &str| said.get(key).and_then(Json::as_str).map(str::to_owned);
    let is_set = |key: &str| said.get(key).and_then(Json::as_bool);
    let n = said.get("n")?.as_u64()?;
    let fact = match (text("asked"), text("used"), text("passed")) {
        (Some(session), None, None) => LedgerFact::Asked { n, session },
        (None, None, Some(session)) => LedgerFact::Passed { n, session },
        (None, Some(decision), None) => LedgerFact::Used {
            n,
            decision,
            lasts: if is_set("lasts")? { UseScope::Conversation } else { UseScope::Once },
            before: if is_set("leave")? { UseMoment::Leave } else { UseMoment::Call },
        },
        (_, _, _) => return None,
    };
    Some((text("k")?, fact))
}

#[cfg(test)]
mod tests;
