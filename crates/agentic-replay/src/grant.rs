//! Permissions that count for the rest of a session.
//!
//! A decision that lets an effect begin may say that later effects like it need no decision of their
//! own. Which those are follows from the records alone, so that every process reads the same: those
//! of the same kind and, where the request names a program, of the same program, that the same
//! session asks for after the permission. A fork is another session, and starts without.

use agentic_model::{Map, Value};

use crate::record::{AskRecord, MissingObject, PermitScope, StoredObjects};
use crate::{Body, Path, RecordChain};

/// The kind whose requests name a program.
const EXEC: &str = "exec";

/// What a permission for the rest of a session covers.
#[derive(Debug, Clone, PartialEq)]
pub struct Coverage {
    kind: String,
    program: Option<GrantProgram>,
}

/// What tells the program of a request from every other.
#[derive(Debug, Clone, PartialEq)]
struct GrantProgram {
    name: ProgramName,
    /// Everything of the request that is neither an argument nor an input of the program: a folder
    /// or a variable can make another program of the same name.
    setting: Map,
}

/// How a request names its program.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ProgramName {
    /// The first of several words.
    Word(String),
    /// The first word of a line for the shell that does nothing but start one program.
    OfLine(String),
    /// A whole line for the shell: it may start anything.
    Line(String),
}

/// A permission for the rest of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Grant {
    /// The position of its record.
    pub seq: u64,
    /// The decision that gave it.
    pub decision: String,
    /// What it covers.
    pub coverage: Coverage,
}

/// The permissions of a session, oldest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Grants(Vec<Grant>);

impl Coverage {
    /// Reads what a request would have covered that is permitted for the rest of its session.
    pub fn of(kind: &str, payload: &Value) -> Coverage {
        let program = (kind == EXEC).then(|| program_of(payload)).flatten();
        Coverage { kind: kind.to_owned(), program }
    }

    /// Says for people what it covers.
    pub fn words(&self) -> String {
        let kind = &self.kind;
        let Some(GrantProgram { name, setting }) = &self.program else {
            return format!("every later `{kind}` of this session");
        };
        let what = match name {
            ProgramName::Word(word) | ProgramName::OfLine(word) => {
                format!("every later `{kind}` of the program `{word}`, whatever its arguments")
            }
            ProgramName::Line(_) => format!("every later `{kind}` of this very line"),
        };
        let so = if setting.is_empty() { "" } else { " in this setting" };
        format!("{what}{so}, in this session")
    }
}

impl Grants {
    /// Reads the permissions that a session has by its records, those of its own only.
    ///
    /// # Errors
    /// Fails when what a permission is for is gone.
    pub fn of(journal: &RecordChain, objects: &dyn StoredObjects) -> Result<Grants, MissingObject> {
        let records = journal.records();
        let is_start = |body: &Body| matches!(body, Body::Start(_));
        let begin = records.iter().rposition(|record| is_start(&record.body)).unwrap_or(0);
        let mut grants = Grants::default();
        for (at, record) in records.iter().enumerate().skip(begin) {
            let Body::Permit(permit) = &record.body else { continue };
            if permit.scope != PermitScope::RestOfSession {
                continue;
            }
            let mut before = records[begin..at].iter().rev();
            let Some(ask) = before.find_map(|record| ask_at(&record.body, &permit.path)) else {
                continue;
            };
            let coverage = Coverage::of(&ask.kind, &ask.payload.value(objects)?);
            grants.add(Grant { seq: record.seq, decision: permit.decision.clone(), coverage });
        }
        Ok(grants)
    }

    /// Says whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the newest one.
    pub(crate) fn add(&mut self, grant: Grant) {
        self.0.push(grant);
    }

    /// Forgets them: a fork is another session.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Finds the permission that covers a request whose record stands at a position: one that was
    /// given before. What was asked before keeps its own question.
    pub fn covering(&self, seq: u64, kind: &str, payload: &Value) -> Option<&Grant> {
        if self.0.is_empty() {
            return None;
        }
        let asked = Coverage::of(kind, payload);
        self.0.iter().find(|grant| grant.seq < seq && grant.coverage == asked)
    }
}

