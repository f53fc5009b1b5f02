//! The tables of verbs in `docs/commands.md` are what the command line says of itself.
//!
//! A block begins with `<!-- verbs: NAME… -->` and ends with `<!-- end of verbs -->`; what stands in between
//! is made here. `cargo xtask docs` runs this test with [`WRITE`] set, which makes the blocks anew.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Arg, Command};

use crate::cli::command;

/// The variable that lets the test write what it would compare.
const WRITE: &str = "AGENTIC_WRITE_TABLES";
const BEGIN: &str = "<!-- verbs: ";
const END: &str = "<!-- end of verbs -->\n";
/// The name under which a block asks for what all verbs take.
const EVERY: &str = "every";

#[test]
fn verb_tables_say_what_the_command_line_says() {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/commands.md"));
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let mut whole = command();
    whole.build();
    let (renewed, mut shown) = renew(&page, &whole);
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, renewed).expect("the page can be written");
    } else {
        assert!(page == renewed, "docs/commands.md is stale; run `cargo xtask docs`");
    }
    let verbs = whole.get_subcommands().map(Command::get_name).filter(|name| *name != "help");
    let mut verbs: Vec<&str> = verbs.chain([EVERY]).collect();
    verbs.sort_unstable();
    shown.sort_unstable();
    assert_eq!(shown, verbs, "each verb stands in one block");
}

/// Fills the blocks of a page; returns it with the names that they ask for.
fn renew<'p>(page: &'p str, whole: &Command) -> (String, Vec<&'p str>) {
    let (mut renewed, mut shown) = (String::new(), Vec::new());
    let mut rest = page;
    while let Some(at) = rest.find(BEGIN) {
        let (before, block) = rest.split_at(at);
        let (head, inside) = block.split_once('\n').expect("a block begins on a line");
        let (_, after) = inside.split_once(END).expect("a block ends");
        let names = head.trim_start_matches(BEGIN).trim_end_matches(" -->");
        let names: Vec<&str> = names.split(' ').collect();
        write!(renewed, "{before}{head}\n\n{}\n{END}", block_of(&names, whole))
            .expect("writing to a string never fails");
        shown.extend(names);
        rest = after;
    }
    renewed.push_str(rest);
    (renewed, shown)
}

fn block_of(names: &[&str], whole: &Command) -> String {
    let mut out = String::from("| command | argument or flag | meaning |\n| --- | --- | --- |\n");
    for name in names {
        if *name == EVERY {
            let options = whole.get_arguments().filter(|argument| argument.is_global_set());
            rows("any verb", "", options, &mut out);
            continue;
        }
        let verb = whole.find_subcommand(name).unwrap_or_else(|| panic!("no verb `{name}`"));
        rows_of(&format!("agentic {name}"), verb, &mut out);
    }
    out
}

/// Appends the rows of a verb, or of the verbs below it.
fn rows_of(name: &str, verb: &Command, out: &mut String) {
    let mut below = verb.get_subcommands().filter(|verb| verb.get_name() != "help").peekable();
    if below.peek().is_some() {
        let is_verb_itself = verb.get_arguments().any(|argument| !argument.is_global_set());
        if is_verb_itself && !verb.is_subcommand_required_set() {
            own_rows(name, verb, out);
        }
        below.for_each(|verb| rows_of(&format!("{name} {}", verb.get_name()), verb, out));
        return;
    }
    own_rows(name, verb, out);
}

/// Appends the rows of a verb alone.
fn own_rows(name: &str, verb: &Command, out: &mut String) {
    let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
    let about = about.replace('<', "\\<");
    let own = verb.get_arguments().filter(|argument| !argument.is_global_set());
    rows(&format!("`{name}`"), &about, own, out);
}

fn rows<'a>(name: &str, about: &str, arguments: impl Iterator<Item = &'a Arg>, out: &mut String) {
    let mut row = |cells: [&str; 3]| {
        let cells = cells.map(|cell| cell.replace('\n', " ").replace('|', "\\|"));
        writeln!(out, "| {} |", cells.join(" | ")).expect("writing to a string never fails");
    };
    row([name, "", about]);
    for argument in arguments {
        let is_hidden =
            argument.is_hide_set() || matches!(argument.get_id().as_str(), "help" | "version");
        if !is_hidden {
            row(["", &format!("`{}`", usage(argument)), &meaning(argument)]);
        }
    }
}

/// Returns how an argument is written: `<NAME>`, `[FILE]`, `-m, --message <TEXT>`.
fn usage(argument: &Arg) -> String {
    let values = if argument.get_action().takes_values() {
        let names = argument.get_value_names().unwrap_or_default();
        names.iter().map(|name| format!("<{name}>")).collect::<Vec<String>>().join(" ")
    } else {
        String::new()
    };
    let several = if matches!(argument.get_action(), clap::ArgAction::Append) { "…" } else { "" };
    if argument.is_positional() {
        let name = values.trim_matches(['<', '>']);
        let is_needed = argument.is_required_set();
        return if is_needed { format!("<{name}>{several}") } else { format!("[{name}]{several}") };
    }
    let short = argument.get_short().map(|letter| format!("-{letter}"));
    let long = argument.get_long().map(|word| format!("--{word}"));
    let aliases = argument.get_visible_aliases().unwrap_or_default();
    let aliases = aliases.into_iter().map(|word| format!("--{word}"));
    let flags: Vec<String> = short.into_iter().chain(long).chain(aliases).collect();
    let is_optional = argument.get_num_args().is_some_and(|range| range.min_values() == 0);
    let values = match values.as_str() {
        "" => String::new(),
        values if is_optional => format!(" [{values}]"),
        values => format!(" {values}"),
    };
    format!("{}{values}{several}", flags.join(", "))
}

/// Returns the help of an argument, with its default and the values that it may have.
fn meaning(argument: &Arg) -> String {
    // Markdown takes `<word>` for a tag.
    let said = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let mut said = said.replace('<', "\\<");
    if !argument.get_action().takes_values() {
        return said;
    }
    let words = |words: Vec<String>| {
        words.iter().map(|word| format!("`{word}`")).collect::<Vec<String>>().join(", ")
    };
    let possible = argument.get_possible_values();
    let possible = possible.iter().filter(|value| !value.is_hide_set());
    let possible: Vec<String> = possible.map(|value| value.get_name().to_owned()).collect();
    if !possible.is_empty() {
        write!(said, ": {}", words(possible)).expect("writing to a string never fails");
    }
    let defaults = argument.get_default_values().iter().filter(|value| !value.is_empty());
    let defaults: Vec<String> = defaults.map(|value| value.to_string_lossy().into()).collect();
    if !defaults.is_empty() {
        write!(said, " (default {})", words(defaults)).expect("writing to a string never fails");
    }
    said
}
