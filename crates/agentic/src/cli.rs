//! What the command line takes.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum};

use crate::{alias, commands};

/// What the help of every verb puts apart from the verb's own options.
const GLOBAL: &str = "Options of every verb";

/// Keep what AI agents do as branches, typed commits and traces of your git repository
#[derive(Debug, Parser)]
#[command(name = "agentic", version, propagate_version = true, max_term_width = 100)]
#[command(
    after_help = "A first look: `agentic demo`. Every verb has an example: `agentic help spawn`."
)]
pub struct Cli {
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
    /// The verb
    #[command(subcommand)]
    pub verb: Verb,
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

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    Init(commands::init::Args),
    Spawn(commands::spawn::Args),
    Commit(commands::commit::Args),
    Merge(commands::merge::Args),
    #[command(subcommand)]
    Trace(commands::trace::Verb),
    Log(commands::log::Args),
    Show(commands::show::Args),
    Agents(commands::agents::Args),
    Archive(commands::archive::Args),
    Tree(commands::tree::Args),
    ForkPoint(commands::fork_point::Args),
    Briefing(commands::briefing::Args),
    #[command(subcommand)]
    Worktree(commands::worktree::Verb),
    #[command(subcommand)]
    Object(commands::object::Verb),
    #[command(subcommand)]
    Kind(commands::kind::Verb),
    Relate(commands::relate::Args),
    Unrelate(commands::relate::UnrelateArgs),
    Relations(commands::relations::Args),
    SubAgents(commands::relations::SubAgentsArgs),
    Reviewers(commands::relations::ReviewersArgs),
    Merged(commands::relations::MergedArgs),
    Push(commands::push::Args),
    Fetch(commands::fetch::Args),
    Run(Box<commands::run::Args>),
    Repl(commands::repl::Args),
    Check(commands::check::Args),
    Fmt(commands::fmt::Args),
    #[command(subcommand)]
    Flow(commands::flow::Verb),
    #[command(subcommand)]
    Session(Box<commands::session::Verb>),
    Pending(commands::pending::Args),
    Decide(commands::decide::Args),
    Providers(commands::providers::Args),
    Doctor(commands::doctor::Args),
    #[command(subcommand)]
    Credential(commands::credential::Verb),
    Demo(commands::demo::Args),
    #[command(subcommand)]
    Conformance(commands::conformance::Verb),
    Completions(commands::completions::Args),
    Man(commands::man::Args),
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
    Cli::try_parse_from(alias::resolve(std::env::args_os().collect())).map_err(|error| {
        let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
        // Nobody reads what cannot be printed.
        let _ = error.print();
        if asked {
            return ExitCode::SUCCESS;
        }
        if !matches!(error.kind(), ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand) {
            anstream::eprintln!("hint: `agentic help` lists the verbs, `agentic help VERB` shows one with an example");
        }
        ExitCode::from(2)
    })
}

/// Returns the whole command, for completions and manual pages.
pub fn command() -> clap::Command {
    Cli::command()
}
