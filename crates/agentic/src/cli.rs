//! What the command line takes.
//!
//! To build all verbs with all their options takes longer than to read a short log. A run needs one
//! verb: it is built alone and tried first. Whatever that does not take as it stands goes to the
//! whole command line, which knows every verb, shows help and says what is wrong.

mod verb;

#[cfg(test)]
mod tests;

use std::error::Error as _;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use agentic_api::is_of_others;
use agentic_capture::hook::HookRole;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};

use self::verb::NoVerb;
pub use self::verb::VerbArguments;
use crate::commands::hook::HookArgs;
use crate::failure::CommandFailure;
use crate::text::Text;
use crate::{alias, output};

/// What the help of every verb puts apart from the verb's own options.
const GLOBAL: &str = "Options of every verb";

/// Keep what AI agents do as branches, typed commits and traces of your git repository
#[derive(Debug, Parser)]
#[command(name = "agentic", version, propagate_version = true, max_term_width = 100)]
#[command(
    after_help = "A first look: `agentic demo`. Every verb has an example: `agentic help spawn`."
)]
pub struct Cli<V: Subcommand = VerbArguments> {
    /// Run as if started in DIR
    #[arg(short = 'C', value_name = "DIR", global = true, help_heading = GLOBAL)]
    pub directory: Option<PathBuf>,
    /// Print JSON on standard output, and errors as JSON on standard error
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub json: bool,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true, help_heading = GLOBAL)]
    pub color: Color,
    /// How durable a write is before it is acknowledged
    #[arg(long, value_name = "MODE", global = true, help_heading = GLOBAL)]
    pub durability: Option<DurabilityMode>,
    /// Log what is done on standard error; `AGENTIC_LOG=LEVEL` chooses more or less
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub verbose: bool,
    /// The verb
    #[command(subcommand)]
    pub verb: V,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Color {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// How durable a write is before it is acknowledged.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum DurabilityMode {
    /// It survives a power cut
    Full,
    /// As durable as git's own commits
    Git,
}

