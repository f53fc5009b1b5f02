//! The short way and the whole command line, side by side.

mod tables;
mod verbs;

use std::collections::BTreeSet;
use std::path::Path;

use super::*;

/// Command lines with words in unusual places, beside those that the conformance suite has.
const UNUSUAL: &[&str] = &[
    "",
    "--version",
    "-V",
    "--json --version",
    "trace --version",
    "trace add --version",
    "commit --version",
    "help",
    "--help",
    "-h",
    "help commit",
    "help trace add",
    "commit help",
    "trace",
    "trace help add",
    "trace add --help",
    "comit -m x",
    "commit comit",
    "trace ad x",
    "log log log",
    "-C log log",
    "-Clog log",
    "--color log",
    "--color=never log alice",
    "log --color never alice",
    "log alice --json --durability git",
    "--durability full -C x log",
    "-- log",
    "log -- commit",
    "trace add commit",
    "trace --json add commit --agent log",
    "trace add -- --help",
    "commit -m trace --kind log",
    "commit -m -h",
    "run -- a.agent --help",
    "fork-point a b",
    "sub-agents alice",
    "forkpoint a b",
    "lo",
    "hook claude",
    "hook codex --gate",
    "hook --gate codex",
    "hook claude --gate --gate",
    "hook cursor --json",
    "hook git post-commit",
    "hook help",
    "hook help --gate",
    "hook -",
    "hook --",
    "hook -- claude",
    "hook Claude",
    "hook",
];

/// Command lines in which the first word that could be a verb is a value of an option.
const ROUNDABOUT: &[&str] = &["-C commit trace add x", "-C trace log", "--json -C log agents"];

/// Reads every line of the conformance suite in which the program is called.
fn lines_of_the_suite(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("the suite is there") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            lines_of_the_suite(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "case") {
            let text = std::fs::read_to_string(&path).expect("a case is text");
            let called = text.lines().filter_map(|line| line.split_once("agentic "));
            found.extend(called.map(|(_, words)| words.to_owned()));
        }
    }
}

/// Parses both ways. What the short way takes, the whole command line takes as the same, and the
/// other way round.
fn check(whole: &clap::Command, line: &str) {
    // Quotes and redirections are words as any other here: what matters is that both ways agree.
    let words = line.split_whitespace().map(OsString::from);
    let arguments: Vec<OsString> = std::iter::once("agentic".into()).chain(words).collect();
    let parsed = whole.clone().try_get_matches_from(&arguments);
    let parsed = parsed.and_then(|matches| <Cli>::from_arg_matches(&matches));
    match (short_way(&arguments), parsed) {
        (Some(Ok(short)), Ok(whole)) => {
            assert_eq!(format!("{short:?}"), format!("{whole:?}"), "{line}");
        }
        (Some(Err(short)), Err(whole)) => {
            assert_eq!(short.kind(), whole.kind(), "{line}");
            assert_eq!(short.to_string(), whole.to_string(), "{line}");
        }
        (None, Err(_)) => {}
        (None, Ok(_)) if ROUNDABOUT.contains(&line) => {}
        (short, whole) => panic!("{line}: {short:?}, but {whole:?}"),
    }
}

#[test]
fn both_ways_take_every_command_line_alike() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let beside = UNUSUAL.iter().chain(ROUNDABOUT).map(|line| (*line).to_owned());
    let mut lines: BTreeSet<String> = beside.collect();
    lines_of_the_suite(&suite, &mut lines);
    assert!(lines.len() > 1000, "only {} lines were found", lines.len());
    let whole = command();
    lines.iter().for_each(|line| check(&whole, line));
}

#[test]
fn each_verb_alone_is_what_it_is_among_all() {
    let mut whole = command();
    whole.build();
    for verb in whole.get_subcommands().filter(|verb| verb.get_name() != "help") {
        let name = verb.get_name();
        let alone =
            VerbArguments::command(name).unwrap_or_else(|| panic!("`{name}` has no short way"));
        let mut alone = Cli::<NoVerb>::command().subcommand(alone);
        alone.build();
        let alone = alone.find_subcommand(name).expect("just put in");
        let help = |command: &clap::Command| command.clone().render_long_help().to_string();
        assert_eq!(help(alone), help(verb), "{name}");
    }
    assert!(VerbArguments::command("help").is_none());
    assert!(VerbArguments::command("no-verb").is_none());
}

#[test]
fn what_is_wrong_goes_to_the_whole_command_line() {
    let lines = ["", "comit", "help", "commit --help", "trace", "commit", "log --no-such", "-h"];
    for line in lines {
        let words = line.split_whitespace().map(OsString::from);
        let arguments: Vec<OsString> = std::iter::once("agentic".into()).chain(words).collect();
        assert!(short_way(&arguments).is_none(), "{line}");
    }
}
