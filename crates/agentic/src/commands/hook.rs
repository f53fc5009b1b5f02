//! `agentic hook`

use std::io::{Read, Write as _};
use std::path::Path;
use std::process::ExitCode;

use agentic_capture::hook::git::{self, GitHook};
use agentic_capture::hook::{HookAnswer, HookRequest, HookRole, answer};
use agentic_capture::{HookEnvironment, Source};
use agentic_model::Instant;
use agentic_session::SessionOptions;
use agentic_space::Clock;

/// What a gate ends with when it cannot check.
const BLOCKED: u8 = 2;
/// The word in place of a coding agent by which git's own hooks are meant.
const GIT: &str = "git";

/// Take in one event of a coding agent, from standard input
///
/// Coding agents that `agentic init --agents` has wired start this. It prints nothing and ends with 0
/// whatever happens; `agentic capture status` tells what went wrong. As a gate it stops what it cannot
/// check. `agentic hook git HOOK` is for the hooks of git.
///
/// Example: agentic hook claude < /dev/null
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct HookArgs {
    /// Whose hook it is: claude, codex, cursor, gemini, copilot, opencode, or git
    source: String,
    /// Of git: the hook, and what git gives it
    rest: Vec<String>,
    /// Say whether a tool may run
    #[arg(long)]
    gate: bool,
    /// The name of the event, for a coding agent that does not say it
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// Take the event from here instead of standard input
    #[arg(long, value_name = "JSON")]
    notify: Option<String>,
}

impl HookArgs {
    /// Makes what coding agents say for most events.
    pub fn new(source: &str, role: HookRole) -> HookArgs {
        let (source, rest) = (source.to_owned(), Vec::new());
        HookArgs { source, rest, gate: role == HookRole::Gate, event: None, notify: None }
    }
}

/// Runs the verb. Nothing that goes wrong is anybody's business but the error log's.
pub fn run(args: &HookArgs) -> ExitCode {
    // A panic is caught, and its message would reach the model.
    std::panic::set_hook(Box::new(|_| {}));
    let environment = HookEnvironment::of_process();
    let options = options();
    if args.source == GIT {
        run_git(args, &environment, options);
        return ExitCode::SUCCESS;
    }
    let role = if args.gate { HookRole::Gate } else { HookRole::Capture };
    let Ok(source) = Source::parse(&args.source) else {
        return ExitCode::from(if args.gate { BLOCKED } else { 0 });
    };
    let named = args.event.as_deref();
    let request = HookRequest { source, role, named, environment: &environment, options };
    let answered = match &args.notify {
        Some(notified) => answer(&request, notified.as_bytes()),
        None => answer(&request, std::io::stdin().lock()),
    };
    print(&answered)
}

fn run_git(args: &HookArgs, environment: &HookEnvironment, options: SessionOptions) {
    let hook = match args.rest.first().map(String::as_str) {
        Some("post-commit") => GitHook::PostCommit,
        Some("post-rewrite") => GitHook::PostRewrite(args.rest.get(1).cloned().unwrap_or_default()),
        Some(_) | None => return,
    };
    let input: Box<dyn Read> = match hook {
        GitHook::PostCommit => Box::new(std::io::empty()),
        GitHook::PostRewrite(_) => Box::new(std::io::stdin().lock()),
    };
    git::run(&hook, Path::new("."), environment, options, input);
}

fn print(answered: &HookAnswer) -> ExitCode {
    // Who does not listen is told nothing.
    let _ = std::io::stdout().lock().write_all(answered.stdout.as_bytes());
    let _ = std::io::stderr().lock().write_all(answered.stderr.as_bytes());
    ExitCode::from(answered.exit)
}

fn options() -> SessionOptions {
    let fixed = std::env::var("AGENTIC_NOW").ok().and_then(|text| {
        Instant::parse(&text).or_else(|| text.parse().ok().map(Instant::from_millis))
    });
    let clock = fixed.filter(|at| at.millis() >= 0).map_or(Clock::System, Clock::Fixed);
    let space = agentic_space::Options { clock, durability: None };
    SessionOptions { space, ..SessionOptions::default() }
}
