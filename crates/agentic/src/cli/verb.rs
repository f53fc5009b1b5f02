//! The list of verbs, from which the whole command line is made, and that of one verb alone.

use clap::{Args, Command, Subcommand};

use crate::commands;

/// Makes the verbs of one list: what each takes, and how it is called.
macro_rules! verbs {
    ($($(#[command($nesting:ident)])? $verb:ident($takes:ty) = $name:literal,)*) => {
        /// The verbs.
        #[derive(Debug, Subcommand)]
        pub enum Verb {
            $(#[command(name = $name $(, $nesting)?)] $verb($takes),)*
        }

        impl Verb {
            /// Builds the command of one verb; nothing if there is none of that name.
            pub fn command(name: &str) -> Option<Command> {
                match name {
                    $($name => Some(verbs!(@takes $($nesting)? $takes)(Command::new($name))),)*
                    _ => None,
                }
            }
        }
    };
    (@takes subcommand $takes:ty) => { nested::<$takes> };
    (@takes $takes:ty) => { <$takes as Args>::augment_args };
}

verbs! {
    Init(commands::init::Args) = "init",
    Spawn(commands::spawn::Args) = "spawn",
    Commit(commands::commit::Args) = "commit",
    Merge(commands::merge::Args) = "merge",
    #[command(subcommand)]
    Trace(commands::trace::Verb) = "trace",
    Log(commands::log::Args) = "log",
    Show(commands::show::Args) = "show",
    Agents(commands::agents::Args) = "agents",
    Archive(commands::archive::Args) = "archive",
    Tree(commands::tree::Args) = "tree",
    ForkPoint(commands::fork_point::Args) = "fork-point",
    Briefing(commands::briefing::Args) = "briefing",
    #[command(subcommand)]
    Worktree(commands::worktree::Verb) = "worktree",
    #[command(subcommand)]
    Object(commands::object::Verb) = "object",
    #[command(subcommand)]
    Kind(commands::kind::Verb) = "kind",
    Relate(commands::relate::Args) = "relate",
    Unrelate(commands::relate::UnrelateArgs) = "unrelate",
    Relations(commands::relations::Args) = "relations",
    SubAgents(commands::relations::SubAgentsArgs) = "sub-agents",
    Reviewers(commands::relations::ReviewersArgs) = "reviewers",
    Merged(commands::relations::MergedArgs) = "merged",
    Push(commands::push::Args) = "push",
    Fetch(commands::fetch::Args) = "fetch",
    Run(Box<commands::run::Args>) = "run",
    Repl(commands::repl::Args) = "repl",
    Check(commands::check::Args) = "check",
    Fmt(commands::fmt::Args) = "fmt",
    #[command(subcommand)]
    Flow(commands::flow::Verb) = "flow",
    #[command(subcommand)]
    Session(Box<commands::session::Verb>) = "session",
    Pending(commands::pending::Args) = "pending",
    Decide(commands::decide::Args) = "decide",
    Providers(commands::providers::Args) = "providers",
    Allow(commands::allow::Args) = "allow",
    Doctor(commands::doctor::Args) = "doctor",
    #[command(subcommand)]
    Credential(commands::credential::Verb) = "credential",
    Demo(commands::demo::Args) = "demo",
    #[command(subcommand)]
    Conformance(commands::conformance::Verb) = "conformance",
    Completions(commands::completions::Args) = "completions",
    Man(commands::man::Args) = "man",
}

/// No verb: what is left of the command line when the verbs are put in one by one.
#[derive(Debug, Subcommand)]
pub enum NoVerb {}

/// Puts the verbs of a verb into its command, one of which must follow it.
fn nested<V: Subcommand>(command: Command) -> Command {
    V::augment_subcommands(command.subcommand_required(true).arg_required_else_help(true))
}
