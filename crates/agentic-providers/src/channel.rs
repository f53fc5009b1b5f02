//! Channels to people: programs and endpoints that bring messages and answers.
//!
//! A channel can do any of three things: tell somebody (`notify`), wait for what somebody chooses
//! (`await`), and say something more where the message went (`converse`). It is given one JSON value,
//! `{"do","target","message"}` and for `converse` `text`, and what it answers to `await` is a verdict
//! `{"choice","actor","note"?}`, or null when there is none. What an answer is worth is not decided
//! here: a channel brings it, nothing more.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use agentic_model::{Value, json};

use crate::endpoint::{EndpointCall, EndpointReply, Exchange};
use crate::executable::{Executable, ProgramOutcome};
use crate::host::CancelFlag;

/// The longest answer of a channel, in bytes.
const REPLY_BYTES_MAX: usize = 64 << 10;
/// How much of what a channel complains about is told, in characters.
const COMPLAINT_CHARS_MAX: usize = 300;

/// What a channel can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChannelCapability {
    /// Tell somebody.
    Notify,
    /// Wait for what somebody chooses.
    Await,
    /// Say something more where a message went.
    Converse,
}

/// All capabilities, with their words.
const CAPABILITIES: [(ChannelCapability, &str); 3] = [
    (ChannelCapability::Notify, "notify"),
    (ChannelCapability::Await, "await"),
    (ChannelCapability::Converse, "converse"),
];

impl ChannelCapability {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        let found = CAPABILITIES.iter().find(|(capability, _)| *capability == self);
        found.map(|(_, word)| *word).expect("every capability has a word")
    }

    /// Reads the word for it.
    pub fn parse(text: &str) -> Option<ChannelCapability> {
        let found = CAPABILITIES.iter().find(|(_, word)| *word == text);
        found.map(|(capability, _)| *capability)
    }
}

/// How a channel is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// A program: its arguments and where it runs. It reads one line.
    Program(Vec<String>, PathBuf),
    /// An endpoint: its address. It gets the value as the body of a POST.
    Endpoint(String),
}

/// A channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    /// How it is reached.
    pub transport: Transport,
    /// What it can do.
    pub can: BTreeSet<ChannelCapability>,
    /// How long it may take.
    pub limit: Duration,
}

/// What a channel is to do.
#[derive(Debug, Clone, PartialEq)]
pub struct ChannelTask {
    /// What.
    pub what: ChannelCapability,
    /// To whom, in the words of the channel.
    pub target: String,
    /// About which message.
    pub message: Value,
    /// What is to be said, where something more is.
    pub text: Option<String>,
    /// The key under which it may be repeated.
    pub key: String,
}

/// A channel did not do what it was to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChannelFault {
    /// It cannot do that at all.
    #[error("it cannot `{0}`")]
    Incapable(&'static str),
    /// It failed; the sentence says how.
    #[error("{0}")]
    Failed(String),
    /// Its time was over.
    #[error("its time was over")]
    TimedOut,
    /// It was told to stop.
    #[error("it was told to stop")]
    Stopped,
    /// It answered something that is no answer.
    #[error("it answered {0}")]
    Unreadable(String),
}

impl Channel {
    /// Says whether the channel can do something.
    pub fn can(&self, what: ChannelCapability) -> bool {
        self.can.contains(&what)
    }

    /// Sends the channel on an errand and waits for its end, or until `cancel`; returns what it
    /// answers, if it does.
    ///
    /// # Errors
    /// Fails when the channel cannot do it, does not do it in time, or answers no JSON.
    pub fn send(
        &self,
        errand: &ChannelTask,
        cancel: &CancelFlag,
    ) -> Result<Option<Value>, ChannelFault> {
        if !self.can(errand.what) {
            return Err(ChannelFault::Incapable(errand.what.as_str()));
        }
        let mut said = json::to_text(&errand.to_value());
        let answered = match &self.transport {
            Transport::Program(argv, folder) => {
                said.push('\n');
                self.execute(argv, folder, said, cancel)?
            }
            Transport::Endpoint(url) => self.post(url, said, &errand.key, cancel)?,
        };
        match errand.what {
            ChannelCapability::Await => read(&answered),
            ChannelCapability::Notify | ChannelCapability::Converse => Ok(None),
        }
    }

    fn execute(
        &self,
        argv: &[String],
        folder: &std::path::Path,
        said: String,
        cancel: &CancelFlag,
    ) -> Result<Vec<u8>, ChannelFault> {
        let executable = Executable {
            argv: argv.to_vec(),
            folder: folder.to_owned(),
            input: said.into_bytes(),
            environment: Vec::new(),
            limit: self.limit,
        };
        match executable.run(cancel) {
            ProgramOutcome::Done(printed) => Ok(printed),
            ProgramOutcome::Crashed { status, complaint } => {
                let complaint: String = complaint.chars().take(COMPLAINT_CHARS_MAX).collect();
                Err(ChannelFault::Failed(format!("it ended with {status}: {complaint}")))
            }
            ProgramOutcome::Lost(error) => {
                Err(ChannelFault::Failed(format!("it cannot be started: {error}")))
            }
            ProgramOutcome::Flooded => Err(ChannelFault::Unreadable("too much".to_owned())),
            ProgramOutcome::TimedOut => Err(ChannelFault::TimedOut),
            ProgramOutcome::Stopped => Err(ChannelFault::Stopped),
        }
    }

    fn post(
        &self,
        url: &str,
        said: String,
        key: &str,
        cancel: &CancelFlag,
    ) -> Result<Vec<u8>, ChannelFault> {
        let call = EndpointCall {
            url: url.to_owned(),
            method: "POST".to_owned(),
            body: said.into_bytes(),
        };
        let exchange =
            Exchange { call, key: key.to_owned(), headers: Vec::new(), limit: self.limit };
        match exchange.perform(cancel) {
            EndpointReply::Said { status, body } if (200..300).contains(&status) => Ok(body),
            EndpointReply::Said { status, .. } => {
                Err(ChannelFault::Failed(format!("it answered with status {status}")))
            }
            EndpointReply::Lost(reason) => Err(ChannelFault::Failed(reason)),
            EndpointReply::Flooded => Err(ChannelFault::Unreadable("too much".to_owned())),
            EndpointReply::TimedOut => Err(ChannelFault::TimedOut),
            EndpointReply::Stopped => Err(ChannelFault::Stopped),
        }
    }
}

impl ChannelTask {
    fn to_value(&self) -> Value {
        let text = self.text.as_ref().map(|text| ("text", Value::text(text)));
        let pairs = [
            ("do", Value::text(self.what.as_str())),
            ("target", Value::text(&self.target)),
            ("message", self.message.clone()),
        ];
        Value::map(pairs.into_iter().chain(text))
    }
}

/// Reads what a channel answers; nothing and null mean that there is no answer.
fn read(answered: &[u8]) -> Result<Option<Value>, ChannelFault> {
    if answered.len() > REPLY_BYTES_MAX {
        return Err(ChannelFault::Unreadable(format!("more than {REPLY_BYTES_MAX} bytes")));
    }
    let text = std::str::from_utf8(answered)
        .map_err(|_| ChannelFault::Unreadable("what is not UTF-8".to_owned()))?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    let value =
        json::from_text(text).map_err(|error| ChannelFault::Unreadable(error.to_string()))?;
    Ok(Some(value).filter(|value| *value != Value::Null))
}
