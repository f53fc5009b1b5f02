//! The list of verbs, from which the whole command line is made, and that of one verb alone.

use clap::{Args, Command, Subcommand};

use crate::commands;

/// Makes the verbs of one list: what each takes, and how it is called.
macro_rules! verbs {
    ($($(#[command($nesting:ident)])? $verb:ident($takes:ty) = $name:literal,)*) => {
        /// The verbs.
        #[derive(Debug, Subcommand)]
        pub enum VerbArguments {
            $(#[command(name = $name $(, $nesting)?)] $verb($takes),)*
        }

        impl VerbArguments {
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
    Init(commands::init::InitArgs) = "init",
    Spawn(commands::spawn::SpawnArgs) = "spawn",
    Commit(commands::commit::CommitArgs) = "commit",
    Merge(commands::merge::MergeArgs) = "merge",
    #[command(subcommand)]
    Trace(commands::trace::TraceVerb) = "trace",
    Log(commands::log::LogArgs) = "log",
    Blame(commands::blame::BlameArgs) = "blame",
    Export(commands::export::ExportArgs) = "export",
    Show(commands::show::ShowArgs) = "show",
    Agents(commands::agents::AgentsArgs) = "agents",
    #[command(subcommand)]
    Agent(commands::agent::AgentVerb) = "agent",
    Archive(commands::archive::ArchiveArgs) = "archive",
    Tree(commands::tree::TreeArgs) = "tree",
    ForkPoint(commands::fork_point::ForkPointArgs) = "fork-point",
    Briefing(commands::briefing::BriefingArgs) = "briefing",
    #[command(subcommand)]
    Worktree(commands::worktree::WorktreeVerb) = "worktree",
    #[command(subcommand)]
    Object(commands::object::ObjectVerb) = "object",
    #[command(subcommand)]
    Kind(commands::kind::KindVerb) = "kind",
    Redact(commands::redact::RedactArgs) = "redact",
    Purge(Box<commands::purge::PurgeArgs>) = "purge",
    Relate(commands::relate::RelateArgs) = "relate",
    Unrelate(commands::relate::UnrelateArgs) = "unrelate",
    Relations(commands::relations::RelationsArgs) = "relations",
    SubAgents(commands::relations::SubAgentsArgs) = "sub-agents",
    Reviewers(commands::relations::ReviewersArgs) = "reviewers",
    Merged(commands::relations::MergedArgs) = "merged",
    Query(commands::query::QueryArgs) = "query",
    Search(commands::search::SearchArgs) = "search",
    #[command(subcommand)]
    Rule(commands::rule::RuleVerb) = "rule",
    #[command(subcommand)]
    Behaviour(Box<commands::behaviour::BehaviourVerb>) = "behaviour",
    Stats(Box<commands::stats::StatsArgs>) = "stats",
    #[command(subcommand)]
    Peer(Box<commands::peer::PeerVerb>) = "peer",
    Announce(commands::announce::AnnounceArgs) = "announce",
    Grant(commands::grant::GrantArgs) = "grant",
    Revoke(commands::grant::RevokeArgs) = "revoke",
    Grants(commands::grant::GrantsArgs) = "grants",
    Allowed(commands::grant::AllowedArgs) = "allowed",
    Verify(commands::verify::VerifyArgs) = "verify",
    Push(commands::push::PushArgs) = "push",
    Fetch(commands::fetch::FetchArgs) = "fetch",
    Run(Box<commands::run::RunArgs>) = "run",
    Repl(commands::repl::ReplArgs) = "repl",
    Check(commands::check::CheckArgs) = "check",
    Fmt(commands::fmt::FmtArgs) = "fmt",
    #[command(subcommand)]
    Flow(commands::flow::FlowVerb) = "flow",
    #[command(subcommand)]
    Session(Box<commands::session::SessionVerb>) = "session",
    Pending(commands::pending::PendingArgs) = "pending",
    Decide(commands::decide::DecideArgs) = "decide",
    Mcp(commands::mcp::McpArgs) = "mcp",
    Providers(commands::providers::ProvidersArgs) = "providers",
    Allow(commands::allow::AllowArgs) = "allow",
    #[command(subcommand)]
    Capture(commands::capture::CaptureVerb) = "capture",
    Import(commands::import::ImportArgs) = "import",
    Hook(commands::hook::HookArgs) = "hook",
    Serve(commands::serve::ServeArgs) = "serve",
    Ui(commands::ui::UiArgs) = "ui",
    Doctor(commands::doctor::DoctorArgs) = "doctor",
    #[command(subcommand)]
    Credential(commands::credential::CredentialVerb) = "credential",
    Demo(commands::demo::DemoArgs) = "demo",
    #[command(subcommand)]
    Conformance(commands::conformance::ConformanceVerb) = "conformance",
    Completions(commands::completions::CompletionsArgs) = "completions",
    Man(commands::man::ManArgs) = "man",
}

/// No verb: what is left of the command line when the verbs are put in one by one.
#[derive(Debug, Subcommand)]
pub enum NoVerb {}

/// Puts the verbs of a verb into its command, one of which must follow it.
fn nested<V: Subcommand>(command: Command) -> Command {
    V::augment_subcommands(command.subcommand_required(true).arg_required_else_help(true))
}
