//! Tasks that programs perform.

/// A task and the program that performs it.
#[derive(Debug, Clone)]
pub struct Handler {
    /// The name of the task.
    pub task: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
}

/// Reads `TASK=PROGRAM`, where blanks part the program from its arguments.
pub fn parse(text: &str) -> Result<Handler, String> {
    let (task, line) = text.split_once('=').ok_or("a handler is TASK=PROGRAM")?;
    let argv: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    if task.is_empty() || argv.is_empty() {
        return Err("a handler is TASK=PROGRAM".to_owned());
    }
    Ok(Handler { task: task.to_owned(), argv })
}
