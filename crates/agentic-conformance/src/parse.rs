//! Reads case files. `conformance/README.md` is the description of what is read here.

use std::collections::BTreeMap;

use agentic_testkit::Setup;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use regex_lite::Regex;

use crate::case::{
    CaptureSource, Case, CaseCommand, CaseNeed, CaseStep, Expectation, FileContents,
    FilePermission, GroundWatch, JsonShape, JsonTest, LastCheck, OutputStream,
};
use crate::path::JsonPath;

/// A line of a case file that means nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub(crate) struct MalformedLine {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// Reads all cases of a file.
pub(crate) fn cases(text: &str) -> Result<Vec<Case>, MalformedLine> {
    let mut cases: Vec<Case> = Vec::new();
    // What stands before the first case holds for all of them.
    let mut needs = BTreeMap::new();
    for (at, line) in text.lines().enumerate() {
        let line_number = at + 1;
        let read = match line.strip_prefix("== ") {
            Some(title) => {
                cases.push(Case {
                    title: title.trim().to_owned(),
                    line: line_number,
                    setup: Setup::Repository,
                    steps: Vec::new(),
                    last_check: LastCheck::Whole,
                    needs: needs.clone(),
                });
                Ok(())
            }
            None => match (line.strip_prefix("needs "), cases.is_empty()) {
                (Some(rest), true) => add_need(&mut needs, rest),
                (Some(_), false) | (None, _) => read_line(cases.last_mut(), line, line_number),
            },
        };
        read.map_err(|reason| MalformedLine { line: line_number, reason })?;
    }
    match cases
        .iter()
        .find(|case| !case.steps.iter().any(|step| matches!(step, CaseStep::Command(_))))
    {
        Some(empty) => {
            Err(MalformedLine { line: empty.line, reason: "the case runs no command".to_owned() })
        }
        None => Ok(cases),
    }
}

fn read_line(mut case: Option<&mut Case>, line: &str, line_number: usize) -> Result<(), String> {
    if let Some(script) = case.as_mut().and_then(|case| unfinished_script(case)) {
        script.push('\n');
        script.push_str(line);
        return Ok(());
    }
    if line.trim().is_empty() || line.starts_with('#') {
        return Ok(());
    }
    let case = case.ok_or("a case begins with `== ` and its title")?;
    if let Some(script) = line.strip_prefix("$ ") {
        case.steps.push(CaseStep::Command(command(script, line_number)));
        return Ok(());
    }
    if let Some(text) = text_after(line, '|') {
        return continue_file(case, text);
    }
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match word {
        "setup:" => case.setup = Setup::parse(rest).ok_or("no such setup")?,
        "last-check:" => case.last_check = last_check(rest)?,
        "needs" => add_need(&mut case.needs, rest)?,
        "file" => case.steps.push(file(rest)?),
        "link" => {
            let (path, target) = rest.split_once(" -> ").ok_or("write `link PATH -> TARGET`")?;
            case.steps.push(CaseStep::Link { path: path.to_owned(), target: target.to_owned() });
        }
        "cd" => case.steps.push(CaseStep::Folder { path: rest.to_owned() }),
        "env" => {
            let (name, value) = rest.split_once('=').ok_or("write `env NAME=VALUE`")?;
            case.steps.push(CaseStep::Variable { name: name.to_owned(), value: value.to_owned() });
        }
        _ => return read_command_line(case, line),
    }
    Ok(())
}

/// Returns the script of the last command if its last line ends in a backslash.
fn unfinished_script(case: &mut Case) -> Option<&mut String> {
    match case.steps.last_mut() {
        Some(CaseStep::Command(command)) if command.script.ends_with('\\') => {
            Some(&mut command.script)
        }
        _ => None,
    }
}

/// Reads a line that belongs to the command above it.
fn read_command_line(case: &mut Case, line: &str) -> Result<(), String> {
    let Some(CaseStep::Command(command)) = case.steps.last_mut() else {
        return Err(format!("`{line}` means nothing here"));
    };
    if let Some(text) = text_after(line, '<') {
        command.stdin.push_str(text);
        command.stdin.push('\n');
        return Ok(());
    }
    if let Some(text) = text_after(line, '>') {
        command.stdout.get_or_insert_default().push(text.to_owned());
        return Ok(());
    }
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match word {
        "exit" => command.exit = rest.parse().map_err(|_| "an exit code is a number")?,
        "unchanged" => command.watch = GroundWatch::MustNotChange,
        "refused" => {
            let (code, text) = rest.split_once(' ').unwrap_or((rest, ""));
            command.exit = code.parse().map_err(|_| "write `refused CODE TEXT`")?;
            command.watch = GroundWatch::MustNotChange;
            command.expectations.push(Expectation::Refused { text: text.to_owned() });
        }
        "stdout" => command.expectations.push(stream(OutputStream::Stdout, rest)?),
        "stderr" => command.expectations.push(stream(OutputStream::Stderr, rest)?),
        "json" => command.expectations.push(json(OutputStream::Stdout, rest)?),
        "let" => command.expectations.push(capture(rest)?),
        _ => return Err(format!("`{word}` is no word of a case")),
    }
    Ok(())
}

