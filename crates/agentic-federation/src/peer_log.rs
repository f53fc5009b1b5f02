//! The log of refusals: all that a refusal leaves.

use agentic_model::{Map, Oid, Value, json};
use agentic_session::SessionSpace;
use agentic_store::file::{self, Persistence};

use crate::Result;
use crate::durable::lock;

/// How many lines are kept.
const LINES_MAX: usize = 1_000;
/// How much of a reason is kept, in characters.
const REASON_CHARS_MAX: usize = 300;
/// The lock under which it is written.
const LOG_LOCK: &str = "peer-log";

/// One refusal, or the same several times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedLine {
    /// The name of the peer.
    pub peer: String,
    /// Where it came from.
    pub remote: String,
    /// What was served.
    pub oid: Oid,
    /// Why it was refused.
    pub reason: String,
    /// When it came first.
    pub first_at: i64,
    /// When it came last.
    pub at: i64,
    /// How often.
    pub count: i64,
}

/// Reads the log, newest last.
///
/// # Errors
/// Fails when it cannot be read. A line that is none is left out.
pub fn read(space: &SessionSpace) -> Result<Vec<RefusedLine>> {
    let path = path(space);
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text.map_err(agentic_store::Error::io("read", &path))?,
    };
    Ok(text.lines().filter_map(RefusedLine::read).collect())
}

/// Notes refusals, all at once.
///
/// # Errors
/// Fails when the log cannot be written.
pub fn note(space: &SessionSpace, refused: Vec<RefusedLine>) -> Result<()> {
    if refused.is_empty() {
        return Ok(());
    }
    let _held = lock(space.repository(), LOG_LOCK)?;
    let mut lines = read(space)?;
    for line in refused {
        add(&mut lines, line);
    }
    let from = lines.len().saturating_sub(LINES_MAX);
    let text: String =
        lines[from..].iter().map(|line| format!("{}\n", json::to_text(&line.to_value()))).collect();
    let path = path(space);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(agentic_store::Error::io("create", folder))?;
    }
    Ok(file::replace(&path, text.as_bytes(), Persistence::Lazy)?)
}

/// Puts a line behind the others; the same one that is there already counts on.
fn add(lines: &mut Vec<RefusedLine>, mut line: RefusedLine) {
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    line.reason = line.reason.chars().map(shown).take(REASON_CHARS_MAX).collect();
    let is_same = |other: &RefusedLine| {
        other.peer == line.peer
            && other.remote == line.remote
            && other.oid == line.oid
            && other.reason == line.reason
    };
    if let Some(at) = lines.iter().position(is_same) {
        let before = lines.remove(at);
        line.first_at = before.first_at;
        line.count = before.count.saturating_add(1);
    }
    lines.push(line);
}

fn path(space: &SessionSpace) -> std::path::PathBuf {
    space.repository().layout().root().join("peer").join("log")
}

impl RefusedLine {
    fn to_value(&self) -> Value {
        Value::map([
            ("peer", Value::text(&*self.peer)),
            ("remote", Value::text(&*self.remote)),
            ("oid", Value::text(self.oid.to_string())),
            ("reason", Value::text(&*self.reason)),
            ("first_at", Value::Int(self.first_at)),
            ("at", Value::Int(self.at)),
            ("count", Value::Int(self.count)),
        ])
    }

    fn read(line: &str) -> Option<RefusedLine> {
        let value = json::from_text(line).ok()?;
        let map: &Map = value.as_map()?;
        let text = |field: &str| map.get(field)?.as_text().map(str::to_owned);
        let int = |field: &str| map.get(field)?.as_int();
        Some(RefusedLine {
            peer: text("peer")?,
            remote: text("remote")?,
            oid: Oid::parse(&text("oid")?).ok()?,
            reason: text("reason")?,
            first_at: int("first_at")?,
            at: int("at")?,
            count: int("count")?,
        })
    }
}
