//! `agentic capture …`

use std::collections::BTreeMap;
use std::process::ExitCode;

use agentic_api::Verb as _;
use agentic_api::verb::{CaptureOff, CaptureStatus, WiringHost};
use agentic_api::view::{CaptureStatusView, SourceStatusView, WiredPlaceView, visible_line};
use agentic_capture::wiring::{AgentHomes, WiringScope};
use agentic_capture::{HookEnvironment, Source};
use clap::{Subcommand, ValueEnum};

use super::{VerbOutcome, ended};
use crate::context::Context;
use crate::failure::CommandFailure;

/// See what coding agents tell, and end it
#[derive(Debug, Subcommand)]
pub enum CaptureVerb {
    /// Show which coding agents are wired, what was heard of them, and what went wrong
    ///
    /// Example: agentic capture status
    #[command(verbatim_doc_comment)]
    Status,
    /// Take back what `agentic init --agents` wrote; what was captured stays
    ///
    /// Without names all coding agents, hooks of git and this repository's switch.
    ///
    /// Example: agentic capture off codex --scope user
    #[command(verbatim_doc_comment)]
    Off {
        /// The coding agents; all of them without
        #[arg(value_parser = source)]
        sources: Vec<Source>,
        /// Only what was wired for these; for all without
        #[arg(long)]
        scope: Option<ScopeChoice>,
    },
}

/// For whom coding agents are wired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScopeChoice {
    /// All checkouts of yours
    User,
    /// This checkout
    Local,
    /// Everybody, by a committed file
    Project,
}

impl From<ScopeChoice> for WiringScope {
    fn from(choice: ScopeChoice) -> WiringScope {
        match choice {
            ScopeChoice::User => WiringScope::User,
            ScopeChoice::Local => WiringScope::Local,
            ScopeChoice::Project => WiringScope::Project,
        }
    }
}

/// Runs the verb.
pub fn run(context: &Context, verb: CaptureVerb) -> VerbOutcome {
    match verb {
        CaptureVerb::Status => status(context),
        CaptureVerb::Off { sources, scope } => off(context, sources, scope),
    }
}

fn status(context: &Context) -> VerbOutcome {
    let space = context.space()?;
    let environment = HookEnvironment::of_process();
    let verb = CaptureStatus { homes: host()?.homes, environment };
    let view = verb.run(&context.caller(&space))?.answer;
    context.format.answer(&view, status_text);
    Ok(ExitCode::SUCCESS)
}

fn status_text(view: &CaptureStatusView) -> String {
    let on = if view.on { "capture is on here\n" } else { "capture is off here\n" };
    let mut lines = vec![on.to_owned()];
    lines.extend(view.sources.iter().map(source_lines));
    lines.extend(view.ambiguous.iter().map(|it| {
        let (commit, agent) = (visible_line(&it.commit), visible_line(&it.agent));
        format!("commit {commit} may be of {agent}, and is linked to nobody: {}\n", it.reason)
    }));
    let passed = view.passed.iter();
    lines.extend(
        passed.map(|it| format!("hold {} was passed by, calls {}\n", it.session, it.calls)),
    );
    lines.extend(error_lines("", &view.errors));
    lines.concat()
}

fn source_lines(status: &SourceStatusView) -> String {
    let SourceStatusView { source, here, wired, reports, .. } = status;
    let mut lines: Vec<String> = wired.iter().map(|place| place_line(source, place)).collect();
    match (lines.is_empty(), here) {
        (true, true) => lines.push(format!("{source} is here, and not wired\n")),
        (true, false) => lines.push(format!("{source} is not here, and was heard of before\n")),
        (false, _) => {}
    }
    lines.extend(reports.iter().map(|report| format!("  {report}\n")));
    match &status.last {
        Some(last) => lines.push(format!("  last event {last}\n")),
        None if !wired.is_empty() => lines.push("  wired, no event yet\n".to_owned()),
        None => {}
    }
    let counts = [
        ("conversations", status.conversations),
        ("conversations whose agent is gone", status.unbound),
        ("bytes not read yet", status.unread),
        ("transcripts that are gone, of which what was read stays", status.gone),
    ];
    let counts = counts.into_iter().filter(|(_, n)| *n > 0);
    lines.extend(counts.map(|(what, n)| format!("  {what} {n}\n")));
    if status.endangered > 0 {
        lines.push(format!(
            "  transcripts that are deleted 30 days after their last word {}: agentic import {source} --all\n",
            status.endangered
        ));
    }
    lines.extend(status.redactions.iter().map(|(rule, n)| format!("  redacted {rule} {n}\n")));
    lines.extend(error_lines("  ", &status.errors));
    lines.concat()
}

fn error_lines(indent: &str, errors: &BTreeMap<String, u64>) -> Vec<String> {
    let line = |(code, n): (&String, &u64)| format!("{indent}error {} {n}\n", visible_line(code));
    errors.iter().map(line).collect()
}

fn place_line(source: &str, place: &WiredPlaceView) -> String {
    let does = match (place.captures, place.holds) {
        (true, true) => "captures and holds",
        (_, false) => "captures",
        (false, true) => "holds",
    };
    format!("{source} {does}, for {}: {}\n", place.scope, place.file)
}

fn off(context: &Context, sources: Vec<Source>, scope: Option<ScopeChoice>) -> VerbOutcome {
    let space = context.space()?;
    let scope = scope.map(WiringScope::from);
    let verb = CaptureOff { host: host()?, sources, scope };
    let done = verb.run(&context.caller(&space))?;
    context.format.answer(&done.answer, |view| match view.removed.as_slice() {
        [] => "nothing was wired\n".to_owned(),
        removed => removed.iter().map(|file| format!("took ours out of {file}\n")).collect(),
    });
    match done.completion.exit_code() {
        0 => Ok(ExitCode::SUCCESS),
        _ => ended(done.completion),
    }
}

/// Finds out whose settings are changed here, and by what program.
pub fn host() -> Result<WiringHost, CommandFailure> {
    let homes = AgentHomes::from_environment().ok_or_else(|| {
        CommandFailure::refused("there is no home in which to look", "set HOME to your folder")
    })?;
    let program = std::env::current_exe();
    let program = program.map_err(|error| CommandFailure::io("find this program", &error))?;
    Ok(WiringHost { homes, program })
}

/// Reads the name of a coding agent for clap.
fn source(name: &str) -> Result<Source, String> {
    Source::parse(name).map_err(|error| error.to_string())
}
