//! `agentic commit`

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use agentic_api::view::CommitView;
use agentic_model::{AgentName, Kind, Map, Value, json};
use agentic_session::SessionSpace;
use agentic_space::commit::{Capture, Draft, Edit, Emptiness, Source, commit};
use agentic_space::error::{BranchError, WorktreeError};
use agentic_store::git::FileMode;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::{Outcome, agent_name};
use crate::context::{Context, read_stdin};
use crate::failure::Failure;
use crate::output::{tell_recovered, warn_deferred, warn_left_behind, warn_left_out};

/// Commit what an agent did, as a typed commit on its branch
///
/// Without a source: everything in the agent's worktree. --stdin takes a JSON map of paths to
/// "text", {"base64": …}, {"text": …, "executable": true}, {"symlink": …} or null (delete), so that
/// an agent without a worktree can commit.
///
/// Example: agentic commit -m "Fix the race" --kind refactor --field severity='"high"' --trace
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
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
pub fn run(context: &Context, args: Args) -> Outcome {
    let space = context.space()?;
    let agent = context.agent(&space, args.agent.as_ref())?;
    let source = source(context, &space, &agent, &args)?;
    let expect = match &args.expect {
        Some(text) => Some(expected(&space, &agent, text)?),
        None => None,
    };
    let draft = Draft {
        message: args.message,
        kind: args.kind,
        fields: open_fields(args.fields)?,
        source,
        capture: if args.trace { Capture::WithTrace } else { Capture::Nothing },
        expect,
        emptiness: if args.allow_empty { Emptiness::Allowed } else { Emptiness::Refused },
        asker: None,
    };

    let done = commit(&space, &agent, &draft);
    tell_recovered(&space.take_found());
    let done = done?;
    warn_deferred(&done.written);
    warn_left_out(&done.left_out);
    warn_left_behind(done.worktree_left_behind.as_ref());
    context.format.answer(&CommitView::from(&done), |view| view.commit.clone());
    Ok(ExitCode::SUCCESS)
}

/// Resolves `--expect`. What names no commit here cannot be the head, so it is a conflict too.
fn expected(
    space: &SessionSpace,
    agent: &AgentName,
    text: &str,
) -> Result<agentic_model::Oid, Failure> {
    space.repository().resolve_commit(text).map_err(|_| {
        let found = space.head(agent).ok();
        let (branch, expected) = (agent.to_string(), text.to_owned());
        agentic_space::Error::Branch(BranchError::HeadMoved { branch, expected, found }).into()
    })
}

fn source(
    context: &Context,
    space: &SessionSpace,
    agent: &AgentName,
    args: &Args,
) -> Result<Source, Failure> {
    if args.stdin {
        return Ok(Source::Edits(edits(read_stdin()?)?));
    }
    if let Some(folder) = &args.tree {
        let folder = context.directory.join(folder);
        if let Ok(worktree) = space.worktree_of(agent)
            && same_folder(&worktree.path, &folder)
        {
            return Ok(Source::Worktree(worktree));
        }
        if args.expect.is_none() {
            return Err(Failure::usage(
                "a snapshot of a folder needs `--expect`",
                "name the commit that the folder was made from: `--expect OID`",
            ));
        }
        if !folder.is_dir() {
            return Err(Failure::refused(
                &format!("`{}` is not a folder", folder.display()),
                "name a folder that exists",
            ));
        }
        return Ok(Source::Folder(folder));
    }
    if !args.path.is_empty() {
        return paths(context, space, &args.path);
    }
    if args.allow_empty && space.worktree_of(agent).is_err() {
        return Ok(Source::Edits(BTreeMap::new()));
    }
    if args.trace && space.worktree_of(agent).is_err() {
        return Ok(Source::Edits(BTreeMap::new()));
    }
    Ok(Source::Worktree(space.worktree_of(agent)?))
}

/// Turns paths of the current folder into paths of its worktree.
fn paths(context: &Context, space: &SessionSpace, paths: &[PathBuf]) -> Result<Source, Failure> {
    let root =
        space.repository().work_dir().ok_or(agentic_space::Error::Worktree(WorktreeError::Bare))?;
    let root =
        std::fs::canonicalize(root).map_err(|error| Failure::io("read the worktree", &error))?;
    let here = std::fs::canonicalize(&context.directory)
        .map_err(|error| Failure::io("read the current folder", &error))?;
    let prefix = here.strip_prefix(&root).unwrap_or(Path::new(""));
    let relative = paths.iter().map(|path| {
        let inside = path.strip_prefix(&root).map_or_else(|_| prefix.join(path), Path::to_owned);
        inside.as_os_str().as_bytes().to_vec()
    });
    Ok(Source::Paths { paths: relative.collect(), root })
}

fn edits(bytes: Vec<u8>) -> Result<BTreeMap<String, Edit>, Failure> {
    let hint = "give a JSON map such as {\"src/a.rs\": \"text\", \"old\": null}";
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::schema("standard input is not UTF-8", "put other bytes into {\"base64\": …}")
    })?;
    let value = json::parse(&text)
        .map_err(|error| Failure::schema(&format!("standard input is {error}"), hint))?;
    // It may be long, and stands in the value.
    drop(text);
    let serde_json::Value::Object(map) = value else {
        return Err(Failure::schema("standard input is not a JSON map", hint));
    };
    map.into_iter()
        .map(|(path, change)| {
            let edit = edit(change).ok_or_else(|| {
                Failure::schema(&format!("the change of `{path}` is none that is known"), hint)
            })?;
            Ok((path, edit))
        })
        .collect()
}

fn edit(change: serde_json::Value) -> Option<Edit> {
    let write = |content: Vec<u8>, mode| Some(Edit::Write { content, mode });
    match change {
        serde_json::Value::Null => Some(Edit::Delete),
        serde_json::Value::String(text) => write(text.into_bytes(), FileMode::Plain),
        serde_json::Value::Object(form) => {
            let mode = match form.get("executable").map(serde_json::Value::as_bool) {
                None | Some(Some(false)) => FileMode::Plain,
                Some(Some(true)) => FileMode::Executable,
                Some(None) => return None,
            };
            let known =
                |key: &String| matches!(key.as_str(), "text" | "base64" | "symlink" | "executable");
            let n_contents =
                ["text", "base64", "symlink"].iter().filter(|key| form.contains_key(**key)).count();
            if n_contents != 1 || !form.keys().all(known) {
                return None;
            }
            let text = |key: &str| form.get(key).map(|value| value.as_str());
            match (text("text"), text("base64"), text("symlink")) {
                (Some(text), _, _) => write(text?.as_bytes().to_vec(), mode),
                (_, Some(text), _) => write(BASE64.decode(text?).ok()?, mode),
                (_, _, Some(target)) => write(target?.as_bytes().to_vec(), FileMode::Link),
                (None, None, None) => None,
            }
        }
        _ => None,
    }
}

fn same_folder(left: &Path, right: &Path) -> bool {
    match (std::fs::canonicalize(left), std::fs::canonicalize(right)) {
        (Ok(left), Ok(right)) => left == right,
        _ => false,
    }
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
fn open_fields(given: Vec<(String, Value)>) -> Result<Map, Failure> {
    let mut fields = Map::new();
    for (key, value) in given {
        if fields.contains_key(&key) {
            let message = format!("the field `{key}` is given twice");
            return Err(Failure::usage(
                &message,
                "give each field once; a list holds several values",
            ));
        }
        fields.insert(key, value);
    }
    Ok(fields)
}
