//! `agentic spawn`

use std::path::PathBuf;
use std::process::ExitCode;

use agentic_api::Verb;
use agentic_api::verb::{BriefingSource, CheckoutPlace, Spawn, SpawnBeginning};
use agentic_model::AgentName;

use super::{VerbOutcome, agent_name};
use crate::context::{Context, read_file_or_stdin, read_stdin, stdin_is_terminal};
use crate::failure::CommandFailure;
use crate::output::warn_of;

/// Create an agent: a branch `agents/NAME` with a stored briefing
///
/// The agent begins where you stand: at the head of the current agent, as its sub-agent, or else at
/// HEAD. The briefing is text, or a JSON object with "type": "briefing"; in a pipe it is read from
/// standard input.
///
/// Example: agentic spawn fix-auth -m "Fix the token refresh race" --worktree
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct SpawnArgs {
    /// The name: lower-case letters, digits, `.`, `_` and `-`
    #[arg(value_parser = agent_name)]
    name: AgentName,
    /// The briefing
    #[arg(short, long, value_name = "TEXT", conflicts_with = "briefing")]
    message: Option<String>,
    /// A file with the briefing, or - for standard input
    #[arg(long, value_name = "FILE")]
    briefing: Option<String>,
    /// Fork at the head of another agent, as its sub-agent
    #[arg(long, value_name = "AGENT", value_parser = agent_name, conflicts_with = "at")]
    from: Option<AgentName>,
    /// Fork at any commit
    #[arg(long, value_name = "COMMIT")]
    at: Option<String>,
    /// Begin with nothing: no parent commit and an empty tree
    #[arg(long, conflicts_with_all = ["from", "at"])]
    empty: bool,
    /// Also check it out, by default in ../<repository>.agents/NAME
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = false)]
    worktree: Option<Option<PathBuf>>,
    /// The behaviour that it has: a name, PEER/NAME, an id, or `inherit` for that of the agent where it begins
    #[arg(long, value_name = "B")]
    behaviour: Option<String>,
    /// Let pushes that name nobody leave it out, as `agent private` does
    #[arg(long)]
    private: bool,
}

/// Runs the verb.
pub fn run(context: &Context, args: SpawnArgs) -> VerbOutcome {
    let verb = Spawn {
        briefing: briefing(&args)?,
        behaviour: args.behaviour.clone(),
        private: args.private,
        name: args.name.to_string(),
        beginning: match (args.from, args.at) {
            (Some(agent), _) => SpawnBeginning::Agent(agent.to_string()),
            (None, Some(commit)) => SpawnBeginning::Commit(commit),
            (None, None) if args.empty => SpawnBeginning::Empty,
            (None, None) => SpawnBeginning::Here,
        },
        worktree: match args.worktree {
            None => CheckoutPlace::Nowhere,
            Some(None) => CheckoutPlace::Beside,
            Some(Some(path)) => CheckoutPlace::Folder(path),
        },
    };
    let space = context.space()?;
    let reply = verb.run(&context.caller(&space))?;
    warn_of(&reply.notices);
    context.format.answer(&reply.answer, |view| {
        let genesis = &view.genesis[..10];
        match &view.worktree {
            Some(path) => format!("{} {genesis} {path}", view.agent),
            None => format!("{} {genesis}", view.agent),
        }
    });
    Ok(ExitCode::SUCCESS)
}

fn briefing(args: &SpawnArgs) -> Result<BriefingSource, CommandFailure> {
    let bytes = match (&args.message, &args.briefing) {
        (Some(text), _) => return Ok(BriefingSource::Text(text.clone())),
        (None, Some(path)) => read_file_or_stdin(path)?,
        (None, None) if !stdin_is_terminal() => read_stdin()?,
        (None, None) => return Err(no_briefing()),
    };
    if args.briefing.is_none() && bytes.trim_ascii().is_empty() {
        return Err(no_briefing());
    }
    Ok(BriefingSource::of_bytes(bytes)?)
}

fn no_briefing() -> CommandFailure {
    CommandFailure::usage(
        "the agent has no briefing",
        "say what it is to do with `-m TEXT` or `--briefing FILE`",
    )
}
