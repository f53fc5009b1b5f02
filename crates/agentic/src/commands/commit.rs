//! `agentic commit`

use std::path::PathBuf;
use std::process::ExitCode;

use agentic_api::Verb as _;
use agentic_api::verb::{Commit, CommitSource};
use agentic_model::{AgentName, Kind, Map, Value, json};
use agentic_session::SessionSpace;

use super::{VerbOutcome, agent_name};
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::output::{tell_recovered, warn_of};

/// Commit what an agent did, as a typed commit on its branch
///
/// Without a source: everything in the agent's worktree. --stdin takes a JSON map of paths to
/// "text", {"base64": …}, {"text": …, "executable": true}, {"symlink": …} or null (delete), so that
/// an agent without a worktree can commit.
///
/// Example: agentic commit -m "Fix the race" --kind refactor --field severity='"high"' --trace
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct CommitArgs {
    /// The message
    #[arg(short, long, value_name = "MSG")]
    message: String,
    /// The agent; else AGENTIC_AGENT, else the current branch
    #[arg(long, value_name = "NAME", value_parser = agent_name)]
    agent: Option<AgentName>,
    /// The kind; `agentic kind list` shows them
    #[arg(long, value_name = "KIND", value_parser = kind_name)]
    kind: Option<Kind>,
    /// An open field, as key=JSON; may be repeated
    #[arg(long = "field", value_name = "KEY=JSON", value_parser = field)]
    fields: Vec<(String, Value)>,
    /// Bind the pending trace to the commit
    #[arg(long)]
    trace: bool,
    /// Commit everything in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["path", "stdin"])]
    tree: Option<PathBuf>,
    /// Commit these paths of the current folder
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with = "stdin")]
    path: Vec<PathBuf>,
    /// Commit the changes that standard input describes
    #[arg(long)]
    stdin: bool,
    /// Refuse unless the head is this commit
    #[arg(long, value_name = "OID")]
    expect: Option<String>,
    /// Commit even if nothing changed
    #[arg(long)]
    allow_empty: bool,
}

/// Runs the verb.
pub fn run(context: &Context, args: CommitArgs) -> VerbOutcome {
    let space = context.space()?;
    let verb = Commit {
        source: source(&space, &args)?,
        message: args.message,
        agent: args.agent.map(|agent| agent.to_string()),
        kind: args.kind.map(|kind| kind.to_string()),
        fields: open_fields(args.fields)?,
        trace: args.trace,
        expect: args.expect,
        allow_empty: args.allow_empty,
    };
    let done = verb.run(&context.caller(&space));
    tell_recovered(&space.take_found());
    let reply = done?;
    warn_of(&reply.notices);
    context.format.answer(&reply.answer, |view| view.commit.clone());
    Ok(ExitCode::SUCCESS)
}

fn source(space: &SessionSpace, args: &CommitArgs) -> Result<CommitSource, CommandFailure> {
    Ok(match &args.tree {
        None if args.stdin => CommitSource::of_stream(&mut std::io::stdin().lock(), space)?,
        None if args.path.is_empty() => CommitSource::Worktree,
        None => CommitSource::Paths(args.path.clone()),
        Some(folder) => CommitSource::Folder(folder.clone()),
    })
}

fn kind_name(text: &str) -> Result<Kind, String> {
    Kind::parse(text).map_err(|error| error.to_string())
}

fn field(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text.split_once('=').ok_or("a field is KEY=JSON")?;
    if key.is_empty() {
        return Err("a field needs a key".to_owned());
    }
    let parsed = json::from_text(value)
        .map_err(|error| format!("{error}; text needs quotes, as in '{key}=\"text\"'"))?;
    if matches!(parsed, Value::Float(_)) && is_whole(value) {
        return Err(format!(
            "the number `{value}` does not fit a 64-bit integer; put it in quotes"
        ));
    }
    Ok((key.to_owned(), parsed))
}

/// Tells whether a number is written without a fraction and an exponent.
fn is_whole(number: &str) -> bool {
    number.trim().trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit())
}

/// Collects open fields, each of which may be given once.
fn open_fields(given: Vec<(String, Value)>) -> Result<Map, CommandFailure> {
    let mut fields = Map::new();
    for (key, value) in given {
        if fields.contains_key(&key) {
            let message = format!("the field `{key}` is given twice");
            return Err(CommandFailure::usage(
                &message,
                "give each field once; a list holds several values",
            ));
        }
        fields.insert(key, value);
    }
    Ok(fields)
}
