//! Memories: records that a program adds and finds again.
//!
//! `file://PATH` keeps one record a line, `sqlite://PATH#NAMESPACE` a table, `memory://NAME` what
//! lasts as long as the run. Paths begin at the workspace and stay in it. The id of a record
//! derives from its request, so a request that is performed again adds nothing.

mod file;
mod query;
mod record;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use agentic_model::{Instant, Value};
use agentic_replay::{RequestAnswer, RequestId};
use serde_json::value::RawValue;

use crate::configuration::Configuration;
use crate::configuration::loosening::{WORKSPACE, WithheldSettings};
use crate::memory::query::Query;
use crate::memory::record::Envelope;
use crate::tool::{arguments, done, refused};

/// The kind of a request to a memory.
pub const MEMORY_REQUEST: &str = "memory";
/// The namespace of a table where the address names none.
#[cfg(feature = "sqlite")]
const NAMESPACE_DEFAULT: &str = "memory";

/// A call of a memory: a request of kind `memory` with `memory`, `operation`, `uri` and `args`.
#[derive(Debug)]
pub struct MemoryCall {
    /// The name under which the program knows the memory.
    pub memory: String,
    /// `add` or `query`.
    pub operation: String,
    /// Where the memory is.
    pub uri: String,
    /// The arguments, each as JSON text with its keys in order.
    pub args: Vec<Box<RawValue>>,
}

/// A failed call of a memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MemoryFault(pub String);

/// The memories of a run.
#[derive(Debug, Default)]
pub struct Memories {
    workspace: PathBuf,
    withheld: WithheldSettings,
    in_process: Mutex<BTreeMap<String, Vec<Envelope>>>,
}

/// What a call does.
enum Operation {
    Add(Envelope),
    Query(Query),
}

impl MemoryCall {
    /// Reads a call. Arguments that are no JSON list count as none.
    pub fn of(payload: &Value) -> MemoryCall {
        let text = |key| payload.get(key).and_then(Value::as_text).unwrap_or_default();
        MemoryCall {
            memory: text("memory").to_owned(),
            operation: text("operation").to_owned(),
            uri: text("uri").to_owned(),
            args: arguments(payload),
        }
    }
}

impl Memories {
    /// Makes the memories of a configuration.
    pub fn configured(configuration: &Configuration) -> Memories {
        let (workspace, withheld) = (configuration.workspace(), configuration.withheld.clone());
        Memories { workspace, withheld, in_process: Mutex::default() }
    }

    /// Performs a call and returns the result as JSON text, its keys in order.
    ///
    /// # Errors
    /// Fails when the call is wrong, when the memory is outside of the workspace, cannot be read
    /// or written, or is none.
    pub fn call(
        &self,
        call: &MemoryCall,
        request: &RequestId,
        at: Instant,
    ) -> Result<String, MemoryFault> {
        let operation = operation(call, request, at)?;
        let (scheme, rest) = call.uri.split_once("://").unwrap_or((&call.uri, ""));
        match scheme {
            "memory" => Ok(self.perform_in_process(rest, operation)),
            "file" => file::perform(&self.workspace, &self.path(rest)?, operation),
            "sqlite" => self.perform_in_table(rest, operation),
            other => Err(MemoryFault(format!("no memory is called by `{other}://`"))),
        }
    }

    /// Takes in what a call added in an earlier process of the same run, so that memories that
    /// last as long as the run are as they were.
    pub fn recall(&self, call: &MemoryCall, answer: &RequestAnswer) {
        let RequestAnswer::Ok(value) = answer else { return };
        let Some(name) = call.uri.strip_prefix("memory://") else { return };
        let text = value.get("json").and_then(Value::as_text).unwrap_or_default();
        if let ("add", Ok(envelope)) = (call.operation.as_str(), serde_json::from_str(text)) {
            self.perform_in_process(name, Operation::Add(envelope));
        }
    }

    fn perform_in_process(&self, name: &str, operation: Operation) -> String {
        let mut memories = self.in_process();
        let records = memories.entry(name.to_owned()).or_default();
        match operation {
            Operation::Add(envelope) => {
                if let Some(found) = records.iter().find(|found| found.id == envelope.id) {
                    return found.to_json();
                }
                let text = envelope.to_json();
                records.push(envelope);
                text
            }
            Operation::Query(query) => query.of_newest_first(records.iter().rev()),
        }
    }

    #[cfg(feature = "sqlite")]
    fn perform_in_table(&self, rest: &str, operation: Operation) -> Result<String, MemoryFault> {
        let (path, namespace) = rest.split_once('#').unwrap_or((rest, NAMESPACE_DEFAULT));
        let namespace = if namespace.is_empty() { NAMESPACE_DEFAULT } else { namespace };
        sqlite::perform(&self.workspace, &self.path(path)?, namespace, operation)
    }

    #[cfg(not(feature = "sqlite"))]
    fn perform_in_table(&self, _rest: &str, _operation: Operation) -> Result<String, MemoryFault> {
        Err(MemoryFault("this program was built without SQLite".to_owned()))
    }

    /// Makes a path relative to the workspace.
    fn path(&self, path: &str) -> Result<String, MemoryFault> {
        self.withheld.check(WORKSPACE).map_err(MemoryFault)?;
        if path.is_empty() {
            return Err(MemoryFault("the address names no file".to_owned()));
        }
        if !path.starts_with('/') {
            return Ok(path.to_owned());
        }
        let roots = [self.workspace.canonicalize().ok(), Some(self.workspace.clone())];
        let inside = |root: PathBuf| Path::new(path).strip_prefix(root).map(Path::to_owned).ok();
        let found = roots.into_iter().flatten().find_map(inside);
        let found = found.and_then(|path| path.to_str().map(str::to_owned));
        found.ok_or_else(|| MemoryFault(format!("the path `{path}` escapes the workspace")))
    }

    /// A panic under the lock leaves whole records behind.
    fn in_process(&self) -> MutexGuard<'_, BTreeMap<String, Vec<Envelope>>> {
        self.in_process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn operation(
    call: &MemoryCall,
    request: &RequestId,
    at: Instant,
) -> Result<Operation, MemoryFault> {
    let argument = match call.args.as_slice() {
        [argument] => argument,
        _ => return Err(MemoryFault(format!("memory.{} takes 1 argument", call.operation))),
    };
    match call.operation.as_str() {
        "add" => Ok(Operation::Add(Envelope::new(argument, request, at)?)),
        "query" => Ok(Operation::Query(Query::read(argument)?)),
        other => Err(MemoryFault(format!("a memory has no method `{other}`: use add or query"))),
    }
}

/// Makes the answer of a call.
pub fn answer_of(result: Result<String, MemoryFault>) -> RequestAnswer {
    match result {
        Ok(text) => done(text),
        Err(fault) => refused(fault.0),
    }
}
