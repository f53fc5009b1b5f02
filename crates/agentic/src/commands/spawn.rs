//! `agentic spawn`

use std::path::PathBuf;
use std::process::ExitCode;

use agentic_model::{AgentName, Briefing, Object, Oid, Value, json};
use agentic_session::SessionSpace;
use agentic_space::spawn::{Origin, spawn};
use agentic_space::worktree;
use agentic_view::SpawnView;

use super::{Outcome, agent_name};
use crate::context::{Context, read_file_or_stdin, read_stdin, stdin_is_terminal};
use crate::failure::Failure;
use crate::output::{warn, warn_deferred};

/// Create an agent: a branch `agents/NAME` with a stored briefing
///
/// The agent begins where you stand: at the head of the current agent, as its sub-agent, or else at
/// HEAD. The briefing is text, or a JSON object with "type": "briefing"; in a pipe it is read from
/// standard input.
///
/// Example: agentic spawn fix-auth -m "Fix the token refresh race" --worktree
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
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
}

/// Runs the verb.
pub fn run(context: &Context, args: Args) -> Outcome {
    let briefing = briefing(&args)?;
    let space = context.space()?;
    let origin = origin(context, &space, &args)?;
    let place = match &args.worktree {
        Some(Some(path)) => Some(context.directory.join(path)),
        Some(None) => Some(worktree::default_path(&space, &args.name)),
        None => None,
    };
    if let Some(path) = &place {
        worktree::check_place(&space, path)?;
    }
    let spawned = spawn(&space, &args.name, &briefing, &origin)?;
    let mut view = SpawnView::from(&spawned);
    if let Some(path) = place {
        match worktree::add(&space, &args.name, &path) {
            Ok(worktree) => view.worktree = Some(worktree.path.display().to_string()),
            Err(error) => warn(&format!("the agent exists, but has no worktree: {error}")),
        }
    }
    warn_deferred(&spawned.written);
    context.format.answer(&view, |view| {
        let genesis = &view.genesis[..10];
        match &view.worktree {
            Some(path) => format!("{} {genesis} {path}", view.agent),
            None => format!("{} {genesis}", view.agent),
        }
    });
    Ok(ExitCode::SUCCESS)
}

fn briefing(args: &Args) -> Result<Object, Failure> {
    let bytes = match (&args.message, &args.briefing) {
        (Some(text), _) => return text_briefing(text),
        (None, Some(path)) => read_file_or_stdin(path)?,
        (None, None) if !stdin_is_terminal() => read_stdin()?,
        (None, None) => return Err(no_briefing()),
    };
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::schema("the briefing is not UTF-8 text", "save the file as UTF-8"))?;
    if args.briefing.is_none() && text.trim().is_empty() {
        return Err(no_briefing());
    }
    if let Ok(value) = json::from_text(&text)
        && value.get("type").and_then(Value::as_text) == Some("briefing")
    {
        let object = Object::from_value(value).map_err(agentic_session::Error::from)?;
        Briefing::from_object(&object).map_err(agentic_session::Error::from)?;
        return Ok(object);
    }
    text_briefing(text.trim_end())
}

fn text_briefing(text: &str) -> Result<Object, Failure> {
    Ok(Briefing::of_text(text).to_object().map_err(agentic_session::Error::from)?)
}

fn no_briefing() -> Failure {
    Failure::usage(
        "the agent has no briefing",
        "say what it is to do with `-m TEXT` or `--briefing FILE`",
    )
}

fn origin(context: &Context, space: &SessionSpace, args: &Args) -> Result<Origin, Failure> {
    match (&args.from, &args.at) {
        (Some(agent), _) => Ok(Origin::Agent(agent.clone())),
        (None, Some(revision)) => {
            let commit: Oid = space.repository().resolve_commit(revision)?;
            Ok(Origin::Commit(commit))
        }
        (None, None) if args.empty => Ok(Origin::Root),
        (None, None) => where_one_stands(context, space),
    }
}

/// The head of the current agent, else the commit that is checked out, else nothing: a repository
/// without a commit has nowhere else to begin.
fn where_one_stands(context: &Context, space: &SessionSpace) -> Result<Origin, Failure> {
    if let Some(agent) = context.known_agent(space, None)? {
        return Ok(Origin::Agent(agent));
    }
    match space.repository().head_commit()? {
        Some(commit) => Ok(Origin::Commit(commit)),
        None => Ok(Origin::Root),
    }
}
