//! The names `agentscript` and `agentlang`, under which some expect to run programs.
//!
//! Linked to `agentlang`, this program accepts `agentlang FILE [PIPELINE] …` and `agentlang repl …`,
//! as the original of that language does; the first is `agentic run`, the second `agentic repl`.
//!
//! Linked to `agentscript`, it accepts `agentscript run FILE …` and `agentscript FILE …`. A
//! pipeline then runs as `agentic flow run` does, with `--as` and `--sibyl-addr`; anything else as
//! `agentic run`, where `--agent` and `--function` name the entry point, and `--concurrency` is
//! `--workers`.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use agentic_lang_pipeline::PipelineLanguage;
use agentic_session::language_of_file;
use clap::error::{ContextKind, ContextValue};

/// The name under which programs of the context and the pipeline language run.
const SCRIPT: &str = "agentscript";
/// The name under which programs of AgentLang run.
const AGENTLANG: &str = "agentlang";
/// How much of a program is looked at to tell its language, in bytes: what precedes the first word
/// is blanks and remarks.
const HEAD_BYTES_MAX: u64 = 64 << 10;

/// What `run` and `repl` take that means nothing to AgentLang, by its ids.
pub const FOREIGN: [&str; 14] = [
    "lang",
    "registry",
    "backend",
    "mock",
    "dry_run",
    "script",
    "trace",
    "quiet",
    "entry",
    "variant",
    "branches",
    "dialect",
    "allow_import",
    "plugin",
];

/// Says whether a command line is one of AgentLang.
pub fn is_agentlang(arguments: &[OsString]) -> bool {
    let name = arguments.first().map(Path::new).and_then(Path::file_stem);
    name == Some(OsStr::new(AGENTLANG))
}

/// Says what is meant by somebody who takes one of the names for a verb.
pub fn hint(error: &clap::Error) -> Option<&'static str> {
    let ContextValue::String(verb) = error.get(ContextKind::InvalidSubcommand)? else {
        return None;
    };
    match verb.as_str() {
        AGENTLANG => Some(
            "`agentic run FILE PIPELINE` runs a program of AgentLang, `agentic repl --lang agentlang` \
             tries one out; only a link of the name `agentlang` takes its command line",
        ),
        SCRIPT => Some(
            "`agentic run FILE` runs a program, `agentic flow run FILE` a pipeline; only a link of \
             the name `agentscript` takes its command line",
        ),
        _ => None,
    }
}

/// Returns the command line that is meant: the given one, unless the program was called by one of
/// its other names.
pub fn resolve(arguments: Vec<OsString>) -> Vec<OsString> {
    let name = arguments.first().map(Path::new).and_then(Path::file_stem);
    match name.and_then(OsStr::to_str) {
        Some(SCRIPT) => spelled_out(&arguments[1..], is_pipeline),
        Some(AGENTLANG) => agentlang(&arguments[1..]),
        Some(_) | None => arguments,
    }
}

/// Spells out a command line of AgentLang: only a first word `repl` is none of a program to run.
fn agentlang(arguments: &[OsString]) -> Vec<OsString> {
    let (verb, rest) = match arguments.first() {
        Some(verb) if verb == "repl" => ("repl", &arguments[1..]),
        Some(_) | None => ("run", arguments),
    };
    let head = ["agentic", verb, "--lang", AGENTLANG].map(OsString::from);
    head.into_iter().chain(rest.iter().cloned()).collect()
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
    language_of_file(&file.to_string_lossy(), &head)
        .is_some_and(|language| language.is(&PipelineLanguage))
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
    fn under_the_name_of_agentlang_programs_run() {
        let check = |given: &str, wanted: &str| {
            let words = |text: &str| -> Vec<OsString> { text.split(' ').map(Into::into).collect() };
            let given = format!("/bin/agentlang {given}");
            assert_eq!(resolve(words(&given)), words(wanted), "{given}");
        };
        check("a.agent main --test", "agentic run --lang agentlang a.agent main --test");
        check("repl --trace-live", "agentic repl --lang agentlang --trace-live");
        check("a.agent repl", "agentic run --lang agentlang a.agent repl");
        check("run a.agent", "agentic run --lang agentlang run a.agent");
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