fn command(script: &str, line: usize) -> CaseCommand {
    CaseCommand {
        line,
        script: script.to_owned(),
        stdin: String::new(),
        exit: 0,
        watch: GroundWatch::MayChange,
        stdout: None,
        expectations: Vec::new(),
    }
}

/// Returns what follows a mark and one blank; a mark alone stands for an empty line.
fn text_after(line: &str, mark: char) -> Option<&str> {
    let rest = line.strip_prefix(mark)?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix(' ') }
}

fn last_check(rest: &str) -> Result<LastCheck, String> {
    match rest.split_once(", ") {
        Some(("none", reason)) if !reason.is_empty() => Ok(LastCheck::DamagedOnPurpose),
        _ => Err("write `last-check: none, REASON`".to_owned()),
    }
}

fn add_need(needs: &mut BTreeMap<CaseNeed, String>, rest: &str) -> Result<(), String> {
    let (name, reason) = rest.split_once(": ").ok_or("write `needs NAME: REASON`")?;
    let need = CaseNeed::parse(name)
        .ok_or("a case needs `embedded-engine`, `no-server` or `no-temporal`")?;
    needs.insert(need, reason.to_owned());
    Ok(())
}

fn file(rest: &str) -> Result<CaseStep, String> {
    if let Some((path, encoded)) = rest.split_once(" base64 ") {
        let bytes = BASE64.decode(encoded.trim()).map_err(|_| "not base64")?;
        let content = FileContents::Bytes(bytes);
        return Ok(CaseStep::File { path: path.to_owned(), content, mode: FilePermission::Plain });
    }
    let content = FileContents::Text(String::new());
    Ok(match rest.strip_suffix(" executable") {
        Some(path) => {
            CaseStep::File { path: path.to_owned(), content, mode: FilePermission::Executable }
        }
        None => CaseStep::File { path: rest.to_owned(), content, mode: FilePermission::Plain },
    })
}

fn continue_file(case: &mut Case, text: &str) -> Result<(), String> {
    match case.steps.last_mut() {
        Some(CaseStep::File { content: FileContents::Text(content), .. }) => {
            content.push_str(text);
            content.push('\n');
            Ok(())
        }
        _ => Err("`|` lines follow a `file` line".to_owned()),
    }
}

fn stream(stream: OutputStream, rest: &str) -> Result<Expectation, String> {
    let (verb, text) = rest.split_once(' ').ok_or("write `stdout has TEXT`")?;
    let text = text.to_owned();
    match verb {
        "has" => Ok(Expectation::Has { stream, text }),
        "lacks" => Ok(Expectation::Lacks { stream, text }),
        "is" if text == "empty" => Ok(Expectation::Empty { stream }),
        "json" => json(stream, &text),
        _ => Err(format!("a stream has no `{verb}`")),
    }
}

fn json(stream: OutputStream, rest: &str) -> Result<Expectation, String> {
    let (path, rest) = JsonPath::take(rest).ok_or("a path begins with `.`")?;
    let (verb, operand) = rest.split_once(' ').unwrap_or((rest, ""));
    let text = || operand.to_owned();
    let test = match verb {
        "=" => JsonTest::Equals(text()),
        "!=" => JsonTest::Differs(text()),
        "like" => JsonTest::Like(text()),
        "matches" => JsonTest::Matches(Regex::new(operand).map_err(|error| error.to_string())?),
        "contains" => JsonTest::Contains(text()),
        "lacks" => JsonTest::Lacks(text()),
        "is" => JsonTest::Is(JsonShape::parse(operand).ok_or("no such shape")?),
        "has" => JsonTest::Items(items(operand)?),
        "missing" => JsonTest::Missing,
        _ => return Err(format!("`{verb}` is no test of JSON")),
    };
    Ok(Expectation::Json { stream, path, test })
}

fn items(operand: &str) -> Result<usize, String> {
    let number = operand.strip_suffix(" items").or_else(|| operand.strip_suffix(" item"));
    number.and_then(|number| number.parse().ok()).ok_or("write `has N items`".to_owned())
}

fn capture(rest: &str) -> Result<Expectation, String> {
    let (name, source) = rest.split_once(" = ").ok_or("write `let NAME = stdout`")?;
    let is_lower = |c: char| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit();
    if name.is_empty() || !name.chars().all(is_lower) {
        return Err("a captured name has lower-case letters, digits and `_`".to_owned());
    }
    let source = match source.strip_prefix("json ") {
        Some(path) => CaptureSource::Json(JsonPath::take(path).ok_or("a path begins with `.`")?.0),
        None if source == "stdout" => CaptureSource::Stdout,
        None => return Err("capture `stdout` or `json PATH`".to_owned()),
    };
    Ok(Expectation::Let { name: name.to_owned(), source })
}

#[cfg(test)]
mod tests;