fn ask_at<'b>(body: &'b Body, path: &Path) -> Option<&'b AskRecord> {
    if let Body::Ask(ask) = body
        && ask.path == *path
    {
        Some(ask)
    } else {
        None
    }
}

/// Reads the program that a request names. What names none is covered with its kind alone, as it
/// would be allowed.
fn program_of(payload: &Value) -> Option<GrantProgram> {
    let mut setting = payload.as_map()?.clone();
    let (line, words) = (setting.remove("command"), setting.remove("argv"));
    setting.remove("stdin");
    let name = match (line, words) {
        (Some(Value::Text(line)), _) => match first_word(&line) {
            Some(word) => ProgramName::OfLine(word.to_owned()),
            None => ProgramName::Line(line),
        },
        (_, Some(Value::List(words))) => ProgramName::Word(words.first()?.as_text()?.to_owned()),
        (_, _) => return None,
    };
    Some(GrantProgram { name, setting })
}

/// Returns the first word of a line for the shell if all that the line does is to start one program:
/// it has nothing but plain words and quoted texts in which the shell replaces nothing.
fn first_word(line: &str) -> Option<&str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./:=@%+,-".contains(c);
    let mut quote = None;
    for c in line.chars() {
        quote = match (quote, c) {
            (None, '\'' | '"') => Some(c),
            (None, ' ' | '\t') => None,
            (None, c) if is_plain(c) => None,
            (None, _) | (Some('"'), '$' | '`' | '\\') => return None,
            (Some(open), c) if c == open => None,
            (Some(open), _) => Some(open),
        };
    }
    let word = line.split([' ', '\t']).find(|word| !word.is_empty())?;
    // An assignment before the program changes which one it is.
    let is_name = quote.is_none() && word.chars().all(is_plain) && !word.contains('=');
    is_name.then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(left: Value, right: Value) -> bool {
        Coverage::of(EXEC, &left) == Coverage::of(EXEC, &right)
    }

    fn line(line: &str) -> Value {
        Value::map([("command", Value::text(line))])
    }

    fn words(words: &[&str]) -> Value {
        Value::map([("argv", Value::List(words.iter().map(|word| Value::text(*word)).collect()))])
    }

    #[test]
    fn a_program_is_covered_whatever_its_arguments() {
        assert!(covers(words(&["git", "status"]), words(&["git", "push"])));
        assert!(covers(line("git status"), line("git commit -m 'two words; and $more'")));
        assert!(!covers(words(&["git", "status"]), words(&["rm", "status"])));
        assert!(!covers(words(&["git"]), words(&["./git"])));
    }

    #[test]
    fn a_line_that_may_start_another_program_covers_itself_only() {
        for other in [
            "git status; rm x",
            "git status && rm x",
            "git status | sh",
            "git $(rm x)",
            "git \"$(rm x)\"",
            "git `rm x`",
            "git status > x",
            "git status\nrm x",
            "PATH=. git status",
            "git 'status",
            "git \\\nstatus",
            "git *",
        ] {
            assert!(!covers(line("git status"), line(other)), "{other}");
            assert!(covers(line(other), line(other)), "{other}");
        }
    }

    #[test]
    fn another_folder_or_variable_is_another_program() {
        let with = |key: &str, value: &str| {
            let mut payload = words(&["./run"]).as_map().cloned().unwrap_or_default();
            payload.insert(key.to_owned(), Value::text(value));
            Value::Map(payload)
        };
        assert!(!covers(with("cwd", "/a"), with("cwd", "/b")));
        assert!(!covers(with("env", "a"), words(&["./run"])));
        assert!(covers(with("stdin", "a"), with("stdin", "b")));
    }

    #[test]
    fn a_request_that_names_no_program_is_covered_with_its_kind() {
        let (left, right) = (Value::text("staging"), Value::text("production"));
        assert_eq!(Coverage::of("deploy", &left), Coverage::of("deploy", &right));
        assert_ne!(Coverage::of("deploy", &left), Coverage::of("exec", &left));
    }
}
