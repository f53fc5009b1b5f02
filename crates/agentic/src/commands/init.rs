//! `agentic init`

use std::path::PathBuf;
use std::process::ExitCode;

use agentic_api::Verb as _;
use agentic_api::verb::{
    ImportConversations, Init, VerbCompletion, WireAgents, WiringExtra, agents_found,
};
use agentic_api::view::{InitView, WiredView};
use agentic_capture::import::ImportRun;
use agentic_capture::wiring::{WiringRun, WiringScope};
use agentic_capture::{HookEnvironment, Source};
use agentic_session::SessionSpace;

use super::capture::{ScopeChoice, host};
use super::{VerbOutcome, ended, import};
use crate::context::Context;

/// Set up remotes, so that plain `git fetch` brings notes along; wire coding agents
///
/// Writes refspecs for notes and kinds into the configuration of each remote. With `--agents` it puts
/// hooks into the settings of coding agents, so that what they do in this repository becomes agents
/// and traces; `agentic capture off` takes them out again. Safe to repeat; every other verb works
/// without it.
///
/// Example: agentic init --agents auto
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct InitArgs {
    /// A remote to set up; all of them without
    #[arg(long, value_name = "REMOTE")]
    remote: Vec<String>,
    /// Coding agents to wire: auto, claude, codex, cursor, gemini, copilot, opencode
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    agents: Vec<String>,
    /// For whom they are wired
    #[arg(long, default_value = "user", requires = "agents")]
    scope: ScopeChoice,
    /// Write the hooks as a plugin of Claude Code, for a marketplace
    #[arg(long, value_name = "DIR")]
    plugin: Option<PathBuf>,
    /// Hold the calls that rules name, until a person has decided
    ///
    /// The rules are `[[hold]]` of agentic.toml and of ~/.config/agentic/holds.toml. The gates are
    /// written for this checkout, or with `--scope project` for everybody, never for all checkouts.
    #[arg(long, requires = "agents")]
    holds: bool,
    /// Let Claude Code get its worktrees from here, each an agent's
    #[arg(long)]
    worktrees: bool,
    /// Link commits of plain git, by hooks of git
    #[arg(long)]
    git_hooks: bool,
    /// Name our server of MCP to the coding agents
    #[arg(long, requires = "agents")]
    mcp: bool,
    /// Take in what they did here in the last 30 days, as `agentic import` does
    #[arg(long, requires = "agents")]
    import: bool,
    /// Write nothing; say what would be written
    #[arg(long)]
    dry_run: bool,
}

/// Runs the verb.
pub fn run(context: &Context, args: InitArgs) -> VerbOutcome {
    let space = context.space()?;
    let caller = context.caller(&space);
    let is_plain = args.agents.is_empty() && args.plugin.is_none() && !args.git_hooks;
    if is_plain && !args.dry_run {
        let mut done = Init { remotes: args.remote }.run(&caller)?.answer;
        done.next = host().map(|host| agents_found(&host.homes)).unwrap_or_default();
        context.format.answer(&done, text);
        return Ok(ExitCode::SUCCESS);
    }
    let run = if args.dry_run { WiringRun::Dry } else { WiringRun::Apply };
    let asked = [
        (args.worktrees, WiringExtra::Worktrees),
        (args.git_hooks, WiringExtra::GitHooks),
        (args.mcp, WiringExtra::Server),
        (args.holds, WiringExtra::Holds),
    ];
    let extras = asked.into_iter().filter(|(is_asked, _)| *is_asked).map(|(_, extra)| extra);
    let verb = WireAgents {
        host: host()?,
        remotes: args.remote,
        agents: args.agents,
        scope: WiringScope::from(args.scope),
        extras: extras.collect(),
        plugin: args.plugin,
        run,
    };
    let mut done = verb.run(&caller)?;
    let mut imports = VerbCompletion::Whole;
    if args.import {
        let verb = import_of(&done.answer, &space, run);
        let taken = import::with_progress(context, &space, verb)?;
        (done.answer.imported, imports) = (Some(taken.answer), taken.completion);
    }
    context.format.answer(&done.answer, |view| match run {
        WiringRun::Apply => text(view),
        WiringRun::Dry => wired(view, ImportRun::Dry),
    });
    // What was not wired is said first.
    match (done.completion.exit_code(), imports.exit_code()) {
        (0, 0) => Ok(ExitCode::SUCCESS),
        (0, _) => ended(imports),
        (_, _) => ended(done.completion),
    }
}

/// Says what the coding agents that are wired did here before.
fn import_of(view: &InitView, space: &SessionSpace, run: WiringRun) -> ImportConversations {
    let is_wired = |it: &&WiredView| it.action != "refused";
    let wired = view.wired.iter().filter(is_wired);
    let mut sources: Vec<Source> = wired.filter_map(|it| Source::parse(&it.source).ok()).collect();
    sources.sort();
    sources.dedup();
    ImportConversations {
        sources,
        files: Vec::new(),
        since: Some(import::since_by_default(space)),
        agent: None,
        run: match run {
            WiringRun::Apply => ImportRun::Apply,
            WiringRun::Dry => ImportRun::Dry,
        },
        environment: HookEnvironment::of_process(),
    }
}

fn text(view: &InitView) -> String {
    let remotes = match (view.remotes.is_empty(), view.changed) {
        (true, _) => "ready; there are no remotes to set up\n".to_owned(),
        (false, true) => format!("set up {}\n", view.remotes.join(", ")),
        (false, false) => format!("{} were set up already\n", view.remotes.join(", ")),
    };
    format!("{remotes}{}", wired(view, ImportRun::Apply))
}

fn wired(view: &InitView, run: ImportRun) -> String {
    let file = |it: &WiredView| format!("{} {} {}\n", it.source, it.action, it.file);
    let files: String = view.wired.iter().map(file).collect();
    let imported = view.imported.as_ref().map(|views| import::text(views, run));
    let imported = imported.unwrap_or_default();
    let next: String = view.next.iter().map(|line| format!("next: {line}\n")).collect();
    format!("{files}{imported}{next}")
}
