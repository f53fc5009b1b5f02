//! A case: what to do, and what to expect.

use std::collections::BTreeMap;

use agentic_testkit::Setup;
use regex_lite::Regex;
use serde_json::Value as Json;

use crate::path::JsonPath;

/// One behaviour, shown by commands.
#[derive(Debug)]
pub(crate) struct Case {
    /// The behaviour, as a sentence.
    pub title: String,
    /// Where the case begins in its file.
    pub line: usize,
    /// What there is before it begins.
    pub setup: Setup,
    /// What happens, in order.
    pub steps: Vec<CaseStep>,
    /// What is checked at the end.
    pub last_check: LastCheck,
    /// What it needs, and why: elsewhere it is not played.
    pub needs: BTreeMap<CaseNeed, String>,
}

/// What a case needs that not every run of the suite has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CaseNeed {
    /// That the embedded engine drives its runs.
    EmbeddedEngine,
    /// That nobody serves its repository.
    NoServer,
    /// That the program can speak to no server of Temporal.
    NoTemporal,
}

impl CaseNeed {
    /// Finds a need by its name in a case.
    pub fn parse(name: &str) -> Option<CaseNeed> {
        match name {
            "embedded-engine" => Some(CaseNeed::EmbeddedEngine),
            "no-server" => Some(CaseNeed::NoServer),
            "no-temporal" => Some(CaseNeed::NoTemporal),
            _ => None,
        }
    }
}

/// Whether git and the independent decoder read everything at the end of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastCheck {
    /// They do, and must find nothing wrong.
    Whole,
    /// The case damages the repository on purpose.
    DamagedOnPurpose,
}

/// One thing that happens.
#[derive(Debug)]
pub(crate) enum CaseStep {
    /// A file is written.
    File { path: String, content: FileContents, mode: FilePermission },
    /// A symbolic link is made.
    Link { path: String, target: String },
    /// Later commands run in another folder.
    Folder { path: String },
    /// Later commands have another environment variable.
    Variable { name: String, value: String },
    /// A command runs.
    Command(CaseCommand),
}

/// What a file is filled with.
#[derive(Debug)]
pub(crate) enum FileContents {
    /// Text, in which `${name}` stands for what was captured.
    Text(String),
    /// Bytes, as they are.
    Bytes(Vec<u8>),
}

/// Whether a file may be executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilePermission {
    Plain,
    Executable,
}

/// A command and what to expect of it.
#[derive(Debug)]
pub(crate) struct CaseCommand {
    /// Where it stands in its file.
    pub line: usize,
    /// The line of shell.
    pub script: String,
    /// Its standard input.
    pub stdin: String,
    /// How it must end; 0 unless the case says otherwise.
    pub exit: i32,
    /// Whether the state before it matters.
    pub watch: GroundWatch,
    /// What its standard output must be, line by line, if the case says so.
    pub stdout: Option<Vec<String>>,
    /// What else must hold, in the order of the case.
    pub expectations: Vec<Expectation>,
}

/// Whether a command may change the ground state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GroundWatch {
    MayChange,
    MustNotChange,
}

/// Something that must hold after a command.
#[derive(Debug)]
pub(crate) enum Expectation {
    /// A stream contains a text.
    Has { stream: OutputStream, text: String },
    /// A stream does not contain a text.
    Lacks { stream: OutputStream, text: String },
    /// A stream is empty.
    Empty { stream: OutputStream },
    /// A stream is JSON of which a part passes a test.
    Json { stream: OutputStream, path: JsonPath, test: JsonTest },
    /// Standard error is an error with a hint, and names `text`.
    Refused { text: String },
    /// A name stands for a part of standard output from now on.
    Let { name: String, source: CaptureSource },
}

/// What a captured value is taken from.
#[derive(Debug)]
pub(crate) enum CaptureSource {
    /// All of standard output, without the last line break.
    Stdout,
    /// A part of the JSON on standard output.
    Json(JsonPath),
}

/// One of the two outputs of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputStream {
    Stdout,
    Stderr,
}

impl OutputStream {
    /// Names the stream as a case does.
    pub fn name(self) -> &'static str {
        match self {
            OutputStream::Stdout => "stdout",
            OutputStream::Stderr => "stderr",
        }
    }
}

/// What a part of a JSON value is held against.
#[derive(Debug)]
pub(crate) enum JsonTest {
    /// It equals this JSON, after `${name}` is filled in.
    Equals(String),
    /// It does not.
    Differs(String),
    /// It is text (or prints) like this pattern.
    Like(String),
    /// It is text (or prints) so that this expression matches somewhere.
    Matches(Regex),
    /// It is a list with an item that equals this JSON.
    Contains(String),
    /// It is a list without such an item.
    Lacks(String),
    /// It has this shape.
    Is(JsonShape),
    /// It is a list or map of this size.
    Items(usize),
    /// It is not there.
    Missing,
}

/// The shape of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonShape {
    Null,
    Bool,
    Integer,
    Text,
    List,
    Map,
    Oid,
    Cid,
    Instant,
}

impl JsonShape {
    const ALL: [(JsonShape, &'static str); 9] = [
        (JsonShape::Null, "null"),
        (JsonShape::Bool, "bool"),
        (JsonShape::Integer, "integer"),
        (JsonShape::Text, "text"),
        (JsonShape::List, "list"),
        (JsonShape::Map, "map"),
        (JsonShape::Oid, "oid"),
        (JsonShape::Cid, "cid"),
        (JsonShape::Instant, "instant"),
    ];

    /// Finds a shape by its name in a case.
    pub fn parse(name: &str) -> Option<JsonShape> {
        JsonShape::ALL.iter().find(|(_, known)| *known == name).map(|(shape, _)| *shape)
    }

    /// Tells whether a value has the shape.
    pub fn fits(self, value: &Json) -> bool {
        let like = |pattern: &str| {
            value.as_str().is_some_and(|text| crate::pattern::line_matches(pattern, text))
        };
        match self {
            JsonShape::Null => value.is_null(),
            JsonShape::Bool => value.is_boolean(),
            JsonShape::Integer => value.is_i64(),
            JsonShape::Text => value.is_string(),
            JsonShape::List => value.is_array(),
            JsonShape::Map => value.is_object(),
            JsonShape::Oid => like("[oid]"),
            JsonShape::Cid => like("[cid]"),
            JsonShape::Instant => like("[at]"),
        }
    }
}
