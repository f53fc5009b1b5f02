//! Tasks and tools that programs perform.

use std::collections::BTreeMap;

/// A task or a tool, and the program that performs it.
#[derive(Debug, Clone)]
pub struct Handler {
    /// The name of the task or tool.
    pub name: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
}

/// Reads `NAME=PROGRAM`, where blanks part the program from its arguments.
pub fn parse(text: &str) -> Result<Handler, String> {
    let wanted = "NAME=PROGRAM is needed, the name of a task or tool and what performs it";
    let (name, line) = text.split_once('=').ok_or(wanted)?;
    let argv: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    if name.is_empty() || argv.is_empty() {
        return Err(wanted.to_owned());
    }
    Ok(Handler { name: name.to_owned(), argv })
}

/// Gathers who performs what; the last one that is named does.
pub fn by_name(handlers: Vec<Handler>) -> BTreeMap<String, Vec<String>> {
    handlers.into_iter().map(|handler| (handler.name, handler.argv)).collect()
}