impl Color {
    /// Makes the choice count for everything that is printed.
    pub fn apply(self) {
        let choice = match self {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// Parses the command line; on wrong usage says so and returns the exit code.
pub fn parse() -> Result<Cli, ExitCode> {
    let given: Vec<OsString> = std::env::args_os().collect();
    let arguments = alias::resolve(given.clone());
    let parsed = short_way(&arguments).unwrap_or_else(|| Cli::try_parse_from(&arguments));
    parsed.map_err(|mut error| {
        if error.kind() == ErrorKind::DisplayHelp && alias::is_agentlang(&given) {
            error = help_of_agentlang(&arguments).unwrap_or(error);
        }
        let other_name = alias::hint(&error);
        if other_name.is_some() {
            error.remove(ContextKind::SuggestedSubcommand);
        }
        let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
        if asked {
            output::keep_loss(error.print());
            return ExitCode::SUCCESS;
        }
        if let Some(name) = name_of_others(&error).filter(|_| !is_verb(&arguments, "spawn")) {
            return read_only(&name, &arguments);
        }
        let is_list = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
        let hint = other_name.or((!is_list).then_some(VERBS_HINT));
        if asks_for_json(&arguments) {
            let failure = CommandFailure::usage(&in_one_line(&error), hint.unwrap_or(VERBS_HINT));
            failure.report(true);
            return ExitCode::from(failure.code());
        }
        // It repeats words of the command line, which may have come from anywhere.
        let wrong = error.render().ansi().to_string();
        output::talk_coloured(&Text::rendered(wrong.trim_end_matches('\n')));
        if let Some(hint) = hint {
            anstream::eprintln!("hint: {hint}");
        }
        ExitCode::from(2)
    })
}

/// What to do about a command line that is none.
const VERBS_HINT: &str =
    "`agentic help` lists the verbs, `agentic help VERB` shows one with an example";

/// Tells whether errors are awaited as JSON, though the command line is none.
fn asks_for_json(arguments: &[OsString]) -> bool {
    arguments.iter().take_while(|word| *word != "--").any(|word| word == "--json")
}

/// Returns what is wrong with a command line: what is said of it before its usage.
fn in_one_line(error: &clap::Error) -> String {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return "a verb is missing".to_owned();
    }
    let text = error.render().to_string();
    let told = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = told.split_whitespace().collect();
    let line = words.join(" ");
    let line = line.split(" [subcommands:").next().unwrap_or(&line);
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// The option that names an agent which is to be.
const NEW_NAME: &str = "--as ";

/// Returns the agent of a remote or a peer that stands where one of ours was expected.
fn name_of_others(error: &clap::Error) -> Option<String> {
    let value = match (error.kind(), error.get(ContextKind::InvalidValue)) {
        (ErrorKind::ValueValidation, Some(ContextValue::String(value))) => value,
        _ => return None,
    };
    let is_a_name =
        error.source().is_some_and(|why| why.to_string().contains("cannot name an agent"));
    // There a name is given to an agent that is to be.
    let is_new = matches!(
        error.get(ContextKind::InvalidArg),
        Some(ContextValue::String(option)) if option.starts_with(NEW_NAME)
    );
    (is_a_name && !is_new && is_of_others(value)).then(|| value.clone())
}

fn is_verb(arguments: &[OsString], verb: &str) -> bool {
    let mut words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    words.find(|word| VerbArguments::command(word).is_some()) == Some(verb)
}

/// Says that nothing is written to an agent of others.
fn read_only(name: &str, arguments: &[OsString]) -> ExitCode {
    let refusal = agentic_api::agent_name(name).err();
    let Some(failure) = refusal.map(CommandFailure::from) else { return ExitCode::FAILURE };
    failure.report(asks_for_json(arguments));
    ExitCode::from(failure.code())
}

/// Returns the help of a command line of AgentLang, without the options of other languages.
fn help_of_agentlang(arguments: &[OsString]) -> Option<clap::Error> {
    let hidden = |command: clap::Command| {
        command.mut_args(|argument| match alias::FOREIGN.contains(&argument.get_id().as_str()) {
            true => argument.hide(true),
            false => argument,
        })
    };
    let command = Cli::<VerbArguments>::command();
    let command = command.mut_subcommand("run", hidden).mut_subcommand("repl", hidden);
    command.try_get_matches_from(arguments).err()
}

/// Takes the command lines that coding agents start for each event, as `agentic init` writes them. They
/// have few words and come often: to build the verb for them takes a tenth of what a hook does.
fn hook_line(arguments: &[OsString]) -> Option<Cli> {
    let words = arguments.iter().skip(1).map(|word| word.to_str());
    let words: Vec<&str> = words.collect::<Option<_>>()?;
    let (source, role) = match words[..] {
        ["hook", source] => (source, HookRole::Capture),
        ["hook", source, "--gate"] => (source, HookRole::Gate),
        _ => return None,
    };
    // What may be an option, or goes on with one, is not looked into here.
    let is_plain = source.bytes().all(|byte| byte.is_ascii_lowercase());
    (is_plain && !source.is_empty()).then(|| Cli {
        directory: None,
        json: false,
        color: Color::Auto,
        durability: None,
        verbose: false,
        verb: VerbArguments::Hook(HookArgs::new(source, role)),
    })
}

/// Parses a command line by the first of its words that is a verb, as if there were no other verbs.
/// What is accepted means the same to the whole command line, which has more verbs but nothing else
/// that could take one of the words. What is not accepted may still be right, or be the name of
/// another verb where a value was expected; only of the version there is nothing more to say.
fn short_way(arguments: &[OsString]) -> Option<Result<Cli, clap::Error>> {
    if let Some(cli) = hook_line(arguments) {
        return Some(Ok(cli));
    }
    let mut words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    let verb = words.find_map(VerbArguments::command);
    let command = Cli::<NoVerb>::command().subcommands(verb);
    let parsed = command.try_get_matches_from(arguments);
    match parsed.and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches)) {
        Ok(cli) => Some(Ok(cli)),
        Err(error) if error.kind() == ErrorKind::DisplayVersion => Some(Err(error)),
        Err(_) => None,
    }
}

/// Returns the whole command, for completions and manual pages.
pub fn command() -> clap::Command {
    <Cli>::command()
}
