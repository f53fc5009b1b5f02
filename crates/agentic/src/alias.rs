//! The name `agentscript`, under which some expect to run programs.
//!
//! Linked to that name, this program accepts `agentscript run FILE …` and `agentscript FILE …`. A
//! pipeline then runs as `agentic flow run` does, with `--as` and `--sibyl-addr`; anything else as
//! `agentic run`, where `--agent` and `--function` name the entry point, and `--concurrency` is
//! `--workers`.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::language::Language;

/// The other name of this program.
const ALIAS: &str = "agentscript";
/// How much of a program is looked at to tell its language, in bytes: what precedes the first word
/// is blanks and remarks.
const HEAD_BYTES_MAX: u64 = 64 << 10;

/// Returns the command line that is meant: the given one, unless the program was called by its
/// other name.
pub fn resolve(arguments: Vec<OsString>) -> Vec<OsString> {
    let name = arguments.first().map(Path::new).and_then(Path::file_stem);
    if name != Some(OsStr::new(ALIAS)) {
        return arguments;
    }
    spelled_out(&arguments[1..], is_pipeline)
}

fn spelled_out(arguments: &[OsString], is_pipeline: impl Fn(&OsStr) -> bool) -> Vec<OsString> {
    let rest = match arguments.first() {
        Some(verb) if verb == "run" => &arguments[1..],
        Some(_) | None => arguments,
    };
    let verbs: &[&str] = match rest.first() {
        Some(file) if is_pipeline(file) => &["flow", "run"],
        Some(_) | None => &["run"],
    };
    let head = ["agentic"].iter().chain(verbs).map(OsString::from);
    match verbs {
        ["flow", "run"] => head.chain(rest.iter().cloned()).collect(),
        _ => head.chain(with_entry(rest)).collect(),
    }
}

/// Puts `--agent A` and `--function F` together as `--entry A.F`.
fn with_entry(arguments: &[OsString]) -> Vec<OsString> {
    let (mut kept, mut agent, mut function) = (Vec::new(), None, None);
    let mut left = arguments.iter();
    while let Some(argument) = left.next() {
        let text = argument.to_string_lossy();
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(OsString::from(value))),
            None => (text.clone().into_owned(), None),
        };
        let slot = match name.as_str() {
            "--agent" => &mut agent,
            "--function" => &mut function,
            "--concurrency" => {
                kept.push(text.replacen("--concurrency", "--workers", 1).into());
                continue;
            }
            _ => {
                kept.push(argument.clone());
                continue;
            }
        };
        *slot = value.or_else(|| left.next().cloned());
    }
    let entry = match (agent, function) {
        (Some(mut agent), Some(function)) => {
            agent.push(".");
            agent.push(function);
            Some(agent)
        }
        (Some(agent), None) => Some(agent),
        (None, Some(function)) => {
            let mut entry = OsString::from(".");
            entry.push(function);
            Some(entry)
        }
        (None, None) => None,
    };
    if let Some(entry) = entry {
        kept.extend(["--entry".into(), entry]);
    }
    kept
}

/// Tells whether a file is a program of the pipeline language, by its name and its first word.
fn is_pipeline(file: &OsStr) -> bool {
    use std::io::Read as _;
    let mut head = Vec::new();
    // A file that cannot be read is told by the verb that is to run it.
    if let Ok(file) = std::fs::File::open(file) {
        let _ = file.take(HEAD_BYTES_MAX).read_to_end(&mut head);
    }
    matches!(Language::of(&file.to_string_lossy(), &head), Ok(Language::Pipeline))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: &str, wanted: &str) {
        let words = |text: &str| -> Vec<OsString> { text.split(' ').map(Into::into).collect() };
        let is_pipeline = |file: &OsStr| file == "p.as";
        assert_eq!(spelled_out(&words(given), is_pipeline), words(wanted), "{given}");
    }

    #[test]
    fn the_other_name_runs_programs() {
        check("run p.as --as user:a", "agentic flow run p.as --as user:a");
        check("p.as --sibyl-addr local:", "agentic flow run p.as --sibyl-addr local:");
        check("run c.as --quiet", "agentic run c.as --quiet");
        check("c.as --agent A --mock", "agentic run c.as --mock --entry A");
        check("c.as --agent=A --function f", "agentic run c.as --entry A.f");
        check("c.as --function f", "agentic run c.as --entry .f");
        check("c.as --concurrency 2", "agentic run c.as --workers 2");
        check("c.as --concurrency=2", "agentic run c.as --workers=2");
        check("run", "agentic run");
        check("--help", "agentic run --help");
    }
}
